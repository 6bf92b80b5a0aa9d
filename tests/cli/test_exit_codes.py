"""One table of exit codes: in the help, in the commands, and in what they really return."""

import ast
import json

import pytest

from tests.cli.conftest import NOW, Cli
from tests.sources import PACKAGE, trees
from workbench.cli import exit_codes
from workbench.core.stream.memory import Memory
from workbench.store.library import Library


def test_the_help_has_the_table(cli: Cli) -> None:
    helped = cli.bare("--help").out
    for code, meaning in exit_codes.MEANINGS.items():
        start = helped.index(f"\n  {code:<4}{meaning.split()[0]} ")
        assert " ".join(helped[start:].split()).startswith(f"{code} {meaning}")


@pytest.mark.slow
def test_no_command_has_a_code_of_its_own() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path, tree in trees().items()
        if path.is_relative_to(PACKAGE / "cli")
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and any(a.arg == "session" for a in function.args.args)
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value is not None
        for value in ast.walk(node.value)
        if isinstance(value, ast.Constant) and type(value.value) is int and value.value != exit_codes.DONE
    ]
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("status", exit_codes.DONE),
        ("doctor", exit_codes.DONE),
        ("lint good.txt", exit_codes.DONE),
        ("lint bad.txt", exit_codes.FOUND),
        ("watch", exit_codes.DONE),
        ("scan secret.txt", exit_codes.FOUND),
        ("check expect.jsonl", exit_codes.FOUND),
        ("show nothing", exit_codes.PROBLEM),
        ("nonsense", exit_codes.PROBLEM),
        ("list --nonsense", exit_codes.PROBLEM),
        ("import none.jsonl", exit_codes.PROBLEM),
        ("lint none.txt", exit_codes.PROBLEM),
        ("check none.toml", exit_codes.PROBLEM),
        ("undo --rev 99", exit_codes.PROBLEM),
    ],
)
def test_a_command_returns_what_the_table_says(command: str, code: int, cli: Cli) -> None:
    with Library(cli.store, lambda: NOW).transaction("cli", "set up") as tx:
        tx.put(Memory("m1", "Builds are green", NOW, NOW))
    cli.write("good.txt", "## STRATEGIES AND HARD RULES\n[shr-00001] helpful=0 harmful=0 :: Ask first\n\n## OTHERS\n")
    cli.write("bad.txt", "## RULES\n[r-00001] helpful=0 harmful=0 :: Ask\n[r-00001] helpful=0 harmful=0 :: Tell\n")
    cli.write("secret.txt", "ghp_" + "Kq7vR2xT9mZ4pL8sW3nB6yC1dF5gH0jAeXuQ\n")
    cli.write("expect.jsonl", json.dumps({"query": "builds", "never": "m1"}) + "\n")
    assert cli(*command.split()).code == code
