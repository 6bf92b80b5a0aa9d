"""The read index: single documents of a large store, read without reading all of it, and never
another answer.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from tests.store.helpers import COUNTED, NOON, clock, docs, indexed, indexing, memory
from tests.store.machine import StoreMachine
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.store import history
from workbench.store.files import DOCUMENTS
from workbench.store.index.indexing import FILE
from workbench.store.index.keeping import IndexKeeper
from workbench.store.index.reading import ReadIndex
from workbench.store.journal.engine import Journal, Options
from workbench.store.library import Library
from workbench.store.maintenance import checkpoint_writer, purge
from workbench.store.maintenance.checkpoint_writer import Loaded
from workbench.store.maintenance.purge import Masker


class IndexedMachine(StoreMachine):
    """The same store as in the model's test, opened by its index: what is asked for singly is the
    same as all of it.
    """

    @initialize(
        segment_bytes=st.sampled_from([600, 1 << 20]), fold_after=st.sampled_from([1, 3, 1000])
    )
    def start_indexed(self, segment_bytes: int, fold_after: int) -> None:
        self.fold_after = fold_after
        self.cache = Path(tempfile.mkdtemp(prefix="store-index-"))
        StoreMachine.start(self, segment_bytes)

    def start(self, segment_bytes: int) -> None:
        """Begin only once what the index needs is known."""

    def _open(self, name: str) -> Journal:
        folder = self.folder / "s"
        folder.mkdir(exist_ok=True)
        how = indexing(self.cache, fold_after=self.fold_after)
        options = Options(segment_bytes=self.segment_bytes, checkpoint_every=0, indexing=how)
        return Journal(folder, clock, COUNTED, options=options)

    def teardown(self) -> None:
        StoreMachine.teardown(self)
        if hasattr(self, "cache"):
            shutil.rmtree(self.cache)

    @rule(second=st.booleans())
    def read_all(self, second: bool) -> None:
        journal = self.two if second else self.one
        journal.refresh()
        assert journal.state.docs("t") == self.model

    def both_hold_the_model(self) -> None:
        """Ask for single documents, and hold the order against one that reads all of them."""
        if not hasattr(self, "one"):
            return
        whole = list(
            docs(
                Journal(self.folder / "s", clock, COUNTED, options=Options(checkpoint_every=0))
            ).items()
        )
        for journal in (self.one, self.two):
            journal.refresh()
            state = journal.state
            assert {n: doc for n in "1234" if (doc := state.get("t", n)) is not None} == self.model
            assert state.count("t") == len(self.model)
            assert state.latest("t", 2) == whole[-2:]
            assert sorted(state.newest("t", 9)) == sorted(self.model) or state.unread
            keys = [doc["id"] for doc in self.model.values() if isinstance(doc.get("id"), str)]
            found = {key: state.doc_id_of("t", key) for key in keys if keys.count(key) == 1}
            assert found == {
                key: n for n, doc in self.model.items() if (key := doc.get("id")) in found
            }
            assert state.doc_id_of("t", "nobody's") is None
            assert state.next_id("t") > max(map(int, self.model), default=0)
            assert journal.rev == len(self.past) - 1
            assert not journal.damage


IndexedMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestIndexedStore = IndexedMachine.TestCase


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """The user's cache of the store."""
    return tmp_path / "cache"


@pytest.fixture
def reopen(tmp_path: Path, cache: Path) -> Callable[[], Library]:
    """Opens the store as a large one is opened."""
    return lambda: Library(tmp_path / "s", clock, indexed(cache))


@pytest.fixture
def filled(reopen: Callable[[], Library]) -> Library:
    """A store with a checkpoint, and its index: ten memories, one of them a candidate, and an open
    proposal.
    """
    library = reopen()
    with library.transaction("agent:a", "add") as tx:
        for number in range(9):
            tx.put(memory(number))
        tx.put(memory(9, status="candidate"))
        tx.put(Proposal("p1", "merge", "human", "merge", NOON))
    library.save_checkpoint()
    return library


def test_a_large_store_is_opened_without_reading_it(
    filled: Library, reopen: Callable[[], Library]
) -> None:
    library = reopen()
    assert library.memories.find("m3") == filled.memories.find("m3")
    assert len(library.memories) == 10
    with library.transaction("human", "edit") as tx:
        tx.put(replace(library.memories.get("m4"), content="another text"))
    action = library.past.undoable(lambda actor: actor == "human")
    assert action is not None
    library.past.undo(action, "human")
    assert library.memories.get("m4").content == "memory number 4"
    assert [one.id for one in library.waiting(Memory, "candidate")] == ["m9"]
    assert [one.id for one in library.waiting(Proposal, "open")] == ["p1"]
    assert [len(one.added) for one in library.arrivals(0)] == [10]
    assert library.arrivals(1) == []
    assert not library.is_read
    assert library.memories.all() == filled.memories.all()
    library.read()
    assert library.is_read


