"""`workbench config` and `workbench stores`."""

import json
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import NOW, Cli
from workbench.config import paths, recent


def configure(text: str) -> Path:
    path = paths.config_dir() / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_config_path_names_the_file_whether_it_is_there_or_not(cli: Cli) -> None:
    assert cli.ok("config", "path") == f"{paths.config_dir() / 'config.toml'}\n"
    assert not paths.config_dir().exists()


def test_config_show_prints_what_holds_as_a_config_file(cli: Cli) -> None:
    configure('theme = "workbench-light"\n[reflection]\nhours = 12\n')
    shown = tomllib.loads(cli.ok("config", "show"))
    assert (shown["theme"], shown["reflection"]["hours"], shown["profile"]) == (
        "workbench-light",
        12,
        "workbench",
    )


@pytest.mark.parametrize("command", [("status",), ("config", "show"), ("stores",)])
def test_what_is_wrong_with_the_config_is_said_on_stderr(
    cli: Cli, command: tuple[str, ...]
) -> None:
    cli.ok("init")
    configure('them = "workbench-light"\n')
    result = cli(*command)
    assert result.code == 0
    assert result.err.splitlines()[0] == 'config.toml: unknown key "them"; did you mean "theme"?'


def test_settings_decide_the_profile_of_a_search(demo: Cli) -> None:
    configure('profile = "no-decay"\n')
    assert demo.ok("search", "deploy", "-k", "1", "--explain").startswith("profile no-decay: ")


def test_stores_lists_the_recent_ones_and_marks_the_one_here(cli: Cli, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    recent.remember(paths.state_dir(), other, 3, NOW)
    lines = cli.ok("stores").splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"→  {cli.store} ")
    assert " ".join(lines[0].split()[2:]) == "not opened yet opens here: asked for with --store"
    assert lines[1].split() == [str(other), "last", "opened", "2026-03-20", "18:00"]


def test_stores_names_the_global_one_and_the_projects(cli: Cli) -> None:
    result = cli.bare("stores")
    assert "opens here: your global store" in result.out
    assert result.err == "No store opened yet.\n"
    (cli.cwd / ".workbench").mkdir()
    assert "opens here: of the project you are in" in cli.bare("stores").out


def test_a_program_is_told_where_a_store_was_made(cli: Cli) -> None:
    made = cli.bare("init", "--json")
    assert (made.code, json.loads(made.out)) == (
        0,
        {"store": str(cli.cwd / ".workbench"), "shared": False},
    )
