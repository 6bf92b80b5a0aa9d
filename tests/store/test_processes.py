"""The long proofs: processes that are killed at any moment, and many that write at once."""

import multiprocessing
import os
import random
import shutil
import signal
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from tests.store.helpers import clock
from tests.store.writers import SMALL, add_many, digest, write_until_killed
from workbench.core.files.atomic import left_in
from workbench.store.entry import Transaction
from workbench.store.journal.state import Keys
from workbench.store.library import Library

KILLS = 520
WRITERS = 8
COMMITS = 500


def quick_context() -> multiprocessing.context.ForkServerContext:
    """Processes that start in milliseconds, from a server that has everything loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.store.writers"])
    return context


def kill(process: BaseProcess) -> None:
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def check(folder: Path, notes: list[str]) -> None:
    """Open the store without help and compare it with what the killed process was told."""
    library = Library(folder, clock, SMALL)
    journal = library.journal
    assert journal.damage == []
    assert journal.outside_edit is None or "begin purge" in notes[-1]
    names = {m.id for m in library.memories.all() if m.id.startswith("p")}
    assert {name.replace("-a", "-b") for name in names if name.endswith("-a")} == {
        n for n in names if n.endswith("-b")
    }
    for name in names:
        if name.endswith("-a"):
            one, other = library.memories.get(name), library.memories.get(name.replace("-a", "-b"))
            assert (one.content, one.helpful_votes) == (other.content, other.helpful_votes)
    done = [note.split() for note in notes if note.startswith("done")]
    if done:
        rev, expected = int(done[-1][1]), done[-1][2]
        assert rev <= journal.rev <= rev + 3
        if notes[-1] != "begin purge":
            assert digest(journal.tables_at(rev)) == expected
    assert [e.rev for e in journal.entries_back()] == list(range(journal.rev, 0, -1))


@pytest.mark.slow
def test_nothing_that_was_confirmed_is_lost_however_often_a_writer_is_killed(
    tmp_path: Path,
) -> None:
    context, chance = quick_context(), random.Random(7)
    kills, seen = 0, set[str]()
    while kills < KILLS:
        folder = tmp_path / f"store-{kills}"
        for _ in range(13):
            notes = tmp_path / "notes"
            notes.write_text("")
            writer = context.Process(
                target=write_until_killed, args=(folder, notes, chance.randrange(1 << 30))
            )
            writer.start()
            deadline = time.monotonic() + 30
            while not notes.stat().st_size and time.monotonic() < deadline:
                assert writer.is_alive()
                os.sched_yield()
            time.sleep(chance.random() * 0.08)
            assert writer.is_alive(), "the writer stopped by itself"
            kill(writer)
            kills += 1
            lines = notes.read_text().splitlines()
            seen.add(lines[-1].split()[1] if lines[-1].startswith("begin") else "between")
            check(folder, lines)
            add_many(folder, kills, 1)
            assert left_in(folder) == ()
        shutil.rmtree(folder)
    assert {"put", "bulk", "undo", "compact", "checkpoint", "hook", "purge", "reopen"} <= seen


@pytest.mark.slow
def test_many_processes_write_at_once_and_a_reader_follows(tmp_path: Path) -> None:
    context = quick_context()
    reader = Library(tmp_path / "s", clock)
    heard: list[tuple[int, str]] = []

    def hear(entry: Transaction, keys: Keys) -> None:
        heard.append((entry.rev, entry.label))

    reader.journal.listen(hear)
    writers = [
        context.Process(target=add_many, args=(tmp_path / "s", n, COMMITS)) for n in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        reader.journal.refresh()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    reader.journal.refresh()
    total = WRITERS * COMMITS
    assert [rev for rev, _ in heard] == list(range(1, total + 1))
    expected = {f"{n}-{step}" for n in range(WRITERS) for step in range(COMMITS)}
    assert len(heard) == len(expected)
    assert {label for _, label in heard} == expected
    for library in (reader, Library(tmp_path / "s", clock)):
        memories = library.memories.all()
        assert len({m.id for m in memories}) == len(memories) == total
        assert {m.content for m in memories} == expected
        assert library.journal.damage == []
