"""`workbench reflect` and `curate`: when they do something, what they send, what waits in Review
afterwards, and when they stop.
"""

import json
import signal
import threading

import pytest

from tests.cli.conftest import Cli, files_of
from tests.demo import SERVED
from tests.reflect.server import MessagesServer, Reply, Seen, reply_of


@pytest.mark.slow
def test_nothing_is_done_before_it_is_due(demo: Cli) -> None:
    first = demo("reflect")
    assert first.code == 0
    assert "candidates wait in Review." in first.out
    made = [row for row in demo.json("review", "list") if row["id"].startswith("mem-20260320-")]
    assert all(row["id"] in first.out for row in made)
    assert first.err.startswith(f"Reading {SERVED} memories since ")
    assert "nothing leaves this machine" in first.err
    before = files_of(demo.store)
    out = demo.ok("reflect")
    assert out.startswith(
        "No reflection is due: 0 of 150 importance, 0 of 100 observations, 0.0 of 24 hours."
    )
    assert files_of(demo.store) == before


@pytest.mark.slow
def test_force_and_focus(demo: Cli) -> None:
    demo("reflect")
    result = demo("reflect", "--force", "--focus", "the opera of seasons")
    assert result.code == 0
    assert (
        result.out == "Nothing about “the opera of seasons” recurs often enough to be proposed.\n"
    )
    found = demo.told("reflect", "--force", "--focus", "secrets in workflows", "--dry-run")
    assert found["focus"] == "secrets in workflows"
    assert any("secret" in c["content"].lower() for c in found["candidates"])


def test_what_was_imported_is_unseen_and_not_counted_and_that_is_said(cli: Cli) -> None:
    cli.write("a.jsonl", json.dumps({"id": "m1", "content": "Use pnpm."}))
    cli.ok("import", "a.jsonl")
    assert cli.ok("status") == "0 pending · 1 unseen\n"
    assert "Imported memories count only with --as-new." in cli.ok("reflect")
    cli.write("b.jsonl", json.dumps({"id": "m2", "content": "Deploys need a key."}))
    cli.ok("import", "b.jsonl", "--as-new")
    assert "--as-new" not in cli.ok("reflect")


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
    err = demo.refused("reflect")
    assert err.splitlines()[-1].startswith("workbench: ")
    assert "sk-test" not in err
    assert files_of(demo.store) == before


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


BOOK = """## RULES
[r-00001] helpful=2 harmful=0 :: Wait for the page to load.
## OTHERS
"""


CURATION = json.dumps({
    "reasoning": "Waiting needs a bound.",
    "operations": [
        {"type": "UPDATE", "bullet_id": "r-00001", "content": "Wait ten seconds for the page to load.", "reason": "x"},
        {"type": "DELETE", "bullet_id": "r-00404"},
    ],
})  # fmt: skip


@pytest.fixture
def store(demo: Cli) -> Cli:
    """The demo store with one more playbook."""
    demo.write("mine.txt", BOOK)
    demo.ok("import", "mine.txt")
    return demo


def waiting(cli: Cli) -> list[dict[str, object]]:
    listed = cli.json("review", "list", "--kind", "curator")
    assert isinstance(listed, list)
    return listed


def test_the_preview_needs_no_key_and_sends_nothing(store: Cli) -> None:
    result = store("curate", "--book", "mine", "--preview")
    assert result.code == 0
    assert "[r-00001] helpful=2 harmful=0 :: Wait for the page to load." in result.out
    assert "Goes to " in result.err
    assert "tokens in and out; 0 of 1,000,000 are used this month." in result.err


@pytest.mark.slow
def test_operations_wait_in_review_and_are_decided_there(
    store: Cli, claude: MessagesServer, script: list[Reply]
) -> None:
    script.append(Reply(CURATION))
    preview = store("curate", "--book", "mine", "--preview").out.rstrip("\n")
    result = store("curate", "--book", "mine")
    assert result.code == 0
    assert claude.requests[0].prompt == preview
    assert "Wait{+ ten seconds+} for the page to load." in result.out
    assert "not possible: There is no bullet r-00404" in result.out
    assert "2 suggestions; 2 new in Review." in result.out
    assert "Used 120 tokens in and 40 out; 160 of 1,000,000 this month." in result.out
    update = next(p for p in waiting(store) if p["operation"]["type"] == "UPDATE")  # type: ignore[index]
    shown = store.ok("review", "show", "--quick", str(update["id"]))
    assert "r-00001 would change\n  Wait{+ ten seconds+} for the page to load." in shown
    store.ok("review", "approve", str(update["id"]))
    assert "Wait ten seconds" in store.ok("export", "--book", "mine", "--format", "ace")


def test_a_second_time_there_is_nothing_to_tell_and_undo_takes_the_first_out(
    store: Cli, claude: MessagesServer, script: list[Reply]
) -> None:
    script += [Reply(CURATION)] * 2
    result = store("curate", "--book", "mine", "--dry-run", "--json")
    found = json.loads(result.out)
    assert result.code == 0
    assert found["into_review"] == 0
    assert found["usage"]["month"] == 160
    assert waiting(store) == []
    real = store.told("curate", "--book", "mine")
    assert real["replies"] == found["replies"]
    assert real["into_review"] == 2
    assert store("curate", "--book", "mine").out.startswith("Nothing was confirmed since")
    assert len(claude.requests) == 2
    store.ok("undo")
    assert waiting(store) == []


def test_a_reply_that_cannot_be_read_is_kept(
    store: Cli, claude: MessagesServer, script: list[Reply]
) -> None:
    assert claude.url
    script.append(Reply("I would rather not use JSON."))
    result = store("curate", "--book", "mine")
    assert result.code == 2
    assert "--unread shows it" in result.err
    assert "I would rather not use JSON." in store.ok("curate", "--book", "mine", "--unread")
    assert store("reflect", "--unread").out == ""


def test_what_cannot_be_meant_is_said(store: Cli, claude: MessagesServer) -> None:
    assert "with --book: mine, playbook" in store("curate").err
    assert "Unknown playbook nope" in store("curate", "--book", "nope").err
    assert "missing.json" in store("curate", "--book", "mine", "--run", "missing.json").err
    assert claude.requests == []
