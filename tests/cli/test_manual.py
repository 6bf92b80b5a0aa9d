"""`workbench help` and `completion`: the pages of the manual by their names, and what shells complete."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pexpect
import pytest

from tests.cli.conftest import Cli
from tests.cli.shared import COMMAND, configure
from tests.manual import PAGES

NAMES = sorted(path.stem for path in PAGES.glob("*.md"))


def test_every_page_is_listed_with_what_it_is_about(cli: Cli) -> None:
    rows = [line.split(maxsplit=1) for line in cli.bare("help").out.splitlines()]
    assert sorted(name for name, *_ in rows) == NAMES
    assert [name for name, *about in rows if not about] == []


@pytest.mark.parametrize(
    "topic",
    ["undo-and-history", "undo", "UNDO", "Undo and history", "undo and", "undo-and-history.md"],
)
def test_a_page_is_found_by_its_name_its_title_or_the_beginning_of_one(
    topic: str, cli: Cli
) -> None:
    answer = cli.bare("help", *topic.split())
    assert answer.code == 0
    assert answer.err == ""
    assert answer.out.startswith("Undo and history\n")


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_printed_as_plain_text_with_all_that_it_says(name: str, cli: Cli) -> None:
    out = cli.bare("help", name).out
    for markup in ("<!--", "![", "](", "```", "**"):
        assert markup not in out.replace("``", ""), markup
    text = " ".join(out.split())
    for line in (PAGES / f"{name}.md").read_text("utf-8").splitlines():
        if line.startswith(("# ", "## ", "$ ")):
            assert " ".join(line.lstrip("#").split()) in text


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("s", "stream, store-and-backup"),
        ("glosary", "glossary"),
        ("mcp", "agents"),
        ("xyzzy", "`workbench help`"),
    ],
)
def test_a_topic_that_is_no_page_is_refused_with_what_may_be_meant(
    topic: str, said: str, cli: Cli
) -> None:
    answer = cli.bare("help", topic)
    assert answer.code == 2
    assert answer.out == ""
    assert f"“{topic}”" in answer.err
    assert said in answer.err


def test_the_manual_is_read_without_a_store_and_with_settings_that_are_wrong(cli: Cli) -> None:
    configure("nonsense = [")
    cli.ok("help", "stream")
    assert not cli.store.exists()
    assert list(cli.cwd.iterdir()) == []


@pytest.mark.slow
def test_a_terminal_gets_the_page_by_its_pager(tmp_path: Path) -> None:
    environment = {**os.environ, "TERM": "xterm-256color", "PAGER": "sed 's/^/page: /'"}
    child = pexpect.spawn(
        COMMAND[0],
        [*COMMAND[1:], "help", "stream"],
        cwd=str(tmp_path),
        env=environment,
        encoding="utf-8",
        timeout=60,
    )
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert child.before.startswith("page: Stream\r\n")


FILE, FOLDER = "a file.toml", "a folder"


CASES = (
    ("re", "review|restore|redo", "undo"),
    ("--store somewhere rev", "review", "rev"),
    ("review ''", "list|show|approve|promote", "review"),
    ("review list --li", "--limit", "--title"),
    ("review list --kind merge --js", "--json", ""),
    ("vote m1 ''", "helpful|harmful", "list"),
    ("vote ''", "", "helpful|list"),
    ("edit m1 --type got", "gotcha", "error"),
    ("edit m1 --type gotcha --mem", "--memory-type", ""),
    ("bullet move shr-00001 --po", "--position", "--kind"),
    ("completion ''", "bash|zsh|fish", ""),
    ("check 'a f'", FILE, ""),
    ("list re", "", "review"),
)
"""The words of a line, of which the last is completed; what is offered, and what is not."""


def run(command: list[str], cwd: Path) -> list[str]:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    assert done.stderr == "", done.stderr
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
@pytest.mark.parametrize(("line", "offered", "not_offered"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_shell_completes_what_can_be_typed(
    shell: str, line: str, offered: str, not_offered: str, folder: Path
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not on this machine")
    found = {"bash": in_bash, "fish": in_fish}[shell](tuple(shlex.split(line)), folder)
    assert set(filter(None, offered.split("|"))) <= found
    assert not set(not_offered.split("|")) & found


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
