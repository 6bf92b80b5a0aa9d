"""`replace`: the places are shown, those that are taken change as one action, and nobody is
overruled unasked.
"""

import io
import sys

import pytest

from tests.cli.conftest import NOW, Cli
from workbench.core.stream.memory import Memory
from workbench.services.open import open_workbench
from workbench.services.promotion.promotion import Target

SECRET = "ghp_" + "Kq7vR2xT9mZ4pL8sW3nB6yC1dF5gH0jAeXuQ"


@pytest.fixture
def named(cli: Cli) -> Cli:
    """A store with an old name in two memories, a bullet, and a memory that only begins like it."""
    bench = open_workbench(cli.store, profiles=cli.cwd / "none", clock=lambda: NOW)
    with bench.library.transaction("human", "set up") as tx:
        tx.put(Memory("m1", "Restart authd, then wait.", NOW, NOW, observation_type="command"))
        tx.put(Memory("m2", "The log of authd is long.", NOW, NOW))
        tx.put(Memory("m3", "authdaemon is another program.", NOW, NOW))
        tx.put(Memory("m4", f"authd reads {SECRET}", NOW, NOW))
    bench.playbooks.add_to_new_section("main", "Hard rules", "Never stop authd")
    bench.close()
    return cli


def told(cli: Cli, *args: str) -> list[str]:
    return [place["id"] for place in cli.json("replace", "authd", "gated", *args)["places"]]


def content(cli: Cli, id: str) -> str:
    return str(cli.json("show", id)["content"])


def test_a_dry_run_shows_the_words_in_place_and_no_secret(named: Cli) -> None:
    before = named.files()
    said = named.ok("replace", "authd", "gated", "--word", "--dry-run")
    assert "Restart [-authd-]{+gated+}, then wait." in said
    assert "Nothing was changed." in said
    assert SECRET not in said
    assert named.files() == before


def test_all_or_some_change_as_one_action(named: Cli) -> None:
    assert sorted(told(named, "--word", "--only", "m1,m2")) == ["m1", "m2"]
    assert content(named, "m1") == "Restart gated, then wait."
    assert content(named, "m3") == "authdaemon is another program."
    assert named.ok("undo").count("2 records") == 1
    assert content(named, "m1") == "Restart authd, then wait."
    assert len(told(named, "--word", "--yes")) == 4
    assert told(named, "--word", "--yes") == []


def test_where_else_it_stands_is_said_and_taken_along_on_a_word(named: Cli) -> None:
    named.ok("edit", "m2", "--tags", "authd,logs")
    answer = named("replace", "authd", "gated", "--only", "m1")
    assert "It stands in 1 tag too, which stays as it is. --names takes tags" in answer.err
    named.ok("undo")
    values = named.json("replace", "authd", "gated", "--dry-run")
    assert values["elsewhere"] == {"tag": 1}
    assert "m2" in told(named, "--word", "--names", "--yes")
    assert named.json("show", "m2")["tags"] == ["gated", "logs"]


def test_only_in_what_a_filter_finds(named: Cli) -> None:
    assert told(named, "--filter", "type:command", "--yes") == ["m1"]


def test_each_place_is_asked_about_on_a_terminal(
    named: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("x\n?\na\nq\n"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    names = [
        place["id"]
        for place in named.json("replace", "authd", "x", "--word", "--dry-run")["places"]
    ]
    said = named.ok("replace", "authd", "gated", "--word")
    assert f"Replaced “authd” in {names[1]}." in said
    assert "gated" in content(named, names[1])
    assert "gated" not in content(named, names[0])


def test_files_of_replaced_records_go_along_on_a_word(cli: Cli) -> None:
    store = cli.cwd / ".workbench"
    bench = open_workbench(store, profiles=cli.cwd / "none", clock=lambda: NOW)
    with bench.library.transaction("human", "set up") as tx:
        tx.put(Memory("m1", "Restart authd.", NOW, NOW, status="confirmed"))
    bench.promotion.carry_out(bench.promotion.plan(["m1"], Target("block", "AGENTS.md")))
    bench.close()
    words = ("--store", str(store), "replace", "authd", "gated", "--yes")
    assert "still stand in AGENTS.md" in cli.bare(*words).err
    cli.bare("--store", str(store), "undo")
    assert "Updated with it: AGENTS.md." in cli.bare(*words, "--copies").out
    assert "gated" in (cli.cwd / "AGENTS.md").read_text()
