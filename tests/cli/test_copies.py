"""`edit` and the copies of what it corrects: only on a word, in one action, and what stays is
named.
"""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import NOW, Cli, Result
from workbench.core.agents.read import AgentRead
from workbench.core.stream.memory import Memory
from workbench.services.open import open_workbench
from workbench.services.promotion.promotion import Target

NPM, PNPM = "Use npm in this repository.", "Use pnpm in this repository."
SECRET = "ghp_" + "Kq7vR2xT9mZ4pL8sW3nB6yC1dF5gH0jAeXuQ"


@pytest.fixture
def project(cli: Cli) -> Path:
    """A project whose AGENTS.md holds a memory that an agent was given this week."""
    store = cli.cwd / ".workbench"
    bench = open_workbench(store, profiles=cli.cwd / "none", clock=lambda: NOW)
    with bench.library.transaction("human", "set up") as tx:
        tx.put(Memory("m1", NPM, NOW, NOW, status="confirmed"))
        tx.put(Memory("i1", "Builds need care.", NOW, NOW, is_synthetic=True, citations=("m1",)))
        tx.put(
            AgentRead(
                "r1",
                "claude",
                NOW,
                "how to install",
                "s1",
                memories=("i1", "m1"),
                scores=(2.0, 1.0),
            )
        )
    bench.promotion.carry_out(bench.promotion.plan(["m1"], Target("block", "AGENTS.md")))
    bench.close()
    return cli.cwd


def edit(cli: Cli, project: Path, *args: str) -> Result:
    found = cli.bare("--store", str(project / ".workbench"), "edit", "m1", *args)
    assert found.code == 0
    return found


def test_copies_go_along_on_a_word_and_come_back_with_one_undo(cli: Cli, project: Path) -> None:
    said = edit(cli, project, PNPM, "--copies").out
    assert "Updated with it: AGENTS.md." in said
    assert "Given to claude in 1 session this week; #2 for its last query “how to install”." in said
    assert PNPM in (project / "AGENTS.md").read_text()
    assert "1 copy" in cli.bare("--store", str(project / ".workbench"), "undo").out
    assert NPM in (project / "AGENTS.md").read_text()


def test_without_a_word_the_file_stays_and_is_named(cli: Cli, project: Path) -> None:
    said = edit(cli, project, PNPM).err
    assert NPM in (project / "AGENTS.md").read_text()
    assert "The old words still stand in AGENTS.md." in said
    assert "i1 cites it and stays: check it." in said


def test_json_tells_what_became_of_each(cli: Cli, project: Path) -> None:
    found = json.loads(edit(cli, project, PNPM, "--json").out)
    assert [(copy["name"], copy["updated"], copy["obstacle"]) for copy in found["copies"]] == [
        ("i1", False, "cites"),
        ("AGENTS.md", False, ""),
    ]
    assert found["given"] == [
        {"agent": "claude", "sessions": 1, "query": "how to install", "place": 2}
    ]


def test_a_masked_secret_leaves_the_copies(cli: Cli, project: Path) -> None:
    edit(cli, project, f"Use npm with {SECRET}.", "--copies")
    assert NPM in (project / "AGENTS.md").read_text()
    assert SECRET not in cli.bare("--store", str(project / ".workbench"), "show", "m1").out
