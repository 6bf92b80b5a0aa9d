"""The real app in a terminal of its own, beside processes that write, undo, and take the lock file
away.
"""

import itertools
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pexpect
import pytest

from tests.tui.support import ROOT, drain, in_a_terminal, open_bench
from workbench.services.open import open_workbench

WRITER = """
import sys
from pathlib import Path
from workbench.services.open import open_workbench
from workbench.services.stream.observation import Observation
from workbench.services.stream.observation import append
from workbench.core.record import Conflict
from workbench.core.files.locks import Patience, waiting
from workbench.store.journal.database import utc_now

store, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
patient = waiting(Patience(300))
patient.__enter__()
for turn in range(count):
    if turn % 3 == 2:
        bench = open_workbench(store, profiles=store / "none", actor=name)
        mine = next(e for e in bench.library.journal.entries_back() if e.actor == name and e.kind == "edit")
        try:
            bench.history.undo_revision(mine.rev)
            print("undone", flush=True)
        except Conflict:
            print("refused", flush=True)
        bench.close()
    else:
        text = f"{name} found thing number {turn} out of {count} in room {turn * 7919}"
        done = append(store, Observation(text, "error"), name, utc_now)
        assert not done.skipped, text
        print("stored", text, flush=True)
    if turn % 10 == 9:
        (store / "lock").unlink(missing_ok=True)
"""
"""One of the processes: two observations, then an undo of the second one; the lock file goes now
and then.
"""


def started(store: Path, count: int, each: int) -> list["subprocess.Popen[str]"]:
    return [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store), f"agent:writer-{n}", str(each)],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for n in range(count)
    ]  # fmt: skip


def left(child: "pexpect.spawn[str]") -> None:
    """Quit the app, whatever is open in it."""
    for key in itertools.islice(itertools.cycle(["1", "q", "\x1b"]), 60):
        child.send(key)
        if child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=2) == 0:
            break
    child.close()


@pytest.mark.parametrize(
    ("processes", "each"),
    [(2, 6), pytest.param(6, 60, marks=pytest.mark.slow)],
)
def test_the_app_lives_and_each_command_is_stored_once(
    tmp_path: Path, processes: int, each: int
) -> None:
    bench = open_bench(tmp_path)
    store = bench.library.folder
    bench.close()
    child = in_a_terminal(store)
    writers = started(store, processes, each)
    turn, keys = 0, "j+k-pjGgu1234651"
    while any(writer.poll() is None for writer in writers):
        child.send(keys[turn % len(keys)])
        turn += 1
        drain(child)
        assert child.isalive(), "the app ended"
    outputs = [writer.communicate() for writer in writers]
    assert [(w.returncode, err) for w, (_, err) in zip(writers, outputs, strict=True)] == [
        (0, "")
    ] * processes
    left(child)
    assert child.exitstatus == 0
    wanted: list[str] = []
    for out, _ in outputs:
        for line in out.splitlines():
            if line == "undone":
                wanted.pop()
            elif line != "refused":
                wanted.append(line.removeprefix("stored "))
    after = open_workbench(store, profiles=store / "none")
    assert Counter(m.content for m in after.library.memories.all()) == Counter(wanted)
    assert after.library.journal.damage == []
    revisions = [entry.rev for entry in after.library.journal.entries_back()]
    assert revisions == list(range(len(revisions), 0, -1))
    agents = [
        e for e in after.library.journal.entries_back() if re.match(r"agent:writer-\d+", e.actor)
    ]
    said = [line for out, _ in outputs for line in out.splitlines()]
    assert len(said) == processes * each
    assert len(agents) == len(said) - said.count("refused")
    after.close()
