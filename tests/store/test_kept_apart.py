"""Memories that an older version kept apart by rejected proposals: read as they are, upgraded once, taken back."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from itertools import combinations
from pathlib import Path

import pytest

from tests.store.helpers import NOON, clock, failing, killed_after, lines, memory, open_library
from workbench.core.duplicates.kept_pair import KeptPair, kept_pair
from workbench.core.errors import StoreProblem
from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import Memory
from workbench.store.append import append, appending
from workbench.store.history import undo
from workbench.store.history.undo import Action
from workbench.store.journal import segments
from workbench.store.journal.codec import loads, seal
from workbench.store.library import Library
from workbench.store.maintenance.doctor import recover

FIXTURE = Path(__file__).parent / "fixtures" / "kept-apart-1"

KEPT = {frozenset(("m0", "m2")), frozenset(("m3", "m4")), frozenset(("m5", "m6"))}
"""What the person who had the older version keeps apart: in Health, in Review, and in Health again."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A store of the version before, with three decisions to keep two memories apart."""
    return Path(shutil.copytree(FIXTURE, tmp_path / "s"))


def kept(library: Library) -> set[frozenset[str]]:
    """Return the ids of every two memories that are kept apart."""
    is_kept = library.kept_apart()
    return {frozenset((a.id, b.id)) for a, b in combinations(library.memories.all(), 2) if is_kept(a, b)}


def schema(folder: Path) -> int:
    """Return the schema in the header of the active segment."""
    return int(loads(lines(folder)[0])["schema"])


def change(library: Library, label: str = "change") -> None:
    """Change something that has nothing to do with duplicates."""
    with library.transaction("human", label) as tx:
        tx.put(memory(99, f"{label} at revision {library.revision}"))


def done(library: Library, label: str) -> Action:
    """Return the action with a label that the person did last."""
    found = next(e for e in library.changes_back() if e.label == label and e.kind == "edit")
    action = undo.action_of(library.journal, str(found.rev))
    assert action is not None
    return action


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def test_an_old_store_is_read_as_it_is(old: Path) -> None:
    before = files(old)
    library = Library(old, clock)
    assert kept(library) == KEPT
    assert (len(library.kept_pairs), library.journal.schema) == (0, 1)
    library.close()
    assert files(old) == before


def test_it_is_upgraded_once_with_the_first_change(old: Path) -> None:
    before = files(old)
    library = Library(old, clock)
    change(library)
    said = [(e.actor, e.label) for e in library.changes_back()][:2]
    assert said == [("human", "change"), ("upgrade", "note 3 pairs of memories that are kept apart")]
    assert {frozenset((p.left, p.right)) for p in library.kept_pairs.all()} == kept(library) == KEPT
    assert (schema(old), library.journal.schema) == (2, 2)
    (copy,) = old.glob("backup-*")
    assert files(copy) == before
    assert copy.name in str(library.notices[-1])
    rev = library.revision
    again = Library(old, clock)
    change(again, "another")
    assert (again.revision, kept(again), len(again.kept_pairs), list(again.notices)) == (rev + 1, KEPT, 3, [])
    assert len(list(old.glob("backup-*"))) == 1


@pytest.mark.parametrize("upgraded", [False, True])
def test_what_was_kept_apart_before_is_taken_back_and_done_again(old: Path, upgraded: bool) -> None:
    library = Library(old, clock)
    if upgraded:
        change(library)
    steps = (
        ("keep m4 and m3 apart", frozenset(("m3", "m4"))),
        ("reject merge-f1f57883dfb6aa3c", frozenset(("m5", "m6"))),
        ("keep m2 and m0 apart", frozenset(("m0", "m2"))),
    )
    left = set(KEPT)
    for label, pair in steps:
        undo.undo(library.journal, done(library, label), "human")
        left.remove(pair)
        assert kept(library) == kept(Library(old, clock)) == left
    for label, pair in reversed(steps):
        undo.redo(library.journal, done(library, label), "human")
        left.add(pair)
        assert kept(library) == kept(Library(old, clock)) == left
    assert library.journal.schema == 1 + upgraded
    change(library, "at last")
    assert kept(library) == KEPT == {frozenset((p.left, p.right)) for p in library.kept_pairs.all()}
    assert library.journal.schema == 2


def test_a_decision_that_was_made_anew_outlives_the_old_one(old: Path) -> None:
    library = Library(old, clock)
    one, other = library.memories.get("m3"), library.memories.get("m4")
    with library.transaction("human", "keep again") as tx:
        tx.put(kept_pair(one, other, 0.84, "human", clock()))
    undo.undo(library.journal, done(library, "keep m4 and m3 apart"), "human")
    assert kept(library) == KEPT
    undo.undo(library.journal, done(library, "keep again"), "human")
    assert kept(library) == KEPT - {frozenset(("m3", "m4"))}


