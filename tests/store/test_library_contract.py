"""What a library promises, whatever it keeps its records in: nothing here knows of files or of a
journal.

A second kind of store is put under these by another `reopen`.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from tests.builders.memory_log import MemoryLog, Shared
from tests.store.helpers import NOON, clock, indexed, memory
from workbench.core.change import UndoConflict
from workbench.core.playbook.book import Book, Bullet
from workbench.core.record import Conflict, InvalidRecord, StoreProblem, UnknownRecord
from workbench.core.stream.memory import Memory, Vote
from workbench.store.entry import memory_number
from workbench.store.library import Library, Touched
from workbench.store.maintenance import backup, purge
from workbench.store.maintenance.purge import Masker

Reopen = Callable[[], Library]
Place = tuple[str, str]

M1: Place = ("memories", "m1")
SECRET = "a secret of more than sixteen characters"


@pytest.fixture(params=["in memory", "indexed", "shared"])
def reopen(tmp_path: Path, request: pytest.FixtureRequest) -> Reopen:
    """Opens the store that a test is about once more, as another process does: as a small one, as
    a large one, and as another machine does whose journal is a copy of a shared log.

    A large one is opened by its index, which is of the latest checkpoint; all that was done before
    is in it here.
    """
    if request.param == "in memory":
        return lambda: Library(tmp_path / "store", clock)
    if request.param == "shared":
        log, machines = Shared(), count()
        return lambda: Library(
            tmp_path / f"machine{next(machines)}", clock, shared=MemoryLog(log, clock=clock)
        )

    def open_indexed() -> Library:
        """Let the index be made first."""
        everything = Library(tmp_path / "store", clock, indexed(tmp_path / "cache"))
        if everything.revision:
            everything.save_checkpoint()
        return Library(tmp_path / "store", clock, indexed(tmp_path / "cache"))

    return open_indexed


@pytest.fixture
def library(reopen: Reopen) -> Library:
    """The store, open and empty."""
    return reopen()


@pytest.fixture
def other(library: Library, reopen: Reopen) -> Library:
    """The same store, opened beside the first one."""
    return reopen()


def put(
    library: Library, *records: object, actor: str = "human", label: str = "put", **how: object
) -> int:
    """Store records in one transaction and return its revision."""
    with library.transaction(actor, label, **how) as tx:  # type: ignore[arg-type]
        for record in records:
            tx.put(record)
    return library.revision


def fail_half_way(library: Library, *records: object) -> None:
    """Raise `KeyError` in a transaction that has put records already."""
    with library.transaction("human", "half") as tx:
        for record in records:
            tx.put(record)
        raise KeyError


def is_mine(actor: str) -> bool:
    """Tell whether the person did it."""
    return actor in ("human", "human:ann")


def ids(library: Library) -> list[str]:
    """Return the memories in their order."""
    return [record.id for record in library.memories.all()]


# Reading: get, find, among, all, latest


def test_a_record_is_got_as_it_was_put(library: Library, reopen: Reopen) -> None:
    record = memory(1, tags=("a",), metadata={"x": [1, None]})
    put(library, record)
    for one in (library, reopen()):
        assert one.memories.get("m1") == one.memories.find("m1") == record
        assert one.memories.all() == [record]
        assert ("m1" in one.memories, "m2" in one.memories, len(one.memories)) == (True, False, 1)


def test_what_is_not_there_is_none_or_said(library: Library) -> None:
    assert library.memories.find("m1") is None
    with pytest.raises(UnknownRecord, match="no memory m1"):
        library.memories.get("m1")
    assert library.memories.all() == library.memories.latest(3) == []


def test_many_are_found_as_each_of_them_is(library: Library) -> None:
    put(library, memory(1), memory(2), memory(3))
    keys = ["m3", "none", "m1"]
    each = [found for key in keys if (found := library.memories.find(key)) is not None]
    assert (
        library.memories.among(keys)
        == each
        == [library.memories.get("m3"), library.memories.get("m1")]
    )
    with library.transaction("human", "in between") as tx:
        tx.put(memory(4))
        tx.delete(memory(1))
        assert [m.id for m in library.memories.among(["m1", "m2", "m4"])] == ["m2", "m4"]
    assert [m.id for m in library.memories.among(["m1", "m2", "m4"])] == ["m2", "m4"]


def test_records_stand_in_the_order_they_were_stored_first(
    library: Library, reopen: Reopen
) -> None:
    put(library, memory(2), memory(1))
    put(library, memory(3))
    put(library, memory(2, pinned=True))
    for one in (library, reopen()):
        assert ids(one) == ["m2", "m1", "m3"]
        assert [m.id for m in one.memories.latest(2)] == ["m1", "m3"]


def test_tables_keep_apart_and_keys_may_have_a_playbook_before_them(library: Library) -> None:
    put(library, Book(), Bullet("b1", "s", "one"), Bullet("b1", "s", "two", book="side"))
    assert [library.bullets.get(key).content for key in ("main/b1", "side/b1")] == ["one", "two"]
    assert (len(library.books), len(library.bullets), len(library.memories)) == (1, 2, 0)


def test_documents_are_what_stands_and_a_snapshot_stays(library: Library) -> None:
    assert library.stored(Memory) == []
    put(library, memory(1))
    before = library.every_field_by_now()
    put(library, memory(2))
    assert [doc["id"] for doc in library.stored(Memory)] == ["m1", "m2"]
    assert [(table, key) for table, key, _ in library.every_field()] == [
        ("memories", "m1"),
        ("memories", "m2"),
    ]
    assert list(library.every_field("votes")) == []
    assert library.key_at("memories", library.memories.doc_id_of("m2") or "") == "m2"
    assert library.key_at("memories", "99") == ""
    assert [(table, key, doc["id"]) for table, key, doc in before] == [("memories", "m1", "m1")]


# Transactions: whole or not at all, one after the other


def test_each_has_the_next_revision_and_one_without_a_change_has_none(library: Library) -> None:
    assert library.revision == 0
    assert [put(library, memory(n)) for n in (1, 2)] == [1, 2]
    assert put(library, memory(2)) == 2
    with library.transaction("human", "delete") as tx:
        tx.delete(memory(3))
    assert library.revision == 2


def test_one_that_fails_changes_nothing(library: Library, other: Library) -> None:
    put(library, memory(1))
    with pytest.raises(KeyError):
        fail_half_way(library, memory(2), memory(1, pinned=True))
    with pytest.raises(InvalidRecord):
        put(library, memory(2), memory(3, content=" "))
    other.refresh()
    assert library.memories.all() == other.memories.all() == [memory(1)]
    assert library.revision == other.revision == 1


def test_records_within_are_as_it_has_them_and_outside_as_they_were(
    library: Library, other: Library
) -> None:
    put(library, memory(1), memory(2))
    with library.transaction("human", "change") as tx:
        tx.put(memory(1, pinned=True))
        tx.delete(memory(2))
        tx.put(memory(3))
        assert library.memories.get("m1").pinned
        assert library.memories.find("m2") is None
        assert ("m2" in library.memories, "m3" in library.memories) == (False, True)
        assert [(m.id, m.pinned) for m in library.memories.staged()] == [
            ("m1", True),
            ("m3", False),
        ]
        other.refresh()
        assert ids(other) == ["m1", "m2"]
    assert library.memories.staged() == library.memories.all()
    other.refresh()
    assert ids(library) == ids(other) == ["m1", "m3"]


def test_one_inside_another_joins_it(library: Library) -> None:
    assert not library.in_transaction
    with library.transaction("human", "outer") as outer:
        assert library.in_transaction
        outer.put(memory(1))
        with library.transaction("agent:x", "inner") as inner:
            inner.put(memory(2))
            inner.relabel("said by the inner one")
        outer.relabel("said better")
    assert not library.in_transaction
    assert [(e.rev, e.actor, e.label) for e in library.changes_back()] == [
        (1, library.actor_named("human"), "said better")
    ]
    assert ids(library) == ["m1", "m2"]


def test_what_two_count_at_once_adds_up(library: Library, other: Library) -> None:
    put(library, memory(1))
    other.refresh()
    for one in (other, library, other):
        with one.transaction("human", "vote") as tx:
            m = one.memories.get("m1")
            tx.put(replace(m, helpful_votes=m.helpful_votes + 1))
    library.refresh()
    assert library.memories.get("m1").helpful_votes == 3


def test_a_change_stands_on_what_others_wrote_before(library: Library, other: Library) -> None:
    put(library, memory(1))
    assert put(other, memory(2)) == 2
    assert library.revision == 1
    assert library.refresh() == 1
    assert library.refresh() == 0
    assert ids(library) == ids(other) == ["m1", "m2"]


@pytest.mark.parametrize("block", ["turn", "exclusive"])
def test_a_block_to_itself_knows_what_others_wrote(
    library: Library, other: Library, block: str
) -> None:
    put(library, memory(1))
    with getattr(other, block)():
        assert ids(other) == ["m1"]
        put(other, memory(2))
        put(other, memory(3))
    library.refresh()
    assert ids(library) == ["m1", "m2", "m3"]


# Listening: hearing of what changed


def test_one_hears_who_did_what_to_which_records_here_and_elsewhere(
    library: Library, other: Library
) -> None:
    heard: list[Touched] = []
    library.listen(heard.append)
    put(library, memory(1), actor="agent:x", label="add")
    other.refresh()
    with other.transaction("human", "look", kind="access") as tx:
        tx.put(memory(1, access_count=1))
        tx.put(Bullet("b1", "s", "x", book="side"))
    assert len(heard) == 1
    library.refresh()
    assert heard == [
        Touched(1, library.actor_named("agent:x"), "add", "edit", frozenset({M1})),
        Touched(
            2,
            library.actor_named("human"),
            "look",
            "access",
            frozenset({M1, ("bullets", "side/b1")}),
        ),
    ]


def test_a_transaction_that_failed_is_not_heard_of(library: Library) -> None:
    heard: list[Touched] = []
    library.listen(heard.append)
    with pytest.raises(KeyError):
        fail_half_way(library, memory(1))
    assert heard == []


def test_what_is_heard_of_can_be_read_already(library: Library) -> None:
    seen: list[list[str]] = []
    library.listen(lambda _: seen.append(ids(library)))
    put(library, memory(1))
    assert seen == [["m1"]]


# Ids: new ones, which nobody ever gets twice


def test_ids_are_readable_and_no_two_get_the_same(library: Library, other: Library) -> None:
    taken = []
    for one in (library, other, library):
        with one.transaction("human", "add") as tx:
            taken.append(tx.new_memory_id(NOON))
            tx.put(replace(memory(0), id=taken[-1]))
    assert taken[0] == "mem-20261121-0000001"
    assert len({memory_number(id) for id in taken}) == 3


def test_an_id_does_not_come_again_when_its_record_is_gone(
    library: Library, reopen: Reopen
) -> None:
    with library.transaction("human", "add") as tx:
        tx.put(replace(memory(0), id=tx.new_memory_id(NOON)))
    with library.transaction("human", "delete") as tx:
        tx.delete(library.memories.all()[0])
    with reopen().transaction("human", "add") as tx:
        assert memory_number(tx.new_memory_id(NOON)) not in (None, 1)


def test_ids_keep_clear_of_those_that_were_brought_along(library: Library) -> None:
    with library.transaction("human", "add") as tx:
        tx.put(replace(memory(0), id="mem-20261121-0000040"))
        taken = [memory_number(tx.new_memory_id(NOON)) for _ in range(50)]
    assert len(set(taken)) == 50
    assert not {None, 40} & set(taken)


# History: who changed what, and any record as it was


def test_transactions_are_listed_newest_first_without_reads(
    library: Library, reopen: Reopen
) -> None:
    put(library, memory(1), label="add")
    put(library, memory(1, access_count=1), actor="agent:x", label="read", kind="access")
    put(library, memory(1, access_count=1, pinned=True), label="pin")
    for one in (library, reopen()):
        assert [(e.rev, e.label) for e in one.past.events()] == [(3, "pin"), (1, "add")]
        assert [e.rev for e in one.past.events(accesses=True)] == [3, 2, 1]
        assert [e.rev for e in one.changes_back()] == [3, 2, 1]
    pin = next(library.past.events())
    assert [(f.table, f.key, f.field, f.before, f.after) for f in pin.fields] == [
        (*M1, "pinned", None, True)
    ]


def test_one_record_has_its_own_history_also_when_it_is_gone(library: Library) -> None:
    put(library, memory(1))
    put(library, memory(2))
    with library.transaction("human", "delete") as tx:
        tx.delete(memory(1))
    assert [e.rev for e in library.past.events(M1)] == [3, 1]
    assert list(library.past.events(("memories", "m9"))) == []


def test_a_name_is_found_that_is_or_was_there(library: Library) -> None:
    put(library, memory(1), Bullet("b1", "s", "x", book="side"))
    with library.transaction("human", "delete") as tx:
        tx.delete(library.bullets.get("side/b1"))
    assert library.past.find_place("m1") == M1
    assert (
        library.past.find_place("b1")
        == library.past.find_place("side/b1")
        == ("bullets", "side/b1")
    )
    assert library.past.find_place("b2") is None


def test_a_record_is_shown_as_it_was_at_any_revision(library: Library) -> None:
    put(library, memory(1, content="first"))
    put(library, memory(1, content="second"))
    with library.transaction("human", "delete") as tx:
        tx.delete(memory(1))
    found = [library.past.at_revision(*M1, rev) for rev in range(4)]
    assert [doc and doc["content"] for doc in found] == [None, "first", "second", None]
    with pytest.raises(ValueError, match="no revision 4"):
        library.past.at_revision(*M1, 4)


def test_changes_name_records_as_their_table_does(library: Library) -> None:
    put(library, memory(1), memory(2))
    put(library, memory(2, pinned=True), memory(3))
    assert library.memories.doc_id_of("m9") is None
    found = [
        (e.rev, key, c.op) for e, key, c in library.past.changes_of("memories", ["m1", "m2", "m9"])
    ]
    assert found == [(2, "m2", "update"), (1, "m2", "insert"), (1, "m1", "insert")]
    changed = [
        change.doc for entry in library.changes_back() for change in entry.changes if entry.rev == 2
    ]
    assert changed == [library.memories.doc_id_of("m2"), library.memories.doc_id_of("m3")]


def test_transactions_can_be_looked_for_by_what_they_hold(library: Library) -> None:
    put(library, memory(1, content="the heron"))
    put(library, memory(2, content="the crane"))
    assert [e.rev for e in library.changes_back(b"heron")] == [1]
    assert [e.rev for e in library.changes_back(b"heron", b"crane")] == [2, 1]
    assert list(library.changes_back(b"stork")) == []


# Undo and redo: the way back, and forth again


def take_back(library: Library) -> None:
    """Undo the person's latest action."""
    action = library.past.undoable(is_mine)
    assert action is not None
    library.past.undo(action, library.actor_named("human"))


