"""Rankers over small pools, and how two rankings compare."""

from itertools import pairwise

import numpy as np
import pytest

from workbench.core.tuning.scoring import Scored
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.ranking.cases import ColumnCache
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranker, Ranking


def ranker_of(pool: Pool, cache: ColumnCache | None = None) -> Ranker:
    vectors = np.zeros((len(pool), 2), np.float32)
    return Ranker(
        pool,
        vectors,
        LexicalIndex.build([""] * len(pool)),
        lambda texts: np.zeros((len(texts), 2), np.float32),
        cache,
    )


def parts(scored: Scored) -> list[float]:
    return [
        stage[name]
        for stage in (scored.raw, scored.norm, scored.weighted)
        for name in ("recency", "importance", "relevance")
    ] + [scored.total]


def assert_equal(fast: Ranking, rule: list[Scored]) -> None:
    expected = {s.memory.id: s for s in rule}
    everything = fast.best(len(rule) + 1)
    assert sorted(s.memory.id for s in everything) == sorted(expected)
    for scored in everything:
        assert parts(scored) == pytest.approx(parts(expected[scored.memory.id]), abs=1e-9, rel=0)
        assert scored.total == sum(
            (
                scored.weighted["recency"],
                scored.weighted["importance"],
                scored.weighted["relevance"],
            )
        )
    # Where the rule's totals really differ, so does the order.
    for place, (before, after) in enumerate(pairwise(everything)):
        assert expected[before.memory.id].total >= expected[after.memory.id].total - 1e-9, place
        assert before.total > after.total or before.memory.id < after.memory.id
    assert fast.top == everything[: fast.k]
    assert fast.ids == tuple(s.memory.id for s in fast.top)
    assert [fast.place_of(s.memory.id) for s in everything] == list(range(1, len(everything) + 1))
