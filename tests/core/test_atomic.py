"""What a killed process left beside a file goes with the next write of that file; what is being
written stays.
"""

import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.config import drafts, recent
from workbench.core.files.atomic import draft_beside
from workbench.core.files.replacing import replace_file
from workbench.core.tuning.profile import WORKBENCH
from workbench.services.tuning.profiles import Profiles, Snapshots

ROOT = Path(__file__).parents[2]
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)

WAITS = """
import sys
from pathlib import Path
from workbench.core.files.atomic import draft_beside
with draft_beside(Path(sys.argv[1])) as (file, new):
    file.write(b"half")
    file.flush()
    print(flush=True)
    sys.stdin.read()
"""


def waiting(target: Path) -> subprocess.Popen[bytes]:
    """Start a process that is writing, and return it once it is."""
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def by_export(target: Path) -> None:
    replace_file(target, "x")


def by_state(target: Path) -> None:
    recent.keep(target.parent, target.name, {})


@pytest.mark.parametrize("write", [by_export, by_state])
def test_what_a_killed_process_left_goes_with_the_next_write(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    process = waiting(tmp_path / "a.md")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert len(list(tmp_path.glob(".a.md.*"))) == 1
    write(tmp_path / "a.md")
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]


STOPS = """
import os, pathlib, sys
from tests.core.test_atomic import KINDS

def stop(*_):
    print(flush=True)
    sys.stdin.read()

os.link = pathlib.Path.replace = stop
KINDS[sys.argv[2]](pathlib.Path(sys.argv[1]))
"""


def draft_of(folder: Path) -> None:
    drafts.write(folder / "d.json", {}, NOON)


def profile_of(folder: Path) -> None:
    Profiles(folder).save(replace(WORKBENCH, name="mine"), NOON, "workbench")


def snapshot_of(folder: Path) -> None:
    Snapshots(folder).take(WORKBENCH, NOON)


KINDS = {"draft": draft_of, "profile": profile_of, "snapshot": snapshot_of}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_killed_before_it_had_its_name_goes_with_the_next_of_its_kind(
    tmp_path: Path, kind: str
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STOPS, str(tmp_path), kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"\n"
    process.kill()
    process.communicate()
    (left,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert left.name.startswith(".")
    KINDS[kind](tmp_path)
    (written,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert not written.name.startswith(".")


def test_what_is_being_written_stays(tmp_path: Path) -> None:
    process = waiting(tmp_path / "a.md")
    replace_file(tmp_path / "a.md", "x")
    replace_file(tmp_path / "b.md", "x")
    assert len(list(tmp_path.glob(".a.md.*"))) == 1
    process.communicate()
    assert process.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "b.md"]


def test_a_stranger_by_that_name_stays(tmp_path: Path) -> None:
    (tmp_path / ".a.md.x.tmp").symlink_to("elsewhere")
    with draft_beside(tmp_path / "a.md") as (_, new):
        new.replace(tmp_path / "a.md")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".a.md.x.tmp", "a.md"]
