"""`workbench replay`: what an agent would have been given in a session, then and now."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.cli.sessions import DEPLOY, Transcript, session


def replayed(cli: Cli, path: Path, *args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli.json("replay", str(path), *args)
    return found


@pytest.mark.slow
def test_each_step_is_answered_by_the_store_as_it_was(demo: Cli, tmp_path: Path) -> None:
    before = demo.files()
    steps = replayed(demo, session(tmp_path, "2026-03-20T19:00:00Z"))
    assert [step["kind"] for step in steps] == ["prompt", "task", "failure"]
    (first, *_) = steps
    assert first["text"] == DEPLOY
    assert first["then"] == first["now"]
    assert first["revision"] > 0
    assert demo.files() == before


@pytest.mark.slow
def test_what_curation_changed_is_said(demo: Cli, tmp_path: Path) -> None:
    path = session(tmp_path, "2026-03-20T19:00:00Z")
    rev = demo.json("stats")["revision"]
    best, second = (one["id"] for one in replayed(demo, path, "-k", "2")[0]["then"])
    demo.ok("forget", best)
    demo.ok("purge", second, "--yes-erase", second)
    demo.ok("append", f"{DEPLOY}: with make staging, never by hand")
    (step, *_) = replayed(demo, path, "-k", "2", "--at", str(rev), "-n", "1")
    assert (step["then"][0]["id"], step["then"][0]["change"]) == (best, "archived")
    assert second not in {one["id"] for one in (*step["then"], *step["now"])}
    assert step["purged_since"] == 1
    assert "later" in {one["change"] for one in step["now"]}
    out = demo.ok("replay", str(path), "-k", "2", "--at", str(rev), "-n", "1")
    assert "[is archived]" in out
    assert "[did not exist yet]" in out
    assert "1 purged since" in out
    assert "1 of 3 steps; 1 would be served differently now." in out


@pytest.mark.slow
def test_before_the_first_change_there_was_nothing(demo: Cli, tmp_path: Path) -> None:
    (step, *_) = replayed(demo, session(tmp_path, "2001-01-01T00:00:00Z"))
    assert (step["revision"], step["then"]) == (0, [])
    assert {one["change"] for one in step["now"]} <= {"later"}


def test_what_cannot_be_replayed_is_refused(demo: Cli, tmp_path: Path) -> None:
    path = str(session(tmp_path, "2026-03-20T19:00:00Z"))
    assert "There is no revision 999999" in demo("replay", path, "--at", "999999").err
    assert demo("replay", path, "--profile", "nonsense").code == 2
    assert demo("replay", demo.write("plain.txt", "hello\n")).code == 2
    assert "no prompt, task or failure" in demo("replay", str(empty(tmp_path))).err


def empty(folder: Path) -> Path:
    written = Transcript(folder / "empty.jsonl")
    written.noise()
    return written.path
