"""Making a store on purpose, keeping it out of git, and a `--store` that names none."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from workbench.config import paths


def git(folder: Path, *args: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c", *args]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


READING = (
    ("list",), ("show", "mem-20260320-0000001"), ("search", "x"), ("stats",), ("status",), ("history",), ("doctor",),
    ("export", "--format", "jsonl", "--out", "x.jsonl"), ("eval", "q.json"), ("scan",), ("review", "list"),
    ("upkeep", "--dry-run"), ("dedup", "--dry-run"), ("queries", "list"), ("backup", "b.tar.gz"),
)  # fmt: skip
CHANGING = (
    ("undo",), ("redo",), ("vote", "mem-20260320-0000001", "helpful"), ("purge", "mem-20260320-0000001"),
    ("review", "approve", "p-1"), ("review", "reject", "p-1"), ("dedup",), ("upkeep",), ("reflect",), ("compact",),
    ("search", "x", "--for-agent", "a"), ("allow", "mem-20260320-0000001", "--reason", "x"),
)  # fmt: skip


def everything(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


@pytest.mark.slow
@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_who_reads_a_store_that_is_not_there_is_told_and_makes_nothing(
    cli: Cli, command: tuple[str, ...]
) -> None:
    cli.bare("--store", str(cli.store.with_name("stare")), "init")
    cli.store.with_name("empty").mkdir()
    before = everything(cli.store.parent)
    for name in (cli.store, cli.store.with_name("empty")):
        result = cli.bare("--store", str(name), *command)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"workbench: There is no store in {name}. ")
        assert result.err.count("\n") == 1
    assert f"Did you mean {cli.store.with_name('stare')}?" in cli(*command).err
    assert everything(cli.store.parent) == before


@pytest.mark.parametrize("command", CHANGING, ids=" ".join)
def test_who_changes_a_store_that_is_not_there_is_told_and_makes_nothing(
    cli: Cli, command: tuple[str, ...]
) -> None:
    cli.bare("--store", str(cli.store.with_name("stare")), "init")
    before = everything(cli.store.parent)
    err = cli.refused(*command)
    assert err == (
        f"workbench: There is no store in {cli.store}. Did you mean {cli.store.with_name('stare')}?\n"
    )
    assert everything(cli.store.parent) == before


@pytest.mark.parametrize(
    "command", [("append", "x"), ("ingest", "x"), ("import", "memory.jsonl")], ids=" ".join
)
def test_who_brings_something_in_makes_the_store_and_says_so_once(
    cli: Cli, command: tuple[str, ...]
) -> None:
    cli.write(
        "memory.jsonl",
        '{"type":"entity","name":"d","entityType":"rule","observations":["need a secret"]}\n',
    )
    assert f"Created a new store in {cli.store}" in cli(*command).err
    assert "new store" not in cli(*command).err


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_who_reads_the_default_store_makes_nothing(cli: Cli, command: tuple[str, ...]) -> None:
    result = cli.bare(*command)
    assert "There is no store" not in result.err or command[0] in ("doctor", "backup")
    assert not paths.data_dir().exists()


def test_the_project_store_inside_is_named(cli: Cli) -> None:
    assert cli.bare("init", "project").code == 0
    result = cli.bare("--store", "project", "list")
    assert f"Did you mean {cli.cwd / 'project' / '.workbench'}?" in result.err


def test_a_dry_import_into_a_store_that_is_to_be_made_is_no_typo(cli: Cli) -> None:
    entity = {
        "type": "entity",
        "name": "deploys",
        "entityType": "rule",
        "observations": ["need AUTH_SECRET"],
    }
    name = cli.write("memory.jsonl", json.dumps(entity) + "\n")
    assert cli("import", "--dry-run", name).code == 0
    assert not cli.store.exists()


def test_a_new_store_stays_out_of_git_and_says_so_once(cli: Cli) -> None:
    git(cli.cwd, "init", "-q")
    (cli.cwd / ".workbench").mkdir()
    first = cli.bare("ingest", "deploys need AUTH_SECRET")
    assert (first.code, first.err) == (0, "")
    result = cli.bare("--store", "second", "append", "x")
    assert (
        result.err
        == f"Created a new store in {cli.cwd / 'second'}; git ignores it.\n"
    )
    assert cli.bare("--store", "second", "append", "y").err == ""
    assert "git ignores it" in cli.bare("--store", "third", "ingest", "x").err
    git(cli.cwd, "add", "-A")
    assert git(cli.cwd, "ls-files") == ""


def test_init_makes_a_store_once(cli: Cli) -> None:
    assert (
        cli.bare("init").out
        == f"The store is in {cli.cwd / '.workbench'}.\nGit ignores it.\n"
    )
    again = cli.bare("init")
    assert (again.code, again.out) == (2, "")
    assert (
        again.err
        == f"workbench: {cli.cwd / '.workbench'} already has a store. Nothing was changed.\n"
    )
    assert cli.bare("list").code == 0
    assert cli("init", "x").code == 2


def test_a_shared_store_is_committed_and_merged_by_lines(cli: Cli) -> None:
    git(cli.cwd, "init", "-q")
    assert cli.bare("init", "--shared").code == 0
    assert cli.bare("ingest", "deploys need AUTH_SECRET").code == 0
    assert cli.bare("search", "deploys").code == 0
    git(cli.cwd, "add", "-A")
    assert git(cli.cwd, "ls-files").split() == [
        ".workbench/.gitattributes", ".workbench/.gitignore", ".workbench/journal.jsonl",
    ]  # fmt: skip
    assert "merge: union" in git(cli.cwd, "check-attr", "merge", ".workbench/journal.jsonl")
    assert "git add" not in cli.bare("doctor").out


def test_the_doctor_says_what_git_would_take_in(cli: Cli) -> None:
    git(cli.cwd, "init", "-q")
    cli.bare("init")
    assert "git add" not in cli.bare("doctor").out
    (cli.cwd / ".workbench" / ".gitignore").unlink()
    assert "`git add` would add this store" in cli.bare("doctor").out
