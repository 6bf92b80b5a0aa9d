"""`workbench reflect`: when it does something, what it prints, what it keeps."""

import json
import signal
import threading

import pytest

from tests.cli.conftest import Cli, files_of
from tests.demo import MEMORIES, SERVED
from tests.reflect.server import MessagesServer, Reply, Seen, reply_of


@pytest.mark.slow
def test_nothing_is_done_before_it_is_due(demo: Cli) -> None:
    first = demo("reflect")
    assert first.code == 0
    assert "candidates wait in Review." in first.out
    before = files_of(demo.store)
    again = demo("reflect")
    assert (again.code, again.err) == (0, "")
    assert again.out.startswith(
        "No reflection is due: 0 of 150 importance, 0 of 100 observations, 0.0 of 24 hours."
    )
    assert files_of(demo.store) == before
    as_json = demo.json("reflect")
    assert as_json["due"] is False
    assert as_json["gauge"]["hours"] == {"value": 0.0, "limit": 24.0}


@pytest.mark.slow
def test_candidates_are_printed_with_what_they_rest_on(demo: Cli) -> None:
    result = demo("reflect")
    lines = result.out.splitlines()
    made = [line.split()[0] for line in lines if line.startswith("mem-20260320-")]
    assert lines[0].startswith(f"{made[0]}  ")
    assert min(made) > f"mem-20260320-{MEMORIES:07}"
    assert lines[1].strip().startswith("extractive · ")
    assert lines[2].strip().startswith("mem-2026")
    assert result.err.startswith(f"Reading {SERVED} memories since ")
    assert "nothing leaves this machine" in result.err
    assert demo.ok("status").startswith(f"{14 + len(made)} pending")


@pytest.mark.slow
def test_a_dry_run_stores_nothing_and_equals_the_real_one(demo: Cli) -> None:
    before = files_of(demo.store)
    dry = demo.told("reflect", "--dry-run")
    assert files_of(demo.store) == before
    real = demo.told("reflect")
    assert [c["content"] for c in dry["candidates"]] == [c["content"] for c in real["candidates"]]
    assert [c["citations"] for c in dry["candidates"]] == [
        c["citations"] for c in real["candidates"]
    ]
    assert (dry["dry_run"], real["dry_run"]) == (True, False)
    assert (real["reflector"], real["read"], real["complete"]) == ("extractive", SERVED, True)


@pytest.mark.slow
def test_force_and_focus(demo: Cli) -> None:
    demo("reflect")
    result = demo("reflect", "--force", "--focus", "the opera of seasons")
    assert (result.code, result.out) == (
        0, "Nothing about “the opera of seasons” recurs often enough to be proposed.\n",
    )  # fmt: skip
    found = demo.told("reflect", "--force", "--focus", "secrets in workflows", "--dry-run")
    assert found["focus"] == "secrets in workflows"
    assert any("secret" in c["content"].lower() for c in found["candidates"])


def test_an_empty_store_is_told_what_to_do(cli: Cli) -> None:
    cli.ok("init")
    before = cli.files()
    result = cli("reflect", "--force")
    assert result.code == 2
    assert result.err.endswith(
        "There are no memories to reflect on yet. Import or ingest some first.\n"
    )
    assert cli.files() == before
    assert cli("reflect").out.startswith("No reflection is due")


def test_what_was_imported_is_unseen_and_not_counted_and_that_is_said(cli: Cli) -> None:
    cli.write("a.jsonl", json.dumps({"id": "m1", "content": "Use pnpm."}))
    cli.ok("import", "a.jsonl")
    assert cli.ok("status") == "0 pending · 1 unseen\n"
    assert "What an import brings counts only with --as-new." in cli.ok("reflect")
    cli.write("b.jsonl", json.dumps({"id": "m2", "content": "Deploys need a key."}))
    cli.ok("import", "b.jsonl", "--as-new")
    assert "--as-new" not in cli.ok("reflect")


def test_claude_needs_a_key(demo: Cli) -> None:
    before = files_of(demo.store)
    err = demo.refused("reflect", "--reflector", "claude")
    assert err.startswith("workbench: There is no key for Claude. Set the environment variable")
    assert files_of(demo.store) == before


def test_claude_is_asked_when_there_is_a_key(
    demo: Cli, claude: MessagesServer, script: list[Reply]
) -> None:
    script += [reply_of("questions.txt"), reply_of("insights.txt"), reply_of("prose.txt")]
    script.append(Reply("1. Reviews are better when they are short (because of 412)"))
    result = demo("reflect")
    assert result.code == 0
    assert "Sending 100 memories since" in result.err
    assert "0 of 1,000,000 are used this month" in result.err
    assert "1 part of a reply could not be read and is kept: --unread shows them." in result.err
    assert "Used 480 tokens in and 160 out; 640 of 1,000,000 this month." in result.out
    assert "cites what was not sent: 412" in result.out
    assert "no evidence" in result.out
    assert "The work shows a team that learns quickly." in demo.ok("reflect", "--unread")
    assert [one["stage"] for one in demo.json("reflect", "--unread")] == ["insights"]


def test_a_preview_is_exactly_what_is_sent(
    demo: Cli, claude: MessagesServer, script: list[Reply]
) -> None:
    shown = demo("reflect", "--preview", "--focus", "secrets").out
    assert claude.requests == []
    script.append(reply_of("invalid_request.json", status=400))
    demo("reflect", "--focus", "secrets")
    assert shown.rstrip("\n") == claude.requests[0].prompt.rstrip("\n")


def test_a_problem_is_one_sentence(demo: Cli, claude: MessagesServer, script: list[Reply]) -> None:
    script.append(reply_of("invalid_key.json", status=401))
    before = files_of(demo.store)
    result = demo("reflect")
    assert result.code == 2
    assert result.err.splitlines()[-1].startswith("workbench: ")
    assert "sk-test" not in result.err
    assert files_of(demo.store) == before


@pytest.mark.slow
def test_what_was_found_before_a_problem_is_kept(
    demo: Cli, claude: MessagesServer, script: list[Reply]
) -> None:
    script += [reply_of("questions.txt"), reply_of("insights.txt")]  # then the server has no more
    result = demo("reflect")
    assert result.code == 2
    assert "in Review." in result.out
    assert len(demo.json("list", "status:candidate")) > 14


def test_ctrl_c_keeps_what_was_found(
    demo: Cli, claude: MessagesServer, script: list[Reply]
) -> None:
    hold, third = threading.Event(), threading.Event()
    replies = [reply_of("questions.txt"), reply_of("insights.txt"), Reply("1. Never", hold=hold)]

    def answer(seen: Seen) -> Reply:
        """Give the next reply, and say when it is the third."""
        if len(replies) == 1:
            third.set()
        return replies.pop(0)

    claude._script = answer

    def interrupt() -> None:
        """Press ctrl+c while the third reply comes in."""
        assert third.wait(120)
        signal.raise_signal(signal.SIGINT)
        hold.set()

    presser = threading.Thread(target=interrupt)
    presser.start()
    result = demo("reflect")
    presser.join()
    assert result.code == 130
    assert "wait in Review." in result.out
    assert len(claude.requests) == 3
    assert "Traceback" not in result.err


def test_a_reflector_that_is_not_there(demo: Cli) -> None:
    result = demo("reflect", "--reflector", "oracle")
    assert result.code == 2
    assert "invalid choice" in result.err
