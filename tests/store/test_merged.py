"""Two branches of a journal, merged line by line: both are kept, the later gets new numbers, and
undo knows both.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.helpers import NOON, clock, lines, open_library
from workbench.core.playbook.book import Book, Bullet
from workbench.core.stream.memory import Memory
from workbench.store import append, history
from workbench.store.journal.codec import hash_of, seal, unseal
from workbench.store.library import Library
from workbench.store.maintenance.doctor import examine, recover


def add(library: Library, text: str) -> str:
    with library.transaction("human", f"add {text}") as tx:
        name = tx.new_memory_id(NOON)
        tx.put(Memory(name, text, NOON, NOON))
    return name


def union(ours: Path, theirs: Path) -> None:
    """Merge two journals as git's union driver does: the common lines, then ours, then theirs."""
    one, other = lines(ours), lines(theirs)
    same = next(n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    (ours / "journal.jsonl").write_bytes(b"".join([*one, *other[same:]]))


def branches(tmp_path: Path, ours: int = 2, theirs: int = 3) -> None:
    """Two stores with three memories in common, each with some of its own, merged into the first."""
    library = open_library(tmp_path / "a")
    for number in range(3):
        add(library, f"common {number}")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    for side, count in (("a", ours), ("b", theirs)):
        branch = open_library(tmp_path / side)
        for number in range(count):
            add(branch, f"{side} {number}")
    union(tmp_path / "a", tmp_path / "b")


ALL = ["common 0", "common 1", "common 2", "a 0", "a 1", "b 0", "b 1", "b 2"]


def test_both_are_kept_and_the_doctor_says_so(tmp_path: Path) -> None:
    branches(tmp_path)
    library = open_library(tmp_path / "a")
    memories = library.memories.all()
    assert [m.content for m in memories] == ALL
    assert len({m.id for m in memories}) == 8
    assert library.journal.rev == 8
    assert any("same revision" in text for text in map(str, library.journal.notices))
    assert library.journal.damage == []
    found = examine(tmp_path / "a")
    assert not found.is_sound
    assert found.damage == ()
    assert [(one.rev, one.now) for one in found.renumbered] == [(4, 6), (5, 7), (6, 8)]
    assert "mem-20261121-0000004 is mem-20261121-0000006" in str(found.renumbered[0])
    assert [event.rev for event in history.Past(library.journal).events()] == list(range(8, 0, -1))


def test_the_next_change_puts_the_file_in_order(tmp_path: Path) -> None:
    branches(tmp_path)
    reader = open_library(tmp_path / "a")
    assert add(open_library(tmp_path / "a"), "after") == "mem-20261121-0000009"
    reader.journal.refresh()
    for library in (reader, open_library(tmp_path / "a")):
        assert [m.content for m in library.memories.all()] == [*ALL, "after"]
        assert [e.rev for e in library.journal.entries_back()] == list(range(9, 0, -1))
        assert library.journal.damage == []
    assert examine(tmp_path / "a").is_sound


def test_undo_knows_both(tmp_path: Path) -> None:
    branches(tmp_path)
    library = open_library(tmp_path / "a")
    for rev in (6, 4):
        action = history.Past(library.journal).action_of(str(rev))
        assert action is not None
        history.Past(library.journal).undo(action, "human")
    assert [m.content for m in open_library(tmp_path / "a").memories.all()] == [
        text for text in ALL if text not in ("b 0", "a 0")
    ]


def test_an_undo_in_a_branch_still_speaks_of_its_own_change(tmp_path: Path) -> None:
    library = open_library(tmp_path / "a")
    add(library, "common")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    add(library, "ours")
    other = open_library(tmp_path / "b")
    add(other, "theirs")
    action = history.Past(other.journal).undoable(lambda _: True)
    assert action is not None
    history.Past(other.journal).undo(action, "human")
    union(tmp_path / "a", tmp_path / "b")
    merged = open_library(tmp_path / "a")
    assert [m.content for m in merged.memories.all()] == ["common", "ours"]
    again = history.Past(merged.journal).redoable(lambda _: True)
    assert again is not None
    history.Past(merged.journal).redo(again, "human")
    assert [m.content for m in open_library(tmp_path / "a").memories.all()] == [
        "common",
        "ours",
        "theirs",
    ]


def test_what_a_branch_took_back_together_still_is_taken_back(tmp_path: Path) -> None:
    library = open_library(tmp_path / "a")
    add(library, "common")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    add(library, "ours")
    other = open_library(tmp_path / "b")
    add(other, "theirs")
    add(other, "theirs too")
    past = history.Past(other.journal)
    actor = next(past.events()).actor
    theirs = past.standing(actor, NOON)[:2]
    past.undo_all(theirs, "cli", "by claude")
    union(tmp_path / "a", tmp_path / "b")
    merged = history.Past(open_library(tmp_path / "a").journal)
    assert [action.label for action in merged.standing(actor, NOON)] == ["add ours", "add common"]


def test_later_changes_of_a_branch_follow_its_record(tmp_path: Path) -> None:
    library = open_library(tmp_path / "a")
    add(library, "common")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    add(library, "ours")
    other = open_library(tmp_path / "b")
    made = other.memories.get(add(other, "theirs"))
    with other.transaction("human", "vote") as tx:
        tx.put(replace(made, helpful_votes=3))
        tx.put(replace(other.memories.all()[0], helpful_votes=1))
    union(tmp_path / "a", tmp_path / "b")
    merged = open_library(tmp_path / "a").memories.all()
    assert [(m.content, m.helpful_votes) for m in merged] == [
        ("common", 1),
        ("ours", 0),
        ("theirs", 3),
    ]


def test_records_with_names_of_their_own(tmp_path: Path) -> None:
    """Bullets are two, the playbook they are in is one."""
    open_library(tmp_path / "a").journal.begin()
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    for side in ("a", "b"):
        with open_library(tmp_path / side).transaction("human", "add") as tx:
            tx.put(Book())
            tx.put(Bullet("shr-00001", "s", f"of {side}"))
    union(tmp_path / "a", tmp_path / "b")
    merged = open_library(tmp_path / "a")
    assert len(merged.books.all()) == 1
    assert {b.id: b.content for b in merged.bullets.all()} == {
        "shr-00001": "of a",
        "shr-00002": "of b",
    }


def test_a_hook_adds_to_a_merged_store_what_is_read_back(tmp_path: Path) -> None:
    branches(tmp_path)
    with append.appending(tmp_path / "a", "agent:x", "see", clock) as block:
        name = block.new_memory_id(NOON)
        block.add(Memory(name, "seen", NOON, NOON))
    assert open_library(tmp_path / "a").memories.get(name).content == "seen"


def test_merging_again_with_the_branch_brings_nothing_twice(tmp_path: Path) -> None:
    branches(tmp_path)
    add(open_library(tmp_path / "a"), "after")
    (tmp_path / "a" / "journal.jsonl").write_bytes(
        b"".join([*lines(tmp_path / "a"), *lines(tmp_path / "b")[4:]])
    )
    library = open_library(tmp_path / "a")
    assert [m.content for m in library.memories.all()] == [*ALL, "after"]
    add(library, "more")
    assert open_library(tmp_path / "a").journal.damage == []


def test_lines_that_changed_places_say_the_same(tmp_path: Path) -> None:
    library = open_library(tmp_path / "a")
    names = [add(library, f"text {number}") for number in range(5)]
    with library.transaction("human", "edit") as tx:
        tx.put(replace(library.memories.get(names[0]), content="edited"))
    with library.transaction("human", "edit") as tx:
        tx.put(replace(library.memories.get(names[0]), content="edited twice"))
    content = lines(tmp_path / "a")
    content[-1], content[-2] = content[-2], content[-1]
    (tmp_path / "a" / "journal.jsonl").write_bytes(b"".join(content))
    other = open_library(tmp_path / "a")
    assert other.memories.get(names[0]).content == "edited twice"
    assert other.journal.damage
    add(other, "after")
    assert open_library(tmp_path / "a").journal.damage == []
    assert open_library(tmp_path / "a").memories.get(names[0]).content == "edited twice"


def test_a_record_over_a_living_one_is_kept_beside_it(tmp_path: Path) -> None:
    """Another program that believed a wrong counter wrote such a line."""
    library = open_library(tmp_path / "a")
    add(library, "first")
    add(library, "second")
    value = unseal(lines(tmp_path / "a")[1][:-1])
    value |= {"rev": 3, "uid": "another"}
    value["changes"][0]["doc"]["content"] = "third"
    with (tmp_path / "a" / "journal.jsonl").open("ab") as file:
        file.write(seal(value, hash_of(lines(tmp_path / "a")[-1][:-1])))
    merged = open_library(tmp_path / "a")
    assert [m.content for m in merged.memories.all()] == ["first", "second", "third"]
    assert not examine(tmp_path / "a").is_sound
    add(merged, "fourth")
    assert [m.content for m in open_library(tmp_path / "a").memories.all()] == [
        "first",
        "second",
        "third",
        "fourth",
    ]


@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_merged_store_is_recovered_with_both(tmp_path: Path, checkpoint: bool) -> None:
    branches(tmp_path)
    if checkpoint:
        open_library(tmp_path / "b").journal.save_checkpoint()
        for name in ("memory.json", "checkpoint.json"):
            shutil.copy(tmp_path / "b" / name, tmp_path / "a" / name)
    saved = recover(tmp_path / "a", NOON)
    assert [m.content for m in open_library(saved.folder).memories.all()] == ALL


def test_a_checkpoint_of_the_other_branch_is_nobodys_edit(tmp_path: Path) -> None:
    branches(tmp_path)
    open_library(tmp_path / "b").journal.save_checkpoint()
    for name in ("memory.json", "checkpoint.json"):
        shutil.copy(tmp_path / "b" / name, tmp_path / "a" / name)
    library = open_library(tmp_path / "a")
    assert library.journal.outside_edit is None
    assert [m.content for m in library.memories.all()] == ALL
    assert not any("another program" in text for text in map(str, library.journal.notices))


def test_no_segment_of_the_other_branch_is_overwritten(tmp_path: Path) -> None:
    branches(tmp_path)
    closed = tmp_path / "a" / "journal-000000000000.jsonl"
    shutil.copy(tmp_path / "b" / "journal.jsonl", closed)
    before = closed.read_bytes()
    library = open_library(tmp_path / "a", segment_bytes=500)
    for number in range(4):
        add(library, f"later {number}")
    assert closed.read_bytes() == before
    held = {m.content for m in open_library(tmp_path / "a").memories.all()}
    assert held == {*ALL, *(f"later {number}" for number in range(4))}
