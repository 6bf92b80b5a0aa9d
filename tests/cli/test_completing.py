"""Completion for shells: derived from the parser, and tried in the shells that this machine has."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from workbench.cli.completion.places import Place, places
from workbench.cli.main import build_parser

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

Offered = Callable[[tuple[str, ...]], set[str]]


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
    asked = f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _workbench"
    code = f"source script.bash; {asked}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return set(run(["bash", "--norc", "-c", code], folder))


def in_zsh(words: tuple[str, ...], folder: Path) -> set[str]:
    """Return what is offered; what belongs to zsh's own completion is stood in for by what prints it."""
    stand_ins = """
        compdef() { : }
        compset() { : }
        compadd() { shift; print -l -- "$@" }
        _describe() { print -l -- "${offered[@]%%:*}" }
        _files() { print -l -- *(N) }
    """
    line = " ".join(map(quoted, ("workbench", *words)))
    asked = f"words=({line}); CURRENT={len(words) + 1}; PREFIX={quoted(words[-1])}"
    code = f"{stand_ins}\nsource ./script.zsh\n{asked}\n_workbench"
    return {word for word in run(["zsh", "-f", "-c", code], folder) if word.startswith(words[-1])}


def in_fish(words: tuple[str, ...], folder: Path) -> set[str]:
    line = " ".join(("workbench", *words[:-1], words[-1].replace(" ", "\\ ")))
    code = f"source script.fish; complete -C {quoted(line)}"
    found = run(["fish", "--no-config", "-c", code], folder)
    return {word.partition("\t")[0].replace("\\ ", " ") for word in found}


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda case: " ".join(CASES[case][0]))
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_what_can_be_typed(shell: str, case: int, folder: Path) -> None:
    words, offered, not_offered = CASES[case]
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not on this machine")
    found = {"bash": in_bash, "zsh": in_zsh, "fish": in_fish}[shell](words, folder)
    assert offered <= found
    assert not not_offered & found


def test_bash_completes_folders_and_an_option_with_an_equals_sign(folder: Path) -> None:
    assert in_bash(("--store", "a"), folder) == {FOLDER}
    assert in_bash(("edit", "m1", "--type", "=", "got"), folder) == {"gotcha"}
    assert in_bash(("edit", "m1", "--type", "="), folder) >= {"gotcha", "error"}


@pytest.mark.slow
def test_every_command_option_and_choice_of_the_parser_is_in_every_script(cli: Cli) -> None:
    found = tuple(places(build_parser()))
    assert {"", "review", "review list", "edit", "completion"} <= {place.name for place in found}
    for shell in ("bash", "zsh", "fish"):
        script = cli.ok("completion", shell)
        for place in found:
            for word in _words(place, shell):
                assert word in script, (shell, place.name, word)


def _words(place: Place, shell: str) -> list[str]:
    names = [name for option in place.options for name in option.names]
    if shell == "fish":
        names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in names]
    values = [*place.values, *(option.value for option in place.options)]
    return [*names, *(word for word, _ in place.words), *(choice for value in values for choice in value.choices)]


def test_printing_a_script_needs_no_store_and_an_unknown_shell_is_refused(cli: Cli) -> None:
    assert cli.bare("completion", "bash").out.startswith("# Completion of workbench for bash")
    assert cli.bare("completion", "csh").code == 2
    assert not cli.store.exists()
