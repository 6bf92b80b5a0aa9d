"""The write lock: one writer at a time, also when the lock file is replaced under it; and who it is
one waits for.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import inf
from pathlib import Path

import pytest

from tests.store.helpers import NOON, clock, docs, open_journal, open_library, put
from workbench.core.files import locks
from workbench.core.files.locks import FileLock, Holder, Patience, StoreBusy, waiting
from workbench.core.record import StoreProblem
from workbench.core.stream.memory import Memory
from workbench.store.append import appending
from workbench.store.library import Library

HOLD = (
    "import fcntl, sys; file = open(sys.argv[1], 'a'); fcntl.flock(file, fcntl.LOCK_EX);"
    " print('held', flush=True); sys.stdin.read()"
)
"""A writer of the version before: it locks the file alone."""


@contextmanager
def another_process(path: Path) -> Iterator[int]:
    """Let another process hold a lock file."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        yield other.pid
        other.communicate("")


def test_each_handle_keeps_the_other_out(tmp_path: Path) -> None:
    one, other = (FileLock(tmp_path / "lock", with_folder=True) for _ in range(2))
    with one.held(), one.held(), waiting(Patience(0)), pytest.raises(StoreBusy), other.held():
        pass
    with other.held():
        pass
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600


def test_it_waits_until_the_other_lets_go(tmp_path: Path) -> None:
    usual, order, begun = FileLock(tmp_path / "lock"), list[str](), threading.Event()

    def hook() -> None:
        begun.set()
        with FileLock(tmp_path / "lock").held():
            order.append("hook")

    thread = threading.Thread(target=hook)
    with usual.held():
        thread.start()
        begun.wait()
        order.append("library")
    thread.join()
    assert order == ["library", "hook"]


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreProblem, match="cannot be written"),
        FileLock(tmp_path / "missing" / "lock").held(),
    ):
        pass


def test_a_lock_file_that_is_removed_lets_no_second_writer_in(tmp_path: Path) -> None:
    one, other = open_journal(tmp_path), open_journal(tmp_path)
    with one.transaction("human", "first") as staged:
        staged.put("t", "1", {"a": 1})
        (tmp_path / "lock").unlink()
        with waiting(Patience(0)), pytest.raises(StoreBusy):
            put(other, 2, {"a": 2})
        with (
            waiting(Patience(0)),
            pytest.raises(StoreBusy),
            appending(tmp_path, "agent:x", "observe", clock),
        ):
            pass
    assert put(other, 2, {"a": 2}) == 2
    assert docs(open_journal(tmp_path)) == {"1": {"a": 1}, "2": {"a": 2}}


def without_folder_locks(patch: pytest.MonkeyPatch) -> None:
    """Be on a system whose folders cannot be locked, or beside a writer of the version before."""

    def refuse(_: FileLock) -> bool:
        return True

    patch.setattr(FileLock, "_lock_folder", refuse)


def test_what_was_written_under_another_lock_file_is_taken_in_before_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_folder_locks(monkeypatch)
    one, other = open_journal(tmp_path), open_journal(tmp_path)
    with one.transaction("human", "first") as staged:
        staged.put("t", "1", {"a": 1})
        (tmp_path / "lock").unlink()
        assert put(other, 2, {"a": 2}) == 1
    assert one.rev == 2
    reopened = open_journal(tmp_path)
    assert docs(reopened) == {"1": {"a": 1}, "2": {"a": 2}}
    assert reopened.damage == []
    assert reopened.state.next_id("t") == 3


def test_who_was_overtaken_on_the_same_record_is_told_and_nothing_is_stored_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_folder_locks(monkeypatch)
    one, other = open_library(tmp_path), open_library(tmp_path)

    def overtake(content: str) -> None:
        (tmp_path / "lock").unlink()
        with other.transaction("human", content) as tx:
            tx.put(Memory(tx.new_memory_id(NOON), content, NOON, NOON))

    def commit() -> None:
        with one.transaction("human", "first") as tx:
            tx.put(Memory(tx.new_memory_id(NOON), "first", NOON, NOON))
            overtake("second")

    def observe() -> None:
        with appending(tmp_path, "a", "x", clock) as block:
            block.add(Memory(block.new_memory_id(NOON), "third", NOON, NOON))
            overtake("fourth")

    for write in (commit, observe):
        with pytest.raises(StoreProblem, match="lock file was replaced"):
            write()
    library = open_library(tmp_path)
    assert [m.content for m in library.memories.all()] == ["second", "fourth"]
    assert library.journal.damage == []
    assert put(one.journal, 1, {"a": 1}) == 3