def do_again(library: Library) -> None:
    """Redo what was undone last."""
    action = library.past.redoable(is_mine)
    assert action is not None
    library.past.redo(action, library.actor_named("human"))


def test_actions_are_taken_back_one_by_one_and_done_again(library: Library, reopen: Reopen) -> None:
    put(library, memory(1))
    put(library, memory(1, pinned=True), memory(2))
    take_back(library)
    assert library.memories.all() == [memory(1)]
    take_back(reopen())
    library.refresh()
    assert library.memories.all() == []
    assert library.past.undoable(is_mine) is None
    do_again(reopen())
    library.refresh()
    do_again(library)
    assert library.memories.all() == [memory(1, pinned=True), memory(2)]
    assert library.past.redoable(is_mine) is None
    assert [e.kind for e in library.past.events()] == [
        "redo",
        "redo",
        "undo",
        "undo",
        "edit",
        "edit",
    ]


def test_only_ones_own_actions_are_meant_and_no_reads(library: Library) -> None:
    put(library, memory(1), label="mine")
    put(library, memory(2), actor="agent:x", label="theirs")
    put(library, memory(1, access_count=1), label="read", kind="access")
    action = library.past.undoable(is_mine)
    assert action is not None
    assert action.label == "mine"
    theirs = library.past.action_of("2")
    assert theirs is not None
    library.past.undo(theirs, library.actor_named("human"))
    assert ids(library) == ["m1"]
    assert library.past.action_of("9") is None


