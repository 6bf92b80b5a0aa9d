"""Edit, pin, forget and archive, bullets and `replace`: each one action with an actor, which undo
takes back, and copies that follow on a word.
"""

import io
import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import NOW, Cli
from tests.cli.shared import memory, put, stored
from workbench.core.agents.read import AgentRead
from workbench.services.open import Workbench, open_workbench
from workbench.services.promotion.promotion import Target

SECRET = "ghp_" + "Kq7vR2xT9mZ4pL8sW3nB6yC1dF5gH0jAeXuQ"


@pytest.fixture
def care(cli: Cli) -> Cli:
    """A store with a memory of each status that is edited, and a playbook."""
    stored(
        cli,
        memory("m1", "Builds are green", tags=("ci",)),
        memory("m2", "Deploys run on Friday", status="confirmed"),
        memory("m3", "Caches are cold at night", status="candidate"),
    )
    with opened(cli.store) as bench:
        bench.playbooks.add_to_new_section("main", "Hard rules", "Never deploy on Friday")
        bench.playbooks.add_to_new_section("main", "Pitfalls", "Caches are cold")
    return cli


@contextmanager
def opened(folder: Path) -> Iterator[Workbench]:
    bench = open_workbench(folder, profiles=folder / "none", clock=lambda: NOW)
    yield bench
    bench.close()


def shown(cli: Cli, id: str) -> dict[str, Any]:
    doc: dict[str, Any] = cli.json("show", id)
    return doc


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        ("--content 'Builds are red'", "content", "Builds are red"),
        ("--summary 'a  line\nof it'", "summary", "a line of it"),
        ("--type gotcha", "observation_type", "gotcha"),
        ("--memory-type semantic", "memory_type", "semantic"),
        ("--importance 7.5", "importance_score", 7.5),
        ("--confidence 4", "confidence", 4),
        ("--tags 'a, b,a'", "tags", ["a", "b"]),
        ("--tags ''", "tags", []),
        ("--add-tag new --remove-tag ci", "tags", ["new"]),
        ("--category command", "category", "command"),
        ("--section Build", "section", "Build"),
        ("--related m2,m3", "related", ["m2", "m3"]),
        ("--session s-1", "session_id", "s-1"),
        ("--status confirmed", "status", "confirmed"),
        ("--status candidate", "status", "candidate"),
    ],
)
def test_every_field_is_edited_and_undone(
    options: str, field: str, value: object, care: Cli
) -> None:
    before = shown(care, "m1")
    changed = care.json("edit", "m1", *shlex.split(options))
    assert changed == {"id": "m1", "changed": True, "ids": ["m1"]}
    assert shown(care, "m1")[field] == value
    care.ok("undo")
    assert shown(care, "m1") == before


def test_several_memories_get_the_same_values_all_or_none(care: Cli) -> None:
    care.ok("edit", "m1", "--also", "m2", "--add-tag", "ops", "--category", "ci")
    assert [shown(care, id)["tags"] for id in ("m1", "m2")] == [["ci", "ops"], ["ops"]]
    result = care("edit", "m1", "--also", "m2", "--status", "confirmed")
    assert result.code == 0
    assert "Memory m2 is confirmed" not in result.err  # m2 is so already
    assert "cannot be put up for review" in care.refused(
        "edit", "m1", "--also", "m2", "--status", "candidate", "--category", "else"
    )
    assert shown(care, "m2")["category"] == "ci"


def test_without_options_the_editor_opens(care: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "sed -i s/green/blue/")
    care.ok("edit", "m1")
    assert shown(care, "m1")["content"] == "Builds are blue"
    assert "No difference" in care.ok("edit", "m1")
    care.refused("edit", "m1", "--also", "m2")
    monkeypatch.setenv("EDITOR", "false")
    assert "false ended with an error (1)" in care.refused("edit", "m1")
    monkeypatch.delenv("EDITOR")
    assert "No terminal for an editor" in care("edit", "m1").err
    monkeypatch.setenv("EDITOR", "sed -i s/blue/red/")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "Agents cannot use the editor" in care("edit", "m1").err


def test_pins_go_on_and_off_for_both_kinds(care: Cli) -> None:
    bullet = care.json("bullet", "list")[0]["id"]
    for off in ((), ("--off",)):
        care.ok("pin", "m1", bullet, *off)
        assert {shown(care, id)["pinned"] for id in ("m1", bullet)} == {not off}
    care.ok("undo")
    assert care.ok("pin", "m1") == "Pinned already: m1.\n"


