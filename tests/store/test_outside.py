import json
from pathlib import Path

import pytest
from tinydb import TinyDB, where

from tests.store.helpers import docs, failing, open_journal, open_library, put
from workbench.core.record import Conflict, InvalidRecord, StoreProblem
from workbench.store.journal.engine import Journal
from workbench.store.maintenance import doctor
from workbench.store.maintenance.checkpoint_writer import ForeignFile


def edited(folder: Path) -> Journal:
    """Make a store, edit its checkpoint with plain TinyDB, and open it again."""
    journal = open_journal(folder)
    for number in (1, 2, 3):
        put(journal, number, {"id": f"x{number}", "a": number})
    journal.close()
    with TinyDB(folder / "memory.json") as plain:
        table = plain.table("t")
        table.update({"a": "edited"}, where("id") == "x2")
        table.insert({"id": "x9"})
        table.remove(doc_ids=[3])
        plain.table("other").insert({"b": 1})
    return open_journal(folder)


def test_a_plain_tinydb_edit_is_offered_and_nothing_is_overwritten(tmp_path: Path) -> None:
    journal = edited(tmp_path)
    assert journal.notices == [ForeignFile()]
    assert str(journal.notices[0]).startswith(
        "memory.json was changed by another program; the journal's state stands"
    )
    assert docs(journal)["2"] == {"id": "x2", "a": 2}
    edit = journal.outside_edit
    assert edit is not None
    assert [(c.table, c.doc, c.op) for c in edit.changes] == [
        ("t", "2", "update"), ("t", "3", "delete"), ("t", "4", "insert"),
        ("other", "", "table"), ("other", "1", "insert"),
    ]  # fmt: skip
    doctor.accept_edit(journal, edit)
    assert docs(journal) == {
        "1": {"id": "x1", "a": 1},
        "2": {"id": "x2", "a": "edited"},
        "4": {"id": "x9"},
    }
    assert journal.outside_edit is None
    journal.close()
    assert [p.name for p in tmp_path.glob("memory*")] == ["memory.json"]
    assert open_journal(tmp_path).outside_edit is None


def test_an_edit_nobody_decided_on_is_set_aside_and_still_offered(tmp_path: Path) -> None:
    journal = edited(tmp_path)
    put(journal, 5, {"id": "x5"})
    journal.close()
    assert any("kept as memory.edited-3-" in str(notice) for notice in journal.notices)
    other = open_journal(tmp_path)
    edit = other.outside_edit
    assert edit is not None
    assert edit.base == 3
    doctor.accept_edit(other, edit)
    assert set(docs(other)) == {"1", "2", "4", "5"}
    assert not list(tmp_path.glob("memory.*-*"))


def test_an_edit_that_is_turned_down_is_kept_as_a_file(tmp_path: Path) -> None:
    journal = edited(tmp_path)
    edit = journal.outside_edit
    assert edit is not None
    kept = doctor.dismiss_edit(journal, edit)
    assert json.loads(kept.read_text())["t"]["2"]["a"] == "edited"
    assert journal.outside_edit is None
    put(journal, 5, {"id": "x5"})
    journal.close()
    assert open_journal(tmp_path).outside_edit is None


def test_an_edit_while_the_store_is_open_is_noticed_before_it_is_replaced(tmp_path: Path) -> None:
    journal = edited(tmp_path)
    edit = journal.outside_edit
    assert edit is not None
    doctor.accept_edit(journal, edit)
    journal.save_checkpoint()
    with TinyDB(tmp_path / "memory.json") as plain:
        plain.table("t").update({"a": "again"}, doc_ids=[1])
    put(journal, 6, {"id": "x6"})
    journal.save_checkpoint()
    later = journal.outside_edit
    assert later is not None
    assert [(c.doc, c.fields["a"]) for c in later.changes] == [("1", (1, "again"))]


def test_both_versions_stay_when_the_same_field_was_changed_here(tmp_path: Path) -> None:
    journal = edited(tmp_path)
    put(journal, 2, {"id": "x2", "a": "ours"})
    edit = journal.outside_edit
    assert edit is not None
    before = docs(journal)
    with pytest.raises(Conflict, match=r"changed here .* and in memory"):
        doctor.accept_edit(journal, edit)
    assert docs(journal) == before
    assert journal.outside_edit == edit


