"""The retriever keeps the ranking in step with the store, and only ever writes its cache."""

import pytest

from tests.bench.conftest import NOON, Clock, Open, memory, put
from workbench.bench.workbench import Workbench
from workbench.core.profile import BUILT_IN


@pytest.fixture
def loaded(bench: Workbench) -> Workbench:
    put(
        bench,
        memory("a", "The deploy failed: the secret was missing"),
        memory("b", "Lunch is at noon in the garden"),
        memory("c", "Candidates are not served", status="candidate"),
    )
    bench.retriever.load()
    return bench


def found(bench: Workbench, query: str) -> list[str]:
    tuning = bench.tuning
    return list(tuning.rank(tuning.ask(query), tuning.default(), k=9).ids)


def test_it_loads_when_asked(bench: Workbench) -> None:
    assert not bench.tuning.ready
    seen: list[tuple[int, int]] = []
    put(bench, memory("a", "one"), memory("b", "two"))
    bench.retriever.load(lambda done, total: seen.append((done, total)))
    assert bench.tuning.ready
    assert seen == [(2, 2), (2, 2)], "embedded, then indexed"


def test_what_is_served_is_ranked(loaded: Workbench) -> None:
    assert found(loaded, "deploy secret") == ["a", "b"]
    assert found(loaded, "lunch in the garden") == ["b", "a"]


def test_new_changed_archived_and_removed_memories_are_followed(loaded: Workbench, open_bench: Open) -> None:
    put(loaded, memory("d", "A deploy needs its secret"))
    assert set(found(loaded, "deploy secret")[:2]) == {"a", "d"}
    loaded.stream.edit("b", "The deploy secret is in the vault")
    assert found(loaded, "vault")[0] == "b"
    loaded.stream.forget(["a"])
    assert "a" not in found(loaded, "deploy")
    loaded.history.undo()
    assert "a" in found(loaded, "deploy")
    open_bench("agent:x").stream.edit("d", "The weather was fine")
    loaded.library.journal.refresh()
    assert found(loaded, "fine weather")[0] == "d"
    with loaded.library.transaction("setup", "purge") as tx:
        tx.delete(loaded.stream.get("d"))
    assert set(found(loaded, "deploy")) == {"a", "b"}


def test_following_gives_what_building_anew_gives(loaded: Workbench, open_bench: Open, clock: Clock) -> None:
    for i in range(5):
        put(loaded, memory(f"n{i}", f"Note {i} on deploys and secrets"))
        loaded.tuning.ask("deploy")
    loaded.stream.edit("n2", "Something about trains")
    loaded.stream.vote(["n3"], "harmful")
    clock.advance(days=1)
    fresh = open_bench()
    for profile in BUILT_IN:
        for query in ("deploy secret", "trains", ""):
            followed = loaded.tuning.rank(loaded.tuning.ask(query), profile, k=20)
            anew = fresh.tuning.rank(fresh.tuning.ask(query), profile, k=20)
            assert followed.ids == anew.ids
            assert [s.total for s in followed.top] == pytest.approx([s.total for s in anew.top])


def test_ranking_leaves_no_trace(loaded: Workbench) -> None:
    before, rev = loaded.stream.get("a"), loaded.library.journal.rev
    found(loaded, "deploy")
    assert (loaded.stream.get("a"), loaded.library.journal.rev) == (before, rev)
    assert before.last_accessed_at == NOON


def test_the_nearest_are_archived_ones_too_and_never_the_excluded(loaded: Workbench) -> None:
    loaded.stream.forget(["b"])
    near = loaded.retriever.nearest_memories("Lunch at noon", 2)
    assert near[0][0].id == "b"
    assert near[0][1] > near[1][1]
    assert [m.id for m, _ in loaded.retriever.nearest_memories("Lunch", 9, exclude=("b", "nothing"))] != []
    assert "b" not in [m.id for m, _ in loaded.retriever.nearest_memories("Lunch", 9, exclude=("b",))]
    assert loaded.retriever.nearest_bullets("anything") == ()


def test_a_second_start_embeds_nothing(loaded: Workbench, open_bench: Open) -> None:
    seen: list[int] = []
    open_bench().retriever.load(lambda done, _: seen.append(done))
    assert seen == []