def test_a_later_change_of_the_same_field_is_never_overwritten(
    library: Library, other: Library
) -> None:
    put(library, memory(1))
    rev = put(library, memory(1, content="mine"))
    other.refresh()
    put(other, memory(1, content="theirs"), actor="agent:x")
    library.refresh()
    action = library.past.action_of(str(rev))
    assert action is not None
    with pytest.raises(UndoConflict) as caught:
        library.past.undo(action, library.actor_named("human"))
    assert [(c.table, c.key, c.name) for c in caught.value.clashes] == [(*M1, "content")]
    assert library.memories.get("m1").content == "theirs"
    assert library.revision == 3


def test_a_later_change_of_another_field_and_a_count_stay(library: Library) -> None:
    put(library, memory(1))
    rev = put(library, memory(1, content="mine", helpful_votes=1))
    put(library, memory(1, content="mine", helpful_votes=3, pinned=True))
    action = library.past.action_of(str(rev))
    assert action is not None
    library.past.undo(action, library.actor_named("human"))
    assert library.memories.get("m1") == memory(1, helpful_votes=2, pinned=True)


def test_nothing_is_undone_twice_and_a_new_edit_ends_redo(library: Library) -> None:
    put(library, memory(1))
    action = library.past.undoable(is_mine)
    assert action is not None
    library.past.undo(action, library.actor_named("human"))
    with pytest.raises(Conflict, match="already undone"):
        library.past.undo(action, library.actor_named("human"))
    put(library, memory(2))
    assert library.past.redoable(is_mine) is None


