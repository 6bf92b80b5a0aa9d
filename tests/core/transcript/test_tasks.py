"""Where a task of a session begins, and how it ended."""

import pytest

from tests.core.transcript.sessions import asked, edited, fell, ran
from workbench.core.agents.transcript.events import Event, Prompt, Said, Task
from workbench.core.agents.transcript.following import Following

GREEN = ran("pytest -q", "5 passed in 0.2s")
FIRST = [*asked("Add a retry with backoff to src/http/client.py"), *edited("src/http/client.py")]


def tasks(*steps: list[Event]) -> list[Task]:
    following = Following("s1")
    for step in steps:
        following.take(step)
    return [one for one in (*following.done, following.running) if one is not None and one.is_worth]


@pytest.mark.parametrize(
    "prompt",
    ["continue", "now make the timeout configurable too", "commit and push", "No, use jitter instead", "and log it",
     "Why does it wait twice?", "can you also bump the version?", "client.py needs a docstring", "lower the backoff",
     "sorry, go ahead", "weiter",
     "[Request interrupted by user]", "<task-notification><task-id>b1</task-id></task-notification>"],
)  # fmt: skip
def test_what_goes_on_with_a_task_begins_none(prompt: str) -> None:
    assert len(tasks(FIRST, asked(prompt), edited("src/http/client.py"), GREEN)) == 1


@pytest.mark.parametrize(
    "prompt",
    ["Write a migration that indexes orders by date", "Great, thanks! Next: translate the invoices into Danish",
     "Great, now add a CSV export to the reports page", "perfect now add dark mode for the sidebar",
     "Could you set up a workflow for the linter?", "Please document the settings in docs/settings.md",
     "The CSV import still fails for umlauts"],
)  # fmt: skip
def test_another_topic_begins_a_task(prompt: str) -> None:
    assert len(tasks(FIRST, GREEN, asked(prompt), edited("other.sql"))) == 2


def test_a_greeting_and_a_question_begin_none() -> None:
    looks = [*ran("ls", "src"), *ran("git log", "x"), *ran("make -n", "y")]
    assert tasks(asked("hi"), asked("What is in this repo?"), looks) == []


def test_the_task_of_a_subagent_is_none() -> None:
    assert (
        len(tasks(FIRST, [Prompt("p", agent="a1", text="Find every caller of the mailer")], GREEN))
        == 1
    )


def test_what_an_agent_told_itself_is_not_told_again() -> None:
    assert tasks(FIRST, GREEN, ran("", "ok", tool="mcp__memory__learn_from_episode")) == []


@pytest.mark.parametrize(
    ("steps", "outcome", "evidence"),
    [
        ([GREEN], "SUCCESS", "5 passed"),
        ([GREEN, edited("src/http/client.py")], "PARTIAL", ""),
        ([GREEN, edited("CHANGELOG.md")], "SUCCESS", "5 passed"),
        (
            [GREEN, fell("cat nothing", "cat: nothing: No such file or directory")],
            "SUCCESS",
            "5 passed",
        ),
        (
            [GREEN, ran("npm run build 2>&1 | tail", "error TS2304: Cannot find name")],
            "SUCCESS",
            "5 passed",
        ),
        ([ran("npm run build 2>&1 | tail", "error TS2304: Cannot find name")], "FAILURE", "failed"),
        ([ran("make", "cc -o shop")], "SUCCESS", "succeeded"),
        ([fell("pytest -q", "bash: pytest: command not found")], "PARTIAL", ""),
        (
            [ran("python -m unittest 2>&1 | tail", "Ran 3 tests in 0.1s\n\nFAILED (failures=1)")],
            "FAILURE",
            "3 tests",
        ),
        (
            [ran("mix test | tail -1", "\x1b[31m14 tests, 2 failures\x1b[0m")],
            "FAILURE",
            "2 failures",
        ),
        (
            [fell("go test ./...", "--- FAIL: TestRetry\nFAIL"), asked("perfect")],
            "SUCCESS",
            "perfect",
        ),
        ([asked("thanks, did you push?")], "SUCCESS", "thanks"),
        ([asked("thanks")], "SUCCESS", "thanks"),
        ([asked("looks good?")], "PARTIAL", ""),
        ([GREEN, asked("stop, revert that")], "FAILURE", "revert"),
        ([GREEN, asked("It still doesn't work on Windows")], "FAILURE", "Windows"),
        ([[Said("a", text="All 9 tests pass.")]], "PARTIAL", ""),
    ],
)
def test_the_latest_evidence_after_the_last_edit_decides(
    steps: list[list[Event]], outcome: str, evidence: str
) -> None:
    (task,) = tasks(FIRST, *steps)
    assert task.outcome == outcome
    assert evidence in task.evidence


def test_a_test_that_runs_on_is_known_by_its_id() -> None:
    begun = ran(
        "npm test",
        "Command running in background with ID: b7. Output is being written to: /tmp/b7.output",
    )
    (task,) = tasks(FIRST, begun, ran("tail -3 /tmp/b7.output", "12 passing"))
    assert (task.outcome, "12 passing" in task.evidence) == ("SUCCESS", True)
