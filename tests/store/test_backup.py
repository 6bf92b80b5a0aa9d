"""A backup holds a store as it was at one revision, and a restored one is that store; everything
else is refused.
"""

import gzip
import hashlib
import io
import json
import resource
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.store.helpers import NOON, clock, docs, memory, open_journal, open_library, put
from tests.store.writers import SMALL, add_many
from workbench.core.record import StoreProblem, UnreadableFile
from workbench.store.journal import segments
from workbench.store.journal.state import Tables
from workbench.store.library import Library
from workbench.store.maintenance import backup, checkpoint_writer, doctor, purge
from workbench.store.maintenance.backup import restore, write_backup


def lived_in(folder: Path, count: int = 30) -> Library:
    """A store with closed segments, a packed one, a checkpoint and changes after it."""
    library = Library(folder, clock, SMALL)
    for number in range(count):
        with library.transaction("human", "put") as tx:
            tx.put(memory(number, f"text {number} " * 40))
        if number == count // 2:
            backup.compact(library.journal)
            library.journal.save_checkpoint()
    return library


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_what_is_restored_is_what_was_there(tmp_path: Path) -> None:
    library = lived_in(tmp_path / "s")
    made = write_backup(library.journal, tmp_path / "b.tar.gz", NOON)
    assert made.rev == 30
    assert made.counts == {"memories": 30}
    assert (tmp_path / "b.tar.gz").stat().st_mode & 0o777 == 0o600
    assert any(member.name.endswith(".gz") for member in made.members)
    assert restore(tmp_path / "b.tar.gz", tmp_path / "new" / "s") == made
    other = open_library(tmp_path / "new" / "s")
    assert other.journal.state.tables == library.journal.state.tables
    for rev in (1, 15, 30):
        assert other.journal.tables_at(rev) == library.journal.tables_at(rev)
    assert doctor.examine(other.folder).is_sound
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files(other.folder).items()}
    changed = {m.name for m in made.members if hashes[m.name] != m.sha256}
    assert (
        {"journal.jsonl"} <= changed <= {"journal.jsonl", checkpoint_writer.NOTE}
    )  # one taken right behind the header moves
    with other.transaction("human", "goes on") as tx:
        tx.put(memory(99))
    assert (other.journal.rev, library.journal.rev) == (31, 30)


def test_a_restored_store_is_another_one_and_nothing_seems_gone(tmp_path: Path) -> None:
    heads = tmp_path / "heads"
    library = Library(tmp_path / "s", clock, SMALL, heads)
    for number in range(9):
        with library.transaction("human", "put") as tx:
            tx.put(memory(number))
    write_backup(library.journal, tmp_path / "b", NOON)
    for number in range(9, 30):
        with library.transaction("human", "put") as tx:
            tx.put(memory(number))
    restore(tmp_path / "b", tmp_path / "new")
    ids = {segments.store_id(tmp_path / name) for name in ("s", "new")}
    assert len(ids) == 2
    for name, rev in (("s", 30), ("new", 9), ("s", 30)):
        opened = Library(tmp_path / name, clock, SMALL, heads)
        assert (opened.journal.rev, opened.journal.gone, opened.journal.damage) == (rev, (), [])
    shutil.rmtree(tmp_path / "s")
    restore(tmp_path / "b", tmp_path / "s")
    opened = Library(tmp_path / "s", clock, SMALL, heads)
    assert (opened.journal.rev, opened.journal.gone, opened.journal.outside_edit) == (9, (), None)
    assert segments.store_id(tmp_path / "s") not in ids


