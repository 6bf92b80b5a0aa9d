import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.helpers import NOON, failing, killed_after, memory, open_library
from workbench.core.health import Unfinished
from workbench.core.playbook.book import Bullet
from workbench.core.record import StoreProblem, UnknownRecord
from workbench.core.stream.memory import Vote
from workbench.store import history
from workbench.store.journal import reorder
from workbench.store.library import Library, Touched
from workbench.store.maintenance import backup, purge
from workbench.store.maintenance.doctor import examine
from workbench.store.maintenance.purge import MARK, Masker

SECRET = 'the password is "hünter2-correct-horse"\nand nobody may know'
PIECES = ("hünter2-correct-horse", "nobody may know", "password is")


def bytes_of(folder: Path) -> bytes:
    import gzip

    files = [p for p in folder.rglob("*") if p.is_file()]
    return b"".join(
        gzip.decompress(p.read_bytes()) if p.suffix == ".gz" else p.read_bytes() for p in files
    )


def holds_secret(folder: Path, pieces: tuple[str, ...] = PIECES) -> bool:
    data = bytes_of(folder)
    return any(
        piece.encode() in data or piece.encode("ascii", "backslashreplace") in data
        for piece in pieces
    )


def masker() -> Masker:
    return Masker(PIECES[:1], lambda text: text.replace(PIECES[0], "[gone]"))


def lived_in(folder: Path) -> Library:
    """A store in which a secret was written, edited, quoted, backed up, cached, and packed away."""
    library = open_library(folder, segment_bytes=6000)
    with library.transaction("agent:x", f"observe {SECRET[:30]}", group="import-1") as tx:
        tx.put(memory(1, SECRET))
        tx.put(memory(2, f"I read that {SECRET}, twice"))
        tx.put(memory(3))
    with library.transaction("human", "edit") as tx:
        tx.put(
            replace(
                library.memories.get("m1"), content="password is gone", metadata={"was": [SECRET]}
            )
        )
        tx.put(Vote("v1", "memories", "m3", "human", "helpful", NOON, reason=SECRET))
    library.journal.save_checkpoint()
    (folder / "backup-1").mkdir()
    for name in ("memory.edited-1-x.json", "backup-1/memory.json"):
        (folder / name).write_bytes((folder / "memory.json").read_bytes())
    (folder / "memory.dismissed-1-x.json").write_text("{}")
    (folder / ".memory.json.99.tmp").write_text(SECRET)
    (folder / "cache" / "vectors").mkdir(parents=True)
    (folder / "cache" / "text.db").write_text(SECRET)
    while len(list(folder.glob("journal-*"))) < 2:
        with library.transaction("human", "more") as tx:
            tx.put(memory(10 + library.journal.rev))
        if library.journal.rev == 5:
            with library.transaction("human", "delete") as tx:
                tx.delete(library.memories.get("m1"))
                tx.put(replace(memory(1, SECRET)))
    backup.compact(library.journal)
    with library.transaction("human", "touch") as tx:
        tx.put(replace(library.memories.get("m1"), pinned=True, content=SECRET + "!"))
    return library


@pytest.mark.parametrize("deleted", [False, True])
def test_afterwards_no_byte_of_the_text_is_left(tmp_path: Path, deleted: bool) -> None:
    library = lived_in(tmp_path / "s")
    if deleted:
        with library.transaction("human", "delete") as tx:
            tx.delete(library.memories.get("m1"))
    other = open_library(tmp_path / "s")
    heard: list[Touched] = []
    other.listen(heard.append)
    assert holds_secret(tmp_path / "s")
    done = purge.purge(library.journal, [("memories", "m1")], "human")
    assert not holds_secret(tmp_path / "s")
    assert done.lines >= 3
    assert {"memory.json", "journal.jsonl"} <= set(done.rewritten)
    assert any(name.endswith(".gz") for name in done.rewritten)
    assert set(done.removed) == {
        "memory.edited-1-x.json", "backup-1/memory.json", "cache/text.db", "cache/vectors",
    }  # fmt: skip
    for lib in (library, other, open_library(tmp_path / "s")):
        lib.journal.refresh()
        assert "m1" not in lib.memories
        assert lib.memories.get("m2").content == f"I read that {MARK}, twice"
        assert lib.votes.get("v1").reason == MARK
        assert lib.memories.get("m3") == memory(3)
        assert not lib.journal.damage
        assert lib.journal.outside_edit is None
    assert any(("memories", "m2") in touched.keys for touched in heard)
    assert all(("memories", "m3") not in touched.keys for touched in heard)
    other.close()
    library.close()
    assert not holds_secret(tmp_path / "s")


