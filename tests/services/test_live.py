"""The verdict that follows the sliders."""

from dataclasses import replace

import pytest

from workbench.core.record import InvalidRecord, WorkStopped
from workbench.core.tuning.measure import NDCG10, Measure
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH
from workbench.services.open import Workbench
from workbench.services.tuning.measuring import LiveSet, live_set
from workbench.services.tuning.queries.sets import from_store

ENGRAM = next(p for p in BUILT_IN if p.name == "engram")


def live_of(demo: Workbench, known: LiveSet | None = None) -> LiveSet:
    return live_set(demo.evaluator, from_store(demo.context), known, lambda: False)


@pytest.mark.slow
def test_it_says_what_an_evaluation_says(demo: Workbench) -> None:
    found = live_of(demo).against(WORKBENCH, ENGRAM)
    evaluated = demo.evaluator.evaluate(from_store(demo.context), [WORKBENCH, ENGRAM])
    assert found.verdict == evaluated.verdicts[0].verdict
    assert found.means == tuple(result.mean[NDCG10.name] for result in evaluated.results)
    assert not found.same


@pytest.mark.slow
def test_both_are_measured_at_the_k_of_the_settings(demo: Workbench) -> None:
    live = live_of(demo)
    for k in (3, 10, 3):
        found = live.against(WORKBENCH, replace(ENGRAM, k=k))
        expected = [live.scored.measure(p, (Measure("ndcg", k),)) for p in (WORKBENCH, ENGRAM)]
        assert found.means == tuple(result.mean[f"ndcg@{k}"] for result in expected)
        assert found.verdict.metric == f"nDCG@{k}"
        assert [m.name for m in found.measures] == [f"ndcg@{k}", f"mrr@{k}", f"recall@{k}", f"p@{k}"]


@pytest.mark.slow
def test_another_name_is_no_other_setting(demo: Workbench) -> None:
    found = live_of(demo).against(WORKBENCH, replace(WORKBENCH, name="mine", about="x"))
    assert found.same
    assert found.verdict.wins == found.verdict.losses == 0


def test_a_new_judgment_scores_only_what_is_new(demo: Workbench) -> None:
    before = live_of(demo)
    memory = demo.library.memories.all()[0].id
    demo.judging.judge("something else", None, memory, 2)
    after = live_of(demo, before)
    old = {scored.scores.query: scored.scores for scored in before.scored.queries}
    new = {scored.scores.query: scored.scores for scored in after.scored.queries}
    assert set(new) == {*old, "something else"}
    assert all(new[query] is scores for query, scores in old.items())


@pytest.mark.slow
def test_it_can_be_given_up_and_a_broken_profile_is_refused(demo: Workbench) -> None:
    live = live_of(demo)
    with pytest.raises(WorkStopped):
        live.against(WORKBENCH, ENGRAM, lambda: True)
    with pytest.raises(InvalidRecord):
        live.against(WORKBENCH, replace(WORKBENCH, recency=0.0, importance=0.0, relevance=0.0))