def test_what_is_forgotten_comes_back(care: Cli) -> None:
    care.ok("forget", "m1", "m2", "--reason", "the old cluster")
    assert {shown(care, id)["archived_reason"] for id in ("m1", "m2")} == {"forgotten"}
    assert "forget 2 records: the old cluster" in care.ok("history", "-n", "1")
    care.ok("unforget", "m2", "m1")
    assert [shown(care, id)["status"] for id in ("m1", "m2")] == ["signal", "confirmed"]


def test_bullets_are_added_edited_moved_and_listed(care: Cli) -> None:
    care.ok("bullet", "add", "hard rules", "Second rule")
    ids = care.ids("bullet", "list")
    care.ok("bullet", "edit", ids[1], "Second rule, in other words")
    care.ok("bullet", "move", ids[1], "Pitfalls", "--also", ids[0], "--position", "1")
    rows = care.json("bullet", "list")
    assert [row["content"] for row in rows] == [
        "Second rule, in other words",
        "Never deploy on Friday",
        "Caches are cold",
    ]
    assert care.ids("bullet", "list", "-cold") == [
        ids[1],
        ids[0],
    ]
    for _ in range(3):
        care.ok("undo")
    assert [row["content"] for row in care.json("bullet", "list")] == [
        "Never deploy on Friday",
        "Caches are cold",
    ]


def test_the_nearest_section_is_named_and_a_new_one_made_on_a_word(care: Cli) -> None:
    assert "Did you mean “Pitfalls”?" in care.refused("bullet", "add", "Pitfall", "x")
    care.ok("bullet", "add", "Fresh", "A third", "--make-section")
    assert "Fresh" in care.ok("bullet", "list", "section:fresh")
    care.ok("undo")
    assert "No bullet matches" in care("bullet", "list", "section:fresh").err


def test_old_memories_are_archived_into_a_file_that_import_reads(care: Cli, tmp_path: Path) -> None:
    care.ok("pin", "m1")
    options = ("archive", "--before", "2026-04-01", "--to", "memory-archive.jsonl", "--status")
    dry = care.told(*options, "confirmed", "--dry-run")
    assert dry["ids"] == ["m2"]
    assert dry["dry_run"] is True
    assert shown(care, "m2")["status"] == "confirmed"
    assert "1 memory of that age stays because of a pin." in care(*options, "signal").err
    for status in ("confirmed", "candidate"):
        care.ok(*options, status)
    assert [shown(care, id)["archived_reason"] for id in ("m2", "m3")] == ["done", "pruned"]
    other = ("--store", str(tmp_path / "other"))
    care.bare("import", "memory-archive.jsonl", *other)
    rows = json.loads(care.bare("list", "status:archived", "--json", *other).out)
    assert {row["id"] for row in rows} == {"m2", "m3"}
    care.ok("undo")
    assert shown(care, "m3")["status"] == "candidate"


def test_a_file_of_somebody_else_is_not_replaced_and_nothing_is_archived(care: Cli) -> None:
    care.write("hand.jsonl", "my own notes\n")
    err = care.refused(
        "archive", "--before", "2026-04-01", "--status", "confirmed", "--to", "hand.jsonl"
    )
    assert "was never read or written here" in err, err
    assert (care.cwd / "hand.jsonl").read_text() == "my own notes\n"
    assert shown(care, "m2")["status"] == "confirmed"


