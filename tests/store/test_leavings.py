"""What a killed process left in a store goes with the next write, whichever that is; what is being
written stays.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.helpers import NOON, append, clock, open_journal, put
from workbench.core.files.atomic import draft_beside, is_draft
from workbench.core.stream.memory import Memory
from workbench.store.append import Appending
from workbench.store.library import Library
from workbench.store.maintenance import backup

LEFT = (
    ".journal-000000000001.jsonl.gz.7.tmp",
    ".journal.jsonl.7.tmp",
    ".memory.json.7.tmp",
    ".checkpoint.json.7.tmp",
    ".memory.edited-3-20260101T000000000000.json.7.tmp",
    ".memory.dismissed-3-20260101T000000000000.json.7.tmp",
)


def found(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in folder.iterdir() if is_draft(path.name)))


def observe(folder: Path) -> None:
    def make(block: Appending) -> None:
        block.add(Memory(block.new_memory_id(NOON), "seen", NOON, NOON))

    append(folder, "agent:x", "observe", clock, make)


def change(folder: Path) -> None:
    put(open_journal(folder), 1, {"a": 1})


def pack(folder: Path) -> None:
    backup.compact(open_journal(folder))


@pytest.mark.parametrize("write", [observe, change, pack])
def test_the_next_write_removes_what_was_left(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    Library(tmp_path, clock).journal.begin()
    for name in LEFT:
        (tmp_path / name).write_text("half")
    assert found(tmp_path) == tuple(sorted(LEFT))
    write(tmp_path)
    assert found(tmp_path) == ()


def test_what_is_being_written_is_left_alone(tmp_path: Path) -> None:
    Library(tmp_path, clock).journal.begin()
    for name in LEFT:
        (tmp_path / name).write_text("half")
    with draft_beside(tmp_path / "memory.json") as (_, draft):
        observe(tmp_path)
        assert found(tmp_path) == (draft.name,)
    assert found(tmp_path) == ()


def test_what_cannot_be_removed_stops_nobody(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    (tmp_path / ".journal.jsonl.7.tmp").mkdir()
    assert put(journal, 1, {"a": 1}) == 1


def test_reading_removes_nothing(tmp_path: Path) -> None:
    change(tmp_path)
    (tmp_path / LEFT[0]).write_text("half")
    assert open_journal(tmp_path).rev == 1
    assert found(tmp_path) == (LEFT[0],)
