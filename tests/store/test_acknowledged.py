"""What was said to be stored is stored: lost line ends, zeros, wrong counters, odd ids, and writes
that fail twice.
"""

import errno
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.helpers import (
    NOON,
    clock,
    docs,
    failing,
    lines,
    memory,
    open_journal,
    open_library,
    put,
)
from workbench.core.files import atomic
from workbench.core.record import StoreProblem, UnknownOutcome
from workbench.core.stream.memory import Memory
from workbench.store import append, history
from workbench.store.journal import reorder, segments
from workbench.store.journal.codec import read_line
from workbench.store.maintenance import checkpoint_writer
from workbench.store.maintenance.doctor import examine

BROKEN = OSError(errno.EIO, "Input/output error")


def hook(folder: Path, text: str, heads: Path | None = None) -> str:
    with append.appending(folder, "agent:x", "see", clock, heads) as block:
        name = block.new_memory_id(NOON)
        block.add(Memory(name, text, NOON, NOON))
    return name


@pytest.mark.parametrize("end", [b"", b"\0", b"\0" * 5000, b'\0\0{"rev":4,"a'])
def test_a_line_without_its_end_counts(tmp_path: Path, end: bytes) -> None:
    journal = open_journal(tmp_path)
    for number in (1, 2, 3):
        put(journal, number, {"id": f"x{number}"})
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-1] + end)
    assert examine(tmp_path).damage == ()
    other = open_journal(tmp_path)
    assert (other.rev, other.damage) == (3, [])
    assert [e.rev for e in other.entries_back()] == [3, 2, 1]
    put(other, 4, {"id": "x4"})
    again = open_journal(tmp_path)
    assert (set(docs(again)), again.damage) == ({"1", "2", "3", "4"}, [])
    assert b"\0" not in path.read_bytes()


def test_a_lost_line_end_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    for number in (1, 2, 3):
        put(journal, number, {"id": f"x{number}"})
    content = lines(tmp_path)
    (tmp_path / "journal.jsonl").write_bytes(
        b"".join([*content[:2], content[2][:-1], b"\x0b", *content[3:]])
    )
    other = open_journal(tmp_path)
    assert set(docs(other)) == {"1", "2", "3"}
    assert [e.rev for e in other.entries_back()] == [3, 2, 1]
    assert len(other.damage) == 1


def test_a_last_line_that_is_damaged_is_no_leftover_of_a_crash(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"id": "x1"})
    put(journal, 2, {"id": "x2"})
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-1].replace(b"put 2", b"PUT 2"))
    put(open_journal(tmp_path), 3, {"id": "x3"})
    assert b"PUT 2" in path.read_bytes()
    assert not examine(tmp_path).is_sound


