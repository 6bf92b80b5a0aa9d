"""Metric names, and the metrics themselves against an independent implementation."""

import random

import pytest

from workbench.core.record import InvalidQuery
from workbench.core.tuning.measure import NDCG10, STANDARD, Measure, parse_measure


def test_names_are_read_and_written() -> None:
    assert parse_measure(" nDCG@10 ") == NDCG10
    assert [m.name for m in STANDARD] == ["ndcg@10", "recall@10", "recall@5", "mrr@10", "p@10"]
    assert [parse_measure(m.name) for m in STANDARD] == list(STANDARD)
    assert [Measure("mrr", 3).title, Measure("p", 1).title] == ["MRR@3", "P@1"]
    assert all(str(m.k) in m.about for m in STANDARD if m.kind != "mrr")


@pytest.mark.parametrize(
    "text", ["", "ndcg", "ndcg@0", "ndcg@-1", "map@10", "p@1.5", "ndcg@10000", "recall@ 5"]
)
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(InvalidQuery, match="not a metric"):
        parse_measure(text)


@pytest.mark.slow
def test_values_equal_those_of_ir_measures() -> None:
    other = pytest.importorskip("ir_measures")
    pick = random.Random(4)
    ids = [f"d{i}" for i in range(30)]
    for _ in range(150):
        ranked = pick.sample(ids, pick.randint(1, 30))
        grades = {id: pick.randint(0, 3) for id in pick.sample(ids, pick.randint(1, 20))}
        if not any(grades.values()):
            continue
        k = pick.choice([1, 3, 5, 10])
        ours = {
            name: Measure(name, k).of(ranked, grades) for name in ("ndcg", "mrr", "recall", "p")
        }
        theirs = dict(
            zip(
                ("ndcg", "mrr", "recall", "p"),
                (other.nDCG, other.RR, other.R, other.P),
                strict=True,
            )
        )
        run = {"q": {id: float(-place) for place, id in enumerate(ranked)}}
        got = {
            m.measure: m.value
            for m in other.iter_calc([t @ k for t in theirs.values()], {"q": grades}, run)
        }
        for name, their in theirs.items():
            assert ours[name] == pytest.approx(got[their @ k], abs=1e-9), (name, k, ranked, grades)
