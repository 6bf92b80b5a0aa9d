"""How good the ranking, the verdicts and both ways of learning are."""

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from tests.benchmarks import locomo
from tests.benchmarks.worlds import make_world
from workbench.core.tuning.measure import NDCG10
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH
from workbench.evaluation.pairs import JudgedScores, settings_around
from workbench.evaluation.tuner import best, compare, score_table
from workbench.retrieval.arrays import Column
from workbench.retrieval.embedding.embedder import Embedder

SPLITS = 20


@dataclass(frozen=True, slots=True)
class Split:
    """What tuning on half of the queries brought on the other half."""

    outcome: str
    delta: float
    low: float
    high: float


def verdict_simulations(small: bool) -> dict[str, object]:
    """Return how often the test calls equal settings different, and finds a real difference."""
    runs, queries = 200 if small else 2_000, 25
    random = np.random.default_rng(20261121)
    zeros = [0.0] * queries
    equal = [compare(zeros, random.normal(0.0, 0.2, queries).tolist()).outcome for _ in range(runs)]
    real = [compare(zeros, random.normal(0.15, 0.2, queries).tolist()).outcome for _ in range(runs)]
    return {
        "runs": runs,
        "called_different": 1 - equal.count("unclear") / runs,
        "called_different_bar": 0.065,
        "found": real.count("better") / runs,
        "found_bar": 0.85,
    }


def synthetic_worlds(small: bool) -> dict[str, object]:
    """Return how much nDCG@10 is lost against the true weights after 12 judged queries and after 24
    answers.
    """
    embedder = Embedder()
    pooled, asked, start = [], [], []
    for seed in range(4 if small else 24):
        world = make_world(seed, embedder)
        pooled.append(1 - world.ndcg(world.tuned()))
        asked.append(1 - world.ndcg(world.asked().profile))
        start.append(1 - world.ndcg(WORKBENCH))
    return {
        "worlds": len(pooled),
        "untuned_loss": round(fmean(start), 4),
        "pooled_loss": round(fmean(pooled), 4),
        "pooled_worst": round(max(pooled), 4),
        "pooled_bar": 0.03,
        "pairwise_loss": round(fmean(asked), 4),
        "pairwise_worst": round(max(asked), 4),
        "pairwise_bar": 0.04,
    }


def conversations(small: bool) -> dict[str, object]:
    """Return every built-in profile's means over the LoCoMo conversations, and what tuning on half
    of them brings.
    """
    files = locomo.conversations()[: 1 if small else None]
    if not files:
        return {"skipped": "no LoCoMo conversations; name their folder in WORKBENCH_LOCOMO"}
    means: dict[str, list[dict[str, float]]] = {p.name: [] for p in BUILT_IN}
    splits: list[Split] = []
    for number, file in enumerate(files):
        with tempfile.TemporaryDirectory() as name:
            bench, evaluator, judged = locomo.open_conversation(file, Path(name) / "c")
            found = evaluator.evaluate(judged, BUILT_IN)
            for result in found.results:
                means[result.profile.name].append(result.mean)
            ranker = bench.retriever.ranker()
            queries = [
                JudgedScores(ranker.relevance(q.text), q.relevant, q.now or bench.context.now())
                for q in judged.queries
            ]
            built_in = {
                result.profile.name: np.array(result.values(NDCG10)) for result in found.results
            }
            table = score_table(ranker, queries, settings_around(WORKBENCH), NDCG10)
            splits += _splits(table, built_in, number)
            bench.close()
    outcomes = Counter(split.outcome for split in splits)
    return {
        "conversations": len(files),
        "profiles": {
            name: {m: round(fmean(mean[m] for mean in each), 4) for m in each[0]}
            for name, each in means.items()
        },
        "recall@10_bar": 0.70,
        "ndcg@10_bar": 0.525,
        "tune_on_half": {
            "splits": len(splits),
            "better": outcomes["better"],
            "cant_tell": outcomes["unclear"],
            "worse": outcomes["worse"],
            "mean_delta": round(fmean(s.delta for s in splits), 4),
            "mean_interval": [
                round(fmean(s.low for s in splits), 4),
                round(fmean(s.high for s in splits), 4),
            ],
        },
    }


def _splits(table: Column, built_in: dict[str, Column], seed: int) -> list[Split]:
    """Tune on one half and compare on the other with the built-in profile that is best on that
    other half.
    """
    random = np.random.default_rng(seed)
    found: list[Split] = []
    settings = settings_around(WORKBENCH)
    for _ in range(SPLITS):
        order = random.permutation(table.shape[1])
        half, other = order[: len(order) // 2], order[len(order) // 2 :]
        rival = max(built_in.values(), key=lambda values: float(values[other].mean()))
        verdict = compare(
            rival[other].tolist(), table[best(settings, table[:, half]), other].tolist()
        )
        found.append(Split(verdict.outcome, verdict.delta, verdict.low, verdict.high))
    return found
