"""A store's files are regular files of a sane size; whatever else git or a person put there is
refused at once.
"""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile import bomb
from tests.store.helpers import append, clock, memory, open_journal, open_library, put
from workbench.core.files.fresh import NotRegular, open_handle
from workbench.core.record import StoreProblem
from workbench.store import files
from workbench.store.files import TooLarge, read_regular
from workbench.store.journal.codec import seal
from workbench.store.journal.segments import Position, lines_back, read_from
from workbench.store.maintenance import doctor, purge
from workbench.store.maintenance.backup import compact

STRANGE: dict[str, Callable[[Path], None]] = {
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to a file": lambda path: path.symlink_to("/etc/hostname"),
    "a link to nothing": lambda path: path.symlink_to("/nowhere/at/all"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a pipe": os.mkfifo,
    "a folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_what_is_no_regular_file_is_neither_opened_nor_waited_for(
    kind: str, tmp_path: Path
) -> None:
    STRANGE[kind](tmp_path / "x")
    with pytest.raises(NotRegular, match="is a link or no regular file"):
        read_regular(tmp_path / "x")
    for flags in (os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREAT):
        with pytest.raises(NotRegular):
            open_handle(tmp_path / "x", flags)


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(TooLarge, match="x is larger than 1,024 MiB"):
        read_regular(tmp_path / "x")


@pytest.mark.slow
@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("name", ["memory.json", "journal.jsonl", "lock", "checkpoint.lock"])
def test_a_store_with_a_strange_file_says_so(kind: str, name: str, tmp_path: Path) -> None:
    library = open_library(tmp_path / "s")
    with library.transaction("human", "add") as tx:
        tx.put(memory(1))
    library.close()
    (tmp_path / "s" / name).unlink(missing_ok=True)
    STRANGE[kind](tmp_path / "s" / name)
    with pytest.raises(StoreProblem, match=f"{name} is a link or no regular file"):
        _used(tmp_path / "s")


def _used(folder: Path) -> None:
    library = open_library(folder)
    with library.transaction("human", "add") as tx:
        tx.put(memory(2))
    library.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("name", ["journal.jsonl", "lock", "journal-000000000000.jsonl"])
def test_a_hook_that_meets_a_strange_file_says_so(kind: str, name: str, tmp_path: Path) -> None:
    STRANGE[kind](tmp_path / name)
    with pytest.raises(StoreProblem, match="is a link or no regular file"):
        append(tmp_path, "agent:x", "ingest", clock, lambda block: None)


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("name", ["memory.edited-1-x.json", "checkpoint.json"])
def test_what_is_not_needed_is_passed_over(kind: str, name: str, tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "s")
    put(journal, 1, {"n": 1})
    journal.close()
    (tmp_path / "s" / name).unlink(missing_ok=True)
    STRANGE[kind](tmp_path / "s" / name)
    assert open_journal(tmp_path / "s").rev == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("byte", "mebibytes", "refused"),
    [(b"\0", 1536, False), (b"\n", 1, True)],
    ids=["one line", "empty lines"],
)
def test_a_packed_bomb_is_damage_and_nothing_more(
    byte: bytes, mebibytes: int, refused: bool, tmp_path: Path
) -> None:
    journal = open_journal(tmp_path / "s", segment_bytes=1)
    put(journal, 1, {"n": 1})
    put(journal, 2, {"n": 2})
    journal.close()
    (tmp_path / "s" / "journal-000000000000.jsonl.gz").write_bytes(
        bomb(byte * (1 << 20), mebibytes)
    )
    (tmp_path / "s" / "journal-000000000000.jsonl").unlink()
    (tmp_path / "s" / "checkpoint.json").unlink(missing_ok=True)
    (tmp_path / "s" / "memory.json").unlink(missing_ok=True)
    if refused:
        for look in (doctor.examine, open_journal):
            with pytest.raises(
                StoreProblem, match="more than 100,000 places of the journal are damaged"
            ):
                look(tmp_path / "s")
        return
    assert doctor.examine(tmp_path / "s").damage
    list(open_journal(tmp_path / "s").entries_back())


def test_a_line_that_is_too_long_ends_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LONGEST", 1000)
    path = tmp_path / "journal.jsonl"
    path.write_bytes(seal({"rev": 1}) + b"x" * 1001 + b"\n" + seal({"rev": 2}))
    good, bad = read_from(path, Position())
    assert good.value == {"rev": 1}
    assert bad.damage is not None
    assert "the rest is not read: a line is larger than" in bad.damage.reason


lines = st.lists(
    st.binary(max_size=40).map(lambda line: line.replace(b"\n", b" ") + b"\n"), max_size=60
)


@given(lines=lines, members=st.integers(1, 3), cut=st.integers(0, 60))
def test_a_packed_file_reads_like_the_plain_one_in_both_directions(
    lines: list[bytes], members: int, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("packed")
    plain, whole = b"".join(lines), folder / "journal-1.jsonl"
    step = max(1, -(-len(plain) // members))
    data = b"".join(
        gzip.compress(plain[at : at + step], mtime=0) for at in range(0, len(plain) or 1, step)
    )
    whole.write_bytes(plain)
    path = folder / "journal-1.jsonl.gz"
    path.write_bytes(data)
    with files.open_lines(path) as one, whole.open("rb") as other:
        assert list(files.read_lines_of(one)) == list(other)
        assert list(lines_back(one)) == list(lines_back(other))
    path.write_bytes(data[: max(0, len(data) - 1 - cut)])
    with files.open_lines(path) as torn:
        kept = b"\n".join(reversed(list(lines_back(torn))))
        assert plain.startswith(kept)
        if len(data) - 1 - cut > 0 and members == 1:
            torn.seek(0)
            with pytest.raises(files.CannotUnpack):
                list(files.read_lines_of(torn))


def test_what_is_larger_than_can_be_read_packed_is_left_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.store.maintenance.backup.LARGEST_PACKED", 10)
    journal = open_journal(tmp_path / "s", segment_bytes=1)
    put(journal, 1, {"n": 1})
    assert compact(journal) == []


def test_purging_touches_nothing_behind_a_link(tmp_path: Path) -> None:
    library = open_library(tmp_path / "s")
    with library.transaction("human", "add") as tx:
        tx.put(memory(1, "a very secret text"))
    far = tmp_path / "far"
    (far / "folder").mkdir(parents=True)
    for name in ("folder/one", "two.json"):
        (far / name).write_text("a very secret text")
    (tmp_path / "s" / "cache").symlink_to(far)
    (tmp_path / "s" / "backup-1").symlink_to(far)
    (tmp_path / "s" / "memory.edited-1-x.json").symlink_to(far / "two.json")
    os.mkfifo(tmp_path / "s" / "memory.dismissed-1-x.json")
    before = {path: path.read_text() for path in far.rglob("*") if path.is_file()}
    purge.purge(library.journal, [("memories", "m1")], "human")
    assert {path: path.read_text() for path in far.rglob("*") if path.is_file()} == before
    assert not (tmp_path / "s" / "cache").is_symlink()