def test_what_fails_beside_an_undo_leaves_everything(library: Library) -> None:
    put(library, memory(1))
    action = library.past.undoable(is_mine)
    assert action is not None

    def fail() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        library.past.undo(action, library.actor_named("human"), fail)
    assert (ids(library), library.revision) == (["m1"], 1)


# Groups: one action in several transactions


def test_a_group_is_unfinished_until_its_last_part_came(library: Library, other: Library) -> None:
    put(library, memory(1), label="import", group="import-a", more=True)
    other.refresh()
    assert dict(library.unfinished) == dict(other.unfinished) == {"import-a": "import"}
    put(library, memory(2), label="import", group="import-a", part=2)
    other.refresh()
    assert dict(library.unfinished) == dict(other.unfinished) == {}


@pytest.mark.parametrize("name", ["import-a", "1", "2"])
def test_any_part_stands_for_the_whole_which_goes_at_once(library: Library, name: str) -> None:
    put(library, memory(1), group="import-a", more=True)
    put(library, memory(2), group="import-a", part=2)
    action = library.past.action_of(name)
    assert action is not None
    assert [entry.rev for entry in action.entries] == [1, 2]
    library.past.undo(action, library.actor_named("human"))
    assert (ids(library), library.revision) == ([], 3)
    library.past.redo(action, library.actor_named("human"))
    assert ids(library) == ["m1", "m2"]