def test_a_stamp_with_a_wrong_digit_is_not_believed(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    with library.transaction("human", "add") as tx:
        for number in range(261):
            tx.put(memory(number))
    with library.transaction("human", "other") as tx:
        tx.put(memory(0, "edited"))
    library.close()
    note = tmp_path / checkpoint_writer.NOTE
    assert b'"memories":262' in note.read_bytes()
    note.write_bytes(note.read_bytes().replace(b'"memories":262', b'"memories":162', 1))
    other = open_library(tmp_path)
    before = {m.id for m in other.memories.all()}
    with other.transaction("human", "add") as tx:
        name = tx.new_memory_id(NOON)
        tx.put(Memory(name, "new", NOON, NOON))
    assert name == "mem-20261121-0000262"
    assert {m.id for m in open_library(tmp_path).memories.all()} == before | {name}


@pytest.mark.parametrize(
    "name", ["mem-20260101-999999999", "mem-20260101-999999999999", "mem-20260101-" + "9" * 18]
)
def test_an_odd_id_that_was_imported_leaves_room(tmp_path: Path, name: str) -> None:
    library = open_library(tmp_path)
    with library.transaction("import:x", "import") as tx:
        tx.put(Memory(name, "imported", NOON, NOON))
    made = [hook(tmp_path, "one"), hook(tmp_path, "two")]
    library.journal.refresh()
    with library.transaction("human", "add") as tx:
        made.append(tx.new_memory_id(NOON))
        tx.put(Memory(made[-1], "three", NOON, NOON))
    assert {m.id for m in open_library(tmp_path).memories.all()} == {name, *made}
    assert len({name, *made}) == 4


def test_a_damaged_last_line_after_a_checkpoint_does_not_swallow_the_next(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    for number in range(3):
        with library.transaction("human", "add") as tx:
            tx.put(memory(number))
    library.close()
    path = tmp_path / "journal.jsonl"
    content = lines(tmp_path)
    path.write_bytes(b"".join(content[:-1]) + content[-1].replace(b"number 2", b"number 3"))
    name = hook(tmp_path, "new")
    other = open_library(tmp_path)
    assert other.memories.get(name).content == "new"
    assert len(other.memories) == 4
    assert not examine(tmp_path).is_sound


def test_a_checkpoint_without_its_note_is_blamed_on_nobody(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"id": "x1"})
    journal.save_checkpoint()
    put(journal, 2, {"id": "x2"})
    (tmp_path / checkpoint_writer.NOTE).unlink()
    other = open_journal(tmp_path)
    assert other.notices == []
    put(other, 3, {"id": "x3"})
    other.close()
    assert not any(
        "another program" in text for text in map(str, [*other.notices, *examine(tmp_path).notes])
    )
    assert set(docs(open_journal(tmp_path))) == {"1", "2", "3"}


def failing_twice(patch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise BROKEN

    patch.setattr(os, "fsync", fail)
    patch.setattr(os, "ftruncate", fail)


def test_what_can_be_neither_made_durable_nor_taken_back_is_said_to_be_unknown(
    tmp_path: Path,
) -> None:
    library = open_library(tmp_path)
    for number in (1, 2, 3):
        with library.transaction("human", f"put {number}") as tx:
            tx.put(memory(number))
    last = history.Past(library.journal).undoable(lambda _: True)
    assert last is not None
    with pytest.MonkeyPatch.context() as patch:
        failing_twice(patch)
        with pytest.raises(UnknownOutcome, match="workbench history"):
            history.Past(library.journal).undo(last, "human")
    assert [m.id for m in open_library(tmp_path).memories.all()] == ["m1", "m2"]
    before = history.Past(library.journal).undoable(lambda _: True)
    assert before is not None
    with pytest.raises(StoreProblem, match="stored after all: “undo: put 3”"):
        history.Past(library.journal).undo(before, "human")
    history.Past(library.journal).undo(before, "human")
    assert [m.id for m in open_library(tmp_path).memories.all()] == ["m1"]


def test_after_an_unknown_outcome_the_disk_says_what_holds(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"id": "x1"})
    with pytest.MonkeyPatch.context() as patch:
        failing_twice(patch)
        with pytest.raises(UnknownOutcome):
            put(journal, 2, {"id": "x2"})
    assert set(docs(journal)) == {"1"}
    put(journal, 3, {"id": "x3"})
    assert set(docs(journal)) == set(docs(open_journal(tmp_path))) == {"1", "2", "3"}
    assert open_journal(tmp_path).rev == 3


def test_a_hook_says_that_it_cannot_know(tmp_path: Path) -> None:
    hook(tmp_path / "s", "one", tmp_path / "heads")
    with pytest.MonkeyPatch.context() as patch:
        failing_twice(patch)
        with pytest.raises(UnknownOutcome):
            hook(tmp_path / "s", "two", tmp_path / "heads")
    hook(tmp_path / "s", "three", tmp_path / "heads")
    assert [m.content for m in open_library(tmp_path / "s").memories.all()] == [
        "one",
        "two",
        "three",
    ]


def test_a_file_is_durable_before_it_takes_a_name_and_the_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file that is replaced first the content, then the name, then the folder goes to the
    disk.
    """
    done: list[str] = []
    sync, rename = os.fsync, Path.replace

    def note_sync(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "content")
        sync(handle)

    def note_rename(self: Path, target: Path) -> Path:
        done.append("name")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "replace", note_rename)
    atomic.write_file(tmp_path / "file", b"x")
    assert done == ["content", "name", "folder"]


def test_a_journal_that_was_rewritten_is_read_anew_whatever_its_length(tmp_path: Path) -> None:
    """A journal that was rewritten is no continuation, even where its last change is the same."""
    journal = open_journal(tmp_path)
    put(journal, 1, {"id": "x1"})
    put(journal, 2, {"id": "x2"})
    path = tmp_path / "journal.jsonl"
    before = path.stat().st_size

    def change(_: str, lines: list[bytes]) -> Iterator[reorder.NewLine]:
        for line in lines:
            value, sealed = read_line(line[:-1])
            value = json.loads(json.dumps(value).replace("x1", "y1"))
            yield value, sealed

    list(reorder.relink(tmp_path, change, journal.identity.seal, ()))
    assert path.stat().st_size == before
    journal.refresh()
    assert docs(journal) == {"1": {"id": "y1"}, "2": {"id": "x2"}}
    assert not journal.damage


def test_a_second_line_of_a_revision_is_never_taken_silently(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"id": "x1"})
    with (tmp_path / "journal.jsonl").open("ab") as file:
        file.write(lines(tmp_path)[-1])
    place = segments.Tail(tmp_path)
    assert [e.rev for e in place.entries()] == [1]
    assert place.disordered
    assert "revision 1" in place.damage[0].reason
    assert not examine(tmp_path).is_sound


def test_a_cut_that_fails_where_nothing_was_written_is_no_doubt(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"id": "x1"})
    with (
        failing(os, "write", BROKEN),
        failing(os, "ftruncate", BROKEN),
        pytest.raises(StoreProblem) as caught,
    ):
        put(journal, 2, {"id": "x2"})
    assert not isinstance(caught.value, UnknownOutcome)
