"""A store of a version before 1.0 is made one of today, with all that was ever done in it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.old_store import make_old
from tests.store.helpers import clock, memory, open_library
from workbench.core.health import Manifest, Member
from workbench.core.record import StoreProblem
from workbench.store import history
from workbench.store.entry import Transaction
from workbench.store.journal import reorder
from workbench.store.journal.codec import fingerprint
from workbench.store.library import STANDARD, Library
from workbench.store.maintenance import backup
from workbench.store.maintenance.doctor import examine
from workbench.store.maintenance.migrate import migrate

SMALL = STANDARD._replace(segment_bytes=2000, checkpoint_every=0)


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def lived_in(folder: Path, heads: Path | None = None) -> list[Transaction]:
    """A store with a past: several segments, one of them packed, votes, an undo, things beside it."""
    library = Library(folder, clock, SMALL, heads)
    for number in range(12):
        with library.transaction("human" if number % 2 else "agent:x", f"put {number}") as tx:
            tx.put(memory(number, f"wörds {number}", tags=("a",)))
        if number == 8:
            backup.compact(library.journal)
    with library.transaction("human", "vote", group="g-1") as tx:
        tx.put(replace(library.memories.get("m1"), helpful_votes=2))
    past = library.past
    action = past.undoable(lambda actor: actor == "human")
    assert action is not None
    past.undo(action, "human")
    library.blobs.put(b"beside")
    (folder / "working").mkdir()
    (folder / "working" / "one.json").write_text("{}")
    (folder / "memory.dismissed-3-x.json").write_text("{}")
    library.close()
    return list(library.journal.entries_back())


def without_uids(entries: list[Transaction]) -> list[Transaction]:
    return [entry._replace(uid="") for entry in entries]


def test_everything_that_was_done_is_kept_and_the_old_one_stays_as_it_is(tmp_path: Path) -> None:
    entries = lived_in(tmp_path / "old")
    tables = open_library(tmp_path / "old").journal.state.tables
    make_old(tmp_path / "old")
    before = files(tmp_path / "old")
    with pytest.raises(StoreProblem, match="workbench migrate"):
        open_library(tmp_path / "old")
    made = migrate(tmp_path / "old", tmp_path / "new", None)
    assert files(tmp_path / "old") == before
    assert (made.changes, made.counts, made.damage) == (14, {"memories": 12}, ())
    library = open_library(tmp_path / "new")
    assert library.journal.state.tables == tables
    assert library.journal.revisions_since_checkpoint == 0
    assert without_uids(list(library.journal.entries_back())) == without_uids(entries)
    assert examine(tmp_path / "new").is_sound
    redone = history.Past(library.journal).redoable(lambda actor: actor == "human")
    assert redone is not None
    history.Past(library.journal).redo(redone, "human")
    assert library.memories.get("m1").helpful_votes == 2
    new = files(tmp_path / "new")
    beside = {name for name in before if name.startswith(("blobs", "working", "memory.dis"))}
    assert len(beside) == 3
    assert {name: new[name] for name in beside} == {name: before[name] for name in beside}


@pytest.mark.parametrize("remembered", [True, False])
def test_it_is_trusted_as_the_old_one_was(tmp_path: Path, remembered: bool) -> None:
    heads = tmp_path / "heads"
    lived_in(tmp_path / "old")
    make_old(tmp_path / "old", heads if remembered else None)
    assert migrate(tmp_path / "old", tmp_path / "new", heads).trusted is remembered
    library = Library(tmp_path / "new", clock, SMALL, heads)
    assert library.standing.trusted is remembered
    assert library.standing.foreign == (0 if remembered else 14)


def test_a_backup_of_one_is_migrated_too_and_not_restored(tmp_path: Path) -> None:
    library = Library(tmp_path / "s", clock, SMALL)
    with library.transaction("human", "put") as tx:
        tx.put(memory(1))
    make_old(tmp_path / "s")
    data = (tmp_path / "s" / "journal.jsonl").read_bytes()
    part = backup._Part("journal.jsonl", tmp_path / "s" / "journal.jsonl", len(data))
    work = backup._Work(0, None)
    member = Member(part.name, part.size, work.hash(part))
    manifest = Manifest("2026-11-21T12:00:00Z", 1, {"memories": 1}, 0, (member,))
    with (tmp_path / "b").open("wb") as file:
        work.write(file, manifest, [part])
    with pytest.raises(StoreProblem, match=f"workbench migrate {tmp_path / 'b'} NEW"):
        backup.restore(tmp_path / "b", tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert migrate(tmp_path / "b", tmp_path / "new", None).changes == 1
    assert open_library(tmp_path / "new").memories.get("m1")


def test_what_cannot_be_read_is_named_and_the_rest_is_taken(tmp_path: Path) -> None:
    library = open_library(tmp_path / "old")
    for number in range(4):
        with library.transaction("human", "put") as tx:
            tx.put(memory(number))
    make_old(tmp_path / "old")
    path = tmp_path / "old" / "journal.jsonl"
    content = path.read_bytes().replace(b"number 2", b"number X") + b'{"rev":5,"at":"20'
    path.write_bytes(content)
    made = migrate(tmp_path / "old", tmp_path / "new", None)
    assert [(one.file, one.line) for one in made.damage] == [("journal.jsonl", 4)]
    assert [one.id for one in open_library(tmp_path / "new").memories.all()] == ["m0", "m1", "m3"]


def test_an_edit_by_another_program_still_waits(tmp_path: Path) -> None:
    library = open_library(tmp_path / "old")
    with library.transaction("human", "put") as tx:
        tx.put(memory(1))
    library.close()
    memories = tmp_path / "old" / "memory.json"
    memories.write_text(memories.read_text().replace("number 1", "number one"))
    make_old(tmp_path / "old")
    (tmp_path / "old" / "checkpoint.json").write_text('{"stamps":[{"hash":"x","rev":1}]}')
    migrate(tmp_path / "old", tmp_path / "new", None)
    edit = open_library(tmp_path / "new").journal.outside_edit
    assert edit is not None
    assert (edit.base, len(edit.changes)) == (1, 1)


def test_nothing_is_left_where_it_cannot_be_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreProblem):
        migrate(tmp_path / "none", tmp_path / "new", None)
    lived_in(tmp_path / "now")
    with pytest.raises(StoreProblem, match="opens as it is"):
        migrate(tmp_path / "now", tmp_path / "new", None)
    make_old(tmp_path / "now")
    (tmp_path / "there").mkdir()
    with pytest.raises(StoreProblem, match="already exists"):
        migrate(tmp_path / "now", tmp_path / "there", None)

    def wrong(*args: Any) -> Any:
        lines = list(real(*args))
        return lines[:-1]

    from workbench.store.maintenance import migrate as module

    real = reorder.new_journal
    monkeypatch.setattr(module, "new_journal", wrong)
    with pytest.raises(StoreProblem, match="differs"):
        migrate(tmp_path / "now", tmp_path / "new", None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["now", "there"]


@pytest.mark.parametrize("cut", [(2, 3), (3, 4), (4, 6)])
def test_what_only_the_documents_hold_is_kept_and_not_trusted(
    tmp_path: Path, cut: tuple[int, int]
) -> None:
    heads = tmp_path / "heads"
    library = Library(tmp_path / "old", clock, STANDARD, heads)
    for number in range(4):
        with library.transaction("human", "put") as tx:
            tx.put(memory(number))
    with library.transaction("human", "delete") as tx:
        tx.delete(library.memories.get("m0"))
    library.close()
    make_old(tmp_path / "old", heads)
    digest = fingerprint((tmp_path / "old" / "memory.json").read_bytes())
    (tmp_path / "old" / "checkpoint.json").write_text(
        f'{{"stamps":[{{"hash":"{digest}","rev":5}}]}}'
    )
    path = tmp_path / "old" / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[: cut[0]], *lines[cut[1] :]]))
    assert not migrate(tmp_path / "old", tmp_path / "new", heads).trusted
    new = open_library(tmp_path / "new")
    with new.transaction("human", "put") as tx:
        tx.put(memory(9))
    held = {one.id for one in open_library(tmp_path / "new").memories.all()}
    assert {"m1", "m2", "m3", "m9"} <= held
