"""What was stored here and is gone is said, by a head that is kept outside the store."""

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from tests.store.helpers import NOON, clock, docs, killed_after, lines
from workbench.core.health import Gone
from workbench.core.stream.memory import Memory
from workbench.store import append, identity
from workbench.store.identity import Known, Mark, NotTrusted, StoreTrust
from workbench.store.journal import segments
from workbench.store.journal.codec import START, seal, unseal
from workbench.store.journal.engine import Journal, Options
from workbench.store.maintenance import backup, checkpoint_writer, purge
from workbench.store.maintenance.doctor import examine

QUIET = Options(checkpoint_every=0)


def opened(tmp_path: Path, folder: str = "s", **options: int) -> Journal:
    """Open a journal that this machine remembers."""
    place = tmp_path / folder
    place.mkdir(exist_ok=True)
    return Journal(
        place, clock, options=QUIET._replace(**cast(Any, options)), heads=tmp_path / "heads"
    )


def put(journal: Journal, number: int) -> None:
    with journal.transaction("human", f"put {number}") as staged:
        staged.put("t", str(number), {"id": f"x{number}"})


def filled(tmp_path: Path, count: int = 5, **options: int) -> Journal:
    journal = opened(tmp_path, "s", **options)
    for number in range(1, count + 1):
        put(journal, number)
    return journal


def cut(folder: Path, count: int) -> None:
    """Cut the last lines of the active segment off."""
    (folder / "journal.jsonl").write_bytes(b"".join(lines(folder)[:-count]))


def hook(tmp_path: Path, text: str = "seen") -> tuple[str, ...]:
    with append.appending(tmp_path / "s", "agent:x", "see", clock, tmp_path / "heads") as block:
        block.add(Memory(block.new_memory_id(NOON), text, NOON, NOON))
    return block.notices


def test_a_head_is_kept_for_its_owner_only_and_read_back(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    head = identity.read(tmp_path / "heads", journal.store, tmp_path / "s")
    assert head is not None
    assert (head.rev, head.path) == (5, os.path.realpath(tmp_path / "s"))
    assert head.look == identity.look_at(tmp_path / "s")
    file = next((tmp_path / "heads").glob("*.json"))
    assert file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "heads").stat().st_mode & 0o777 == 0o700
    file.write_bytes(file.read_bytes().replace(b'"rev":5', b'"rev":4'))
    assert identity.read(tmp_path / "heads", journal.store, tmp_path / "s") is None


def test_the_id_of_a_store_is_in_every_header(tmp_path: Path) -> None:
    journal = filled(tmp_path, 30, segment_bytes=900)
    found = {
        line
        for file in (tmp_path / "s").glob("journal*")
        for line in file.read_bytes().splitlines()[:1]
    }
    assert len(found) > 2
    assert all(f'"store":"{journal.store}"'.encode() in line for line in found)
    assert len(journal.store) == 32


@pytest.mark.parametrize("checkpoint", [True, False])
def test_lines_that_were_cut_off_are_said_and_the_gap_stays_visible(
    tmp_path: Path, checkpoint: bool
) -> None:
    journal = filled(tmp_path)
    if checkpoint:
        journal.save_checkpoint()
    cut(tmp_path / "s", 2)
    other = opened(tmp_path)
    assert other.gone == (Gone(4, 5),)
    assert "Revisions 4 to 5" in str(other.notices[0])
    found = examine(tmp_path / "s", tmp_path / "heads")
    assert not found.is_sound
    assert found.gone == (Gone(4, 5),)
    assert found.held == ((("t", "x4"), ("t", "x5")) if checkpoint else ())
    put(other, 9)
    assert other.rev == 6
    again = opened(tmp_path)
    assert again.gone == (Gone(4, 5),)
    assert [d.missing for d in again.damage] == [(4, 5)]
    assert not examine(tmp_path / "s", tmp_path / "heads").is_sound
    assert again.accept()
    assert opened(tmp_path).damage == []
    assert examine(tmp_path / "s", tmp_path / "heads").is_sound
    put(opened(tmp_path), 10)
    assert opened(tmp_path).rev == 7
    assert opened(tmp_path).gone == ()


def test_a_shorter_journal_is_taken_when_a_person_says_so(tmp_path: Path) -> None:
    filled(tmp_path)
    cut(tmp_path / "s", 2)
    journal = opened(tmp_path)
    assert journal.accept() == (Gone(4, 5),)
    assert journal.gone == opened(tmp_path).gone == ()
    put(journal, 4)
    assert opened(tmp_path).rev == 4
    assert examine(tmp_path / "s", tmp_path / "heads").is_sound


