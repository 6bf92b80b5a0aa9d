"""`workbench` without a command, and `workbench demo`."""

import sys
from types import SimpleNamespace

import pytest

from tests.cli.conftest import Cli, files_of
from workbench.config import paths


def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the streams say that they are a terminal's; in the test itself, since pytest swaps them before it."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)


def test_the_app_opens_the_store_that_is_meant(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    at_a_terminal(monkeypatch)
    assert cli.bare("--store", "there").code == 0
    assert cli.bare().code == 0
    (cli.cwd / ".workbench").mkdir()
    assert cli.bare().code == 0
    assert [(store.name, origin) for store, origin, _ in cli.opened] == [
        ("there", "option"),
        ("store", "global"),
        (".workbench", "project"),
    ]
    assert cli.opened[0][0] == cli.cwd / "there"


def test_the_demo_is_a_filled_copy_that_is_removed_afterwards(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    at_a_terminal(monkeypatch)
    result = cli.bare("demo")
    assert (result.code, result.out, result.err) == (0, "", "")
    ((store, origin, was_filled),) = cli.opened
    assert (origin, was_filled) == ("demo", True)
    assert not store.parent.exists()
    seen = paths.documents_dir()
    assert seen is not None
    assert not (seen.is_dir() and list(seen.iterdir())), "nothing is remembered of documents that are gone"


def test_without_a_terminal_the_app_says_what_to_do(cli: Cli) -> None:
    for arguments in ((), ("demo",)):
        result = cli.bare(*arguments)
        assert (result.code, result.out) == (2, "")
        assert result.err == (
            "workbench: The app needs a terminal. Run it in one, or use a command: see “workbench --help”.\n"
        )
    assert cli.opened == []


def test_a_demo_store_can_be_kept(cli: Cli) -> None:
    folder = cli.cwd / "mine"
    result = cli.bare("demo", "--into", "mine")
    assert (result.code, result.err) == (0, "")
    assert result.out == f"The demo store is in {folder}.\nOpen it with: workbench --store {folder}\n"
    status = cli.bare("status", "--store", "mine")
    assert status.out.startswith("14 pending · ")
    assert status.out.endswith(" · 257 unseen\n")
    newest = cli.bare("list", "-n", "1", "--store", "mine").out
    assert newest.split()[1] == "2026-03-20"
    listed = cli.bare("documents", "--list", "--store", "mine").out.split()
    assert listed[1::2] == [
        str(folder / "documents" / name)
        for name in ("notes", "sessions/tp-audit", "sessions/tp-exports", "sessions/tp-webhooks")
    ]
    assert "tp-exports/detail/csv-for-excel.md" in cli.bare("recall", "excel apostrophe", "--store", "mine").out


def test_a_folder_with_something_in_it_is_refused(cli: Cli) -> None:
    cli.write("notes.txt", "mine")
    before = files_of(cli.cwd)
    result = cli.bare("demo", "--into", ".")
    assert (result.code, result.out) == (2, "")
    assert result.err == (f"workbench: {cli.cwd} is not empty. Nothing was changed; name a new or empty folder.\n")
    assert files_of(cli.cwd) == before


def test_the_demo_has_a_store_of_its_own(cli: Cli) -> None:
    result = cli.bare("--store", "x", "demo")
    assert (result.code, result.err) == (
        2,
        "workbench: The demo makes a store of its own. Use --into DIR to choose its folder.\n",
    )