def test_what_waits_and_what_came_is_kept_up_with_changes(
    filled: Library, reopen: Callable[[], Library]
) -> None:
    library = reopen()
    with library.transaction("agent:a", "change") as tx:
        tx.put(replace(library.memories.get("m9"), status="confirmed"))
        tx.put(memory(10, status="candidate"))
        tx.delete(library.proposals.get("p1"))
    filled.refresh()
    for one in (library, filled, reopen()):
        assert [m.id for m in one.waiting(Memory, "candidate")] == ["m10"]
        assert one.waiting(Proposal, "open") == []
        assert [len(news.added) for news in one.arrivals(0)] == [10, 1]
        assert [len(news.added) for news in one.arrivals(1)] == [1]
    assert not library.is_read


def test_an_index_is_the_users_own(filled: Library, cache: Path) -> None:
    assert (cache / FILE).stat().st_mode & 0o077 == 0
    assert filled.journal.folder not in (cache / FILE).parents


def spoil(path: Path, data: bytes) -> None:
    """Put other bytes in the place of a file."""
    path.write_bytes(data)


def linked(path: Path) -> None:
    """Put a link to a device in the place of a file."""
    path.unlink()
    path.symlink_to("/dev/zero")


def folded(path: Path) -> None:
    """Put a folder in the place of a file."""
    path.unlink()
    path.mkdir()


def changed(path: Path, statement: str) -> None:
    """Change an index as nobody does."""
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def said(path: Path, old: str, new: str) -> None:
    """Let the facts of an index say something else."""
    changed(
        path,
        f"UPDATE facts SET value = CAST(replace(CAST(value AS TEXT), '{old}', '{new}') AS BLOB)",
    )


SPOILT: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: spoil(path, b""),
    "no database": lambda path: spoil(path, b"\0" * 9000),
    "cut off": lambda path: spoil(path, path.read_bytes()[:9000]),
    "a link to a device": linked,
    "a folder": folded,
    "other facts": lambda path: changed(path, "UPDATE facts SET value = '{}'"),
    "facts that are no JSON": lambda path: changed(path, "UPDATE facts SET value = x'00ff'"),
    "another schema": lambda path: changed(
        path, """UPDATE facts SET value = replace(value, '"schema":2', '"schema":9')"""
    ),
    "no facts": lambda path: changed(path, "DELETE FROM facts"),
    "no table": lambda path: changed(path, "DROP TABLE docs"),
    "no documents": lambda path: changed(path, "UPDATE docs SET body = substr(body, 2)"),
    "other values": lambda path: changed(path, "UPDATE docs SET body = '[]'"),
    "fewer documents": lambda path: changed(
        path, "UPDATE facts SET value = replace(value, '\"count\":10', '\"count\":11')"
    ),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_index_is_none(
    how: str, filled: Library, reopen: Callable[[], Library], cache: Path
) -> None:
    SPOILT[how](cache / FILE)
    library = reopen()
    assert library.memories.find("m3") == filled.memories.find("m3")
    assert [m.id for m in library.memories.latest(2)] == ["m8", "m9"]
    assert library.memories.all() == filled.memories.all()
    with library.transaction("human", "edit") as tx:
        tx.put(memory(11))
    assert [m.id for m in reopen().memories.all()] == [f"m{n}" for n in (*range(10), 11)]


def test_an_index_of_other_documents_is_none(
    filled: Library, reopen: Callable[[], Library]
) -> None:
    file = filled.folder / "memory.json"
    before = file.read_bytes()
    file.write_bytes(before.replace(b"memory number 3", b"MEMORY NUMBER 3"))
    assert reopen().is_read
    file.write_bytes(before)
    assert reopen().is_read, "the file was written anew, so it has to be looked at"


@pytest.mark.slow
def test_what_is_purged_is_not_in_the_index(
    filled: Library, reopen: Callable[[], Library], cache: Path
) -> None:
    with filled.transaction("human", "secret") as tx:
        tx.put(memory(12, "the secret nobody may find again"))
    for number in range(300):
        with filled.transaction("human", "more") as tx:
            tx.put(memory(3, f"text {number}"))
    reopen()
    assert b"nobody may find" in (cache / FILE).read_bytes(), "it was taken into the index"
    (cache / FILE).rename(cache / "removed with the caches")
    purge.mask(
        filled.journal,
        Masker(["nobody may find"], lambda text: text.replace("nobody may find", "●")),
        "human",
        tuple,
    )
    reopen().memories.all()
    assert not (cache / FILE).exists() or b"nobody may find" not in (cache / FILE).read_bytes()


