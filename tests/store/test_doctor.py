import os
from pathlib import Path

import pytest

from tests.store.helpers import NOON, clock, failing, lines, memory, open_journal, open_library, put
from workbench.core.record import StoreProblem
from workbench.store import history
from workbench.store.journal.engine import Journal
from workbench.store.maintenance.doctor import examine, recover


def spoil(journal: Journal, number: int) -> None:
    """Flip one bit in a line (counted from 0)."""
    content = lines(journal.folder)
    content[number] = content[number][:20] + bytes([content[number][20] ^ 1]) + content[number][21:]
    journal.path.write_bytes(b"".join(content))


def filled(folder: Path) -> Journal:
    journal = open_journal(folder)
    for number in range(1, 6):
        put(journal, number, {"id": f"x{number}", "a": number})
    put(journal, 2, {"id": "x2", "a": "edited"})
    action = history.Past(journal).action_of("5")
    assert action is not None
    history.Past(journal).undo(action, "human")
    return journal


def test_a_sound_store_is_said_to_be_sound(tmp_path: Path) -> None:
    journal = filled(tmp_path / "s")
    journal.close()
    found = examine(tmp_path / "s")
    assert found.is_sound
    assert (found.entries, found.rev, found.torn, found.notes) == (7, 7, 0, ())
    assert examine(tmp_path / "none").rev == 0


def test_damage_is_named_by_file_line_and_byte(tmp_path: Path) -> None:
    journal = filled(tmp_path / "s")
    spoil(journal, 2)
    with journal.path.open("ab") as file:
        file.write(b'{"rev":8')
    content = lines(tmp_path / "s")
    found = examine(tmp_path / "s")
    assert not found.is_sound
    assert [(d.file, d.line, d.offset) for d in found.damage] == [
        ("journal.jsonl", 3, len(b"".join(content[:2]))), ("journal.jsonl", 4, len(b"".join(content[:3]))),
    ]  # fmt: skip
    assert found.torn == 8


def test_everything_else_is_saved_beside_the_damaged_store(tmp_path: Path) -> None:
    journal = filled(tmp_path / "s")
    spoil(journal, 2)
    before = {p.name: p.read_bytes() for p in (tmp_path / "s").iterdir()}
    saved = recover(tmp_path / "s", NOON)
    assert {p.name: p.read_bytes() for p in (tmp_path / "s").iterdir()} == before
    assert saved.folder.name == "s.recovered-20261121T120000"
    assert (saved.entries, saved.from_checkpoint) == (6, 0)
    other = open_journal(saved.folder)
    assert other.damage == []
    assert [e.rev for e in other.entries_back()] == [6, 5, 4, 3, 2, 1]
    assert set(other.state.tables["t"]) == {"1", "3", "4"}
    assert saved.folder.stat().st_mode & 0o777 == 0o700
    redo = history.Past(other).redoable(lambda actor: True)
    assert redo is not None
    history.Past(other).redo(redo, "human")
    assert other.state.tables["t"]["5"] == {"id": "x5", "a": 5}


def test_what_only_the_checkpoint_knows_is_saved_too(tmp_path: Path) -> None:
    journal = filled(tmp_path / "s")
    journal.save_checkpoint()
    put(journal, 9, {"id": "x9"})
    spoil(journal, 2)
    saved = recover(tmp_path / "s", NOON)
    assert saved.from_checkpoint == 1
    other = open_journal(saved.folder)
    assert other.state.tables == journal.state.tables
    assert next(other.entries_back()).actor == "doctor"
    assert other.state.next_id("t") == 10


def test_segments_and_libraries_are_saved(tmp_path: Path) -> None:
    library = open_library(tmp_path / "s", segment_bytes=2000)
    for number in range(30):
        with library.transaction("human", "add") as tx:
            tx.put(memory(number))
    closed = sorted((tmp_path / "s").glob("journal-*"))[1]
    closed.write_bytes(closed.read_bytes().replace(b"memory number", b"memory NUMBER", 1))
    found = examine(tmp_path / "s")
    assert {d.file for d in found.damage[:1]} == {closed.name}
    saved = recover(tmp_path / "s", NOON)
    assert len(open_library(saved.folder).memories) >= 28


@pytest.mark.parametrize(
    ("spoiled", "note"),
    [
        (lambda s: (s / "checkpoint.json").unlink(), "is missing or cannot be read"),
        (lambda s: (s / "memory.json").write_text("{}"), "was changed by another program"),
        (lambda s: (s / "journal.jsonl").unlink(), "does not belong to this journal"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_noted(
    tmp_path: Path, spoiled: object, note: str
) -> None:
    filled(tmp_path / "s").close()
    spoiled(tmp_path / "s")  # type: ignore[operator]
    assert note in examine(tmp_path / "s").notes[0]


def test_a_strange_memory_file_is_taken_along(tmp_path: Path) -> None:
    journal = filled(tmp_path / "s")
    spoil(journal, 2)
    (tmp_path / "s" / "memory.json").write_text('{"t": {"2": {"id": "x2"}}}')
    saved = recover(tmp_path / "s", NOON)
    assert next(saved.folder.glob("memory.edited-*")).read_text() == '{"t": {"2": {"id": "x2"}}}'


def test_a_journal_that_is_all_rubbish_is_no_empty_store(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "journal.jsonl").write_bytes(b"rubbish without an end")
    assert examine(tmp_path / "s").torn == 22


def test_it_says_what_it_cannot_do(tmp_path: Path) -> None:
    filled(tmp_path / "s")
    recover(tmp_path / "s", NOON)
    with pytest.raises(StoreProblem, match="already exists"):
        recover(tmp_path / "s", NOON)
    denied = PermissionError(13, "Permission denied")
    with failing(os, "open", denied):
        with pytest.raises(StoreProblem, match="cannot be read"):
            examine(tmp_path / "s")
        with pytest.raises(StoreProblem, match="cannot be read"):
            recover(tmp_path / "s", NOON)
    with failing(Path, "mkdir", denied), pytest.raises(StoreProblem, match="cannot be written"):
        recover(tmp_path / "s", NOON)
    from workbench.store.maintenance import doctor

    later = NOON.replace(hour=13)
    with (
        failing(doctor, "write_file", OSError(28, "No space left")),
        pytest.raises(StoreProblem, match="no space"),
    ):
        recover(tmp_path / "s", later)
    assert clock() == NOON
