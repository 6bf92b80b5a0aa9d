"""`scan --mask` where it may not work: killed in the middle, and in a folder that is not to be
written.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.cli.conftest import Cli
from tests.cli.shared import KEY, ROOT, WORKBENCH, left_in, put, without_privileges, workbench
from workbench.config import paths

KILLED_AT = """
import os, signal, sys
from workbench.__main__ import main
left = [{at}]
def hook(event, args):
    if event == "os.rename":
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
main(["--store", {store!r}, "scan", "--mask"])
"""


def mask_and_die(store: Path, at: int) -> int:
    """Mask a store in a process that is killed before the file at a place in order takes its name."""
    code = KILLED_AT.format(at=at, store=str(store))
    return subprocess.run(
        [sys.executable, "-B", "-c", code], cwd=ROOT, capture_output=True, check=False
    ).returncode


@pytest.mark.slow
def test_a_mask_that_is_killed_leaves_a_store_that_says_what_is_left_and_is_finished_by_another(
    cli: Cli,
) -> None:
    put(cli, m1=f"key {KEY}", m2="fine")
    put(cli, m1=f"another text about {KEY}")
    whole, at, codes = cli.cwd / "whole", 0, list[int]()
    shutil.copytree(cli.store, whole)
    while not codes or codes[-1] == -signal.SIGKILL:
        shutil.rmtree(cli.store)
        shutil.copytree(whole, cli.store)
        shutil.rmtree(
            str(paths.heads_dir()), ignore_errors=True
        )  # what this machine remembers of the store that was there before
        at += 1
        codes.append(mask_and_die(cli.store, at))
        assert "damaged" not in cli("doctor").out, at
        assert "fine" in cli("list").out, at
        assert (cli("scan").code == 1) == (left_in(cli.store, KEY) != []), at
        broken = cli("doctor")
        assert broken.code == ("was broken off" in broken.out)
        assert (
            broken.code
            or not left_in(cli.store, KEY)
            or "another text about" not in cli("history", "m1").out
        ), at
        cli.ok("doctor", "--finish")
        assert (left_in(cli.store, KEY), cli("scan").code, cli("doctor").code) == ([], 0, 0), at
        assert "[secret" in cli("show", "m1").out, at
    assert len(codes) > 2
    assert codes[-1] == 0


@pytest.mark.slow
@pytest.mark.skipif(
    without_privileges() is None, reason="file permissions do not hold for this user"
)
def test_a_mask_in_a_read_only_folder_changes_nothing_and_says_so(cli: Cli) -> None:
    put(cli, m1=f"key {KEY}")
    files = [cli.store, *cli.store.rglob("*")]
    before = {path: path.read_bytes() for path in files if path.is_file()}
    for path in files:
        path.chmod(path.stat().st_mode & 0o555)
    try:
        prefix = without_privileges() or ()
        found = workbench("--store", str(cli.store), "scan", prefix=prefix)
        run = workbench("--store", str(cli.store), "scan", "--mask", prefix=prefix)
    finally:
        for path in files:
            path.chmod(path.stat().st_mode | 0o200)
    assert found.returncode == 1
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert "cannot be written: permission denied" in run.stderr
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.slow
def test_an_export_to_a_terminal_escapes_what_it_would_obey_and_a_pipe_gets_the_bytes(
    cli: Cli,
) -> None:
    bullet = "[str-00001] helpful=0 harmful=0 :: Use \x1b]0;gone\x07 tabs \x9b31m."
    book = cli.cwd / cli.write("book.txt", f"## STRATEGIES & INSIGHTS\n{bullet}\n")
    cli.ok("import", "book.txt")
    command = [*WORKBENCH[1:], "--store", str(cli.store), "export", "--format", "ace"]
    child = pexpect.spawn(
        WORKBENCH[0],
        command,
        cwd=str(cli.cwd),
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    child.expect(pexpect.EOF)
    shown = child.before
    child.close()
    assert child.exitstatus == 0
    assert b"tabs" in shown
    assert not {b"\x1b", b"\x07", b"\xc2\x9b"} & {
        shown[i : i + n] for i in range(len(shown)) for n in (1, 2)
    }
    piped = subprocess.run([WORKBENCH[0], *command], cwd=ROOT, capture_output=True, check=True)
    assert piped.stdout == book.read_bytes()