def test_accepting_covers_what_a_checkpoint_knows(tmp_path: Path) -> None:
    filled(tmp_path).save_checkpoint()
    cut(tmp_path / "s", 2)
    opened(tmp_path).accept()
    assert examine(tmp_path / "s", tmp_path / "heads").gone == ()
    assert list((tmp_path / "s").glob("memory.edited-*"))


@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_journal_that_was_taken_away_is_said(tmp_path: Path, checkpoint: bool) -> None:
    journal = filled(tmp_path)
    if checkpoint:
        journal.save_checkpoint()
    (tmp_path / "s" / "journal.jsonl").unlink()
    other = opened(tmp_path)
    assert other.gone == (Gone(1, 5),)
    assert not examine(tmp_path / "s", tmp_path / "heads").is_sound
    put(other, 9)
    assert next(other.entries_back()).rev > 5
    assert other.store == journal.store


def test_what_is_lost_again_is_said_once(tmp_path: Path) -> None:
    filled(tmp_path)
    for _ in range(2):
        shutil.rmtree(tmp_path / "s")
        again = opened(tmp_path)
        put(again, 1)
    shutil.rmtree(tmp_path / "s")
    assert opened(tmp_path).gone == (Gone(1, 7),)


def test_another_journal_of_the_same_length_is_said(tmp_path: Path) -> None:
    journal = filled(tmp_path, 3)
    copy = (tmp_path / "s" / "journal.jsonl").read_bytes()
    put(journal, 4)
    (tmp_path / "s" / "journal.jsonl").write_bytes(copy)
    without = Journal(tmp_path / "s", clock, options=QUIET)
    put(without, 40)
    assert opened(tmp_path).gone == (Gone(4, 4, replaced=True),)
    with pytest.raises(NotTrusted):
        put(opened(tmp_path), 5)
    opened(tmp_path).trust()
    put(opened(tmp_path), 5)
    assert opened(tmp_path).gone == (Gone(4, 4, replaced=True),)
    assert "not the change" in str(opened(tmp_path).gone[0])


@pytest.mark.parametrize("bit", [0, 5])
def test_damage_before_the_checkpoint_is_said_at_every_open(tmp_path: Path, bit: int) -> None:
    journal = filled(tmp_path)
    journal.save_checkpoint()
    assert opened(tmp_path).damage == []
    content = lines(tmp_path / "s")
    spoiled = bytearray(content[2])
    spoiled[30] ^= 1 << bit
    content[2] = bytes(spoiled)
    (tmp_path / "s" / "journal.jsonl").write_bytes(b"".join(content))
    other = opened(tmp_path)
    assert (other.damage[0].line, docs(other)) == (3, docs(journal))
    put(other, 9)
    hook(tmp_path)
    assert opened(tmp_path).damage[0].line == 3


def test_a_store_that_looks_as_it_was_left_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path).save_checkpoint()
    monkeypatch.setattr(
        identity, "uncovered", lambda lines, *_: lines and pytest.fail("read again")
    )
    opened(tmp_path)
    hook(tmp_path)
    opened(tmp_path)


def test_a_store_that_is_believed_is_read_whole_for_one_change_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)
    reads, real = list[int](), identity.uncovered

    def counted(lines: Sequence[Known], key: bytes, trusted: Iterable[str]) -> list[Known]:
        reads.extend([len(lines)] if lines else [])
        return real(lines, key, trusted)

    monkeypatch.setattr(identity, "uncovered", counted)
    believing, others = QUIET._replace(believed=True), tmp_path / "others"
    journal = Journal(tmp_path / "s", clock, options=believing, heads=others)
    for number in range(6, 10):
        put(journal, number)
    assert reads == [6]
    here = Journal(tmp_path / "s", clock, options=QUIET, heads=others)
    assert here.standing == StoreTrust(trusted=False, foreign=5)
    here.trust()
    put(journal, 10)
    assert Journal(tmp_path / "s", clock, options=QUIET, heads=others).standing.trusted


