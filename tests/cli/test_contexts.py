"""`workbench context`, `reads`, `index` and `replay`: what an agent would be given, what agents asked, the
overview and the file of it, and what a session would have been given then and now.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.cli.sessions import DEPLOY, Transcript, session
from tests.cli.shared import configure, memory, stored

TASK = "fix the token refresh"


KEY = "AKIAZ7QWERTYUI5PLMNB"


@pytest.mark.slow
def test_a_context_is_printed_with_what_is_left_out_and_counts_no_read(demo: Cli) -> None:
    before = demo.files()
    result = demo("context", TASK, "--budget", "1500")
    assert result.code == 0
    assert re.search(r"## For this task\n\[unreviewed .*\n- \[mem-20260209-0000015\] ", result.out)
    assert "over the budget" in result.err
    answer = demo.told("context", TASK, "--budget", "500")
    layers = [layer["layer"] for layer in answer["layers"]]
    assert layers == ["pinned", "known", "playbook", "retrieved"]
    assert answer["tokens"] <= 500
    assert demo.files() == before


@pytest.mark.slow
def test_judged_tasks_of_a_file_are_counted_per_budget(demo: Cli) -> None:
    helps, misleads = ["mem-20260209-0000015", "mem-none"], ["mem-20260318-0000264"]
    asked = (
        "context",
        "--eval",
        demo.write("tasks.jsonl", json.dumps({"task": TASK, "helps": helps, "misleads": misleads})),
    )
    found = demo.told(*asked, "--budget", "3000")
    whole = next(row for row in found["sums"] if row["set"] == "all")
    assert whole["tasks"] == 1
    assert whole["helpful"] == 1
    assert whole["helps"] == 2
    assert whole["misleads"] == 1
    assert found["contexts"][0]["tokens"] <= 3_000
    assert "1 of 2" in demo(*asked).out


@pytest.mark.slow
def test_an_agent_that_is_given_a_context_has_read_it(demo: Cli) -> None:
    demo("context", TASK, "--for-agent", "claude", "--session", "s-1")
    (first, *_) = demo.told("reads", "-n", "1")
    assert first["agent"] == "claude"
    assert first["session"] == "s-1"
    assert first["query"] == TASK
    assert first["door"] == "cli"
    assert first["memories"]


def test_readings_are_listed_filtered_and_shown_in_full(demo: Cli) -> None:
    for query in ("how do we deploy", "recipe for lasagne"):
        demo("search", query, "-k", "2", "--for-agent", "codex")
    asked = ("reads", "--agent", "codex", "-n", "2")
    given, empty = sorted(demo.told(*asked), key=lambda row: str(row["query"]))
    assert given["is_empty"] is False
    assert empty["is_empty"] is True
    listed = demo(*asked).out
    assert "nothing relevant" in listed
    assert "2 served" in listed
    full = demo("reads", given["id"]).out
    assert f"{given['relevances'][0]:.4f}  {given['memories'][0]}" in full
    assert "nothing was served" in demo("reads", empty["id"]).out
    assert "None matches." in demo("reads", "--agent", "nobody").err


def test_the_overview_counts_and_tells_no_secret(cli: Cli) -> None:
    cli.ok("append", "Deploys need a token in CI", "--type", "gotcha")
    stored(cli, memory("m1", f"the key is {KEY}", status="confirmed"))
    text = cli("index").out
    assert "2 memories: 1 signal, 1 confirmed" in text
    assert "- gotcha: 1" in text
    assert KEY not in text


def test_a_line_that_no_person_stands_by_says_so(cli: Cli) -> None:
    cli.store = cli.cwd / ".workbench"
    cli.bare("init")
    cli.bare("append", "Deploys go through the queue", "--type", "convention")
    cli.bare("append", "Agents may skip the queue", "--type", "convention", "--actor", "claude")
    lines = {
        line[2:8]: line for line in cli.bare("index").out.splitlines() if line.startswith("- ")
    }
    assert lines["Agents"].endswith(", unreviewed)")
    assert "unreviewed" not in lines["Deploy"]


def test_what_somebody_else_wrote_stays_unless_a_person_says_so(cli: Cli) -> None:
    cli.ok("append", "Deploys go through the queue")
    held = "# Memory index\n\n3 memories: 3 signal\n"
    path = cli.cwd / cli.write("notes.md", held)
    err = cli.refused("index", "notes.md")
    assert "was never read or written here" in err
    assert "--force replaces it" in err
    assert path.read_text() == held
    cli("index", "notes.md", "--force")
    assert path.read_text() == cli.ok("index")
    path.write_text(f"{path.read_text()}- a line by hand\n")
    assert "was changed by others" in cli.refused("index", "notes.md")
    assert "- a line by hand" in path.read_text()


def test_a_reflection_writes_the_file_that_the_settings_name(cli: Cli) -> None:
    cli.store = cli.cwd / ".workbench"
    cli.bare("init")
    for number in range(4):
        cli.bare(
            "append",
            f"The nightly job failed again because the token had expired, run {number}",
            "--type",
            "error",
        )
    configure('[reflection]\nindex = "docs-index.md"\n')
    assert cli.bare("reflect", "--force").code == 0
    assert (cli.cwd / "docs-index.md").read_text() == cli.bare("index").out
    (cli.cwd / "docs-index.md").write_text("mine\n")
    result = cli.bare("reflect", "--force")
    assert result.code == 0
    assert "was changed by others" in result.err
    assert (cli.cwd / "docs-index.md").read_text() == "mine\n"


def test_a_store_without_a_project_says_that_the_file_has_no_place(
    cli: Cli, tmp_path: Path
) -> None:
    for number in range(4):
        cli(
            "append",
            f"The nightly job failed, its token had expired, run {number}",
            "--type",
            "error",
        )
    configure('[reflection]\nindex = "memory-index.md"\n')
    assert "cannot be placed" in cli("reflect", "--force").err
    configure(f'[reflection]\nindex = "{tmp_path / "index.md"}"\n')
    cli("reflect", "--force", "--dry-run")
    assert not (tmp_path / "index.md").exists()
    cli("reflect", "--force")
    assert (tmp_path / "index.md").exists()


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
    asked = ("-k", "2", "--at", str(rev), "-n", "1")
    (step, *_) = replayed(demo, path, *asked)
    assert step["then"][0]["id"] == best
    assert step["then"][0]["change"] == "archived"
    assert second not in {one["id"] for one in (*step["then"], *step["now"])}
    assert step["purged_since"] == 1
    assert "later" in {one["change"] for one in step["now"]}
    out = demo.ok("replay", str(path), *asked)
    for said in ("[is archived]", "[did not exist yet]", "1 purged since", "1 of 3 steps"):
        assert said in out


def test_what_cannot_be_replayed_is_refused(demo: Cli, tmp_path: Path) -> None:
    path = str(session(tmp_path, "2026-03-20T19:00:00Z"))
    assert "There is no revision 999999" in demo("replay", path, "--at", "999999").err
    demo.refused("replay", demo.write("plain.txt", "hello\n"))
    nothing = Transcript(tmp_path / "empty.jsonl")
    nothing.noise()
    assert "no prompt, task or failure" in demo("replay", str(nothing.path)).err
