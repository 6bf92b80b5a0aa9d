"""What is near a person's words by meaning: ranked as the settings say, down to the floor, within
the filter.
"""

from dataclasses import replace

import pytest

from tests.services.conftest import memory, put
from workbench.core.runtime import Stopped, stoppable
from workbench.services.agents.serving import look
from workbench.services.open import Workbench
from workbench.services.stream import semantic as module
from workbench.services.stream.semantic import SemanticMatches, semantic_matches, waiting_near

QUERY = "why did the token refresh fail"


def found(bench: Workbench, text: str, without: tuple[str, ...] = ()) -> SemanticMatches:
    view = bench.stream.view(text)
    return semantic_matches(bench.tuning, view.question, view.tests, without, bench.context.now())


def ids(near: SemanticMatches) -> list[str]:
    return [scored.memory.id for scored in near.rows]


def waiting_ids(near: SemanticMatches) -> list[str]:
    return [waiting.memory.id for waiting in near.waiting]


@pytest.mark.slow
def test_it_is_what_search_lists_in_the_same_order(demo: Workbench) -> None:
    served = look(demo.tuning, QUERY, 10, demo.tuning.default(), demo.context.now())
    assert demo.stream.view(QUERY).memories == ()
    ranked = zip(served.ranking.ids, served.relevances, strict=True)
    strong = {id: relevance for id, relevance in ranked if not served.floor.is_weak(id)}
    assert len(strong) > 5
    assert list(found(demo, QUERY).relevances.items())[: len(strong)] == list(strong.items())


@pytest.mark.slow
def test_what_holds_the_words_is_left_out_and_the_rest_keeps_its_order(demo: Workbench) -> None:
    every = ids(found(demo, QUERY))
    left = ids(found(demo, QUERY, tuple(every[1:3])))
    assert left[: len(every) - 2] == [every[0], *every[3:]]


def test_a_filter_holds_for_what_is_near_too(demo: Workbench) -> None:
    rows = found(demo, f"type:error {QUERY}").rows
    assert rows
    assert {scored.memory.observation_type for scored in rows} == {"error"}


def test_it_ends_at_the_floor_and_says_where_nothing_is_relevant(demo: Workbench) -> None:
    nothing = found(demo, "recipe for lasagne")
    assert nothing.rows == ()
    assert nothing.is_empty is True
    served = look(demo.tuning, QUERY, 300, demo.tuning.default(), demo.context.now())
    assert not any(served.floor.is_weak(id) for id in ids(found(demo, QUERY)))
    assert any(map(served.floor.is_weak, served.ranking.ids))


def test_without_a_floor_there_are_no_more_than_an_agent_is_given(bench: Workbench) -> None:
    object.__setattr__(bench.context, "settings", bench.context.settings._replace(floor=False))
    put(bench, *(memory(f"m{n}", f"the deploy number {n} failed") for n in range(20)))
    assert len(found(bench, "a broken release").rows) == bench.tuning.default().k


@pytest.mark.slow
def test_it_looks_further_down_until_there_are_enough(
    demo: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = ids(found(demo, QUERY))
    monkeypatch.setattr(module, "MOST", 3)
    assert ids(found(demo, QUERY, tuple(every[:10]))) == every[10:13]


@pytest.mark.slow
def test_a_ranking_that_nobody_waits_for_any_more_gives_up(demo: Workbench) -> None:
    with stoppable(lambda: True), pytest.raises(Stopped):
        found(demo, "a question that nobody asked before")
    assert ids(found(demo, QUERY))


@pytest.mark.slow
def test_a_candidate_stands_where_it_would_be_ranked_and_ranks_nothing(demo: Workbench) -> None:
    first, second, *_ = ids(found(demo, QUERY))
    assert first not in waiting_ids(found(demo, QUERY))
    put(demo, replace(demo.library.memories.get(first), status="candidate"))
    near = found(demo, QUERY)
    assert near.waiting[0].memory.id == first
    assert near.waiting[0].above == 0
    assert ids(near)[0] == second
    served = look(demo.tuning, QUERY, 10, demo.tuning.default(), demo.context.now())
    assert ids(near)[:5] == list(served.ranking.ids)[:5]
    assert [memory.id for memory in waiting_near(demo.tuning, served)] == [first]


@pytest.mark.slow
def test_a_candidate_that_holds_the_words_or_fails_the_filter_is_not_near(demo: Workbench) -> None:
    id = ids(found(demo, QUERY))[0]
    put(demo, replace(demo.library.memories.get(id), status="candidate"))
    assert id in waiting_ids(found(demo, QUERY))
    assert id not in waiting_ids(found(demo, QUERY, (id,)))
    assert found(demo, f"status:signal {QUERY}").waiting == ()


@pytest.mark.slow
def test_a_candidate_may_be_all_that_is_near_but_not_below_the_floor(demo: Workbench) -> None:
    put(
        demo,
        memory(
            "wait",
            "Lasagne: the recipe of Ruth's grandmother",
            demo.context.now(),
            status="candidate",
        ),
    )
    near = found(demo, "recipe for lasagne")
    assert near.rows == ()
    assert near.is_empty is False
    assert [one.memory.id for one in near.waiting] == ["wait"]
    assert found(demo, "the tallest mountain on Mars").waiting == ()