def test_a_lock_file_that_another_process_made_anew_is_waited_for(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    with ExitStack() as stack:

        def commit() -> None:
            with waiting(Patience(0)), journal.transaction("human", "first") as staged:
                staged.put("t", "1", {"a": 1})
                (tmp_path / "lock").unlink()
                stack.enter_context(another_process(tmp_path / "lock"))

        with pytest.raises(StoreBusy):
            commit()
    assert docs(open_journal(tmp_path)) == {}
    assert put(journal, 1, {"a": 1}) == 1


def test_a_folder_that_is_gone_at_the_commit_is_said_and_not_made_anew(tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "s")

    def commit() -> None:
        with journal.transaction("human", "first") as staged:
            staged.put("t", "1", {"a": 1})
            (tmp_path / "s").rename(tmp_path / "moved")

    with pytest.raises(StoreProblem, match="cannot be written"):
        commit()
    assert not (tmp_path / "s").exists()
    assert docs(open_journal(tmp_path / "moved")) == {}


@pytest.mark.skipif(sys.platform != "linux", reason="who holds a lock is read from /proc")
def test_a_busy_store_says_who_holds_it(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    with another_process(tmp_path / "lock") as pid:
        with waiting(Patience(0)), pytest.raises(StoreBusy) as busy:
            put(journal, 1, {"a": 1})
        command = Path(f"/proc/{pid}/comm").read_text().strip()
    assert (busy.value.holder, busy.value.folder) == (Holder(pid, command), tmp_path)
    assert busy.value.message == f"Another process ({command}, {pid}) is writing to {tmp_path}."
    assert put(journal, 1, {"a": 1}) == 1


def test_who_waits_hears_for_whom_and_may_give_up(tmp_path: Path) -> None:
    journal, heard = open_journal(tmp_path), list[Holder | None]()
    with another_process(tmp_path / "lock") as pid:
        how = Patience(inf, gives_up=lambda: len(heard) > 0, waits_for=heard.append)
        with waiting(how), pytest.raises(StoreBusy):
            put(journal, 1, {"a": 1})
    assert [who.pid for who in heard if who is not None] == (
        [pid] if sys.platform == "linux" else []
    )
    assert len(heard) == 1


def test_a_thread_of_this_process_is_called_one(tmp_path: Path) -> None:
    journal, held, done = open_journal(tmp_path), threading.Event(), threading.Event()

    def hold() -> None:
        with journal.transaction("human", "long"):
            held.set()
            done.wait(120)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(120)
    with waiting(Patience(0)), pytest.raises(StoreBusy, match="Another thread") as busy:
        put(journal, 1, {"a": 1})
    done.set()
    thread.join()
    assert busy.value.holder == Holder(os.getpid(), own=True)


def test_where_the_system_does_not_tell_the_lock_file_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "_TELLS", False)
    monkeypatch.setattr(sys, "argv", ["/somewhere/work\x1bbench"])
    with FileLock(tmp_path / "lock").held():
        assert locks.holder_of(tmp_path / "lock") == Holder(os.getpid(), "workbench", own=True)
    (tmp_path / "lock").write_text("nonsense")
    assert locks.holder_of(tmp_path / "lock") is None
    assert locks.holder_of(tmp_path / "none") is None


WRITE = """
import sys
from pathlib import Path
from tests.store.helpers import NOON, clock
from workbench.core.stream.memory import Memory
from tests.store.helpers import append
for number in range(int(sys.argv[2])):
    text = f"{sys.argv[3]}-{number}"
    def make(block):
        block.add(Memory(block.new_memory_id(NOON), text, NOON, NOON))
    append(Path(sys.argv[1]), "agent:x", text, clock, make)
    print(text, flush=True)
"""


@pytest.mark.slow
def test_writers_whose_lock_file_is_removed_all_the_time_store_everything_once(
    tmp_path: Path,
) -> None:
    store = tmp_path / "s"
    Library(store, clock).journal.begin()
    out = [tmp_path / f"out-{number}" for number in range(6)]
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, store, "60", str(n)],
            stdout=file.open("w"),
            cwd=Path.cwd(),
        )
        for n, file in enumerate(out)
    ]
    library, own, removed = Library(store, clock), list[str](), 0
    while any(writer.poll() is None for writer in writers):
        (store / "lock").unlink(missing_ok=True)
        removed += 1
        with library.transaction("human", f"own-{removed}") as tx:
            tx.put(Memory(tx.new_memory_id(NOON), f"own-{removed}", NOON, NOON))
            (store / "lock").unlink(missing_ok=True)
        own.append(f"own-{removed}")
    assert [writer.wait() for writer in writers] == [0] * len(writers)
    told = sorted([*own, *(line for file in out for line in file.read_text().split())])
    memories = Library(store, clock).memories.all()
    assert sorted(m.content for m in memories) == told
    assert len({m.id for m in memories}) == len(memories)
    assert [e.rev for e in Library(store, clock).journal.entries_back()] == list(
        range(len(told), 0, -1)
    )
