"""Imports of the front doors past the bench that are still to be mended; the list only shrinks."""

REACHING = frozenset(
    """
    workbench.cli.files.export_choice -> workbench.formats.outlets
    workbench.cli.files.import_files -> workbench.formats.registry
    workbench.cli.health.backup -> workbench.store.maintenance.backup
    workbench.cli.health.backup -> workbench.store.maintenance.restore
    workbench.cli.health.doctor -> workbench.store.maintenance.doctor
    workbench.cli.main -> workbench.formats.registry
    workbench.cli.missing -> workbench.store.presence
    workbench.cli.safety.scan -> workbench.safety.scanning
    workbench.cli.session -> workbench.formats.registry
    workbench.cli.session -> workbench.store.git_files
    workbench.cli.session -> workbench.store.identity.heads
    workbench.cli.session -> workbench.store.presence
    workbench.cli.stream.history -> workbench.store.history.clash
    workbench.cli.stream.history -> workbench.store.history.undo
    workbench.cli.stream.search -> workbench.retrieval.ranking.cases
    workbench.cli.stream.search -> workbench.retrieval.ranking.outcome
    workbench.cli.tuning.evaluate -> workbench.evaluation.tuner
    workbench.cli.tuning.evaluate -> workbench.evaluation.verdict
    workbench.tui.duplicates.threshold -> workbench.retrieval.embedding.thresholds
    workbench.tui.files.exports.dialog -> workbench.formats.ace.ace
    workbench.tui.files.exports.guard -> workbench.formats.ace.ace
    workbench.tui.files.exports.words -> workbench.formats.outlets
    workbench.tui.files.imports.asking -> workbench.formats.registry
    workbench.tui.files.imports.rows -> workbench.formats.registry
    workbench.tui.health.backup -> workbench.store.maintenance.backup
    workbench.tui.health.store -> workbench.store.maintenance.doctor
    workbench.tui.playbook.rows -> workbench.safety.scanning
    workbench.tui.playbook.tools -> workbench.formats.registry
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
