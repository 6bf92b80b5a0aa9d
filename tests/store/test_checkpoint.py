import json
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import pytest
from tinydb import TinyDB

from tests.store.helpers import delete, docs, failing, open_journal, put
from workbench.core.files import atomic
from workbench.core.record import StoreProblem
from workbench.store.journal.engine import Journal
from workbench.store.maintenance import checkpoint_writer
from workbench.store.maintenance import checkpoint_writer as checkpoint


def filled(folder: Path, count: int = 3) -> Journal:
    journal = open_journal(folder)
    for number in range(1, count + 1):
        put(journal, number, {"id": f"x{number}", "a": [number, "ß"]})
    return journal


@pytest.mark.slow
def test_a_checkpoint_opens_in_plain_tinydb(tmp_path: Path) -> None:
    filled(tmp_path, 1200).close()
    with TinyDB(tmp_path / "memory.json") as plain:
        assert {str(d.doc_id): dict(d) for d in plain.table("t")} == docs(open_journal(tmp_path))


def test_only_what_came_after_it_is_replayed(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    journal.save_checkpoint()
    put(journal, 9, {"a": 9})
    other = open_journal(tmp_path)
    assert (other.rev, other.revisions_since_checkpoint) == (4, 1)
    assert docs(other) == docs(journal)
    other.save_checkpoint()
    other.save_checkpoint()
    assert open_journal(tmp_path).revisions_since_checkpoint == 0


@pytest.mark.parametrize(
    "step", [(checkpoint, "write_file"), (checkpoint, "put_in_place"), (checkpoint, "fill")]
)
def test_a_crash_at_any_step_leaves_a_pair_that_fits(
    tmp_path: Path, step: tuple[object, str]
) -> None:
    journal = filled(tmp_path)
    journal.save_checkpoint()
    put(journal, 1, {"id": "x1", "a": "new"})
    for number in range(3):
        put(journal, 2, {"id": "x2", "a": number})
        with (
            failing(*step, OSError(5, "Input/output error")),
            pytest.raises(StoreProblem, match="input/output error"),
        ):
            journal.save_checkpoint()
    other = open_journal(tmp_path)
    assert docs(other) == docs(journal)
    assert other.outside_edit is None
    assert not other.notices
    (tmp_path / ".memory.json.77.tmp").write_bytes(b"left by a killed process")
    journal.save_checkpoint()
    assert not list(tmp_path.glob(".*tmp"))


def test_a_reader_writes_nothing(tmp_path: Path) -> None:
    filled(tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    reader = open_journal(tmp_path)
    reader.refresh()
    list(reader.entries_back())
    reader.close()
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_a_new_store_has_no_file_until_something_is_written(tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "s")
    journal.refresh()
    journal.close()
    assert list((tmp_path / "s").iterdir()) == []


@pytest.mark.parametrize("content", ["", "{", '{"schema":1,"stamps":[{"odd":1}]}', "[]"])
def test_an_unreadable_note_costs_only_time(tmp_path: Path, content: str) -> None:
    journal = filled(tmp_path)
    journal.close()
    (tmp_path / "checkpoint.json").write_text(content)
    other = open_journal(tmp_path)
    assert docs(other) == docs(journal)
    assert other.outside_edit is None


def test_a_checkpoint_comes_by_itself_in_the_background(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, checkpoint_every=5)
    for number in range(1, 12):
        put(journal, number, {"a": number})
    journal._keeper.wait()
    assert journal.revisions_since_checkpoint < 7
    assert open_journal(tmp_path).revisions_since_checkpoint < 7
    journal.close()


def test_a_background_checkpoint_that_fails_is_told_and_breaks_nothing(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, checkpoint_every=2)
    with failing(checkpoint, "fill", OSError(28, "No space left on device")):
        put(journal, 1, {"a": 1})
        put(journal, 2, {"a": 1})
        journal._keeper.wait()
    assert "no space left" in str(journal.notices[0])
    put(journal, 3, {"a": 1})
    journal.close()
    assert open_journal(tmp_path).revisions_since_checkpoint == 0


def test_an_older_checkpoint_never_replaces_a_newer_one(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    old = journal.snapshot()
    put(journal, 7, {"a": 7})
    journal.save_checkpoint()
    checkpoint_writer.CheckpointWriter(tmp_path, journal.clock).save(lambda: old)
    assert open_journal(tmp_path).revisions_since_checkpoint == 0


def test_no_checkpoint_is_taken_inside_a_transaction(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    with journal.transaction("human", "x") as staged:
        staged.put("t", "50", {"a": 1})
        journal.save_checkpoint()
    assert not (tmp_path / "memory.json").exists()


def test_writers_go_on_while_a_checkpoint_is_written(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    writing, go_on = threading.Event(), threading.Event()
    real = atomic.fill

    def slow(file: BinaryIO, data: Iterable[bytes]) -> None:
        writing.set()
        assert go_on.wait(120)
        real(file, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "fill", slow)
        thread = threading.Thread(target=journal.save_checkpoint)
        thread.start()
        assert writing.wait(120)
        put(journal, 8, {"a": 8})
        go_on.set()
        thread.join()
    assert docs(open_journal(tmp_path))["8"] == {"a": 8}


def test_the_journal_that_was_lost_is_begun_anew_with_all_documents(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    delete(journal, 3)
    journal.close()
    (tmp_path / "journal.jsonl").unlink()
    other = open_journal(tmp_path)
    assert "Revisions 1 to 4" in str(other.notices[0])
    assert "history is lost" in str(other.notices[1])
    assert docs(other) == docs(journal)
    with other.transaction("human", "x") as staged:
        assert staged.allocate("t") == 4
        staged.put("t", "4", {"a": 4})
    assert other.outside_edit is None
    assert docs(open_journal(tmp_path)) == {**docs(journal), "4": {"a": 4}}


def test_a_journal_that_was_cut_short_offers_what_only_the_checkpoint_has(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    journal.close()
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[: whole.rindex(b'{"rev":3')])
    other = open_journal(tmp_path)
    assert other.rev == 2
    edit = other.outside_edit
    assert edit is not None
    assert [(c.doc, c.op) for c in edit.changes] == [("3", "insert")]


def test_files_and_folder_are_for_their_owner_only(tmp_path: Path) -> None:
    from workbench.store.journal.database import open_db

    db = open_db(tmp_path / "a" / "s")
    db.insert({"a": 1})
    db.close()
    assert (tmp_path / "a" / "s").stat().st_mode & 0o777 == 0o700
    modes = {p.name: p.stat().st_mode & 0o777 for p in (tmp_path / "a" / "s").iterdir()}
    assert set(modes.values()) == {0o600}
    assert {"memory.json", "checkpoint.json", "journal.jsonl", "lock"} <= modes.keys()
    assert json.loads((tmp_path / "a" / "s" / "memory.json").read_text()) == {
        "_default": {"1": {"a": 1}}
    }


@pytest.mark.slow
def test_a_checkpoint_in_the_background_gives_way_to_a_writer_without_a_word(
    tmp_path: Path,
) -> None:
    journal, told = filled(tmp_path), list[str]()
    writer = open_journal(tmp_path)
    with writer.exclusive():
        journal._keeper.save_in_background(journal.save_checkpoint, told.append)
        journal._keeper.wait()
    assert told == []
    assert not (tmp_path / "checkpoint.json").exists()
    journal._keeper.save_in_background(journal.save_checkpoint, told.append)
    journal._keeper.wait()
    assert open_journal(tmp_path).revisions_since_checkpoint == 0
