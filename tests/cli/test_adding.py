"""`workbench ingest` and `workbench vote`."""

import io
import json
import sys
from types import SimpleNamespace

import pytest

from tests.cli.conftest import Cli, files_of
from workbench.config import paths


def one(cli: Cli, id: str) -> dict[str, object]:
    loaded: dict[str, object] = cli.json("show", id)
    return loaded


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))


def test_an_observation_gets_an_id_and_an_importance(cli: Cli) -> None:
    out = cli.ok(
        "ingest",
        "Tests failed: AUTH_SECRET missing",
        "--type",
        "error",
        "--session",
        "s1",
        "--tag",
        "ci",
        "--tag",
        "ci",
    )
    assert out == "Stored as mem-20260320-0000001, importance 9.\n"
    memory = one(cli, "mem-20260320-0000001")
    assert (memory["observation_type"], memory["session_id"], memory["tags"]) == (
        "error",
        "s1",
        ["ci"],
    )
    assert (memory["helpful_count"], memory["memory_type"]) == (1, "episodic")


def test_the_importance_table_is_the_configs_unless_another_is_named(cli: Cli) -> None:
    path = paths.config_dir() / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text('importance = "code"', "utf-8")
    assert cli.ok("ingest", "The tests failed in production").endswith("importance 8.\n")
    assert cli.ok("ingest", "A CVE in the parser", "--rated-by", "general").endswith(
        "importance 5.\n"
    )
    assert cli.ok("append", "Another CVE in the lexer", "--rated-by", "code").endswith(
        "importance 8.\n"
    )
    assert cli.ok("append", "One more CVE, in the linker").endswith("importance 5.\n")
    cli.ok(
        "import",
        cli.write("notes.jsonl", '{"id": "n-1", "context": "Tests failed in production"}\n'),
        "--format",
        "jsonl",
    )
    assert one(cli, "n-1")["importance_score"] == 8
    assert cli("ingest", "x", "--rated-by", "mine").code == 2


def test_a_likely_duplicate_waits_as_a_merge_and_an_opposite_does_not(cli: Cli) -> None:
    first, last = "mem-20260320-0000001", "mem-20260320-0000003"
    cli.ok("ingest", "Use pnpm for installs in this repository")
    assert cli.ok("ingest", "Use pnpm for installing things in this repository") == (
        f"Stored as mem-20260320-0000002. It resembles {first}; a merge waits in Review.\n"
    )
    told = cli.ok("ingest", "Do not use pnpm for installs in this repository")
    assert told.startswith(f"Stored as {last}. It only looks like {first}: negation differs")
    assert cli.ok("status").startswith("1 pending")
    cli.ok("review", "reject", cli.json("review", "list")[0]["id"])
    known = {"id": "known", "version": 1, "timestamp": "2026-03-01T10:00:00Z", "type": "convention", "confidence": 3,
             "status": "confirmed", "context": "Always run the linter before a commit", "source": {}}  # fmt: skip
    cli.ok("import", cli.write("known.jsonl", json.dumps(known) + "\n"))
    said = cli.json("ingest", "Never run the linter before a commit")
    assert (said["outcome"], said["other"], bool(said["against"])) == ("contradicts", "known", True)
    (waiting,) = cli.json("review", "list")
    assert (waiting["kind"], waiting["evidence"]) == ("reconfirm", ["known", said["id"]])


def test_text_comes_from_stdin(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, "\ufeffzwei\nZeilen ü\x00\n".encode())
    cli.ok("ingest", "-", "--memory-type", "semantic")
    memory = one(cli, "mem-20260320-0000001")
    assert (memory["content"], memory["memory_type"]) == ("zwei\nZeilen ü\ufffd", "semantic")


def test_stdin_that_is_no_text_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b"abc\xff")
    err = cli.refused("ingest", "-")
    assert (
        err == "workbench: stdin is not UTF-8 text: byte 0xff at offset 3. Nothing was written.\n"
    )
    assert not cli.store.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" \n", "workbench: There is no text to remember. Nothing was written.\n"),
        (
            "x" * 10_001,
            "workbench: The text is 10,001 characters long, at most 10,000 fit. Nothing was written.\n",
        ),
    ],
)
def test_text_that_is_no_memory_is_refused(cli: Cli, text: str, message: str) -> None:
    result = cli("ingest", text)
    assert (result.code, result.out, result.err) == (2, "", message)
    assert not (cli.store / "journal.jsonl").exists()


@pytest.mark.slow
def test_a_person_has_one_vote(demo: Cli) -> None:
    before = one(demo, "mem-20260206-0000002")["helpful_count"]
    assert isinstance(before, int)
    vote = ("vote", "mem-20260206-0000002")
    assert (
        demo.ok(*vote, "helpful", "--reason", "it held")
        == "Voted helpful on mem-20260206-0000002.\n"
    )
    assert (
        demo.ok(*vote, "helpful", "--reason", "it held")
        == "You already voted helpful on mem-20260206-0000002.\n"
    )
    assert one(demo, "mem-20260206-0000002")["helpful_count"] == before + 1
    assert (
        demo.ok(*vote, "harmful") == "Voted harmful on mem-20260206-0000002 instead of helpful.\n"
    )
    memory = one(demo, "mem-20260206-0000002")
    assert (memory["helpful_count"], memory["harmful_count"]) == (before, 1)


def test_agents_and_sessions_vote_for_themselves(demo: Cli) -> None:
    for who in (
        (),
        ("--actor", "claude"),
        ("--actor", "claude", "--session", "s2"),
        ("--actor", "agent:claude"),
    ):
        demo.ok("vote", "shr-00003", "harmful", *who)
    assert one(demo, "shr-00003")["harmful_votes"] == 3
    actors = [step["actor"] for step in demo.json("history", "shr-00003")]
    assert actors[:3] == ["agent:claude", "agent:claude", "cli"]


def test_an_agents_vote_is_not_what_a_person_undoes(demo: Cli) -> None:
    demo.ok("vote", "shr-00003", "harmful", "--actor", "claude")
    result = demo("undo")
    assert (result.code, result.err) == (2, "workbench: There is nothing to undo.\n")


def test_bullets_are_found_by_their_own_name_and_by_their_books(demo: Cli) -> None:
    assert demo.ok("vote", "shr-00001", "helpful") == "Voted helpful on playbook/shr-00001.\n"
    demo.ok("import", demo.write("other.txt", "## A\n[shr-00001] helpful=0 harmful=0 :: One.\n"))
    result = demo("vote", "shr-00001", "helpful")
    assert result.code == 2
    assert result.err == (
        "workbench: shr-00001 is a bullet of several playbooks: playbook/shr-00001, other/shr-00001. "
        "Name one of them.\n"
    )
    demo.ok("vote", "other/shr-00001", "harmful")
    assert one(demo, "other/shr-00001")["harmful_votes"] == 1


def test_a_vote_on_nothing_changes_nothing(demo: Cli) -> None:
    before = files_of(demo.store)
    err = demo.refused("vote", "mem-none", "helpful")
    assert (
        err
        == "workbench: There is no memory or bullet mem-none in this store. Nothing was changed.\n"
    )
    assert files_of(demo.store) == before
