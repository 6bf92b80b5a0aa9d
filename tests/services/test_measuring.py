"""What is measured by the store's own judged queries: scored once, and anew when the store changed."""

from dataclasses import replace
from pathlib import Path

import pytest

from workbench.core.record import InvalidQuery, InvalidRecord, WorkStopped
from workbench.core.tuning.measure import NDCG10, Measure
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH
from workbench.services.demo import ANCHOR
from workbench.services.open import Workbench, open_workbench
from workbench.services.tuning.evaluation import Measuring
from workbench.services.tuning.queries import from_store

ENGRAM = next(p for p in BUILT_IN if p.name == "engram")


@pytest.fixture
def measuring(demo: Workbench) -> Measuring:
    return Measuring(demo.context, demo.evaluator)


@pytest.mark.slow
def test_a_verdict_says_what_an_evaluation_says(demo: Workbench, measuring: Measuring) -> None:
    found = measuring.current().against(WORKBENCH, ENGRAM)
    evaluated = demo.evaluator.evaluate(from_store(demo.context), [WORKBENCH, ENGRAM])
    assert found.verdict == evaluated.verdicts[0].verdict
    assert found.means == tuple(result.mean[NDCG10.name] for result in evaluated.results)
    assert not found.same
    same = measuring.current().against(WORKBENCH, replace(WORKBENCH, name="mine", about="x"))
    assert same.same
    assert same.verdict.wins == same.verdict.losses == 0


@pytest.mark.slow
def test_both_are_measured_at_the_k_of_the_settings(measuring: Measuring) -> None:
    scored = measuring.current()
    for k in (3, 10, 3):
        found = scored.against(WORKBENCH, replace(ENGRAM, k=k))
        expected = [scored.measure(p, (Measure("ndcg", k),)) for p in (WORKBENCH, ENGRAM)]
        assert found.means == tuple(result.mean[f"ndcg@{k}"] for result in expected)
        assert found.verdict.metric == f"nDCG@{k}"
        assert [m.name for m in found.measures] == [
            f"ndcg@{k}",
            f"mrr@{k}",
            f"recall@{k}",
            f"p@{k}",
        ]


def test_a_new_judgment_scores_only_what_is_new(demo: Workbench, measuring: Measuring) -> None:
    before = measuring.current()
    measuring.store_changed(["votes"])
    assert measuring.current() is before
    demo.judging.judge("something else", None, demo.library.memories.all()[0].id, 2)
    measuring.store_changed(["judgments"])
    old = {scored.scores.query: scored.scores for scored in before.queries}
    new = {scored.scores.query: scored.scores for scored in measuring.current().queries}
    assert set(new) == {*old, "something else"}
    assert all(new[query] is scores for query, scores in old.items())


@pytest.mark.slow
def test_it_can_be_given_up_and_a_broken_profile_is_refused(measuring: Measuring) -> None:
    scored = measuring.current()
    with pytest.raises(WorkStopped):
        scored.against(WORKBENCH, ENGRAM, lambda: True)
    with pytest.raises(InvalidRecord):
        scored.against(WORKBENCH, replace(WORKBENCH, recency=0.0, importance=0.0, relevance=0.0))


def test_without_judgments_there_is_nothing_to_measure_by(tmp_path: Path) -> None:
    empty = open_workbench(tmp_path / "empty", profiles=tmp_path / "profiles", clock=lambda: ANCHOR)
    measuring = Measuring(empty.context, empty.evaluator)
    assert not measuring.judged
    with pytest.raises(InvalidQuery):
        measuring.current()
    assert measuring.birth(WORKBENCH, ENGRAM) is None
    empty.close()


@pytest.mark.slow
def test_a_saved_profile_says_what_it_was_measured_on(
    demo: Workbench, measuring: Measuring
) -> None:
    assert measuring.birth(WORKBENCH, WORKBENCH) is None
    birth = measuring.birth(WORKBENCH, ENGRAM)
    assert birth is not None
    evaluated = (
        demo.evaluator.evaluate(from_store(demo.context), [WORKBENCH, ENGRAM]).verdicts[0].verdict
    )
    assert (birth.parent, birth.delta, birth.queries) == (
        WORKBENCH.name,
        evaluated.delta,
        evaluated.queries,
    )