def test_many_changes_are_taken_into_the_index_by_who_reads_them(
    filled: Library, tmp_path: Path, cache: Path
) -> None:
    for number in range(20, 25):
        with filled.transaction("agent:a", "more") as tx:
            tx.put(memory(number))
    with filled.transaction("human", "less") as tx:
        tx.delete(filled.memories.get("m0"))
    library = Library(tmp_path / "s", clock, indexed(cache, fold_after=5))
    index = ReadIndex.open(cache, tmp_path / "s")
    assert index is not None
    assert index.rev == filled.revision
    assert not library.is_read
    assert [one.id for one in library.memories.latest(1)] == ["m24"]
    assert library.memories.find("m0") is None
    assert library.memories.all() == filled.memories.all()


def test_a_checkpoint_is_due_later_where_an_index_takes_in_what_comes(
    filled: Library, reopen: Callable[[], Library], tmp_path: Path
) -> None:
    for number in range(20, 220):
        with filled.transaction("agent:a", "more") as tx:
            tx.put(memory(number))
    assert not reopen().starts_slowly
    assert Library(tmp_path / "s", clock).starts_slowly
    filled.journal.save_checkpoint()
    assert not Library(tmp_path / "s", clock).starts_slowly


DIFFERING: dict[str, tuple[str, int]] = {
    "another key": ("UPDATE docs SET key = 'm77' WHERE key = 'm3'", 1),
    "another state": ("UPDATE docs SET waits = 'candidate' WHERE key IN ('m3', 'm4')", 2),
    "another time": ("UPDATE docs SET made = '1999' WHERE key = 'm3'", 1),
    "another document": ("UPDATE docs SET body = '{\"id\": \"m3\"}' WHERE key = 'm3'", 1),
    "an older document": ("UPDATE docs SET body = '{\"id\": \"m5\"}' WHERE key = 'm5'", 1),
    "one that is missing": ("DELETE FROM docs WHERE key = 'm3'", 7),
    "documents exchanged": (
        "UPDATE docs SET body = (SELECT body FROM docs WHERE key = 'm8') WHERE key = 'm3'",
        1,
    ),
}
"""How an index is changed, and of how many documents it then differs: all that follow where the
order does.
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", DIFFERING)
def test_an_index_that_differs_is_found_and_made_anew(
    how: str, filled: Library, tmp_path: Path, cache: Path
) -> None:
    for number in (5, 6):
        with filled.transaction("human", "edit") as tx:
            tx.put(memory(number, "edited later"))
    options = indexed(cache, fold_after=1)
    first = Library(tmp_path / "s", clock, options)
    assert first.check_index() is None
    first.read()
    statement, count = DIFFERING[how]
    changed(cache / FILE, statement)
    library = Library(tmp_path / "s", clock, options)
    mended = library.check_index()
    assert mended is not None
    assert (mended.at.year, mended.documents) == (NOON.year, count)
    assert library.memories.all() == filled.memories.all()
    again = Library(tmp_path / "s", clock, options)
    assert again.check_index() is None
    assert not again.is_read
    assert again.memories.find("m3") == filled.memories.find("m3")
    assert [one.id for one in again.waiting(Memory, "candidate")] == ["m9"]


def test_an_index_that_failed_while_it_was_read_is_made_anew(
    filled: Library, reopen: Callable[[], Library], cache: Path
) -> None:
    changed(cache / FILE, "UPDATE docs SET body = substr(body, 2)")
    library = reopen()
    assert library.memories.find("m3") == filled.memories.find("m3")
    library.keep_index()
    assert not reopen().is_read
    assert reopen().memories.find("m3") == filled.memories.find("m3")


def test_who_reads_an_index_keeps_it_as_it_was(
    filled: Library, tmp_path: Path, cache: Path
) -> None:
    reader = ReadIndex.open(cache, tmp_path / "s")
    assert reader is not None
    assert reader.count("memories") == 10
    for number in range(20, 25):
        with filled.transaction("agent:a", "more") as tx:
            tx.put(memory(number))
    other = Library(tmp_path / "s", clock, indexed(cache, fold_after=5))
    assert reader.doc_id_of("memories", "m20") is None
    assert len(other.memories) == 15
    assert other.memories.all() == filled.memories.all()


def test_a_document_that_is_looked_up_while_all_are_read_is_the_same(
    filled: Library, reopen: Callable[[], Library]
) -> None:
    library = reopen()
    state = library.journal.state
    unread = state.unread["memories"]
    read = unread.base.read

    def vote_meanwhile(table: str) -> dict[str, dict[str, object]]:
        """Change the store between reading the table and putting it in its place."""
        found = read(table)
        with library.transaction("human", "vote") as tx:
            tx.put(replace(library.memories.get("m3"), helpful_votes=7))
            tx.put(memory(13))
            tx.delete(library.memories.get("m5"))
        return found

    unread.base.read = vote_meanwhile  # type: ignore[method-assign]
    found = {m.id: m for m in library.memories.all()}
    assert found["m3"].helpful_votes == 7
    assert "m13" in found
    assert "m5" not in found
    assert library.memories.all() == Library(library.folder, clock).memories.all()


def test_a_small_store_has_no_index(tmp_path: Path, cache: Path) -> None:
    library = Library(tmp_path / "s", clock, cache=cache)
    with library.transaction("human", "add") as tx:
        tx.put(memory(1))
    library.save_checkpoint()
    library.keep_index()
    assert not cache.exists()
    assert library.is_read


def test_an_index_that_is_gone_is_made_anew(
    filled: Library, reopen: Callable[[], Library], cache: Path
) -> None:
    (cache / FILE).unlink()
    library = reopen()
    assert library.is_read
    library.keep_index()
    assert not reopen().is_read
    assert reopen().memories.all() == filled.memories.all()


@pytest.mark.parametrize("spoilt", [b"memory number 5", b""])
def test_no_index_is_made_of_a_file_that_is_not_the_journals(
    filled: Library, reopen: Callable[[], Library], cache: Path, spoilt: bytes
) -> None:
    (cache / FILE).unlink()
    library, file = reopen(), filled.folder / DOCUMENTS
    file.write_bytes(file.read_bytes().replace(b"memory number 4", spoilt))
    library.keep_index()
    assert not (cache / FILE).exists()
    assert reopen().is_read


def test_where_no_index_can_be_written_there_is_none(tmp_path: Path, filled: Library) -> None:
    (tmp_path / "file").write_text("")
    library = Library(tmp_path / "s", clock, indexed(tmp_path / "file"))
    library.keep_index()
    with library.transaction("human", "add") as tx:
        tx.put(memory(11))
    library.save_checkpoint()
    assert len(Library(tmp_path / "s", clock).memories) == 11
    filled.refresh()
    assert len(filled.memories) == 11


def test_an_untrusted_stores_index_is_not_read(
    filled: Library, tmp_path: Path, cache: Path
) -> None:
    heads = tmp_path / "heads"
    heads.mkdir()
    (heads / "trust-since").touch()
    os.utime(heads / "trust-since", (0, 0))
    stranger = Library(filled.folder, clock, indexed(cache), heads=heads)
    assert not stranger.standing.trusted
    assert stranger.is_read


def test_reading_writes_nothing_into_the_store(
    filled: Library, reopen: Callable[[], Library]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in filled.folder.iterdir()}
    library = reopen()
    library.memories.all()
    library.keep_index()
    library.arrivals(0)
    assert {path: path.stat().st_mtime_ns for path in filled.folder.iterdir()} == before


def test_a_group_is_undone_over_the_index(filled: Library, reopen: Callable[[], Library]) -> None:
    library = reopen()
    for part in range(3):
        with library.transaction("human", "group", group="g", part=part + 1, more=part < 2) as tx:
            tx.put(replace(library.memories.get(f"m{part}"), content="grouped"))
    journal = reopen().journal
    action = history.Past(journal).undoable(lambda actor: actor == "human")
    assert action is not None
    history.Past(journal).undo(action, "human")
    assert reopen().memories.all() == Library(filled.folder, clock).memories.all()
    assert reopen().memories.get("m1").content == "memory number 1"


def test_an_index_keeper_without_an_indexing_keeps_nothing(tmp_path: Path) -> None:
    keeper = IndexKeeper(None, tmp_path)
    assert keeper.open(None, lambda _rev: {}) is None
    keeper.write_missing(None)
    assert list(tmp_path.iterdir()) == []


def test_what_is_purged_while_an_index_is_made_is_not_in_it(
    reopen: Callable[[], Library], filled: Library, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.save_checkpoint()
    for path in cache.iterdir():
        path.unlink()
    library, load = reopen(), checkpoint_writer.load

    def load_slowly(folder: Path, key: bytes | None = None) -> Loaded:
        loaded = load(folder, key)
        monkeypatch.setattr(checkpoint_writer, "load", load)
        other = Journal(folder, clock)
        purge.purge(other, [("memories", "m1")], "human")
        other.close()
        return loaded

    monkeypatch.setattr(checkpoint_writer, "load", load_slowly)
    library.journal.keep_index()
    assert not any(b"memory number 1" in path.read_bytes() for path in cache.rglob("*.sqlite"))