def test_the_name_of_a_group_is_no_number(library: Library) -> None:
    with pytest.raises(ValueError, match="not a number"):
        put(library, memory(1), group="7")


# Purge: erasing for good


def erase(library: Library, *places: Place) -> tuple[Place, ...]:
    """Erase records; return which."""
    return purge.purge(library.journal, places, "human", lambda: ()).records


def test_the_record_is_gone_from_the_present_and_its_texts_from_the_past(
    library: Library, other: Library, reopen: Reopen
) -> None:
    put(library, memory(1, content=f"old {SECRET}"), memory(2, content=f"quotes it: old {SECRET}"))
    put(library, memory(1, content="something else altogether"))
    other.refresh()
    assert erase(library, M1) == (M1,)
    other.refresh()
    for one in (library, other, reopen()):
        assert ids(one) == ["m2"]
        assert one.memories.get("m2").content == "quotes it: [purged]"
        assert one.past.at_revision(*M1, 1) is None
        assert not [e for e in one.changes_back() if SECRET in str(e.changes)]
        assert [e.kind for e in one.past.events(M1)] == ["purge", "edit", "edit"]
    assert purge.unfinished(library.journal) == ()


def test_there_is_no_way_back(library: Library) -> None:
    put(library, memory(1), label="add")
    put(library, memory(2), label="add another")
    erase(library, ("memories", "m2"))
    action = library.past.undoable(is_mine)
    assert action is not None
    assert action.label == "add"
    assert action.purged_since


