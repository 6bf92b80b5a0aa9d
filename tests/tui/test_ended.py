"""A terminal that is closed, and `kill`, while the real app runs: it ends in order, and leaves
nothing lying about.
"""

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from tests.tui.doings import drafts, make
from tests.tui.support import ROOT, drain, hears_hang_ups, in_a_terminal
from workbench.services.demo import LOCK, PREFIX, demo_folder, sweep

PATIENCE = 180


def until(met: Callable[[], bool], child: "pexpect.spawn[str]") -> None:
    """Wait until something is so, and read what is painted meanwhile."""
    end = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < end
        if not child.closed:
            drain(child)
        time.sleep(0.02)


def demo(place: Path) -> "pexpect.spawn[str]":
    """Open the demo with its folder in a place."""
    around = {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "TMPDIR": str(place)}
    child = pexpect.spawn(
        sys.executable, ["-m", "workbench", "demo"], encoding="utf-8", codec_errors="replace", timeout=PATIENCE,
        dimensions=(24, 80), env={**os.environ, **around}, preexec_fn=hears_hang_ups,
    )  # fmt: skip
    child.expect("Playbook")
    return child


def close_the_terminal(child: "pexpect.spawn[str]") -> None:
    os.close(child.child_fd)
    child.closed = True


def is_gone(child: "pexpect.spawn[str]") -> bool:
    """Tell whether the process has ended; it is asked for by its number, since its terminal may be
    closed.
    """
    done, child.status = os.waitpid(child.pid, os.WNOHANG)
    return bool(done == child.pid)


@pytest.mark.slow
def test_a_demo_whose_terminal_is_closed_leaves_nothing(tmp_path: Path) -> None:
    child = demo(tmp_path)
    assert list(tmp_path.glob(f"{PREFIX}*"))
    close_the_terminal(child)
    until(lambda: is_gone(child), child)
    assert os.waitstatus_to_exitcode(child.status) == 128 + signal.SIGHUP
    assert list(tmp_path.glob(f"{PREFIX}*")) == []


@pytest.mark.slow
def test_a_demo_that_is_ended_gives_the_terminal_back(tmp_path: Path) -> None:
    child = demo(tmp_path)
    child.kill(signal.SIGTERM)
    child.kill(signal.SIGHUP)  # as shells do, which pass on what came already
    said = child.read()
    child.wait()
    assert child.exitstatus in (128 + signal.SIGTERM, 128 + signal.SIGHUP), (
        "whichever is seen first"
    )
    assert "\x1b[?1049l" in said, "the first screen is back"
    assert said.rstrip().splitlines()[-1].count("SIG") == 1, "it says by which signal"
    assert list(tmp_path.glob(f"{PREFIX}*")) == []


def hears_none() -> None:
    """As whoever starts it to outlive its terminal (nohup) has it begin."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def typing_in(store: Path, begin: Callable[[], object] = hears_hang_ups) -> "pexpect.spawn[str]":
    """Open the app, and type in the form of the first memory, less than a second before it is kept
    by itself.
    """
    child = in_a_terminal(store, begin=begin)
    drain(child, 1)
    child.send("e")
    child.expect("ctrl")
    child.send(" and wombat")
    child.expect("wombat")
    return child


@pytest.mark.slow
@pytest.mark.parametrize("way", ["closed", "closed, unheard", "SIGHUP", "SIGTERM"])
def test_what_is_being_typed_survives(tmp_path: Path, way: str) -> None:
    child = typing_in(
        make(tmp_path / "project"), hears_none if way == "closed, unheard" else hears_hang_ups
    )
    if way.startswith("closed"):
        close_the_terminal(child)
    else:
        child.kill(getattr(signal, way))
    until(lambda: is_gone(child), child)
    assert os.waitstatus_to_exitcode(child.status) in (128 + signal.SIGHUP, 128 + signal.SIGTERM)
    (kept,) = drafts()
    assert kept.endswith(" and wombat")


@pytest.mark.slow
def test_what_a_killed_demo_left_goes_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    child = demo(tmp_path)
    (left,) = tmp_path.glob(f"{PREFIX}*")
    somebodys = tmp_path / f"{PREFIX}notes"
    somebodys.mkdir()
    (somebodys / "mine.txt").write_text("mine", "utf-8")
    linked = tmp_path / f"{PREFIX}link"
    linked.symlink_to(somebodys, target_is_directory=True)
    assert sweep(tmp_path) == (), "its process runs"
    child.kill(signal.SIGKILL)
    child.wait()
    assert left.exists()
    with demo_folder() as now:
        assert not left.exists()
        assert sweep(tmp_path) == (), "nor does a demo take away itself"
        assert (now / LOCK).exists()
    assert not now.exists()
    assert sorted(tmp_path.iterdir()) == [linked, somebodys]
    assert (somebodys / "mine.txt").exists()


@pytest.mark.slow
@pytest.mark.parametrize("what", ["nothing", "a full disk"])
def test_where_nothing_can_be_painted_the_keys_still_end_it(tmp_path: Path, what: str) -> None:
    if what == "a full disk" and not Path("/dev/full").exists():
        pytest.skip("there is no device that is always full")

    def begin() -> None:
        if what == "nothing":
            os.close(2)
        else:
            os.dup2(os.open("/dev/full", os.O_WRONLY), 2)

    child = pexpect.spawn(
        sys.executable, ["-m", "workbench", "--store", str(make(tmp_path / "project"))],
        cwd=str(tmp_path), encoding="utf-8", codec_errors="replace", timeout=PATIENCE, preexec_fn=begin,
        env={**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    end = time.monotonic() + PATIENCE
    while child.isalive():
        assert time.monotonic() < end
        child.send("jq")
        drain(child)
        time.sleep(0.2)
    assert child.exitstatus == 0