def test_a_file_that_says_the_same_in_other_bytes_is_no_edit(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"id": "x1"})
    journal.close()
    file = tmp_path / "memory.json"
    file.write_text(json.dumps(json.loads(file.read_text()), indent=2))
    other = open_journal(tmp_path)
    assert (other.outside_edit, other.notices) == (None, [])


def test_an_unreadable_checkpoint_is_kept_and_the_journal_stands(tmp_path: Path) -> None:
    journal = edited(tmp_path)
    (tmp_path / "memory.json").write_bytes(b"\x00half a fi")
    other = open_journal(tmp_path)
    assert docs(other) == docs(journal)
    assert other.outside_edit is None
    put(other, 7, {"id": "x7"})
    other.close()
    assert next(tmp_path.glob("memory.edited-*")).read_bytes() == b"\x00half a fi"
    assert open_journal(tmp_path).outside_edit is None


def test_a_plain_tinydb_file_is_shown_at_once_and_adopted_with_the_first_write(
    tmp_path: Path,
) -> None:
    with TinyDB(tmp_path / "memory.json") as plain:
        plain.table("t").insert_multiple([{"id": "x1", "n": 0}, {"id": "x2", "n": 2}])
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    journal, reader = open_journal(tmp_path), open_journal(tmp_path)
    assert docs(journal) == {"1": {"id": "x1", "n": 0}, "2": {"id": "x2", "n": 2}}
    journal.close()
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    put(journal, 3, {"id": "x3"})
    assert [(e.rev, e.actor) for e in journal.entries_back()] == [
        (2, "human"),
        (1, "import:memory.json"),
    ]
    put(reader, 4, {"id": "x4"})
    assert set(docs(reader)) == {"1", "2", "3", "4"}
    reader.close()
    other = open_journal(tmp_path)
    assert docs(other) == docs(reader)
    assert other.outside_edit is None


def test_an_adopted_file_that_json_cannot_say_is_refused_without_loss(tmp_path: Path) -> None:
    (tmp_path / "memory.json").write_text('{"t": {"1": {"a": NaN}}}')
    journal = open_journal(tmp_path)
    with pytest.raises(InvalidRecord, match="not finite"):
        put(journal, 2, {"a": 1})
    assert not journal.path.exists() or len(journal.path.read_bytes().splitlines()) == 1


@pytest.mark.parametrize(
    "content", ["", "no json", "[1]", '{"t": [1]}', '{"t": {"x": {}}}', '{"t": {"1": 3}}']
)
def test_a_memory_file_that_is_not_tinydb_stops_an_empty_store(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / "memory.json").write_text(content)
    with pytest.raises(StoreProblem, match="not a TinyDB file"):
        open_journal(tmp_path)


def test_no_room_for_the_decision_is_said(tmp_path: Path) -> None:
    journal = edited(tmp_path)
    edit = journal.outside_edit
    assert edit is not None
    with (
        failing(doctor, "write_file", OSError(28, "No space left on device")),
        pytest.raises(StoreProblem),
    ):
        doctor.dismiss_edit(journal, edit)
    assert journal.outside_edit == edit


def test_a_library_adopts_a_tinydb_file_of_memories(tmp_path: Path) -> None:
    with TinyDB(tmp_path / "memory.json") as plain:
        plain.table("memories").insert(
            {
                "id": "m1",
                "content": "hello",
                "created_at": "2026-01-01T00:00:00Z",
                "last_accessed_at": "2026-01-01T00:00:00Z",
            }
        )
    assert open_library(tmp_path).memories.get("m1").content == "hello"


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        (
            ForeignFile(),
            "was changed by another program; the journal's state stands and the other content is kept.",
        ),
        (
            ForeignFile("memory.edited-3-x.json"),
            "was changed by another program; its content was kept as memory.edited-3-x.json and the journal's state"
            " stands.",
        ),
        (
            ForeignFile("memory.edited-x.json", unplaced=True),
            "was of an unknown revision (checkpoint.json says nothing of it); its content was kept as"
            " memory.edited-x.json and the journal's state stands.",
        ),
    ],
)
def test_a_strange_file_is_a_fact_that_gives_its_sentence(fact: ForeignFile, said: str) -> None:
    assert str(fact) == f"memory.json {said}"
