"""`workbench curate`: what it sends, what waits in Review afterwards, and when it stops."""

import json

import pytest

from tests.cli.conftest import Cli, files_of
from tests.reflect.server import MessagesServer, Reply

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
ANALYSIS = json.dumps(
    {"key_insight": "Waiting has to end.", "bullet_tags": [{"id": "r-00001", "tag": "harmful"}]}
)
RUN = json.dumps(
    {
        "question": "Load it",
        "trace": "I waited for ever.",
        "answer": "",
        "bullets": ["r-00001", "x-1"],
    }
)


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


def test_without_a_key_it_is_one_sentence_and_nothing_changes(store: Cli) -> None:
    before = files_of(store.store)
    err = store.refused("curate", "--book", "mine")
    assert err.count("\n") == 1
    assert "ANTHROPIC_API_KEY" in err
    assert files_of(store.store) == before


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
    script.append(Reply(CURATION))
    assert store("curate", "--book", "mine").code == 0
    again = store("curate", "--book", "mine")
    assert again.out.startswith("Nothing was confirmed since the last curation (")
    assert store.json("curate", "--book", "mine")["told"] == 0
    assert len(claude.requests) == 1
    store.ok("undo")
    assert waiting(store) == []


def test_a_dry_run_shows_and_keeps_nothing_but_the_tokens(
    store: Cli, claude: MessagesServer, script: list[Reply]
) -> None:
    assert claude.url
    script += [Reply(CURATION)] * 2
    result = store("curate", "--book", "mine", "--dry-run", "--json")
    found = json.loads(result.out)
    assert (result.code, found["into_review"], found["usage"]["month"]) == (0, 0, 160)
    assert [s["title"] for s in found["replies"][0]["suggestions"]] == [
        "change r-00001",
        "delete r-00404",
    ]
    assert waiting(store) == []
    real = store.told("curate", "--book", "mine")
    assert (real["replies"], real["into_review"]) == (found["replies"], 2)


def test_a_run_gives_marks_and_operations(
    store: Cli, claude: MessagesServer, script: list[Reply]
) -> None:
    script += [Reply(ANALYSIS), Reply(CURATION)]
    result = store("curate", "--book", "mine", "--run", store.write("run.json", RUN))
    assert result.code == 0
    assert "skipped: x-1" in result.err
    assert "The reflector: Waiting has to end." in result.out
    assert "1. Waiting has to end." in claude.requests[1].prompt
    kinds = {p["operation"]["type"] for p in waiting(store)}  # type: ignore[index]
    assert kinds == {"TAG", "UPDATE", "DELETE"}
    store.ok("undo")
    assert waiting(store) == [], "one action"


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