def test_a_short_text_that_was_undone_before_is_erased_once(tmp_path: Path) -> None:
    library = open_library(tmp_path / "s")
    with library.transaction("agent:x", "observe") as tx:
        tx.put(memory(1, "pin 4711"))
    action = library.past.action_of(str(library.journal.rev))
    assert action is not None
    library.past.undo(action, "human")
    asked = library.past.find_place("m1")
    assert asked == ("memories", "m1")
    assert holds_secret(tmp_path / "s", ("4711",))
    assert purge.purge(library.journal, [asked], "human").rewritten
    assert not holds_secret(tmp_path / "s", ("4711",))
    assert library.past.find_place("m1") == asked
    assert not purge.purge(library.journal, [asked], "human").rewritten


def test_that_it_was_there_stays_known(tmp_path: Path) -> None:
    library = lived_in(tmp_path / "s")
    purge.purge(library.journal, [("memories", "m1")], "human")
    seen = list(history.Past(library.journal).events(("memories", "m1")))
    assert seen[0].label == "purge 1 record"
    assert seen[0].kind == "purge"
    assert seen[-1].label == MARK
    assert {f.field for e in seen for f in e.fields if f.key == "m1"} == {"id"}
    assert all(
        history.Past(library.journal).at_revision("memories", "m1", rev) is None
        for rev in range(library.journal.rev + 1)
    )


def test_there_is_no_undo_but_the_rest_of_a_group_can_be_undone(tmp_path: Path) -> None:
    library = open_library(tmp_path / "s")
    with library.transaction("human", "import", group="import-1") as tx:
        tx.put(memory(1, SECRET))
        tx.put(memory(2))
    with library.transaction("human", "edit") as tx:
        tx.put(memory(1, SECRET + "!"))
    purge.purge(library.journal, [("memories", "m1")], "human")
    action = history.Past(library.journal).undoable(lambda actor: actor == "human")
    assert action is not None
    assert action.label == "import"
    history.Past(library.journal).undo(action, "human")
    assert library.memories.all() == []
    history.Past(library.journal).redo(action, "human")
    assert [m.id for m in library.memories.all()] == ["m2"]


def test_work_goes_on_after_it(tmp_path: Path) -> None:
    library = lived_in(tmp_path / "s")
    other = open_library(tmp_path / "s")
    purge.purge(library.journal, [("memories", "m1")], "human")
    for lib in (other, library):
        with lib.transaction("human", "add") as tx:
            tx.put(memory(100 + lib.journal.rev))
    other.journal.refresh()
    assert (
        other.memories.all()
        == library.memories.all()
        == open_library(tmp_path / "s").memories.all()
    )
    assert [e.rev for e in library.journal.entries_back()] == list(
        range(library.journal.rev, 0, -1)
    )


def test_damaged_lines_that_hold_the_text_go_too(tmp_path: Path) -> None:
    library = open_library(tmp_path / "s")
    for content in (SECRET, SECRET + " or so"):
        with library.transaction("human", "add") as tx:
            tx.put(memory(1, content))
    path = library.journal.path
    path.write_bytes(path.read_bytes().replace(b" or so", b" OR SO", 1) + b"damaged and harmless\n")
    library = open_library(tmp_path / "s")
    done = purge.purge(library.journal, [("memories", "m1")], "human")
    assert done.damaged == 1
    assert b"damaged and harmless" in path.read_bytes()
    assert not holds_secret(tmp_path / "s")


