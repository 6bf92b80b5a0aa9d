"""Completion for shells, tried in the shells that this machine has."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

FILE, FOLDER = "a file.toml", "a folder"

CASES: tuple[tuple[tuple[str, ...], set[str], set[str]], ...] = (
    (("re",), {"review", "restore", "redo"}, {"undo"}),
    (("--store", "somewhere", "rev"), {"review"}, {"rev"}),
    (("review", ""), {"list", "show", "approve", "promote"}, {"review"}),
    (("review", "list", "--li"), {"--limit"}, {"--title"}),
    (("review", "list", "--kind", "merge", "--js"), {"--json"}, set()),
    (("vote", "m1", ""), {"helpful", "harmful"}, {"list"}),
    (("vote", ""), set(), {"helpful", "list"}),
    (("edit", "m1", "--type", "got"), {"gotcha"}, {"error"}),
    (("edit", "m1", "--type", "gotcha", "--mem"), {"--memory-type"}, set()),
    (("bullet", "move", "shr-00001", "--po"), {"--position"}, {"--kind"}),
    (("completion", ""), {"bash", "zsh", "fish"}, set()),
    (("check", "a f"), {FILE}, set()),
    (("list", "re"), set(), {"review"}),
)
"""The words of a line, of which the last is completed; what is offered, and what is not."""


def run(command: list[str], cwd: Path) -> list[str]:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.fixture
def folder(cli: Cli) -> Path:
    cli.write(FILE, "")
    (cli.cwd / FOLDER).mkdir()
    for shell in ("bash", "zsh", "fish"):
        cli.write(f"script.{shell}", cli.ok("completion", shell))
    return cli.cwd


def in_bash(words: tuple[str, ...], folder: Path) -> set[str]:
    line = " ".join(map(quoted, ("workbench", *words)))
    asked = f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _shtab_workbench"
    code = f"source script.bash; {asked}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return set(run(["bash", "--norc", "-c", code], folder))


def in_fish(words: tuple[str, ...], folder: Path) -> set[str]:
    line = " ".join(("workbench", *words[:-1], words[-1].replace(" ", "\\ ")))
    code = f"source script.fish; complete -C {quoted(line)}"
    found = run(["fish", "--no-config", "-c", code], folder)
    return {word.partition("\t")[0].replace("\\ ", " ") for word in found}


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda case: " ".join(CASES[case][0]))
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_shell_completes_what_can_be_typed(shell: str, case: int, folder: Path) -> None:
    words, offered, not_offered = CASES[case]
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not on this machine")
    found = {"bash": in_bash, "fish": in_fish}[shell](words, folder)
    assert offered <= found
    assert not not_offered & found


def test_bash_completes_folders(folder: Path) -> None:
    assert in_bash(("--store", "a"), folder) == {FOLDER}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_in_the_language_of_its_shell(shell: str, folder: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not on this machine")
    run([shell, "-n", f"script.{shell}"], folder)


def test_an_unknown_shell_is_refused_and_printing_a_script_needs_no_store(cli: Cli) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_shtab_workbench" in cli.bare("completion", shell).out
    assert cli.bare("completion", "csh").code == 2
    assert not cli.store.exists()
