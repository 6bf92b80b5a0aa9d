"""`workbench consolidate`: what it would do, what it did, its report, and undo."""

import json

import pytest

from tests.cli.conftest import Cli
from workbench.core.agents.consolidation import STAGES

SAME = {
    "task": {"original_input": "Deploy the service to staging and see whether it answers"},
    "outcome": {"status": "SUCCESS"}, "metadata": {"domain": "ops", "task_type": "deploy"},
}  # fmt: skip


@pytest.fixture
def filled(cli: Cli) -> Cli:
    cli.write(
        "runs.json",
        json.dumps([{**SAME, "timestamp": f"2026-01-0{n}T09:00:00Z"} for n in (1, 2, 3)]),
    )
    cli.ok("episode", "add", "runs.json")
    return cli


def test_a_dry_run_then_the_run_and_its_report(filled: Cli) -> None:
    dry = filled.ok("consolidate", "--dry-run")
    assert ("2 would change" in dry, "archived under ep-20260103-" in dry) == (True, True)
    assert filled.told("episode", "list", "--phase", "archived") == []
    done = filled.ok("consolidate", "--report", "out.md")
    assert ("2 changed" in done, "The next one is due" in done) == (True, True)
    assert "# Consolidation of" in (filled.cwd / "out.md").read_text()
    there = filled("consolidate", "--stages", "report", "--report", "out.md")
    assert (there.code, "out.md" in there.err) == (2, True)
    assert len(filled.json("episode", "list", "--phase", "archived")) == 2
    assert filled.ok("undo").startswith("Undone: consolidate 2 episodes")
    assert filled.told("episode", "list", "--phase", "archived") == []


def test_json_has_every_stage_and_the_run(filled: Cli) -> None:
    answer = filled.json("consolidate")
    assert [one["stage"] for one in answer["stages"]] == [kind.id for kind in STAGES]
    assert (answer["dry_run"], answer["left"], answer["run"]["left"]) == (False, [], [])
    first = answer["stages"][0]
    assert [change["becomes"] for change in first["changes"]] == ["archived", "archived"]
    assert filled.json("consolidate", "--dry-run")["run"] is None
    filled.ok("consolidate", "--stages", "report", "--report", "r.json")
    assert json.loads((filled.cwd / "r.json").read_text())["stages"][0]["facts"]["clusters"] == 1


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--stages", "dreams"), "Unknown stage “dreams”. Stages are: episodes"),
        (("--dry-run", "--report", "x.md"), "A dry run has no report."),
    ],
)
def test_what_cannot_be_done_is_said(filled: Cli, args: tuple[str, ...], said: str) -> None:
    answer = filled("consolidate", *args)
    assert (answer.code, said in answer.err) == (2, True)