def test_a_change_of_text_asks_again_and_the_old_text_does_not(old: Path) -> None:
    library = Library(old, clock)
    before = library.memories.get("m3")
    with library.transaction("human", "edit") as tx:
        tx.put(memory(3, "Raise the timeout to 31s"))
    assert kept(library) == KEPT - {frozenset(("m3", "m4"))}
    with library.transaction("human", "edit back") as tx:
        tx.put(before)
    assert kept(library) == KEPT


def test_a_store_without_such_decisions_stays_open_to_older_versions(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    with library.transaction("human", "keep two bullets apart") as tx:
        bullets = [Bullet(f"b{n}", "misc", f"Read log {n}.") for n in range(2)]
        for record in (*bullets, memory(1), memory(2), kept_pair(bullets[0], bullets[1], 0.9, "human", clock())):
            tx.put(record)
    assert library.kept_apart()(*bullets)
    assert (schema(tmp_path), library.journal.schema) == (1, 1)
    with library.transaction("human", "keep two memories apart") as tx:
        tx.put(kept_pair(memory(1), memory(2), 0.9, "human", clock()))
    assert (schema(tmp_path), kept(library)) == (2, {frozenset(("m1", "m2"))})
    assert not list(tmp_path.glob("backup-*"))


def test_the_first_line_of_a_new_store_may_need_the_schema(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    with library.transaction("human", "keep apart") as tx:
        tx.put(kept_pair(memory(1), memory(2), 0.9, "human", clock()))
    assert schema(tmp_path) == 2
    assert [path.name for path in tmp_path.glob("journal*")] == ["journal.jsonl"]
    assert len(Library(tmp_path, clock).kept_pairs) == 1


def test_a_version_that_knows_schema_1_refuses_and_changes_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = Library(old, clock)
    library = Library(old, clock)
    change(library)
    before = files(old)
    monkeypatch.setattr(segments, "SCHEMA", 1)
    doings: tuple[Callable[[], object], ...] = (
        lambda: Library(old, clock),
        lambda: append(old, "hook", "append", clock, lambda block: None),
        running.refresh,
        lambda: change(running),
    )
    for do in doings:
        with pytest.raises(StoreProblem, match=r"written by a newer workbench \(schema 2, this one reads 1\)"):
            do()
    assert files(old) == before


def test_a_hook_adds_to_an_upgraded_store_and_leaves_an_old_one_old(old: Path) -> None:
    for library in (None, Library(old, clock)):
        if library is not None:
            change(library)
        with appending(old, "hook", "append", clock) as block:
            block.add(_seen(block.new_memory_id(clock())))
        assert schema(old) == (1 if library is None else 2)
        assert kept(Library(old, clock)) == KEPT


@pytest.mark.slow
@pytest.mark.parametrize("call", ["fsync", "rename", "replace", "write", "mkdir"])
def test_killed_between_its_parts_it_is_done_again_or_was_done(tmp_path: Path, call: str) -> None:
    for count in range(1, 30):
        folder = Path(shutil.copytree(FIXTURE, tmp_path / f"{call}-{count}"))
        try:
            killed_after(lambda folder=folder: change(Library(folder, clock)), call, count)  # type: ignore[misc]
        except AssertionError:
            assert kept(Library(folder, clock)) == KEPT
            assert count > 1
            break
        assert kept(Library(folder, clock)) == KEPT
        library = Library(folder, lambda: NOON + timedelta(seconds=1))
        change(library, "once more")
        assert kept(library) == kept(Library(folder, clock)) == KEPT
        assert {frozenset((p.left, p.right)) for p in library.kept_pairs.all()} == KEPT
        assert (schema(folder), len(library.kept_pairs)) == (2, 3)
        assert sum(entry.actor == "upgrade" for entry in library.changes_back()) == 1
        assert {m.id for m in library.memories.all()} >= {f"m{n}" for n in range(7)}
        assert not list(folder.glob(".*.tmp"))
    else:
        pytest.fail("it never ended")


def test_where_no_copy_can_be_made_everything_is_read_as_before(old: Path) -> None:
    library = Library(old, clock)
    with failing(shutil, "copyfileobj", OSError(28, "No space left on device")):
        change(library)
        change(library, "another")
    assert [n for n in map(str, library.notices) if "could not be upgraded" in n] == [library.notices[0]]
    assert (len(library.kept_pairs), kept(library), schema(old)) == (0, KEPT, 1)
    one, other = library.memories.get("m0"), library.memories.get("m6")
    with library.transaction("human", "keep apart") as tx:
        tx.put(kept_pair(one, other, 0.5, "human", clock()))
    assert (schema(old), kept(library)) == (2, KEPT | {frozenset(("m0", "m6"))})
    assert kept(Library(old, clock)) == KEPT | {frozenset(("m0", "m6"))}


def test_a_store_from_elsewhere_is_not_upgraded(old: Path, tmp_path: Path) -> None:
    heads = tmp_path / "heads"
    mine = Library(tmp_path / "mine", clock, heads=heads)
    change(mine)
    before = files(old)
    library = Library(old, clock, heads=heads)
    assert not library.standing.trusted
    with pytest.raises(StoreProblem, match="not trusted"):
        change(library)
    assert kept(library) == KEPT
    assert (files(old).keys() - {"lock"}, list(library.notices)) == (before.keys() - {"lock"}, [])
    assert files(old)["journal.jsonl"] == before["journal.jsonl"]


def test_with_heads_the_upgraded_store_is_trusted_and_whole(old: Path, tmp_path: Path) -> None:
    library = Library(old, clock, heads=tmp_path / "heads")
    if not library.standing.trusted:
        library.journal.trust()
    change(library)
    assert library.journal.schema == 2
    library.close()
    again = Library(old, clock, heads=tmp_path / "heads")
    assert (again.standing.trusted, again.journal.gone, list(again.notices)) == (True, (), [])
    change(again, "another")
    assert kept(again) == KEPT


def test_what_is_recovered_says_its_schema(old: Path) -> None:
    library = Library(old, clock)
    change(library)
    library.close()
    made = recover(old, clock())
    assert (schema(made.folder), kept(Library(made.folder, clock))) == (2, KEPT)


def test_a_segment_that_says_too_little_is_put_right(old: Path) -> None:
    library = Library(old, clock)
    change(library)
    # A writer of an older version, between two segments: it sees none that says schema 2.
    header = loads(lines(old)[0])
    del header["sum"]
    (old / "journal.jsonl").write_bytes(seal({**header, "schema": 1}) + b"".join(lines(old)[1:]))
    again = Library(old, clock)
    assert again.journal.schema == 1
    change(again, "another")
    assert (schema(old), again.journal.schema, kept(again)) == (2, 2, KEPT)


def test_two_who_open_it_at_once_upgrade_it_once(old: Path) -> None:
    one, other = Library(old, clock), Library(old, clock)
    change(one)
    change(other, "another")
    assert (kept(one), kept(other)) == (KEPT, KEPT)
    assert sum(entry.actor == "upgrade" for entry in other.changes_back()) == 1
    one.refresh()
    assert {p.id for p in one.kept_pairs.all()} == {p.id for p in other.kept_pairs.all()}


def test_a_decision_of_unknown_texts_holds_whatever_they_are(tmp_path: Path) -> None:
    library = open_library(tmp_path)
    with library.transaction("human", "keep apart") as tx:
        tx.put(KeptPair("m1|m2|", "", "m1", "m2", 0.9, "", "human", clock()))
    assert library.kept_apart()(memory(1, "one text"), memory(2, "another"))
    assert not library.kept_apart()(memory(1), memory(3))


@pytest.mark.parametrize("ours_first", [False, True])
def test_a_branch_that_was_upgraded_is_merged_with_one_that_was_not(
    old: Path, tmp_path: Path, ours_first: bool
) -> None:
    beside = Path(shutil.copytree(old, tmp_path / "beside"))
    append(beside, "hook", "see", clock, lambda block: block.add(_seen(block.new_memory_id(clock()))))
    library = Library(old, clock)
    change(library)
    library.close()
    for file in ("memory.json", "checkpoint.json"):
        (old / file).unlink()
    # As git merges lines: both sides' are kept.
    both = [lines(old), lines(beside)]
    (old / "journal.jsonl").write_bytes(b"".join(line for side in both[:: -1 if ours_first else 1] for line in side))
    merged = Library(old, clock)
    assert kept(merged) == KEPT
    change(merged, "after the merge")
    assert "said by a hook" in {m.content for m in merged.memories.all()}
    assert "m99" in {m.id for m in merged.memories.all()}
    assert (kept(Library(old, clock)), schema(old)) == (KEPT, 2)
    assert Library(old, clock).damage == []


def _seen(name: str) -> Memory:
    return Memory(name, "said by a hook", clock(), clock())
