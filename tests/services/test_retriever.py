"""The retriever keeps the ranking in step with the store, and only ever writes its cache."""

import multiprocessing
from pathlib import Path

import pytest

from tests.services.conftest import Clock, Open, memory, put
from workbench.core.tuning.profile import BUILT_IN
from workbench.retrieval.fulltext.lexical import OVERLAY
from workbench.services.open import Workbench, open_workbench


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
    return list(tuning.rank(query, tuning.default(), k=9).ids)


def test_it_loads_when_asked(bench: Workbench) -> None:
    bench.retriever.follow()
    assert not bench.tuning.ready
    seen: list[tuple[int, int]] = []
    put(bench, memory("a", "one"), memory("b", "two"))
    bench.retriever.load(lambda done, total: seen.append((done, total)))
    assert bench.tuning.ready
    assert seen == [(2, 2), (2, 2)], "embedded, then indexed"


def test_new_changed_archived_and_removed_memories_are_followed(
    loaded: Workbench, open_bench: Open
) -> None:
    put(loaded, memory("d", "A deploy needs its secret"))
    loaded.follow()
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


def test_following_gives_what_building_anew_gives(
    loaded: Workbench, open_bench: Open, clock: Clock
) -> None:
    for i in range(5):
        put(loaded, memory(f"n{i}", f"Note {i} on deploys and secrets"))
        loaded.tuning.question("deploy")
    loaded.stream.edit("n2", "Something about trains")
    loaded.stream.vote(["n3"], "harmful")
    clock.advance(days=1)
    fresh = open_bench()
    for profile in BUILT_IN:
        for query in ("deploy secret", "trains", ""):
            followed = loaded.tuning.rank(query, profile, k=20)
            anew = fresh.tuning.rank(query, profile, k=20)
            assert followed.ids == anew.ids
            assert [s.total for s in followed.top] == pytest.approx([s.total for s in anew.top])


def test_the_nearest_are_archived_ones_too_and_never_the_excluded(loaded: Workbench) -> None:
    loaded.stream.forget(["b"])
    near = loaded.retriever.nearest_memories("Lunch at noon", 2)
    assert near[0][0].id == "b"
    assert near[0][1] > near[1][1]
    assert [
        m.id for m, _ in loaded.retriever.nearest_memories("Lunch", 9, exclude=("b", "nothing"))
    ] != []
    assert "b" not in [
        m.id for m, _ in loaded.retriever.nearest_memories("Lunch", 9, exclude=("b",))
    ]
    assert loaded.retriever.nearest_bullets("anything") == ()


def test_a_second_start_embeds_nothing(loaded: Workbench, open_bench: Open) -> None:
    seen: list[int] = []
    open_bench().retriever.load(lambda done, _: seen.append(done))
    assert seen == []


@pytest.mark.slow
def test_many_new_memories_are_followed_and_cached(loaded: Workbench, open_bench: Open) -> None:
    put(loaded, *(memory(f"n{i}", f"Note {i} on wagons") for i in range(OVERLAY + 1)))
    assert found(loaded, "wagons Note 77")[0] == "n77"
    seen: list[int] = []
    open_bench().retriever.load(lambda done, _: seen.append(done))
    assert seen == []


def test_a_memory_that_cannot_be_read_is_left_out(loaded: Workbench, open_bench: Open) -> None:
    loaded.library.db.table("memories").update({"tags": "no list"}, doc_ids=[2])
    bench = open_bench()
    assert found(bench, "lunch in the garden") == ["a"]
    assert any("cannot be read" in notice for notice in map(str, bench.library.journal.notices))


def test_a_damaged_text_cache_is_made_again(loaded: Workbench, open_bench: Open) -> None:
    (file,) = loaded.context.caches.rglob("index.npz")
    file.write_bytes(file.read_bytes()[:-4096])
    seen: list[tuple[int, int]] = []
    bench = open_bench()
    bench.retriever.load(lambda done, total: seen.append((done, total)))
    assert seen == [(3, 3)], "indexed, not embedded"
    assert found(bench, "deploy secret") == ["a", "b"]


def load(folder: Path, profiles: Path) -> None:
    bench = open_workbench(folder, profiles=profiles)
    bench.retriever.load()
    bench.close()


@pytest.mark.slow
def test_two_processes_that_fill_the_caches_at_once_end_with_one_that_is_right(
    bench: Workbench, open_bench: Open, tmp_path: Path
) -> None:
    put(bench, *(memory(f"n{i}", f"Note {i} on wagons and deploys") for i in range(3000)))
    context = multiprocessing.get_context("spawn")
    both = [
        context.Process(target=load, args=(bench.library.folder, tmp_path / "profiles"))
        for _ in range(2)
    ]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    seen: list[tuple[int, int]] = []
    again = open_bench()
    again.retriever.load(lambda done, total: seen.append((done, total)))
    assert seen == []
    assert len(list(bench.context.caches.rglob("index.npz"))) == 1
    assert found(again, "wagons Note 1234")[0] == "n1234"
