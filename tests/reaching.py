"""Imports of the front doors past the bench that are still to be mended; the list only shrinks."""

REACHING = frozenset(
    """
    workbench.cli.stream.search -> workbench.retrieval.ranking.cases
    workbench.cli.stream.search -> workbench.retrieval.ranking.outcome
    workbench.cli.tuning.evaluate -> workbench.evaluation.tuner
    workbench.cli.tuning.evaluate -> workbench.evaluation.verdict
    workbench.tui.duplicates.threshold -> workbench.retrieval.embedding.thresholds
    workbench.tui.tuning.hints -> workbench.retrieval.ranking.flips
    workbench.tui.tuning.judging.auto -> workbench.evaluation.tuner
    workbench.tui.tuning.judging.better -> workbench.evaluation.pairwise
    workbench.tui.tuning.judging.metrics -> workbench.evaluation.verdict
    workbench.tui.tuning.judging.verdict -> workbench.evaluation.verdict
    workbench.tui.tuning.keeping -> workbench.retrieval.embedding.thresholds
    workbench.tui.tuning.profiles.certificate -> workbench.evaluation.verdict
    workbench.tui.tuning.profiles.sides -> workbench.evaluation.verdict
    workbench.tui.tuning.screen -> workbench.retrieval.ranking.flips
    workbench.tui.tuning.sliders -> workbench.retrieval.ranking.flips
    workbench.tui.tuning.tools -> workbench.retrieval.embedding.thresholds
    """.strip().split("\n    ")
)