def test_a_moved_store_takes_its_head_along_and_a_copy_has_its_own(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    (tmp_path / "s").rename(tmp_path / "moved")
    cut(tmp_path / "moved", 1)
    moved = opened(tmp_path, "moved")
    assert moved.gone == (Gone(5, 5),)
    moved.accept()
    shutil.copytree(tmp_path / "moved", tmp_path / "copy")
    cut(tmp_path / "copy", 1)
    assert opened(tmp_path, "copy").gone == ()
    put(opened(tmp_path, "copy"), 7)
    assert opened(tmp_path, "moved").gone == ()
    assert {h.path for h in map(identity._load, (tmp_path / "heads").iterdir()) if h} == {
        str(tmp_path / "moved"), str(tmp_path / "copy"),
    }  # fmt: skip
    assert opened(tmp_path, "copy").store == journal.store


def test_a_head_that_cannot_be_kept_fails_no_change_and_the_doctor_says_so(tmp_path: Path) -> None:
    (tmp_path / "heads").write_text("a file")
    journal = filled(tmp_path)
    hook(tmp_path)
    assert opened(tmp_path).rev == 6
    assert journal.gone == ()
    assert "cannot be written" in examine(tmp_path / "s", tmp_path / "heads").notes[0]


def test_a_hook_says_what_is_gone_and_stores_above_it(tmp_path: Path) -> None:
    hook(tmp_path, "one")
    hook(tmp_path, "two")
    content = lines(tmp_path / "s")
    last = bytearray(content[-1])
    last[40] ^= 1
    (tmp_path / "s" / "journal.jsonl").write_bytes(b"".join(content[:-1]) + bytes(last))
    assert any("Revision 2 is missing" in notice for notice in hook(tmp_path, "three"))
    assert any("Revision 2" in notice for notice in hook(tmp_path, "four"))
    journal = opened(tmp_path)
    assert [doc["content"] for doc in docs(journal, "memories").values()] == [
        "one",
        "three",
        "four",
    ]
    assert (journal.rev, journal.gone) == (4, (Gone(2, 2),))
    assert not examine(tmp_path / "s", tmp_path / "heads").is_sound


def test_rewriting_the_files_is_no_loss(tmp_path: Path) -> None:
    journal = filled(tmp_path, 12, segment_bytes=900)
    backup.compact(journal)
    assert (opened(tmp_path).gone, opened(tmp_path).damage) == ((), [])
    purge.purge(journal, [("t", "x2")], "human")
    other = opened(tmp_path)
    assert (other.gone, other.damage, other.store) == ((), [], journal.store)
    put(other, 20)
    assert opened(tmp_path).gone == ()


def observed(tmp_path: Path) -> None:
    hook(tmp_path, "seen by one that is killed")


def changed(tmp_path: Path) -> None:
    put(opened(tmp_path), 99)


def purged(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    purge.purge(journal, [("t", "x2")], "human")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "name", "calls"),
    [
        (observed, "fsync", 1),
        (changed, "fsync", 1),
        (purged, "fsync", 1),
        *((purged, "replace", n) for n in range(1, 7)),
    ],
)
def test_a_store_stays_ones_own_whenever_a_writer_is_killed(
    tmp_path: Path, write: Callable[[Path], None], name: str, calls: int
) -> None:
    filled(tmp_path, 12, segment_bytes=900).save_checkpoint()
    killed_after(lambda: write(tmp_path), name, calls)
    assert opened(tmp_path).standing.trusted
    put(opened(tmp_path), 9)
    assert examine(tmp_path / "s", tmp_path / "heads").is_sound


@pytest.mark.slow
def test_a_store_stays_ones_own_when_what_is_known_of_it_is_written_anew_and_that_is_killed(
    tmp_path: Path,
) -> None:
    journal = filled(tmp_path)
    killed_after(journal.trust, "open", 1)
    (tmp_path / "s" / "journal.jsonl").touch()
    assert opened(tmp_path).standing.trusted


def test_what_tells_heads_apart(tmp_path: Path) -> None:
    one = Mark("/a", "1" * 32, 3, "m")
    assert identity.note(tmp_path, one)
    assert identity.note(tmp_path, one._replace(store="2" * 32, rev=4))
    assert identity.read(tmp_path, "", Path("/a")) == one._replace(store="2" * 32, rev=4)
    assert identity.read(tmp_path, "3" * 32, Path("/a")) is None
    assert identity.read(None, "1" * 32, Path("/a")) is None
    assert not identity.note(None, one)
    assert not identity.note(tmp_path, one._replace(path="/\udc80"))
    assert identity.note(
        tmp_path, one._replace(path="/a", gone=tuple(Gone(n, n) for n in range(200)))
    )
    assert identity.note(tmp_path, one)
    assert identity.read(tmp_path, "1" * 32, Path("/a")) == one


def elsewhere(tmp_path: Path, change: Callable[[Journal], None]) -> None:
    """Let another machine change the store."""
    folder = tmp_path / "s"
    change(Journal(folder, clock, options=QUIET, heads=tmp_path / "their-heads"))


def test_a_line_from_elsewhere_between_own_ones_is_not_trusted(tmp_path: Path) -> None:
    filled(tmp_path, 3)
    content = lines(tmp_path / "s")
    shutil.copytree(tmp_path / "s", tmp_path / "copy")
    (tmp_path / "copy" / "journal.jsonl").write_bytes(b"".join(content[:-1]))
    put(Journal(tmp_path / "copy", clock, options=QUIET), 9)
    theirs = lines(tmp_path / "copy")[-1]
    (tmp_path / "s" / "journal.jsonl").write_bytes(b"".join([*content[:-1], theirs, content[-1]]))
    assert opened(tmp_path).standing == StoreTrust(trusted=False, foreign=1)
    assert len(opened(tmp_path).strange_lines()) == 1


