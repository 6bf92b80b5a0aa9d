"""Episodes that capture makes of sessions: one for each task, by the evidence that there is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_capturing import SECRET, SESSION, Transcript, hook, told

__all__ = ["hook"]


class Session(Transcript):
    """A session that is written step by step, as Claude Code keeps it."""

    def edited(self, path: str, **more: Any) -> None:
        id = f"toolu_{self._session[:6]}{self._count:04}"
        given = {"file_path": f"/home/ann/shop/{path}", "old_string": "a", "new_string": "b"}
        use = {"type": "tool_use", "id": id, "name": "Edit", "input": given}
        result = {"type": "tool_result", "tool_use_id": id, "content": "updated", "is_error": False}
        self.line(type="assistant", message={"role": "assistant", "content": [use]}, **more)
        self.line(type="user", message={"role": "user", "content": [result]}, **more)

    def read(self, path: str, failed: bool = False) -> None:
        id = f"toolu_{self._session[:6]}{self._count:04}"
        use = {
            "type": "tool_use",
            "id": id,
            "name": "Read",
            "input": {"file_path": f"/home/ann/shop/{path}"},
        }
        text = "<tool_use_error>File does not exist.</tool_use_error>" if failed else "1→import os"
        result = {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}
        self.line(type="assistant", message={"role": "assistant", "content": [use]})
        self.line(type="user", message={"role": "user", "content": [result]})

    def said(self, text: str) -> None:
        self.line(
            type="assistant",
            message={"role": "assistant", "content": [{"type": "text", "text": text}]},
        )

    def whole(self) -> None:
        self.first()
        self.second()
        self.third()

    def first(self) -> None:
        """A task that succeeds: red, mended, green; what comes after the tests decides nothing."""
        self.asked("Fix the login redirect loop in src/auth/login.py")
        self.read("src/auth/login.py")
        self.edited("src/auth/login.py")
        self.ran("pytest tests/auth", "1 failed, 8 passed in 0.31s", failed=True)
        self.asked("[Request interrupted by user]")
        self.asked("go on")
        self.edited("src/auth/login.py")
        self.line(
            type="queue-operation",
            operation="enqueue",
            content="<task-notification>\n<task-id>b1</task-id>\nx",
        )
        self.ran("pytest tests/auth 2>&1 | tail -3", "9 passed in 0.30s")
        self.ran(f"git commit -m 'fix login {SECRET}'", "[main 1234567] fix login")
        self.read("tasks/b1.output", failed=True)
        self.said("Done. All 9 tests pass.")

    def second(self) -> None:
        """A task that fails: a build stays red, in the middle of which the context is summed up."""
        self.asked("Now add a CSV export to the reports page")
        self.edited("src/reports/export.ts")
        summary = "This session is being continued from a previous conversation that ran out of context. Summary:\n1. x"
        self.asked(summary, isCompactSummary=True)
        self.asked("also handle the umlauts")
        self.edited("src/reports/export.ts")
        self.ran(
            "npm run build",
            "src/reports/export.ts(3,1): error TS2304: Cannot find name 'Row'.",
            failed=True,
        )
        self.asked("did you push?")
        self.ran("git status", "nothing to commit")
        self.said("No, not yet.")

    def third(self) -> None:
        """A task of which nothing says how it ended, after one that is too small for an episode."""
        self.asked("Which port does postgres listen on in compose?")
        self.ran("grep -n 5432 compose.yml", "5432")
        self.asked("Print the kernel version of this machine")
        self.ran("uname -r", "6.1")
        self.asked("Rename the billing tables to invoices in the database schema")
        self.edited("db/schema.sql")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path / "sessions" / f"{SESSION}.jsonl")


def listed(cli: Cli) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = cli.json("episode", "list")
    return sorted(rows, key=lambda row: row["timestamp"])


def shown(cli: Cli, id: str) -> dict[str, Any]:
    doc: dict[str, Any] = cli.json("episode", "show", id)
    return doc


def test_three_tasks_of_a_session_are_three_episodes(cli: Cli, session: Session) -> None:
    session.whole()
    cli.ok("capture", "transcript", str(session.path))
    episodes = [shown(cli, row["id"]) for row in listed(cli)]
    assert [one["outcome"]["status"] for one in episodes] == ["SUCCESS", "FAILURE", "PARTIAL"]
    assert [one["task"]["original_input"][:11] for one in episodes] == [
        "Fix the log",
        "Now add a C",
        "Rename the ",
    ]
    first, second, third = (one["outcome"]["evidence"] for one in episodes)
    assert "9 passed" in first[0]
    assert "All 9 tests pass" in first[1]
    assert "npm run build" in second[0]
    assert third == ["no evidence"]
    assert [(row["captured"], row["tags"]) for row in listed(cli)] == [
        (True, []),
        (True, []),
        (True, ["no evidence"]),
    ]
    assert SECRET not in json.dumps(episodes)
    assert episodes[0]["session_id"] == SESSION
    assert not any(row["approved"] for row in listed(cli))


def test_reading_a_session_again_makes_none_twice(
    cli: Cli, session: Session, hook: Callable[..., str]
) -> None:
    session.whole()
    cli.ok("capture", "transcript", str(session.path))
    before = listed(cli)
    out = cli.ok("capture", "transcript", str(session.path), "--again")
    hook("SessionStart", source="startup", session_id="other")
    hook("Stop", transcript_path=str(session.path), session_id="other")
    assert "episode" not in out
    assert listed(cli) == before


def test_a_task_that_goes_on_after_a_stop_is_one_episode(
    cli: Cli, session: Session, hook: Callable[..., str]
) -> None:
    def stop(name: str = "Stop") -> list[str]:
        hook(name, transcript_path=str(session.path))
        return [row["outcome"] for row in listed(cli)]

    session.asked("Fix the login redirect loop in src/auth/login.py")
    session.edited("src/auth/login.py")
    assert stop() == ["PARTIAL"]
    session.asked("run the tests")
    session.ran("pytest tests/auth", "1 failed, 8 passed", failed=True)
    assert stop() == ["FAILURE"]
    session.asked("why is that?")
    session.said("The cookie is set twice.")
    assert stop() == ["FAILURE"]
    session.edited("src/auth/login.py")
    session.ran("pytest tests/auth", "9 passed")
    assert stop() == ["SUCCESS"]
    session.asked("That's wrong, it still loops")
    assert stop() == ["FAILURE"]
    session.asked("ok, perfect now")
    assert stop("SessionEnd") == ["SUCCESS"]
    (episode,) = listed(cli)
    assert episode["tags"] == []
    session.asked("<command-name>/clear</command-name>")
    session.asked("Translate the invoice templates into Danish")
    session.edited("templates/invoice.html")
    assert stop() == ["SUCCESS", "PARTIAL"]


def test_what_a_person_decided_on_an_episode_stays(
    cli: Cli, session: Session, hook: Callable[..., str]
) -> None:
    session.whole()
    hook("Stop", transcript_path=str(session.path))
    first, second, third = (row["id"] for row in listed(cli))
    cli.ok("episode", "approve", third)
    cli.ok("purge", second, "--yes-erase", second)
    cli.ok("episode", "delete", first)
    session.ran("psql -f db/schema.sql", "ok")
    session.asked("perfect")
    hook("Stop", transcript_path=str(session.path))
    cli.ok("capture", "transcript", str(session.path), "--again")
    (left,) = listed(cli)
    assert (left["id"], left["outcome"], left["approved"]) == (third, "PARTIAL", True)
    cli.ok("undo")


def test_what_was_undone_does_not_come_back(
    cli: Cli, session: Session, hook: Callable[..., str]
) -> None:
    session.first()
    hook("Stop", transcript_path=str(session.path))
    assert len(listed(cli)) == 1
    given = cli.ok("episode", "find", "login redirect", "--for-agent", "claude")
    assert "[unreviewed" in given
    assert "File does not exist" not in given
    rev = next(row["rev"] for row in cli.json("history") if row["label"].startswith("capture an"))
    cli.ok("undo", "--rev", str(rev))
    session.ran("git log", "fix login")
    hook("Stop", transcript_path=str(session.path))
    assert listed(cli) == []
    assert cli("doctor").code == 0


def test_liberal_capture_keeps_changes_and_decisions_as_unimportant_signals(
    cli: Cli, session: Session, hook: Callable[..., str]
) -> None:
    session.asked("Fix the login redirect loop in src/auth/login.py")
    session.said("I'll go with a signed cookie instead of the query parameter. Let me edit it.")
    session.edited("src/auth/login.py")
    hook("Stop", transcript_path=str(session.path))
    assert told(cli.store) == []
    cli.ok("config", "set", "capture", "liberal")
    cli.ok("capture", "transcript", str(session.path), "--again")
    kept = {memory.observation_type: memory for memory in told(cli.store)}
    assert set(kept) == {"code_change", "decision"}
    assert "login.py" in kept["code_change"].content
    assert kept["decision"].content.startswith("I'll go with a signed cookie")
    assert {(memory.status, memory.importance_score <= 2) for memory in kept.values()} == {
        ("signal", True)
    }
    session.edited("src/auth/cookie.py")
    hook("Stop", transcript_path=str(session.path))
    assert len(told(cli.store)) == 3


def test_a_memory_of_type_working_ends_with_its_session(cli: Cli, hook: Callable[..., str]) -> None:
    for text, session in (
        ("tokens lie in the cache for now", SESSION),
        ("another is at work on the parser", "other"),
    ):
        cli.ok("append", text, "--memory-type", "working", "--session", session)
    hook("SessionEnd", reason="other")
    rows = cli.json("list", "status:archived")
    assert [row["content"] for row in rows] == ["tokens lie in the cache for now"]


def test_the_hooks_of_cursor_alone_give_an_episode_for_each_task(
    cli: Cli, hook: Callable[..., str]
) -> None:
    """Its transcripts leave out what tools answered, and are not read."""
    turn = 0

    def tell(name: str, **more: Any) -> None:
        hook(
            name, "cursor", session_id="", conversation_id="c-1", generation_id=f"g-{turn}", cwd="", model="m",
            workspace_roots=[str(cli.cwd)], cursor_version="3.7.21", user_email=None,
            transcript_path=str(cli.cwd / "agent-transcripts" / "c-1.jsonl"), **more,
        )  # fmt: skip

    def ask(prompt: str) -> None:
        nonlocal turn
        turn += 1
        tell("beforeSubmitPrompt", prompt=prompt, attachments=[])

    def use(tool: str, output: dict[str, Any], **given: Any) -> None:
        tell(
            "postToolUse", tool_name=tool, tool_input=given, tool_output=json.dumps(output), duration=9,
            tool_use_id=f"tool-{turn}-{json.dumps(given)}",
        )  # fmt: skip

    def run(command: str, output: str, code: int = 0) -> None:
        use("Shell", {"output": output, "exitCode": code}, command=command)

    def stop(said: str) -> list[str]:
        tell("afterAgentResponse", text=said)
        tell("stop", status="completed", loop_count=0)
        return [row["outcome"] for row in listed(cli)]

    tell("sessionStart", is_background_agent=False, composer_mode="agent")
    ask("Fix the login redirect loop in src/auth/login.py")
    use("Read", {"content": "import os"}, path="src/auth/login.py")
    use("Write", {"success": True}, path="src/auth/login.py", contents="import sys")
    run("pytest tests/auth", "1 failed, 8 passed in 0.31s", 1)
    assert stop("One test still fails.") == ["FAILURE"]
    ask("go on")
    use("StrReplace", {}, path="src/auth/login.py", old_string="a", new_string="b")
    run("pytest tests/auth", "9 passed in 0.30s")
    run(f"git commit -m 'fix login {SECRET}'", "[main 1234567] fix login")
    assert stop("Done. All 9 tests pass.") == ["SUCCESS"]
    ask("Which port does postgres listen on in compose?")
    run("grep -n 5432 compose.yml", "5432")
    assert stop("On 5432.") == ["SUCCESS"]
    ask("Rename the billing tables to invoices in the database schema")
    use("Write", {"success": True}, path="db/schema.sql", contents="create table invoices ()")
    tell("sessionEnd", reason="window_close", duration_ms=9_000, final_status="completed")
    (first,) = (shown(cli, row["id"]) for row in listed(cli) if row["outcome"] == "SUCCESS")
    (second,) = (shown(cli, row["id"]) for row in listed(cli) if row["outcome"] == "PARTIAL")
    assert second["task"]["original_input"].startswith("Rename the billing tables")
    assert first["outcome"]["primary_output"] == "Done. All 9 tests pass."
    assert "9 passed" in first["outcome"]["evidence"][0]
    assert (first["session_id"], first["metadata"]["captured"]) == ("c-1", True)
    assert SECRET not in json.dumps([first, second])
