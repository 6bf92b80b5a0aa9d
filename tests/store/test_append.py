import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tinydb import TinyDB

from tests.store.helpers import NOON, append, clock, failing, memory, open_library
from workbench.core.record import InvalidRecord, StoreProblem
from workbench.store.append import Appending, appending
from workbench.store.journal import segments
from workbench.store.library import Library


def adding(content: str) -> Callable[[Appending], None]:
    def make(block: Appending) -> None:
        block.add(replace(memory(0, content), id=block.new_memory_id(NOON)))

    return make


def recent(folder: Path) -> list[str]:
    with appending(folder, "hook", "look", clock) as block:
        return [m.content for m in block.recent]


def test_what_is_appended_is_there_for_everyone(tmp_path: Path) -> None:
    library = open_library(tmp_path / "s")
    for number in range(3):
        append(
            tmp_path / "s", "agent:claude-code", "observe", clock, adding(f"from a hook {number}")
        )
        with library.transaction("human", "add") as tx:
            tx.put(replace(memory(0, f"from the app {number}"), id=tx.new_memory_id(NOON)))
    assert [m.id for m in library.memories.all()] == [f"mem-20261121-{n:07d}" for n in range(1, 7)]
    other = open_library(tmp_path / "s")
    assert other.memories.all() == library.memories.all()
    assert [e.rev for e in other.journal.entries_back()] == [6, 5, 4, 3, 2, 1]
    assert other.journal.state.next_id("memories") == 7
    assert not other.journal.damage


def test_the_latest_ten_are_at_hand_in_order(tmp_path: Path) -> None:
    for number in range(14):
        append(tmp_path / "s", "hook", "observe", clock, adding(f"number {number}"))
    assert recent(tmp_path / "s") == [f"number {n}" for n in range(4, 14)]


def test_the_latest_are_as_they_are_now_and_without_the_deleted(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    with library.transaction("human", "add") as tx:
        for number in (1, 2, 3):
            tx.put(memory(number))
    with library.transaction("human", "edit") as tx:
        tx.put(replace(memory(1), content="edited", tags=("x",)))
    with library.transaction("human", "edit") as tx:
        tx.put(replace(memory(1), content="edited twice"))
        tx.delete(memory(2))
    assert recent(tmp_path) == ["edited twice", "memory number 3"]


def test_a_new_segment_carries_them_on(tmp_path: Path) -> None:
    library = open_library(tmp_path, segment_bytes=8000)
    while not list(tmp_path.glob("journal-*")):
        with library.transaction("human", "add") as tx:
            tx.put(memory(len(library.memories)))
    count = len(library.memories)
    assert recent(tmp_path) == [f"memory number {n}" for n in range(count - 10, count)]
    append(tmp_path, "hook", "observe", clock, adding("one more"))
    assert recent(tmp_path) == [f"memory number {n}" for n in range(count - 9, count)] + [
        "one more"
    ]
    library.journal.refresh()
    assert len(library.memories) == count + 1


def test_what_a_new_segment_carries_is_not_at_hand_once_it_is_deleted(tmp_path: Path) -> None:
    library = open_library(tmp_path, segment_bytes=4000)
    while not list(tmp_path.glob("journal-*")):
        with library.transaction("human", "add") as tx:
            tx.put(replace(memory(0, f"number {len(library.memories)}"), id=tx.new_memory_id(NOON)))
    last = library.memories.all()[-1]
    assert recent(tmp_path)[-1] == last.content
    with library.transaction("human", "delete") as tx:
        tx.delete(last)
    assert recent(tmp_path)[-1] == library.memories.all()[-1].content


def test_a_plain_tinydb_file_is_adopted_first(tmp_path: Path) -> None:
    with TinyDB(tmp_path / "memory.json") as plain:
        plain.table("memories").insert(
            {
                "id": "m1",
                "content": "old",
                "created_at": "2026-01-01T00:00:00Z",
                "last_accessed_at": "2026-01-01T00:00:00Z",
            }
        )
    append(tmp_path, "hook", "observe", clock, adding("new"))
    assert [m.content for m in open_library(tmp_path).memories.all()] == ["old", "new"]


def test_damage_and_a_torn_tail_do_not_stop_a_hook(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    for number in range(4):
        with library.transaction("human", "add") as tx:
            tx.put(memory(number))
    path = library.journal.path
    data = path.read_bytes().replace(b"number 2", b"NUMBER 2")
    path.write_bytes(data + b'{"rev":5,"at')
    append(tmp_path, "hook", "observe", clock, adding("five"))
    other = Library(tmp_path, clock)
    assert [m.content for m in other.memories.all()] == [
        "memory number 0",
        "memory number 1",
        "memory number 3",
        "five",
    ]
    assert len(other.journal.damage) == 2


def test_an_error_or_nothing_added_writes_nothing(tmp_path: Path) -> None:
    def stumble(block: Appending) -> None:
        adding("x")(block)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        append(tmp_path, "hook", "x", clock, stumble)
    with appending(tmp_path, "hook", "x", clock):
        pass
    with pytest.raises(InvalidRecord, match="m1 was not"):
        append(tmp_path, "hook", "x", clock, lambda block: block.add(memory(1)))
    with pytest.raises(InvalidRecord, match="empty"):
        append(tmp_path, "hook", "x", clock, adding(" "))
    assert open_library(tmp_path).journal.rev == 0


def test_what_cannot_be_written_or_read_is_said(tmp_path: Path) -> None:
    append(tmp_path, "hook", "x", clock, adding("one"))
    full = OSError(28, "No space left on device")
    with failing(segments, "append", full), pytest.raises(StoreProblem, match="no space left"):
        append(tmp_path, "hook", "x", clock, adding("two"))
    with (
        failing(os, "open", PermissionError(13, "Permission denied")),
        pytest.raises(StoreProblem, match="denied"),
    ):
        append(tmp_path, "hook", "x", clock, adding("two"))
    with failing(Path, "mkdir", full), pytest.raises(StoreProblem):
        append(tmp_path, "hook", "x", clock, adding("two"))
    assert len(open_library(tmp_path).memories) == 1


def test_a_memory_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    library.db.table("memories").insert({"id": "odd", "content": "no times"})
    append(tmp_path, "hook", "x", clock, adding("fine"))
    assert recent(tmp_path) == ["fine"]


def test_an_append_goes_on_when_the_lock_file_vanishes_under_it(tmp_path: Path) -> None:
    def observe(block: Appending) -> None:
        adding("seen")(block)
        block.count(5.0, NOON)
        (tmp_path / "s" / "lock").unlink()

    for _ in range(2):
        append(tmp_path / "s", "hook", "observe", clock, observe)
    assert recent(tmp_path / "s") == ["seen", "seen"]
