"""A store whose journal is a copy of a log that several machines share."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from tests.builders.memory_log import MemoryLog, Shared
from tests.store.helpers import NOON, clock, memory
from workbench.core.playbook.book import Book, Bullet
from workbench.core.record import StoreProblem, UnknownOutcome, iso
from workbench.core.stream.memory import Vote
from workbench.store.entry import REFUSED, Level
from workbench.store.journal.segments import NAME
from workbench.store.library import Library
from workbench.store.log import Body, Entry, LogState
from workbench.store.maintenance.purge import purge

Open = Callable[..., Library]


@pytest.fixture
def log() -> Shared:
    return Shared()


@pytest.fixture
def machine(tmp_path: Path, log: Shared) -> Open:
    """Opens the store on a machine, as a member."""

    def open_store(name: str, level: Level = "owner", is_agent: bool = False) -> Library:
        return Library(tmp_path / name, clock, shared=MemoryLog(log, name, level, is_agent))

    return open_store


def put(library: Library, *records: object, actor: str = "human", label: str = "put") -> None:
    with library.transaction(actor, label) as tx:
        for record in records:
            tx.put(record)


def journal_of(library: Library) -> bytes:
    return (library.folder / NAME).read_bytes()


def test_every_machine_has_the_same_journal(machine: Open) -> None:
    ann, bob = machine("ann"), machine("bob")
    put(ann, memory(1))
    put(bob, memory(2), actor="agent:claude")
    put(ann, memory(3))
    bob.refresh()
    assert journal_of(ann) == journal_of(bob) == journal_of(machine("cid"))
    actors = [(entry.rev, entry.actor) for entry in machine("cid").changes_back()]
    assert actors == [(3, "human:ann"), (2, "agent:bob/claude"), (1, "human:ann")]


def test_who_follows_a_log_that_is_away_is_refused_at_once_and_goes_on_when_it_is_back(
    tmp_path: Path,
) -> None:
    asked = list[int]()

    class Watched(MemoryLog):
        def state(self) -> LogState:
            asked.append(threading.get_ident())
            return super().state()

    log = Watched()
    library = Library(tmp_path / "ann", clock, shared=log)
    put(library, memory(1))
    library.follow(0.01)
    log.away = True
    while library.away is None:
        pass
    asked.clear()
    with pytest.raises(StoreProblem):
        put(library, memory(2))
    assert threading.get_ident() not in asked
    log.away = False
    while library.away is not None:
        pass
    put(library, memory(3))
    library.close()
    assert len(log.shared.entries) == 2


def test_a_change_of_what_somebody_else_changed_is_refused_with_their_name(machine: Open) -> None:
    ann, bob = machine("ann"), machine("bob")
    put(ann, memory(1))
    bob.refresh()
    put(ann, memory(1, content="by ann"))
    with pytest.raises(StoreProblem, match="human:ann"):
        put(bob, memory(1, content="by bob"))
    assert bob.memories.get("m1").content == "by ann"
    put(bob, memory(1, content="by bob"))
    ann.refresh()
    assert ann.memories.get("m1").content == "by bob"


def test_two_records_of_one_key_do_not_come_to_be(machine: Open) -> None:
    ann, bob = machine("ann"), machine("bob")
    put(ann, Book("side", "Side"))
    with pytest.raises(StoreProblem):
        put(bob, Book("side", "Another"))
    assert [book.name for book in bob.books.all()] == ["Side"]


def test_votes_never_clash(machine: Open) -> None:
    ann, bob = machine("ann"), machine("bob")
    put(ann, memory(1))
    bob.refresh()
    for one in (ann, bob, ann, bob):
        voted = one.memories.get("m1")
        number = len(list(one.changes_back()))
        vote = Vote(f"v{one.folder.name}{number}", "memories", "m1", "human", "helpful", NOON)
        counted = replace(voted, helpful_votes=voted.helpful_votes + 1, last_feedback_at=NOON)
        put(one, counted, vote)
    ann.refresh()
    bob.refresh()
    assert ann.memories.get("m1").helpful_votes == bob.memories.get("m1").helpful_votes == 4


def test_what_is_read_stays_while_the_log_is_away_and_nothing_is_written(
    machine: Open, tmp_path: Path, log: Shared
) -> None:
    put(machine("ann"), memory(1))
    here = MemoryLog(log, "bob")
    bob = Library(tmp_path / "bob", clock, shared=here)
    here.away = True
    again = Library(tmp_path / "bob", clock, shared=here)
    for one in (bob, again):
        one.refresh()
        assert one.away is not None
        assert [m.id for m in one.memories.all()] == ["m1"]
        with pytest.raises(StoreProblem):
            put(one, memory(2))
    here.away = False
    put(machine("ann"), memory(3))
    again.refresh()
    assert again.away is None
    assert [m.id for m in again.memories.all()] == ["m1", "m3"]
    with pytest.raises(StoreProblem):
        Library(tmp_path / "new", clock, shared=_gone(log))


def _gone(log: Shared) -> MemoryLog:
    gone = MemoryLog(log)
    gone.away = True
    return gone


class Unsure(MemoryLog):
    """A log whose answer to a change is lost, after it was stored."""

    def append(self, seen: LogState, body: Body) -> Entry:
        super().append(seen, body)
        raise UnknownOutcome("The answer was lost.", "Look before you repeat it.")


def test_a_change_whose_answer_was_lost_is_not_made_twice(tmp_path: Path, log: Shared) -> None:
    ann = Library(tmp_path / "ann", clock, shared=Unsure(log, "ann"))
    with pytest.raises(UnknownOutcome):
        put(ann, memory(1))
    ann.refresh()
    assert [m.id for m in ann.memories.all()] == ["m1"]
    assert ann.revision == 1


def test_a_copy_that_was_damaged_or_cut_is_made_anew(machine: Open, log: Shared) -> None:
    ann = machine("ann")
    for number in range(5):
        put(ann, memory(number))
    sound = journal_of(ann)
    path = ann.folder / NAME
    for damaged in (sound[:-40], sound.replace(b"number 3", b"number 4"), b"", sound[:300]):
        path.write_bytes(damaged)
        again = machine("ann")
        assert [m.id for m in again.memories.all()] == [f"m{n}" for n in range(5)]
        assert not again.damage
        assert journal_of(again) == sound


def test_an_older_copy_of_the_log_takes_nothing_away_silently(machine: Open, log: Shared) -> None:
    ann = machine("ann")
    put(ann, memory(1))
    put(ann, memory(2))
    sound = journal_of(ann)
    log.entries.pop()
    log.touched.pop()
    again = machine("ann")
    assert again.away is not None
    assert [m.id for m in again.memories.all()] == ["m1", "m2"]
    with pytest.raises(StoreProblem):
        put(again, memory(3))
    assert journal_of(again) == sound


def _edit(library: Library) -> None:
    put(library, memory(1, content="changed"))


def _add(library: Library) -> None:
    put(library, memory(7))


def _count(library: Library) -> None:
    put(library, replace(library.memories.get("m1"), helpful_votes=1))


def _write_a_rule(library: Library) -> None:
    put(library, Bullet("b1", "others", "a rule"))


@pytest.mark.parametrize(
    ("level", "may"),
    [
        ("reader", ()),
        ("writer", (_add, _count)),
        ("reviewer", (_add, _count, _edit, _write_a_rule)),
    ],
)
def test_each_level_may_do_its_own(
    machine: Open, level: Level, may: tuple[Callable[[Library], None], ...]
) -> None:
    put(machine("ann"), memory(1))
    for act in (_add, _count, _edit, _write_a_rule):
        bob = machine("bob", level)
        before = bob.revision
        if act in may:
            act(bob)
        else:
            with pytest.raises(StoreProblem, match=level):
                act(bob)
        assert bob.revision - before == (act in may)


FORGED = {
    "an edit": b'"changes":[{"table":"memories","id":"1","fields":{"content":["x","forged"]}}]',
    "a table dropped": b'"changes":[{"table":"memories","op":"drop"}]',
    "a deletion": b'"changes":[{"table":"memories","id":"1","op":"delete","doc":{"id":"m1"}}]',
    "many votes": b'"changes":[{"table":"memories","id":"1","inc":{"helpful_votes":100000}}]',
    "no counter": b'"changes":[{"table":"memories","id":"1","inc":{"pinned":1}}]',
    "no number": b'"changes":[{"table":"memories","id":"1","inc":{"access_count":"x"}}]',
    "no object": b'"changes":[{"table":"memories","id":"1","fields":{"metadata":[{},5]}}]',
    "another's vote": b'"changes":[{"table":"votes","id":"9","op":"insert","doc":{"id":"v",'
    b'"actor":"human:ann"}}]',
    "an approval": b'"changes":[{"table":"memories","id":"9","op":"insert","doc":{"id":"m9",'
    b'"status":"promoted"}}]',
    "another's undone": b'"target":1,"takes":["1"],"changes":[]',
    "another's taken back": b'"target":1,"changes":[{"table":"memories","id":"1","op":"delete",'
    b'"doc":{"id":"m1"}}]',
    "no list": b'"changes":{"a":1}',
    "no changes": b'"group":"g"',
    "no text": b'"group":[1],"changes":[]',
    "a part that is none": b'"group":"g","part":"a","changes":[]',
    "numbers that are none": b'"next":{"memories":"a"},"changes":[]',
    "a list of numbers": b'"next":[1],"changes":[]',
    "a table that is none": b'"changes":[{"table":["x"],"id":"1","fields":{"a":[1,2]}}]',
    "an id that is none": b'"changes":[{"table":"memories","id":[1],"fields":{"a":[1,2]}}]',
    "half a character": b'"x":"\\ud800","changes":[]',
    "too large a number": b'"x":1e999,"changes":[]',
    "no JSON": b'"x":}{',
    "too deep": b'"x":' + b"[" * 3000 + b"]" * 3000 + b',"changes":[]',
    "a line in a line": b'"x":"\\ud800","changes":[{"rev":2,"at":"2026-01-01T00:00:00Z","actor":'
    b'"human:ann","kind":"edit","uid":"u","label":"x","changes":[{"table":"memories","id":"1",'
    b'"fields":{"content":["x","forged"]}}],"prev":"%(prev)s","hash":"%(hash)s"}]',
}
"""What a member of level writer sends past the rules, and what the check of each is about."""


@pytest.mark.parametrize("what", FORGED)
def test_what_its_writer_was_not_allowed_has_no_effect(
    machine: Open, log: Shared, what: str
) -> None:
    ann = machine("ann")
    put(ann, memory(1))
    before = ann.memories.get("m1")
    data = b'"label":"add",' + FORGED[what]
    if b"%(prev)s" in data:
        inner = data[data.index(b'{"rev"') : data.index(b',"prev"')] + b',"prev":"' + b"0" * 64
        hash_ = sha256(inner + b'"').hexdigest().encode()
        data = data.replace(b"%(prev)s", b"0" * 64).replace(b"%(hash)s", hash_)
    bob = MemoryLog(log, "bob", "writer")
    state = bob.state()
    kind = "undo" if b'"target"' in data else "edit"
    bob.add(iso(NOON), "human:bob", kind, "f" * 16, data, frozenset(), "writer")
    assert bob.state().rev == state.rev + 1
    ann.refresh()
    for one in (ann, machine("cid")):
        assert one.memories.all() == [before]
        assert one.votes.all() == []
        assert next(one.changes_back()).label.startswith(REFUSED)
        assert not one.damage
        assert one.past.undoable(lambda actor: actor == "human:ann") is not None
    put(ann, memory(2))
    assert ann.revision == 3
    ann.maintain(purge, [("memories", "m1")], "human")
    assert [m.id for m in machine("eve").memories.all()] == ["m2"]


def test_only_ones_own_is_taken_back_by_a_writer(machine: Open) -> None:
    put(machine("ann"), memory(1))
    ann, bob = machine("ann", "writer"), machine("bob", "writer")
    for one in (ann, bob):
        one.refresh()
        voted = one.memories.get("m1")
        counted = replace(voted, helpful_votes=voted.helpful_votes + 1, last_feedback_at=NOON)
        name = one.folder.name
        put(one, counted, Vote(f"v-{name}", "memories", "m1", f"human:{name}", "helpful", NOON))
    theirs, own = bob.past.action_of("2"), bob.past.action_of("3")
    assert theirs is not None
    assert own is not None
    with pytest.raises(StoreProblem, match="writer"):
        bob.past.undo(theirs, "human")
    bob.past.undo(own, "human")
    put(bob, memory(2))
    added = bob.past.action_of(str(bob.revision))
    assert added is not None
    bob.past.undo(added, "human")
    for one in (bob, machine("cid")):
        assert [m.id for m in one.memories.all()] == ["m1"]
        assert not any(entry.label.startswith(REFUSED) for entry in one.changes_back())
    assert bob.memories.get("m1").helpful_votes == 1
    assert [vote.id for vote in bob.votes.all()] == ["v-ann"]


def test_an_agents_role_is_no_person(machine: Open) -> None:
    agent = machine("ann_agent", "writer", is_agent=True)
    put(agent, memory(1), actor="human")
    assert next(agent.changes_back()).actor == "agent:ann_agent/human"


def test_files_beside_the_records_are_there_on_every_machine(machine: Open, log: Shared) -> None:
    ann, bob = machine("ann"), machine("bob")
    name = ann.blobs.put(b"an episode")
    assert bob.blobs.read(name) == b"an episode"
    assert bob.blobs.names() == (name,)


def test_what_is_erased_is_in_no_copy_and_nobody_elses_change_is_lost(
    machine: Open, log: Shared
) -> None:
    ann, bob = machine("ann"), machine("bob")
    put(ann, memory(1, content="a secret of more than sixteen characters"))
    put(ann, memory(2))
    bob.refresh()
    ann.maintain(purge, [("memories", "m1")], "human")
    assert b"sixteen" not in b"".join(entry.data for entry in log.entries)
    put(machine("cid"), memory(3))
    bob.refresh()
    ann.refresh()
    for one in (ann, bob):
        assert [m.id for m in one.memories.all()] == ["m2", "m3"]
        assert b"sixteen" not in journal_of(one)
    assert journal_of(ann) == journal_of(bob)


def test_a_purge_that_another_one_overtakes_is_said_and_done_again(
    machine: Open, log: Shared
) -> None:
    ann, bob = machine("ann"), machine("bob")
    for number in (1, 2):
        put(ann, memory(number, content=f"a secret of more than sixteen characters {number}"))
    bob.refresh()

    def meanwhile() -> tuple[str, ...]:
        put(bob, memory(3))
        return ()

    with pytest.raises(StoreProblem):
        ann.maintain(purge, [("memories", "m1")], "human", meanwhile)
    again = machine("ann")
    again.maintain(purge, [("memories", "m1")], "human")
    assert b"characters 1" not in b"".join(entry.data for entry in log.entries)
    assert [m.id for m in machine("cid").memories.all()] == ["m2", "m3"]


def test_a_record_of_a_number_that_another_has_has_no_effect_and_writing_goes_on(
    machine: Open, log: Shared
) -> None:
    ann = machine("ann")
    put(ann, memory(1))
    number = next(iter(ann.journal.state.docs("memories"))).encode()
    data = b'"label":"add","changes":[{"table":"memories","id":"%s","op":"insert","doc":%s}]'
    doc = b'{"id":"m9","content":"another","created_at":"2026-01-01T00:00:00Z"}'
    bob = MemoryLog(log, "bob", "writer")
    bob.add(iso(NOON), "human:bob", "edit", "f" * 16, data % (number, doc), frozenset(), "writer")
    ann.refresh()
    assert [m.id for m in ann.memories.all()] == ["m1"]
    put(ann, memory(2))
    cid = machine("cid")
    put(cid, memory(3))
    assert [m.id for m in cid.memories.all()] == ["m1", "m2", "m3"]


def test_a_block_to_itself_stands_on_what_another_process_here_wrote(machine: Open) -> None:
    one, two = machine("ann"), machine("ann")
    put(two, memory(1))
    with one.exclusive():
        pass
    put(one, memory(2))
    assert [m.id for m in one.memories.all()] == ["m1", "m2"]


class Breaks(MemoryLog):
    """A log whose connection breaks in the middle of what is read."""

    def read(self, after: int) -> Iterator[Entry]:
        yield from list(super().read(after))[:2]
        raise StoreProblem("The connection was lost.", "Try again.")


def test_a_copy_that_cannot_begin_anew_stays(tmp_path: Path, log: Shared, machine: Open) -> None:
    ann, bob = machine("ann"), machine("bob")
    for number in (1, 2, 3, 4):
        put(ann, memory(number, content=f"a secret of more than sixteen characters {number}"))
    bob.refresh()
    before = journal_of(bob)
    ann.maintain(purge, [("memories", "m1")], "human")
    broken = Library(tmp_path / "bob", clock, shared=Breaks(log, "bob"))
    assert broken.away is not None
    assert len(broken.memories.all()) == 4
    assert journal_of(broken) == before
    assert len(machine("bob").memories.all()) == 3


def test_what_a_log_that_was_put_back_has_lost_is_kept_and_said(machine: Open, log: Shared) -> None:
    ann = machine("ann")
    for number in (1, 2, 3):
        put(ann, memory(number))
    lost = journal_of(ann).splitlines(keepends=True)[-2:]
    del log.entries[1:], log.touched[1:]
    bob = machine("bob")
    for number in (4, 5, 6):
        put(bob, memory(number))
    again = machine("ann")
    assert [m.id for m in again.memories.all()] == ["m1", "m4", "m5", "m6"]
    assert any("put back" in str(notice) for notice in again.notices)
    assert [path.read_bytes() for path in again.folder.glob("journal-before-*")] == [b"".join(lost)]


class Fails(MemoryLog):
    """A log that cannot be read again after something was added."""

    is_added = False

    def append(self, seen: LogState, body: Body) -> Entry:
        self.is_added = True
        return super().append(seen, body)

    def state(self) -> LogState:
        if self.is_added:
            raise StoreProblem("The connection was lost.", "Try again.")
        return super().state()


def test_a_change_that_is_stored_is_not_said_to_be_lost(
    tmp_path: Path, log: Shared, machine: Open
) -> None:
    here = Fails(log, "ann")
    ann = Library(tmp_path / "ann", clock, shared=here)
    put(machine("bob"), memory(1))
    with pytest.raises(UnknownOutcome):
        put(ann, memory(2))
    here.is_added = False
    ann.refresh()
    assert [m.id for m in ann.memories.all()] == ["m1", "m2"]


def test_files_that_were_erased_are_on_no_machine(machine: Open, log: Shared) -> None:
    ann, bob = machine("ann"), machine("bob")
    name = ann.blobs.put(b"what an episode was")
    put(ann, memory(1, content="a secret of more than sixteen characters"))
    assert bob.blobs.read(name)
    bob.refresh()
    ann.maintain(purge, [("memories", "m1")], "human")
    assert log.blobs == {}
    bob.refresh()
    assert bob.blobs.files() == ()


def test_what_was_erased_is_kept_by_no_machine_that_saw_it_said_before_it_was_done(
    machine: Open, log: Shared
) -> None:
    ann, bob = machine("ann"), machine("bob")
    put(ann, memory(1, content="a secret of more than sixteen characters"))

    def meanwhile() -> tuple[str, ...]:
        bob.refresh()  # the change is there, and the texts are still
        return ()

    ann.maintain(purge, [("memories", "m1")], "human", meanwhile)
    bob.refresh()
    again = machine("bob")
    assert again.memories.all() == []
    assert not any(b"sixteen" in path.read_bytes() for path in again.folder.rglob("*.json*"))
    assert not list(again.folder.glob("journal-before-*"))