def test_who_follows_hears_of_it(library: Library, other: Library) -> None:
    put(library, memory(1))
    other.refresh()
    heard: list[Touched] = []
    other.listen(heard.append)
    erase(library, M1)
    other.refresh()
    assert M1 in frozenset[Place]().union(*(touched.keys for touched in heard))


def test_what_never_was_there_cannot_be_purged(library: Library) -> None:
    put(library, memory(1))
    with pytest.raises(UnknownRecord):
        erase(library, M1, ("memories", "m9"))
    assert ids(library) == ["m1"]


def test_it_can_be_run_again_and_takes_what_is_beside_along(library: Library) -> None:
    put(library, memory(1))
    found = purge.finder(library.journal, [M1])
    assert (found(b"a copy of memory number 1"), found(b"another text")) == (True, False)
    for _ in range(2):
        done = purge.purge(library.journal, [M1], "human", lambda: ("beside",))
        assert done.removed[-1] == "beside"


def test_a_vote_is_a_record_like_any_other(library: Library) -> None:
    put(library, memory(1), Vote("v1", "memories", "m1", "human", "helpful", NOON))
    erase(library, ("votes", "v1"))
    assert (ids(library), library.votes.all()) == (["m1"], [])


def test_secrets_are_masked_everywhere_and_the_records_stay(
    library: Library, reopen: Reopen
) -> None:
    put(library, memory(1, content=f"old {SECRET}"), label=f"say {SECRET}")
    put(library, memory(1, content="new", summary=SECRET))
    masker = Masker([SECRET], lambda text: text.replace(SECRET, "[masked]"))
    purge.mask(library.journal, masker, "human", lambda: ())
    for one in (library, reopen()):
        assert one.memories.get("m1") == memory(1, content="new", summary="[masked]")
        assert not [e for e in one.changes_back() if SECRET in str(e)]
        doc = one.past.at_revision(*M1, 1)
        assert doc is not None
        assert doc["content"] == "old [masked]"


# What a library says of itself, and how it is left


def test_a_sound_store_says_nothing_and_keeps_what_it_is_told(library: Library) -> None:
    assert (list(library.notices), list(library.damage), dict(library.unfinished)) == ([], [], {})
    library.note("Something.")
    assert list(library.notices) == ["Something."]
    assert not library.is_missing
    assert library.standing.trusted
    library.require_trust()


def test_closed_and_opened_again_it_is_the_same(library: Library, reopen: Reopen) -> None:
    put(library, memory(1), group="import-a", more=True)
    library.close()
    again = reopen()
    assert (again.revision, ids(again), dict(again.unfinished)) == (1, ["m1"], {"import-a": "put"})
    if again.folder == library.folder:
        assert again.revisions_since_checkpoint == 0
    assert put(again, memory(2)) == 2


def test_a_new_store_can_be_made_without_a_change(library: Library, reopen: Reopen) -> None:
    library.begin()
    assert (reopen().revision, library.revision) == (0, 0)


def test_a_backup_is_written_once(library: Library, tmp_path: Path) -> None:
    put(library, memory(1), Book())
    made = backup.write_backup(library.journal, tmp_path / "copy", NOON)
    assert (made.rev, made.counts, made.damaged) == (1, {"memories": 1, "books": 1}, 0)
    with pytest.raises(StoreProblem, match="already exists"):
        backup.write_backup(library.journal, tmp_path / "copy", NOON)