def test_interrupted_it_can_be_run_again(tmp_path: Path) -> None:
    library = lived_in(tmp_path / "s")
    broken = OSError(5, "Input/output error")
    for step in ((reorder, "write_file"), (purge, "_moved"), (purge, "_remove_copies")):
        with failing(*step, broken), pytest.raises(StoreProblem):
            purge.purge(library.journal, [("memories", "m1")], "human")
        library = open_library(tmp_path / "s")
        assert "m1" not in library.memories
        assert len(library.memories) > 3
    purge.purge(library.journal, [("memories", "m1")], "human")
    assert not holds_secret(tmp_path / "s")


def test_the_doctor_says_that_it_was_broken_off_until_it_is_done(tmp_path: Path) -> None:
    library = lived_in(tmp_path / "s")
    with (
        failing(reorder, "write_file", OSError(5, "Input/output error")),
        pytest.raises(StoreProblem),
    ):
        purge.purge(library.journal, [("memories", "m1")], "human")
    broken = Unfinished(library.journal.rev, masks=False, records=(("memories", "m1"),))
    assert examine(tmp_path / "s").purges == (broken,)
    library = open_library(tmp_path / "s")
    assert purge.unfinished(library.journal) == (broken,)
    purge.purge(library.journal, broken.records, "human")
    assert examine(tmp_path / "s").purges == ()


@pytest.mark.slow
@pytest.mark.parametrize("mask", [False, True])
def test_killed_at_any_file_it_is_found_as_long_as_a_text_is_left(
    tmp_path: Path, mask: bool
) -> None:
    whole, cache, pieces = tmp_path / "whole", tmp_path / "cache", PIECES[:1] if mask else PIECES
    lived_in(whole)

    def erase() -> object:
        journal = open_library(tmp_path / "s").journal
        if mask:
            return purge.mask(journal, masker(), "human", beside)
        return purge.purge(journal, [("memories", "m1")], "human", beside)

    def beside() -> tuple[str, ...]:
        cache.unlink(missing_ok=True)
        return ()

    for name, calls in (("replace", 7), ("unlink", 4)):
        for count in range(1, calls):
            shutil.rmtree(tmp_path / "s", ignore_errors=True)
            shutil.copytree(whole, tmp_path / "s")
            cache.write_text(SECRET)
            killed_after(erase, name, count)
            broken = examine(tmp_path / "s").purges
            assert [one.masks for one in broken] in ([], [mask])
            assert broken or not (holds_secret(tmp_path / "s", pieces) or cache.exists()), (
                name,
                count,
            )
            erase()
            assert examine(tmp_path / "s").purges == ()
            assert not holds_secret(tmp_path / "s", pieces)


def test_a_masking_that_was_broken_off_is_not_done_by_a_purge(tmp_path: Path) -> None:
    library = lived_in(tmp_path / "s")
    with (
        failing(reorder, "write_file", OSError(5, "Input/output error")),
        pytest.raises(StoreProblem),
    ):
        purge.mask(library.journal, masker(), "human")
    rev = library.journal.rev
    library = open_library(tmp_path / "s")
    purge.purge(library.journal, [("memories", "m3")], "human")
    assert examine(tmp_path / "s").purges == (Unfinished(rev, masks=True, records=()),)
    purge.mask(library.journal, masker(), "human")
    assert examine(tmp_path / "s").purges == ()
    assert not holds_secret(tmp_path / "s", PIECES[:1])


def test_an_unknown_record_stops_it_before_anything_is_done(tmp_path: Path) -> None:
    library = lived_in(tmp_path / "s")
    before = bytes_of(tmp_path / "s")
    with pytest.raises(UnknownRecord, match="nope was never in memories"):
        purge.purge(library.journal, [("memories", "m1"), ("memories", "nope")], "human")
    assert bytes_of(tmp_path / "s") == before


def test_what_is_half_purged_is_named_by_its_key(tmp_path: Path) -> None:
    library = lived_in(tmp_path / "s")
    with library.transaction("human", "add") as tx:
        tx.put(Bullet("r-1", "s1", "Look whether it still does.", book="ours"))

    def stopped() -> tuple[str, ...]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        purge.purge(library.journal, [("bullets", "ours/r-1")], "human", stopped)
    broken = [(("bullets", "ours/r-1"),)]
    for found in (purge.unfinished(library.journal), examine(tmp_path / "s").purges):
        assert [one.records for one in found] == broken
