"""One table of exit codes: in the help, in the commands, and in what they really return."""

import ast
import json

import pytest

from tests.cli.conftest import NOW, Cli
from tests.sources import PACKAGE, trees
from workbench.cli import session
from workbench.core.stream.memory import Memory
from workbench.store.library import Library


def test_the_help_has_the_table(cli: Cli) -> None:
    helped = cli.bare("--help").out
    for code, meaning in session.MEANINGS.items():
        start = helped.index(f"\n  {code:<4}{meaning.split()[0]}")
        assert " ".join(helped[start:].split()).startswith(f"{code} {meaning}")


@pytest.mark.slow
def test_no_command_has_a_code_of_its_own() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path, tree in trees().items()
        if path.is_relative_to(PACKAGE / "cli")
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "code"
        for value in ast.walk(node.value)
        if isinstance(value, ast.Constant) and type(value.value) is int
    ]
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("status", session.DONE),
        ("doctor", session.DONE),
        ("lint good.txt", session.DONE),
        ("lint bad.txt", session.FOUND),
        ("watch", session.DONE),
        ("scan secret.txt", session.FOUND),
        ("check expect.jsonl", session.FOUND),
        ("show nothing", session.PROBLEM),
        ("nonsense", session.PROBLEM),
        ("list --nonsense", session.PROBLEM),
        ("import none.jsonl", session.PROBLEM),
        ("lint none.txt", session.PROBLEM),
        ("check none.toml", session.PROBLEM),
        ("undo --rev 99", session.PROBLEM),
    ],
)
def test_a_command_returns_what_the_table_says(command: str, code: int, cli: Cli) -> None:
    with Library(cli.store, lambda: NOW).transaction("cli", "set up") as tx:
        tx.put(Memory("m1", "Builds are green", NOW, NOW))
    cli.write(
        "good.txt",
        "## STRATEGIES AND HARD RULES\n[shr-00001] helpful=0 harmful=0 :: Ask first\n\n## OTHERS\n",
    )
    cli.write(
        "bad.txt",
        "## RULES\n[r-00001] helpful=0 harmful=0 :: Ask\n[r-00001] helpful=0 harmful=0 :: Tell\n",
    )
    cli.write("secret.txt", "ghp_" + "Kq7vR2xT9mZ4pL8sW3nB6yC1dF5gH0jAeXuQ\n")
    cli.write("expect.jsonl", json.dumps({"query": "builds", "never": "m1"}) + "\n")
    assert cli(*command.split()).code == code
