"""How deep reflections stand, whatever they cite."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.reflection.reflector import depth_citing, depth_of
from workbench.core.stream.memory import Memory

AT = datetime(2026, 3, 20, tzinfo=UTC)


def seen(id: str) -> Memory:
    return Memory(id, id, AT, AT)


def thought(id: str, *citations: str) -> Memory:
    return Memory(id, id, AT, AT, is_synthetic=True, citations=citations)


def found(*memories: Memory) -> dict[str, Memory]:
    return {memory.id: memory for memory in memories}


def test_an_observation_is_at_the_ground_whatever_it_cites() -> None:
    store = found(thought("r", "a"), seen("a"))
    assert depth_of(seen("a"), store.get) == 0
    assert depth_of(Memory("b", "b", AT, AT, citations=("r",)), store.get) == 0


def test_each_level_of_reflections_is_one_more() -> None:
    store = found(
        seen("a"), thought("one", "a"), thought("two", "a", "one"), thought("three", "two", "a")
    )
    assert [depth_of(store[id], store.get) for id in ("one", "two", "three")] == [1, 2, 3]
    assert depth_citing(("a", "two"), store.get) == 3
    assert depth_citing((), store.get) == depth_citing(("nowhere",), store.get) == 1


def test_what_is_gone_counts_as_nothing() -> None:
    assert depth_of(thought("r", "gone"), found().get) == 1


def test_circles_end() -> None:
    store = found(thought("a", "b"), thought("b", "c"), thought("c", "a", "c"))
    assert depth_of(store["a"], store.get) == 3
    assert depth_of(thought("self", "self"), found(thought("self", "self")).get) == 1


@pytest.mark.slow
def test_a_chain_of_ten_thousand_is_no_problem() -> None:
    store = found(*(thought(str(i), str(i + 1)) for i in range(10_000)))
    assert depth_of(store["0"], store.get) == 10_000


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 11), max_size=4), min_size=12, max_size=12))
def test_any_web_of_citations_has_a_depth(web: list[list[int]]) -> None:
    store = found(*(thought(str(i), *map(str, cited)) for i, cited in enumerate(web)))
    for memory in store.values():
        assert 1 <= depth_of(memory, store.get) <= len(web)


@pytest.mark.slow
@given(st.lists(st.sets(st.integers(0, 11), max_size=4), min_size=12, max_size=12))
def test_without_circles_a_reflection_is_deeper_than_what_it_cites(web: list[set[int]]) -> None:
    ordered = [{c for c in cited if c < i} for i, cited in enumerate(web)]
    store = found(*(thought(str(i), *map(str, sorted(cited))) for i, cited in enumerate(ordered)))
    for i, cited in enumerate(ordered):
        below = [depth_of(store[str(c)], store.get) for c in cited]
        assert depth_of(store[str(i)], store.get) == 1 + max(below, default=0)