def test_a_header_that_somebody_else_wrote_is_said(tmp_path: Path) -> None:
    filled(tmp_path, 3)
    content = lines(tmp_path / "s")
    content[0] = seal({**unseal(content[0][:-1]), "store": "0" * 32}, START)
    (tmp_path / "s" / "journal.jsonl").write_bytes(b"".join(content))
    assert opened(tmp_path).damage


def test_what_was_trusted_stays_so_by_the_next_change_alone(tmp_path: Path) -> None:
    filled(tmp_path, 2)
    elsewhere(tmp_path, lambda journal: journal.trust())
    elsewhere(tmp_path, lambda journal: put(journal, 7))
    assert opened(tmp_path).standing == StoreTrust(trusted=False, foreign=1)
    opened(tmp_path).trust()
    assert opened(tmp_path).standing.trusted
    put(opened(tmp_path), 8)
    for file in (tmp_path / "heads").glob("*.json"):
        file.unlink()
    assert opened(tmp_path).standing.trusted
    elsewhere(tmp_path, lambda journal: journal.trust())
    elsewhere(tmp_path, lambda journal: put(journal, 9))
    assert opened(tmp_path).standing.foreign == 1
    hook(tmp_path)
    assert opened(tmp_path).standing.foreign == 1


def test_an_older_copy_is_trusted_and_what_is_missing_from_it_is_said(tmp_path: Path) -> None:
    journal = filled(tmp_path, 3)
    shutil.copytree(tmp_path / "s", tmp_path / "older")
    put(journal, 4)
    shutil.rmtree(tmp_path / "s")
    (tmp_path / "older").rename(tmp_path / "s")
    again = opened(tmp_path)
    assert (again.standing, again.gone) == (StoreTrust(), (Gone(4, 4),))


def at_a_stranger(tmp_path: Path) -> Journal:
    """The same store, on a machine that knows nothing of it."""
    return Journal(tmp_path / "s", clock, options=QUIET, heads=tmp_path / "other")


def test_documents_behind_a_header_alone_are_not_trusted(tmp_path: Path) -> None:
    filled(tmp_path).save_checkpoint()
    (tmp_path / "s" / "journal.jsonl").write_bytes(lines(tmp_path / "s")[0])
    assert not at_a_stranger(tmp_path).standing.trusted
    at_a_stranger(tmp_path).trust()
    assert at_a_stranger(tmp_path).standing.trusted


def test_the_id_that_a_header_gives_names_no_file_elsewhere(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / "s" / "journal.jsonl"
    value = unseal(path.read_bytes().splitlines()[0]) | {"store": str(tmp_path / "planted")}
    path.write_bytes(seal(value, START))
    assert segments.store_id(tmp_path / "s") == ""
    journal = at_a_stranger(tmp_path)
    put(journal, 1)
    assert not list(tmp_path.glob("planted*"))


def test_accepting_a_journal_signs_no_checkpoint_of_others(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    journal.save_checkpoint()
    mine = checkpoint_writer.stamps_of(tmp_path / "s", journal.identity.key)
    foreign = [mine[0]._replace(rev=99), mine[0]._replace(rev=3, hash="f" * 32)]
    checkpoint_writer._write_note(tmp_path / "s", foreign, b"")
    other = opened(tmp_path)
    other.accept()
    signed = checkpoint_writer.stamps_of(tmp_path / "s", other.identity.key)
    assert "f" * 32 not in {stamp.hash for stamp in signed}


def test_a_merge_by_one_who_believes_makes_no_foreign_line_known(tmp_path: Path) -> None:
    filled(tmp_path, 2)
    shutil.copytree(tmp_path / "s", tmp_path / "b")
    theirs = Journal(tmp_path / "b", clock, options=QUIET, heads=tmp_path / "other")
    theirs.trust()
    put(theirs, 7)
    put(opened(tmp_path), 8)
    common, own = lines(tmp_path / "s")[:3], lines(tmp_path / "s")[3:]
    merged = [*common, *lines(tmp_path / "b")[3:], *own]
    (tmp_path / "s" / "journal.jsonl").write_bytes(b"".join(merged))
    put(opened(tmp_path, believed=True), 9)
    journal = opened(tmp_path)
    assert set(docs(journal)) == {"1", "2", "7", "8", "9"}
    assert not journal.standing.trusted


def test_a_key_that_was_cut_short_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "heads").mkdir()
    (tmp_path / "heads" / "key").touch()
    filled(tmp_path)
    os.utime(tmp_path / "s" / "journal.jsonl", (1, 1))
    assert opened(tmp_path).standing.trusted
