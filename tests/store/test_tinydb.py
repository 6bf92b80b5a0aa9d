"""The TinyDB side of a store, where it has to be more careful than TinyDB itself."""

from pathlib import Path

import pytest
from tinydb import Query, TinyDB, where
from tinydb.operations import increment
from tinydb.table import Document

from workbench.store.journal.database import JournalDB, open_db


@pytest.fixture
def db(tmp_path: Path) -> JournalDB:
    return open_db(tmp_path / "s")


def test_an_update_touches_and_writes_only_what_matches(db: JournalDB) -> None:
    db.insert_multiple({"a": n, "deep": [n]} for n in range(50))
    assert db.update({"b": 1}, where("a") == 7) == [8]
    entry = next(db.journal.entries_back())
    assert [(c.doc, dict(c.fields)["b"][1]) for c in entry.changes] == [("8", 1)]
    assert db.update(increment("a"), doc_ids=[1, 2]) == [1, 2]
    assert db.remove(where("a") == 40) == [41]
    assert len(db) == 49


def test_each_call_is_one_transaction(db: JournalDB) -> None:
    db.insert_multiple({"a": n} for n in range(5))
    db.upsert({"a": 1, "x": 1}, where("a") == 1)
    db.update_multiple([({"y": 1}, where("a") == 2), ({"y": 2}, where("a") == 3)])
    assert db.journal.rev == 3
    with pytest.raises(ZeroDivisionError):
        db.update(lambda doc: 1 / 0, where("a") == 1)
    assert db.journal.rev == 3


def test_what_is_handed_out_is_the_callers(db: JournalDB) -> None:
    db.insert({"a": [1], "m": {"x": []}})
    handed = [
        db.get(doc_id=1),
        db.search(where("a").exists())[0],
        db.all()[0],
        db.get(doc_ids=[1])[0],
    ]
    for doc in handed:
        assert isinstance(doc, Document)
        doc["a"].append(2)
        doc["m"]["x"].append(2)
    assert (
        db.get(where("a").exists())
        == {"a": [1], "m": {"x": []}}
        == db.search(where("a").exists())[0]
    )
    assert db.get(doc_id=99) is None


def test_another_processs_changes_show_in_every_kind_of_read(db: JournalDB, tmp_path: Path) -> None:
    other = open_db(tmp_path / "s")
    query = Query().a == 1
    assert (len(db), db.search(query), db.contains(query)) == (0, [], False)
    other.insert({"a": 1})
    assert (len(db), db.search(query), db.contains(query), db.count(query)) == (
        1,
        [{"a": 1}],
        True,
        1,
    )
    other.insert({"a": 1})
    assert len(db.all()) == 2
    other.remove(doc_ids=[1])
    db.journal.refresh()
    assert [doc.doc_id for doc in db.search(query)] == [2]


def test_documents_are_walked_while_others_are_added(db: JournalDB) -> None:
    db.insert_multiple({"a": n} for n in range(5))
    for seen, _ in enumerate(db, start=1):
        db.insert({"a": seen})
    assert seen == 5
    assert len(db) == 10


def test_ids_go_on_and_are_shared(db: JournalDB, tmp_path: Path) -> None:
    other = open_db(tmp_path / "s")
    assert [
        db.insert({}),
        other.insert({}),
        db.insert({}),
        other.insert(Document({}, 9)),
        db.insert({}),
    ] == [
        1,
        2,
        3,
        9,
        10,
    ]
    db.remove(doc_ids=[10])
    assert open_db(tmp_path / "s").insert({}) == 11


def test_truncating_and_dropping(db: JournalDB, tmp_path: Path) -> None:
    table = db.table("t")
    table.insert_multiple([{"a": 1}, {"a": 2}])
    table.truncate()
    assert (len(table), table.insert({"a": 3})) == (0, 1)
    db.table("u").insert({"b": 1})
    db.drop_table("t")
    assert db.tables() == {"u"} == open_db(tmp_path / "s").tables()
    db.drop_tables()
    assert db.tables() == set() == open_db(tmp_path / "s").tables()


def test_writing_whole_tables_commits_what_differs(db: JournalDB) -> None:
    db.table("t").insert_multiple([{"a": 1}, {"a": 2}])
    db.storage.write({"t": {"1": {"a": 1}, "3": {"a": 3}}, "u": {}})
    entry = next(db.journal.entries_back())
    assert [(c.table, c.doc, c.op) for c in entry.changes] == [
        ("u", "", "table"),
        ("t", "2", "delete"),
        ("t", "3", "insert"),
    ]
    assert db.storage.read() == {"t": {"1": {"a": 1}, "3": {"a": 3}}, "u": {}}


def test_the_folder_is_closed_with_a_file_that_tinydb_opens(db: JournalDB, tmp_path: Path) -> None:
    db.insert({"a": "ß"})
    with db:
        pass
    with TinyDB(tmp_path / "s" / "memory.json") as plain:
        assert plain.all() == [{"a": "ß"}]


def test_a_view_of_a_table_behaves_like_a_dictionary(db: JournalDB) -> None:
    db.insert_multiple([{"a": 1}, {"a": 2}])

    def updater(table: dict[int, dict[str, int]]) -> None:
        assert (len(table), list(table), 1 in table, 9 in table) == (2, [1, 2], True, False)
        table[5] = {"a": 5}
        del table[1]
        with pytest.raises(KeyError):
            table[1]
        with pytest.raises(KeyError):
            table[77]
        with pytest.raises(KeyError):
            del table[1]
        assert list(table) == [2, 5]
        table.clear()
        table[6] = {"a": 6}

    db.table("_default")._update_table(updater)  # type: ignore[arg-type]
    assert db.all() == [{"a": 6}]
