"""Which profile a store is ranked with: `tune --use`, `config set profile`, and what goes before
what.
"""

import json
import shutil
import tomllib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import NOW, Cli
from workbench.config.paths import config_dir
from workbench.core.tuning.profile import BUILT_IN, StoreSetting
from workbench.services.open import open_workbench
from workbench.services.tuning.profiles import to_toml

NO_DECAY = next(profile for profile in BUILT_IN if profile.name == "no-decay")
ASKED = ("search", "deploy", "-k", "1", "--json")


def save(name: str) -> Path:
    path = config_dir() / "profiles" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_toml(replace(NO_DECAY, name=name, recency=0.25), NOW, "no-decay"))
    return path


def used(cli: Cli, *more: str) -> tuple[str, str, float]:
    """Return the profile of an answer, where it is said, and what it weighs recency with."""
    (row,) = json.loads(cli.ok(*ASKED, *more))
    parts = row["parts"]
    weight = (
        parts["weighted"]["recency"] / parts["normalised"]["recency"]
        if parts["normalised"]["recency"]
        else 0.0
    )
    return row["profile"], row["profile_from"], round(weight, 4)


def test_a_profile_is_put_to_use_for_agents_too_and_undone(demo: Cli) -> None:
    save("mine")
    assert demo.ok("tune", "--use", "mine").startswith(
        "mine (store) is in use from now on, for agents too; "
    )
    assert used(demo)[:2] == ("mine", "store")
    assert used(demo, "--for-agent", "claude")[:2] == ("mine", "store")
    assert "ranked under mine (store)" in demo.ok("search", "deploy", "-k", "1")
    assert demo.json("reads", "-n", "0")[0]["profile"] == "mine"
    assert demo.ok("config", "show").startswith("# Profile in use here: mine (store).\n")
    assert "mine (store) is already in use." in demo.ok("config", "set", "profile", "mine")
    assert "use the profile mine in this store" in demo("history", "-n", "3").out
    demo.ok("undo")
    assert used(demo)[:2] == ("workbench", "default")


def test_the_flag_goes_before_the_environment_that_before_the_store_and_that_before_the_file(
    demo: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    save("mine")
    demo.ok("config", "set", "profile", "engram", "--global")
    assert used(demo)[:2] == ("engram", "config.toml")
    demo.ok("config", "set", "profile", "mine")
    assert used(demo)[:2] == ("mine", "store")
    monkeypatch.setenv("WORKBENCH_PROFILE", "generative-agents")
    assert used(demo)[:2] == ("generative-agents", "environment")
    assert used(demo, "--profile", "no-decay")[:2] == ("no-decay", "flag")
    assert "but generative-agents (environment) overrides it here" in demo.ok(
        "tune", "--use", "workbench"
    )
    monkeypatch.setenv("WORKBENCH_PROFILE", "nope")
    assert "Unknown profile “nope”. It is set by: environment." in demo(*ASKED).err
    monkeypatch.delenv("WORKBENCH_PROFILE")
    demo.ok("config", "set", "profile", "")
    assert used(demo)[:2] == ("engram", "config.toml")


def test_it_goes_along_with_the_store_where_nobody_has_its_file(demo: Cli) -> None:
    path = save("mine")
    demo.ok("tune", "--use", "mine")
    before = demo.json("search", "deploy")
    path.unlink()
    assert demo.json("search", "deploy") == before


@pytest.mark.parametrize("command", [("tune", "--use", "engram"), ("config", "set", "profile", "engram"),
                                     ("config", "set", "agents.serve", "all"),
                                     ("config", "set", "profile", "engram", "--global")])  # fmt: skip
def test_an_agent_sets_nothing(
    command: tuple[str, ...], demo: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    result = demo(*command)
    assert result.code == 2
    assert result.err.startswith("workbench: An agent cannot change a setting.")
    monkeypatch.delenv("CLAUDECODE")
    assert used(demo)[:2] == ("workbench", "default")
    assert not (config_dir() / "config.toml").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("tune", "--use", "nope"),
        ("config", "set", "profile", "nope"),
        ("config", "set", "profile", "nope", "--global"),
        ("tune", "--use", "engram", "--save", "x"),
        ("config", "set", "profile"),
    ],
)
def test_what_cannot_be_used_changes_nothing(command: tuple[str, ...], demo: Cli) -> None:
    before = demo.ok("history", "--json")
    assert demo(*command).code == 2
    assert demo.ok("history", "--json") == before


def test_a_store_that_names_a_profile_nobody_knows_says_so_and_takes_another(demo: Cli) -> None:
    with (
        closing(open_workbench(demo.store, profiles=demo.cwd / "profiles")) as bench,
        bench.library.transaction("person", "use a profile that was built in once") as tx,
    ):
        tx.put(StoreSetting("profile", "workbench-1"))
    err = demo.refused(*ASKED)
    assert (
        "Unknown profile “workbench-1”. It is set by: store. Known ones: workbench, engram, "
        in err
    )
    demo.ok("tune", "--use", "engram")
    assert used(demo)[:2] == ("engram", "store")


def test_of_a_store_from_elsewhere_it_holds_once_that_is_trusted(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORKBENCH_TRUST")
    elsewhere = cli.cwd.parent / "elsewhere"
    bench = open_workbench(elsewhere, profiles=cli.cwd / "profiles", clock=lambda: NOW)
    bench.tuning.use("engram")
    bench.close()
    shutil.copytree(elsewhere, cli.store)
    assert "# Profile in use here: workbench (default)." in cli.ok("config", "show")
    cli.ok("trust", "--yes")
    assert "# Profile in use here: engram (store)." in cli.ok("config", "show")


def test_other_settings_go_into_the_file(cli: Cli) -> None:
    path = config_dir() / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n[reflection]\nhours = 12 # half a day\n")
    assert (
        cli.ok("config", "set", "reflection.hours", "5")
        == f"reflection.hours is 5 in {path} (it was 12).\n"
    )
    cli.ok("config", "set", "agents.approved_only", "codex, aider")
    cli.ok("config", "set", "retrieval.floor", "false")
    cli.ok("config", "set", "keys.stream.edit", "f4")
    text = path.read_text()
    assert text.startswith("# mine\n[reflection]\nhours = 5 # half a day\n")
    held = tomllib.loads(text)
    assert (held["agents"]["approved_only"], held["retrieval"]["floor"]) == ("codex, aider", False)
    assert held["keys"]["stream"]["edit"] == "f4"
    for key, value in (
        ("reflection.hours", "soon"),
        ("retrieval.floor", "perhaps"),
        ("nothing", "1"),
    ):
        result = cli("config", "set", key, value)
        assert result.code == 2
    assert path.read_text() == text