def test_an_agent_asks_a_person(care: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    before = shown(care, "m1")
    with monkeypatch.context() as agent:
        agent.setenv("CLAUDECODE", "1")
        assert "waits in Review" in care("edit", "m1", "Builds are red").out
        assert care.told("forget", "m2", "--reason", "it is over")["proposed"] == ["m2"]
    assert shown(care, "m1") == before
    proposed = {row["kind"]: row["id"] for row in care.json("review", "list")}
    assert {"supersede", "forget"} < set(proposed)
    care.ok("review", "approve", proposed["supersede"])
    assert shown(care, "m1")["archived_reason"] == "superseded"


def test_the_first_bullet_of_a_store_begins_a_playbook(cli: Cli) -> None:
    cli.ok("init")
    assert (
        cli.json("bullet", "add", "strategies", "Ask first", "--book", "rules")["book"] == "rules"
    )
    assert "There is no section “pitfalls”" in cli("bullet", "add", "pitfalls", "Ask twice").err
    cli.ok("undo")
    assert cli.json("bullet", "add", "strategies", "Ask first")["book"] == "main"
    assert len(cli.json("bullet", "list")) == 1


NPM, PNPM = "Use npm in this repository.", "Use pnpm in this repository."


@pytest.fixture
def project(cli: Cli) -> Cli:
    """A project whose AGENTS.md holds a memory that an agent was given this week."""
    cli.store = cli.cwd / ".workbench"
    stored(
        cli,
        memory("m1", NPM, status="confirmed"),
        memory("i1", "Builds need care.", is_synthetic=True, citations=("m1",)),
        AgentRead(
            "r1", "claude", NOW, "how to install", "s1", memories=("i1", "m1"), scores=(2.0, 1.0)
        ),
    )
    with opened(cli.store) as bench:
        bench.promotion.carry_out(bench.promotion.plan(["m1"], Target("block", "AGENTS.md")))
    return cli


def test_copies_go_along_on_a_word_and_come_back_with_one_undo(project: Cli) -> None:
    said = project("edit", "m1", PNPM, "--copies").out
    assert "Updated with it: AGENTS.md." in said
    assert "Given to claude in 1 session this week; #2 for its last query “how to install”." in said
    assert PNPM in (project.cwd / "AGENTS.md").read_text()
    assert "1 copy" in project("undo").out
    assert NPM in (project.cwd / "AGENTS.md").read_text()


def test_json_tells_what_became_of_each(project: Cli) -> None:
    found = project.told("edit", "m1", PNPM)
    assert [(copy["name"], copy["updated"], copy["obstacle"]) for copy in found["copies"]] == [
        ("i1", False, "cites"),
        ("AGENTS.md", False, ""),
    ]
    assert found["given"] == [
        {"agent": "claude", "sessions": 1, "query": "how to install", "place": 2}
    ]


@pytest.fixture
def named(cli: Cli) -> Cli:
    """A store with an old name in two memories, a bullet, and a memory that only begins like it."""
    put(
        cli,
        m2="The log of authd is long.",
        m3="authdaemon is another program.",
        m4=f"authd reads {SECRET}",
    )
    stored(cli, memory("m1", "Restart authd, then wait.", observation_type="command"))
    cli.ok("bullet", "add", "strategies", "Never stop authd")
    return cli


def test_a_dry_run_shows_the_words_in_place_and_no_secret(named: Cli) -> None:
    before = named.files()
    said = named.ok("replace", "authd", "gated", "--word", "--dry-run")
    assert "Restart [-authd-]{+gated+}, then wait." in said
    assert "Nothing was changed." in said
    assert SECRET not in said
    assert named.files() == before


def test_all_or_some_change_as_one_action(named: Cli) -> None:
    words = ("replace", "authd", "gated", "--word")
    named.ok(*words, "--only", "m1,m2")
    assert shown(named, "m1")["content"] == "Restart gated, then wait."
    assert named.ok("undo").count("2 records") == 1
    assert shown(named, "m1")["content"] == "Restart authd, then wait."
    found = named.json(*words, "--filter", "type:command", "--yes")["places"]
    assert [place["id"] for place in found] == ["m1"]
    assert len(named.json(*words, "--yes")["places"]) == 3
    assert shown(named, "m3")["content"] == "authdaemon is another program."


def test_where_else_it_stands_is_said_and_taken_along_on_a_word(named: Cli) -> None:
    named.ok("edit", "m2", "--tags", "authd,logs")
    answer = named("replace", "authd", "gated", "--only", "m1")
    assert "1 tag too, which stays as it is" in answer.err
    named.ok("replace", "authd", "gated", "--word", "--names", "--yes")
    assert shown(named, "m2")["tags"] == ["gated", "logs"]


def test_each_place_is_asked_about_on_a_terminal(
    named: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("x\n?\na\nq\n"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    words = ("replace", "authd", "gated", "--word")
    first, second, *_ = [place["id"] for place in named.told(*words, "--dry-run")["places"]]
    assert f"Replaced “authd” in {second}." in named(*words).out
    assert "gated" in named("show", second).out
    assert "gated" not in named("show", first).out


def test_files_of_replaced_records_go_along_on_a_word(project: Cli) -> None:
    words = ("replace", "npm", "pnpm", "--only", "m1")
    assert "still stand in AGENTS.md" in project(*words).err
    project("undo")
    assert "Updated with it: AGENTS.md." in project(*words, "--copies").out
    assert PNPM in (project.cwd / "AGENTS.md").read_text()
