"""What a failing disk, a missing right or a wrong path does: one sentence, nothing lost, and the
next commit works.
"""

import errno
import os
from pathlib import Path

import pytest

from tests.store.helpers import docs, failing, memory, open_journal, open_library, put
from workbench.core.files.locks import FileLock, Patience, StoreBusy, waiting
from workbench.core.record import InvalidRecord, StoreProblem
from workbench.store.journal.database import open_db
from workbench.store.journal.engine import Journal

FULL = OSError(errno.ENOSPC, "No space left on device")
BROKEN = OSError(errno.EIO, "Input/output error")
READ_ONLY = OSError(errno.EROFS, "Read-only file system")
DENIED = PermissionError(errno.EACCES, "Permission denied")


@pytest.mark.parametrize("error", [FULL, BROKEN])
@pytest.mark.parametrize("call", ["write", "fsync", "open"])
@pytest.mark.parametrize("first", [True, False])
def test_a_failed_commit_changes_nothing_and_the_next_one_works(
    tmp_path: Path, error: OSError, call: str, first: bool
) -> None:
    journal = open_journal(tmp_path)
    if not first:
        put(journal, 1, {"a": 1})
    before = docs(journal), journal.rev
    with (
        failing(os, call, error),
        pytest.raises(StoreProblem, match=r"cannot be written: .*Nothing was changed"),
    ):
        put(journal, 2, {"a": 2})
    assert (docs(journal), journal.rev) == before
    assert (docs(open_journal(tmp_path)), open_journal(tmp_path).rev) == before
    put(journal, 3, {"a": 3})
    put(open_journal(tmp_path), 4, {"a": 4})
    assert open_journal(tmp_path).rev == before[1] + 2
    assert not open_journal(tmp_path).damage


@pytest.mark.parametrize("error", [FULL, BROKEN])
def test_a_write_that_gets_half_through_leaves_no_half_line(tmp_path: Path, error: OSError) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"a": 1})
    whole = journal.path.read_bytes()
    real = os.write
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: real(handle, data[:7]))
        put(journal, 2, {"a": "in many small pieces"})
        calls = iter([7, 7])

        def stop(handle: int, data: bytes) -> int:
            if next(calls, None) is None:
                raise error
            return real(handle, data[:7])

        patch.setattr(os, "write", stop)
        with pytest.raises(StoreProblem):
            put(journal, 3, {"a": 3})
    assert journal.path.read_bytes().startswith(whole)
    assert (
        docs(open_journal(tmp_path))
        == docs(journal)
        == {"1": {"a": 1}, "2": {"a": "in many small pieces"}}
    )


def test_what_cannot_even_be_cut_back_is_cut_by_the_next_writer(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"a": 1})
    real = os.write
    half = iter([7])

    def stop(handle: int, data: bytes) -> int:
        if next(half, None) is None:
            raise BROKEN
        return real(handle, data[:7])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", stop)
        with failing(os, "ftruncate", BROKEN), pytest.raises(StoreProblem):
            put(journal, 2, {"a": 2})
    assert docs(journal) == {"1": {"a": 1}}
    put(journal, 3, {"a": 3})
    assert "unfinished (7 bytes)" in str(journal.notices[0])
    assert docs(open_journal(tmp_path)) == {"1": {"a": 1}, "3": {"a": 3}}


def test_a_checkpoint_that_cannot_be_renamed_keeps_the_one_before(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"a": 1})
    journal.save_checkpoint()
    put(journal, 2, {"a": 2})
    before = (tmp_path / "memory.json").read_bytes()
    with failing(Path, "replace", BROKEN), pytest.raises(StoreProblem):
        journal.save_checkpoint()
    assert (tmp_path / "memory.json").read_bytes() == before
    assert docs(open_journal(tmp_path)) == docs(journal)


@pytest.mark.parametrize("error", [READ_ONLY, DENIED])
def test_a_folder_that_may_not_be_written_is_still_read(tmp_path: Path, error: OSError) -> None:
    put(open_journal(tmp_path), 1, {"a": 1})
    real = os.open

    def no_writing(path: object, flags: int, *rest: object, **more: object) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise error
        return real(path, flags, *rest, **more)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", no_writing)
        journal = open_journal(tmp_path)
        assert docs(journal) == {"1": {"a": 1}}
        with pytest.raises(StoreProblem, match="cannot be written"):
            put(journal, 2, {"a": 2})
        journal.close()
    put(journal, 2, {"a": 2})


@pytest.mark.parametrize(("where", "call"), [(Path, "lstat"), (os, "open")])
def test_what_cannot_be_read_is_never_taken_for_empty(
    tmp_path: Path, where: object, call: str
) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"a": 1})
    put(open_journal(tmp_path), 2, {"a": 2})
    with failing(where, call, DENIED):
        with pytest.raises(StoreProblem, match="cannot be read: permission denied"):
            journal.refresh()
        with pytest.raises(StoreProblem, match="permission denied"):
            Journal(tmp_path, journal.clock)
    with failing(os, "open", BROKEN), pytest.raises(StoreProblem, match="input/output error"):
        list(journal.entries_back())
    assert journal.refresh() == 1


def test_the_tail_that_cannot_be_read_stops_a_writer(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(open_journal(tmp_path), 2, {"a": 2})
    with failing(os, "open", BROKEN), pytest.raises(StoreProblem):
        put(journal, 1, {"a": 1})
    put(journal, 1, {"a": 1})
    assert set(docs(journal)) == {"1", "2"}


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("x")
    with pytest.raises(StoreProblem, match="is a file, not a store folder"):
        open_db(tmp_path / "s")
    with pytest.raises(StoreProblem):
        open_db(tmp_path / "s" / "deeper")


@pytest.mark.parametrize(
    ("call", "match"), [("mkdir", "cannot be written"), ("exists", "cannot be read")]
)
def test_a_folder_that_cannot_be_made_or_seen(tmp_path: Path, call: str, match: str) -> None:
    with failing(Path, call, DENIED), pytest.raises(StoreProblem, match=match):
        open_db(tmp_path / "s")


def test_an_error_inside_a_transaction_forgets_it(tmp_path: Path) -> None:
    library = open_library(tmp_path)

    def stumble() -> None:
        with library.transaction("human", "x") as tx:
            tx.put(memory(1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stumble()
    with pytest.raises(InvalidRecord), library.journal.transaction("human", "x") as staged:
        staged.put("t", "1", {"a": "\udc80"})
    assert library.journal.rev == 0
    assert put(library.journal, 1, {"a": 1}) == 1


def test_a_lock_that_somebody_holds_is_not_waited_for_without_end(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    with waiting(Patience(0.05)), FileLock(tmp_path / "lock").held(), pytest.raises(StoreBusy):
        put(journal, 1, {"a": 1})
    assert put(journal, 1, {"a": 1}) == 1


def test_the_name_of_a_group_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a number"):
        put(open_journal(tmp_path), 1, {"a": 1}, group="12")