def test_a_backup_of_a_store_of_a_development_version_is_not_restored(tmp_path: Path) -> None:
    name = "journal.jsonl"
    data = (Path(__file__).parent / "fixtures" / "records-0" / name).read_bytes()
    (tmp_path / "b").write_bytes(packed(about(said(name, data)), [entry(name, data)]))
    with pytest.raises(StoreProblem, match=r"development version before 1\.0"):
        restore(tmp_path / "b", tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_a_packed_segment_that_unpacks_to_far_more_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, bomb = "journal-000000000000.jsonl.gz", gzip.compress(b"\0" * (65 << 20))
    (tmp_path / "b").write_bytes(packed(about(said(name, bomb)), [entry(name, bomb)]))
    with pytest.raises(UnreadableFile, match="is larger than"):
        restore(tmp_path / "b", tmp_path / "new")
    lines = gzip.compress((b"x" * 1000 + b"\n") * 9000)
    (tmp_path / "b").write_bytes(packed(about(said(name, lines)), [entry(name, lines)]))
    monkeypatch.setattr("workbench.store.files.LARGEST_PACKED", 8 << 20)
    with pytest.raises(UnreadableFile, match="is larger than"):
        restore(tmp_path / "b", tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_backup_is_an_ordinary_archive(tmp_path: Path) -> None:
    made = write_backup(lived_in(tmp_path / "s").journal, tmp_path / "b.tar.gz", NOON)
    with tarfile.open(tmp_path / "b.tar.gz") as archive:
        assert archive.getnames() == ["manifest.json", *(member.name for member in made.members)]


def test_an_empty_store_and_a_plain_tinydb_file_are_backed_up_too(tmp_path: Path) -> None:
    Library(tmp_path / "s", clock).journal.begin()
    assert write_backup(open_library(tmp_path / "s").journal, tmp_path / "a", NOON).counts == {}
    restore(tmp_path / "a", tmp_path / "sa")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "memory.json").write_text('{"memories": {"1": {"id": "m1", "content": "x"}}}')
    assert write_backup(open_library(tmp_path / "t").journal, tmp_path / "b", NOON).counts == {
        "memories": 1
    }
    restore(tmp_path / "b", tmp_path / "sb")
    assert (tmp_path / "sb" / "memory.json").read_bytes() == (
        tmp_path / "t" / "memory.json"
    ).read_bytes()


Meanwhile = Callable[[Library], object]


def roll(library: Library) -> None:
    for number in range(20):
        with library.transaction("human", "more") as tx:
            tx.put(memory(1000 + number, "long " * 200))


def roll_and_pack(library: Library) -> None:
    roll(library)
    backup.compact(library.journal)


def erase(library: Library) -> None:
    purge.purge(library.journal, [("memories", "m3")], "human")


@pytest.mark.slow
@pytest.mark.parametrize("meanwhile", [roll, roll_and_pack, erase])
@pytest.mark.parametrize("when", [1, 2, 5])
def test_what_others_do_meanwhile_changes_nothing_in_it(
    tmp_path: Path, meanwhile: Meanwhile, when: int
) -> None:
    library, other = lived_in(tmp_path / "s"), Library(tmp_path / "s", clock, SMALL)
    calls = 0

    def interfere(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == when:
            meanwhile(other)

    made = write_backup(library.journal, tmp_path / "b", NOON, progress=interfere)
    restore(tmp_path / "b", tmp_path / "new")
    restored = open_library(tmp_path / "new")
    assert restored.journal.rev == made.rev
    assert doctor.examine(tmp_path / "new").is_sound
    assert restored.journal.state.tables == other.journal.tables_at(made.rev)
    if meanwhile is erase:
        assert "m3" not in restored.memories
        assert not any(b"text 3 " in gzip.decompress(d) if n.endswith(".gz") else b"text 3 " in d
                       for n, d in files(tmp_path / "new").items())  # fmt: skip


def test_a_file_that_is_there_is_replaced_only_when_asked(tmp_path: Path) -> None:
    journal = lived_in(tmp_path / "s", 3).journal
    (tmp_path / "b").write_text("mine")
    with pytest.raises(StoreProblem, match="already exists"):
        write_backup(journal, tmp_path / "b", NOON)
    assert (tmp_path / "b").read_text() == "mine"
    write_backup(journal, tmp_path / "b", NOON, force=True)
    restore(tmp_path / "b", tmp_path / "new")
    with pytest.raises(StoreProblem, match="inside the store"):
        write_backup(journal, tmp_path / "s" / "b", NOON)
    with pytest.raises(StoreProblem, match="is a folder"):
        write_backup(journal, tmp_path, NOON, force=True)
    with pytest.raises(StoreProblem, match="cannot be written"):
        write_backup(journal, tmp_path / "none" / "b", NOON)


def test_who_interrupts_it_finds_nothing(tmp_path: Path) -> None:
    journal = lived_in(tmp_path / "s", 3).journal

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_backup(journal, tmp_path / "b", NOON, progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["s"]
    write_backup(journal, tmp_path / "b", NOON)
    with pytest.raises(KeyboardInterrupt):
        restore(tmp_path / "b", tmp_path / "new", interrupt)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "s"]


def test_a_killed_one_is_taken_over(tmp_path: Path) -> None:
    journal = lived_in(tmp_path / "s", 3).journal
    (tmp_path / ".workbench-backup-a1.tmp").write_bytes(b"half" * 99999)
    write_backup(journal, tmp_path / "b", NOON)
    (tmp_path / ".new.restoring").mkdir()
    (tmp_path / ".new.restoring" / "journal.jsonl").write_text("half")
    restore(tmp_path / "b", tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "new", "s"]


FULL = """
import resource, signal, sys
from pathlib import Path
from tests.store.helpers import NOON, open_library
from workbench.core.record import StoreProblem
from workbench.store.maintenance.backup import write_backup
from workbench.store.maintenance.backup import restore
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    if sys.argv[1] == "backup":
        write_backup(open_library(Path(sys.argv[2])).journal, Path(sys.argv[3]), NOON)
    else:
        restore(Path(sys.argv[2]), Path(sys.argv[3]))
except StoreProblem as problem:
    print(problem)
"""


@pytest.mark.slow
def test_a_full_disk_is_a_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    write_backup(lived_in(tmp_path / "s").journal, tmp_path / "b", NOON)
    for command, source, target in (("backup", "s", "c"), ("restore", "b", "new")):
        run = subprocess.run(
            [sys.executable, "-c", FULL, command, tmp_path / source, tmp_path / target],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert "cannot be written: file too large." in run.stdout
        assert run.stderr == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "s"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_it_is_never_restored_over_something(tmp_path: Path) -> None:
    write_backup(lived_in(tmp_path / "s", 3).journal, tmp_path / "b", NOON)
    before = files(tmp_path / "s")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("s", "empty", "link", "b"):
        with pytest.raises(StoreProblem, match="already exists"):
            restore(tmp_path / "b", tmp_path / name)
    assert files(tmp_path / "s") == before
    with pytest.raises(UnreadableFile, match="cannot be read"):
        restore(tmp_path / "none", tmp_path / "new")


def packed(
    made: dict[str, Any], members: list[tuple[tarfile.TarInfo, bytes]], tail: bytes = b""
) -> bytes:
    about = json.dumps(made).encode()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        info = tarfile.TarInfo("manifest.json")
        info.size = len(about)
        archive.addfile(info, io.BytesIO(about))
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(out.getvalue() + tail)


def entry(name: str, data: bytes, **more: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def said(name: str, data: bytes, **more: object) -> dict[str, object]:
    return {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), **more}


def about(*members: dict[str, object], **more: object) -> dict[str, Any]:
    return {
        "format": 1,
        "at": "2026-01-01",
        "rev": 0,
        "counts": {},
        "damaged": 0,
        "members": members,
        **more,
    }


ONE = b'{"memories":{}}'
NAME = "memory.json"

HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "no gzip": b"plain text",
    "no tar": gzip.compress(b"x" * 5000),
    "no manifest": gzip.compress(b"\0" * 1024),
    "cut off": packed(about(said(NAME, ONE)), [entry(NAME, ONE)])[:-20],
    "above": packed(about(said("../x", ONE)), [entry("../x", ONE)]),
    "absolute": packed(about(said("/tmp/x", ONE)), [entry("/tmp/x", ONE)]),
    "subfolder": packed(about(said("a/memory.json", ONE)), [entry("a/memory.json", ONE)]),
    "line end": packed(about(said(NAME + "\n", ONE)), [entry(NAME + "\n", ONE)]),
    "program": packed(about(said("run.sh", ONE)), [entry("run.sh", ONE)]),
    "link": packed(
        about(said(NAME, b"")), [entry(NAME, b"", type=tarfile.SYMTYPE, linkname="/etc/passwd")]
    ),
    "hard link": packed(
        about(said(NAME, b"")), [entry(NAME, b"", type=tarfile.LNKTYPE, linkname="/etc/passwd")]
    ),
    "folder": packed(about(said(NAME, b"")), [entry(NAME, b"", type=tarfile.DIRTYPE)]),
    "device": packed(about(said(NAME, b"")), [entry(NAME, b"", type=tarfile.CHRTYPE)]),
    "twice": packed(about(said(NAME, ONE), said(NAME, ONE)), [entry(NAME, ONE), entry(NAME, ONE)]),
    "twice in the archive": packed(about(said(NAME, ONE)), [entry(NAME, ONE), entry(NAME, ONE)]),
    "more than said": packed(about(said(NAME, ONE, size=3)), [entry(NAME, ONE)]),
    "less than said": packed(about(said(NAME, ONE, size=99)), [entry(NAME, ONE)]),
    "negative": packed(about(said(NAME, ONE, size=-1)), [entry(NAME, ONE)]),
    "other bytes": packed(about(said(NAME, ONE)), [entry(NAME, ONE[::-1])]),
    "other name": packed(about(said(NAME, ONE)), [entry("checkpoint.json", ONE)]),
    "missing": packed(about(said(NAME, ONE)), []),
    "other counts": packed(about(said(NAME, ONE), counts={"memories": 3}), [entry(NAME, ONE)]),
    "other revision": packed(about(said(NAME, ONE), rev=7), [entry(NAME, ONE)]),
    "no time": packed(about(at="yesterday"), []),
    "something behind": packed(about(said(NAME, ONE)), [entry(NAME, ONE)], b"x"),
    "much behind": packed(about(said(NAME, ONE)), [entry(NAME, ONE)], b"\0" * (9 << 20)),
    "newer format": packed(about(format=2), []),
    "no JSON": packed(about(), [])[:0] + gzip.compress(b"manifest.json"),
    "strange manifest": packed(about(members=7), []),
    "a long manifest": packed(about(x="x" * (33 << 20)), []),
    "a bomb": packed(about(said(NAME, ONE)), [entry(NAME, b"\0" * (8 << 20))]),
    "no store": packed(about(said(NAME, b"{}x")), [entry(NAME, b"{}x")]),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_sound_backup_is_refused_and_nothing_is_left(tmp_path: Path, kind: str) -> None:
    (tmp_path / "b").write_bytes(HOSTILE[kind])
    with pytest.raises((UnreadableFile, StoreProblem)) as refused:
        restore(tmp_path / "b", tmp_path / "new")
    assert len(str(refused.value)) < 300
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_more_than_the_disk_has_is_not_begun(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(packed(about(said(NAME, ONE, size=1 << 60)), [entry(NAME, ONE)]))
    with pytest.raises(StoreProblem, match="space for the 1,152,921,504,606,846,976 bytes"):
        restore(tmp_path / "b", tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_one_flipped_bit_is_noticed_or_changes_nothing(tmp_path: Path, seed: int) -> None:
    library = lived_in(tmp_path / "s", 5)
    write_backup(library.journal, tmp_path / "b", NOON)
    data = bytearray((tmp_path / "b").read_bytes())
    data[10 + seed * (len(data) - 10) // 40] ^= 1 << seed % 8
    (tmp_path / "b").write_bytes(data)
    try:
        restore(tmp_path / "b", tmp_path / "new")
    except UnreadableFile:
        assert not (tmp_path / "new").exists()
    else:
        assert open_library(tmp_path / "new").journal.state.tables == library.journal.state.tables


def filled(tables: Tables) -> Tables:
    """Return the tables that hold anything: before the first change, there may be none at all."""
    return {name: documents for name, documents in tables.items() if documents}


@pytest.mark.parametrize("count", [2, 30])
def test_between_two_segments_a_backup_holds_everything(tmp_path: Path, count: int) -> None:
    library = lived_in(tmp_path / "s", count)
    assert bool(list((tmp_path / "s").glob("journal-*"))) == (count == 30)
    # As another process sees it while a writer closes the segment, and everybody after it was
    # killed there.
    start = library.journal.cut()[1].start
    library.journal.path.rename(tmp_path / "s" / segments.closed_name(start))
    for reader in (library, open_library(tmp_path / "s")):
        made = write_backup(reader.journal, tmp_path / "b", NOON, force=True)
        assert made.rev == library.journal.rev
        restore(tmp_path / "b", tmp_path / "new")
        assert open_library(tmp_path / "new").journal.state.tables == library.journal.state.tables
        shutil.rmtree(tmp_path / "new")


def from_many_writers(tmp_path: Path, copy: Callable[[Path], None], least: int) -> None:
    """Let ten processes write while copies are made, then check that each copy is a state the store
    was in.
    """
    import multiprocessing

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.store.writers"])
    Library(tmp_path / "s", clock).journal.begin()
    writers = [context.Process(target=add_many, args=(tmp_path / "s", n, 150)) for n in range(10)]
    for writer in writers:
        writer.start()
    count = 0
    while any(writer.is_alive() for writer in writers) or count < least:
        copy(tmp_path / f"copy-{count}")
        count += 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    # The last copy may have begun before the last line came.
    copy(tmp_path / f"copy-{count}")
    count += 1
    whole, seen = open_library(tmp_path / "s"), 0
    for number in range(count):
        library = open_library(tmp_path / f"copy-{number}")
        assert library.journal.damage == []
        assert filled(library.journal.state.tables) == filled(
            whole.journal.tables_at(library.journal.rev)
        )
        assert library.journal.rev >= seen
        seen = library.journal.rev
    assert seen == 1500


@pytest.mark.slow
def test_backups_while_ten_processes_append_are_each_a_state_of_the_store(tmp_path: Path) -> None:
    def copy(target: Path) -> None:
        write_backup(open_library(tmp_path / "s").journal, tmp_path / "b", NOON, force=True)
        restore(tmp_path / "b", target)

    from_many_writers(tmp_path, copy, 12)


@pytest.mark.slow
def test_plain_copies_of_the_folder_while_ten_processes_append_are_sound(tmp_path: Path) -> None:
    def is_whole(target: Path) -> bool:
        """Tell whether no segment was closed under the copy: `cp` says so itself only of those it
        had begun with.
        """
        done = subprocess.run(
            ["cp", "-r", tmp_path / "s", target], capture_output=True, check=False
        )
        there, copied = (
            [one.path.name for one in segments.closed(folder)]
            for folder in (tmp_path / "s", target)
        )
        return not done.returncode and copied == there

    def copy(target: Path) -> None:
        while not is_whole(target):
            shutil.rmtree(target)

    from_many_writers(tmp_path, copy, 12)


def test_a_backup_taken_right_after_a_segment_was_closed_covers_damage_before_it(
    tmp_path: Path,
) -> None:
    journal = open_journal(tmp_path / "s", segment_bytes=300)
    for number in (1, 2, 3):
        put(journal, number, {"id": f"x{number}", "text": f"number {number}"})
    journal.save_checkpoint()
    closed = tmp_path / "s" / "journal-000000000001.jsonl"
    closed.write_bytes(closed.read_bytes().replace(b"number 2", b"number X"))
    write_backup(open_journal(tmp_path / "s"), tmp_path / "b", NOON)
    restore(tmp_path / "b", tmp_path / "t")
    assert set(docs(open_journal(tmp_path / "t"))) == {"1", "2", "3"}
