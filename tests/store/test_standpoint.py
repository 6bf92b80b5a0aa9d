"""A store as it was: every revision is what it was right after it, and nothing can be changed from
there.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from workbench.core.playbook.book import Book
from workbench.core.record import OnlyLookedAt, UnknownRecord
from workbench.core.stream.memory import Memory
from workbench.store.index.indexing import Indexing
from workbench.store.library import STANDARD, Library
from workbench.store.maintenance import backup
from workbench.store.records import place_of

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


class Ticking:
    """A clock that goes on by an hour whenever it is asked."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(hours=1)
        return self.now


def memory(id: str, text: str) -> Memory:
    return Memory(id=id, content=text, created_at=START, last_accessed_at=START)


def records(library: Library) -> dict[str, dict[str, object]]:
    tables = (library.memories, library.books)
    return {table.name: {place_of(one)[1]: one for one in table.all()} for table in tables}


def write(library: Library) -> dict[int, dict[str, dict[str, object]]]:
    """Do what a store goes through, and return what it held after each change."""
    seen = {0: records(library)}

    def step(change: Callable[[], object]) -> None:
        change()
        seen[library.revision] = records(library)

    def put(*given: object) -> None:
        with library.transaction("human", "put") as tx:
            for one in given:
                tx.put(one)

    def delete(*given: object) -> None:
        with library.transaction("human", "delete") as tx:
            for one in given:
                tx.delete(one)

    first = memory("mem-20260302-0000001", "Deploys need AUTH_SECRET.")
    second = memory("mem-20260302-0000002", "Tests use a real Postgres.")
    step(lambda: put(first))
    step(lambda: put(second, Book("main", "Main")))
    step(lambda: put(replace(first, content="Deploys need AUTH_SECRET in CI.", helpful_votes=2)))
    step(lambda: put(replace(first, content="Deploys need AUTH_SECRET in CI.", helpful_votes=3)))
    step(lambda: delete(second))
    step(lambda: put(memory("mem-20260302-0000003", "pnpm, never npm.")))
    step(lambda: put(replace(second, pinned=True)))
    undone = library.past.undoable(lambda actor: actor == "human")
    assert undone is not None
    step(lambda: library.past.undo(undone, "human"))
    return seen


@pytest.fixture
def written(tmp_path: Path) -> dict[int, dict[str, dict[str, object]]]:
    library = Library(tmp_path / "store", Ticking())
    seen = write(library)
    library.close()
    return seen


def test_every_revision_is_what_it_was(
    tmp_path: Path, written: dict[int, dict[str, dict[str, object]]]
) -> None:
    for rev, held in written.items():
        past = Library(tmp_path / "store", at=rev)
        assert records(past) == held
        assert past.revision == rev
        assert [event.rev for event in past.past.events()] == list(range(rev, 0, -1))
        assert {arrival.rev for arrival in past.arrivals(0)} <= set(range(1, rev + 1))


def test_a_large_store_that_is_read_by_its_index_is_as_it_was_too(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    indexing = Indexing(cache, lambda: cache.mkdir(exist_ok=True), "memories", least=1)
    options = STANDARD._replace(indexing=indexing)
    library = Library(tmp_path / "store", Ticking(), options, cache=cache)
    seen = write(library)
    library.save_checkpoint()
    with library.transaction("human", "one more") as tx:
        tx.put(memory("mem-20260302-0000009", "After the checkpoint."))
    seen[library.revision] = records(library)
    before = {path.name: path.read_bytes() for path in cache.iterdir() if path.is_file()}
    for rev, held in seen.items():
        past = Library(tmp_path / "store", Ticking(), options, cache=cache, at=rev)
        assert not past.is_read
        assert past.memories.find("mem-20260302-0000002") == held["memories"].get(
            "mem-20260302-0000002"
        )
        assert len(past.memories) == len(held["memories"])
        assert (records(past), past.saved, past.since_saved(Memory)) == (held, "", None)
        past.keep_index()
        past.check_index()
        past.close()
    assert {path.name: path.read_bytes() for path in cache.iterdir() if path.is_file()} == before


def test_it_stands_where_and_when(
    tmp_path: Path, written: dict[int, dict[str, dict[str, object]]]
) -> None:
    standpoint = Library(tmp_path / "store", at=3).standpoint
    assert standpoint is not None
    assert (standpoint.rev, standpoint.latest) == (3, max(written))
    assert standpoint.at is not None
    assert START < standpoint.at < START + timedelta(days=1)
    at_the_start = Library(tmp_path / "store", at=0).standpoint
    assert at_the_start is not None
    assert at_the_start.at is None
    for rev in (-1, max(written) + 1):
        with pytest.raises(UnknownRecord, match="There is no revision"):
            Library(tmp_path / "store", at=rev)


def test_nothing_can_be_changed_there(
    tmp_path: Path, written: dict[int, dict[str, dict[str, object]]]
) -> None:
    store = tmp_path / "store"
    before = {path.name: path.read_bytes() for path in store.iterdir() if path.is_file()}
    past = Library(store, at=2)
    ways: list[Callable[[], object]] = [
        lambda: past.transaction("human", "put").__enter__(),
        lambda: past.exclusive().__enter__(),
        lambda: past.turn().__enter__(),
        past.require_trust,
        past.save_checkpoint,
        past.begin,
        past.journal.trust,
        past.journal.accept,
        lambda: backup.compact(past.journal),
        lambda: backup.write_backup(past.journal, tmp_path / "backup", START),
    ]
    for way in ways:
        with pytest.raises(OnlyLookedAt, match="at revision 2"):
            way()
    past.close()
    assert {path.name: path.read_bytes() for path in store.iterdir() if path.is_file()} == before


def test_what_others_write_meanwhile_does_not_show(
    tmp_path: Path, written: dict[int, dict[str, dict[str, object]]]
) -> None:
    past, other = Library(tmp_path / "store", at=2), Library(tmp_path / "store")
    with other.transaction("human", "put") as tx:
        tx.put(memory("mem-20260302-0000007", "Written meanwhile."))
    assert past.refresh() == 0
    assert records(past) == written[2]
