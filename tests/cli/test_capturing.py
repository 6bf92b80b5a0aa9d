"""`workbench capture`: what transcripts and the events of hooks teach, and the episodes that are made of
sessions, one for each task by the evidence that there is.
"""

import json
import re
import shutil
import string
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Result
from tests.cli.sessions import SESSION, Transcript
from tests.cli.shared import ROOT, WORKBENCH, feed
from tests.safety.samples import drawn
from workbench.config.paths import captures_dir
from workbench.core.files.locks import FileLock
from workbench.core.stream.memory import Memory
from workbench.services.agents.capture import hooks
from workbench.services.agents.capture.progress import folder_of, held
from workbench.store.files import LOCK
from workbench.store.library import Library

SECRET = "AKIAZ7QWERTYUI5PLMNB"


def told(store: Path) -> list[Memory]:
    return sorted(Library(store).memories.all(), key=lambda memory: memory.id)


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    written = Transcript(tmp_path / "sessions" / f"{SESSION}.jsonl")
    written.asked("build the cart and push it")
    written.noise()
    written.ran(
        "git push",
        "Exit code 128\nfatal: The current branch cart has no upstream branch.",
        failed=True,
    )
    written.ran("git push -u origin cart", "done")
    written.line(
        type="queue-operation",
        operation="enqueue",
        content=f"No, use pnpm instead of npm, key {SECRET}",
    )
    return written


@pytest.fixture
def hook(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def call(name: str, agent: str = "claude-code", **event: Any) -> str:
        doc = {"session_id": SESSION, "cwd": str(cli.cwd), "hook_event_name": name, **event}
        feed(monkeypatch, json.dumps(doc).encode())
        result = cli("capture", agent)
        assert result.code == 0
        assert result.err == ""
        return result.out

    return call


@pytest.fixture
def cursor(cli: Cli, hook: Callable[..., str]) -> Callable[..., str]:
    """An event as Cursor tells it."""
    common = {
        "session_id": "", "conversation_id": "c-1", "generation_id": "g-1", "cwd": "", "model": "m",
        "workspace_roots": [str(cli.cwd)], "cursor_version": "3.7.21", "user_email": None, "transcript_path": None,
    }  # fmt: skip
    return lambda name, **more: hook(name, "cursor", **{**common, **more})


def test_a_dry_run_shows_what_counts_most_first_and_writes_nothing(
    cli: Cli, transcript: Transcript
) -> None:
    out = cli.ok("capture", "transcript", str(transcript.path), "--dry-run")
    assert "1 transcript: 2 new lessons, 2 of them wait for a decision." in out
    assert (
        out.index("No, use pnpm instead of npm")
        < out.index("has no upstream branch")
        < out.index("What worked")
    )
    assert SECRET not in out
    assert "Passed over: requests (1)." in out
    assert "nothing was stored" in out
    assert not cli.store.exists()
    assert not list((captures_dir() or cli.store).glob("*/*.json"))


def test_lessons_come_with_where_they_are_from_and_wait_in_review(
    cli: Cli, transcript: Transcript
) -> None:
    cli.ok("capture", "transcript", str(transcript.path))
    lessons = told(cli.store)
    assert [one.observation_type for one in lessons] == ["correction", "failure"]
    assert [(one.status, one.source.speaker) for one in lessons] == [
        ("candidate", "user"),
        ("candidate", "tool"),
    ]
    correction, failure = lessons
    assert SECRET not in correction.content
    assert failure.session_id == SESSION
    assert failure.source.hook == "transcript"
    assert failure.source.turn == 1
    assert failure.source.file == str(transcript.path)
    assert failure.created_at.isoformat() == "2026-03-19T10:05:00+00:00"
    assert len(cli.json("review", "list")) == 2
    cli.ok("undo")
    assert told(cli.store) == []


def test_what_an_old_session_taught_waits_from_when_it_came_here(
    cli: Cli, transcript: Transcript
) -> None:
    lines = transcript.path.read_text().replace("2026-03-19T", "2025-03-19T")
    transcript.path.write_text(lines)
    cli.ok("capture", "transcript", str(transcript.path))
    assert {memory.created_at.year for memory in told(cli.store)} == {2025}
    assert {row["created_at"][:10] for row in cli.json("review", "list")} == {"2026-03-20"}


def test_reading_goes_on_where_it_was_left_and_stores_nothing_twice(
    cli: Cli, transcript: Transcript
) -> None:
    read = ("capture", "transcript", str(transcript.path))
    cli.ok(*read)
    assert "0 new lessons" in cli.ok(*read)
    failing = transcript.ran("npm run build", "Error: Cannot find module 'vite'", failed=True)
    assert "1 failure not resolved yet" in cli.ok(*read)
    transcript.ran("npm ci")
    transcript.ran("npm run build", "built")
    assert "Stored 1, and 1 episode." in cli.ok(*read)
    assert "Cannot find module 'vite'" in told(cli.store)[-1].content
    again = cli.json(*read, "--again")
    assert again["lessons"] == []
    assert again["stored"] == []
    assert again["passed_over"]["known"] == 3
    assert failing


def test_a_line_that_is_being_written_is_read_the_next_time(
    cli: Cli, transcript: Transcript
) -> None:
    whole = transcript.path.read_bytes()
    transcript.path.write_bytes(whole[:-40])
    assert "Stored 1." in cli.ok("capture", "transcript", str(transcript.path))
    transcript.path.write_bytes(whole)
    assert "Stored 1." in cli.ok("capture", "transcript", str(transcript.path))


def test_lines_that_cannot_be_read_are_counted(cli: Cli, transcript: Transcript) -> None:
    with transcript.path.open("ab") as file:
        file.write(b'{"type": "user", \n[1, 2]\n\xff\xfe\x00\n"' + b"[" * 5_000 + b"\n\n")
    out = cli.ok("capture", "transcript", str(transcript.path))
    assert "unreadable lines (4)" in out
    assert "Stored 2." in out


def test_what_was_erased_stands_in_no_note_and_does_not_come_back(
    cli: Cli, transcript: Transcript, hook: Callable[..., str]
) -> None:
    hook("SessionStart", source="startup")
    hook("Stop", transcript_path=str(transcript.path))
    prompt = "No, the cart belongs to the shop folder"
    hook("UserPromptSubmit", prompt=prompt)
    captures = captures_dir() or cli.store
    assert b"shop folder" in kept(captures)
    id = next(memory.id for memory in told(cli.store) if "shop folder" in memory.content)
    cli.ok("purge", id, "--yes-erase", id)
    assert b"shop folder" not in kept(captures)
    transcript.asked(prompt)
    hook("Stop", transcript_path=str(transcript.path))
    assert not any("shop folder" in memory.content for memory in told(cli.store))


def test_another_session_counts_a_lesson_once_more(cli: Cli, transcript: Transcript) -> None:
    cli.ok("capture", "transcript", str(transcript.path))
    other = Transcript(transcript.path.with_name("9c2d.jsonl"), "9c2d")
    other.ran("git push", "fatal: The current branch mail has no upstream branch.", failed=True)
    other.ran("git push -u origin mail")
    out = cli.ok("capture", "transcript", str(transcript.path.parent))
    assert "Stored 0, 1 counted once more." in out
    assert [memory.helpful_absorbed for memory in told(cli.store)] == [0, 1]
    assert len(told(cli.store)) == 2


def test_what_a_person_turned_down_does_not_come_back(
    cli: Cli, transcript: Transcript, hook: Callable[..., str]
) -> None:
    read = ("capture", "transcript", str(transcript.path))
    cli.ok(*read)
    first, second = told(cli.store)
    cli.ok("review", "reject", first.id)
    cli.ok("purge", second.id, "--yes-erase", second.id)
    cli.ok(*read, "--again")
    hook("UserPromptSubmit", session_id="another", prompt="No, use pnpm instead of npm")
    assert {memory.archived_reason for memory in told(cli.store)} == {"rejected"}
    assert second.content not in {memory.content for memory in told(cli.store)}


def test_subagents_are_read_beside_their_session(cli: Cli, transcript: Transcript) -> None:
    beside = Transcript(transcript.path.with_suffix("") / "subagents" / "agent-a1.jsonl", SESSION)
    beside.asked("No, use yarn instead of npm", isSidechain=True, agentId="a1")
    beside.ran(
        "make tests",
        "make: *** No rule to make target 'tests'.  Stop.",
        failed=True,
        isSidechain=True,
    )
    beside.ran("make test", "ok", isSidechain=True)
    cli.ok("capture", "transcript", str(transcript.path))
    texts = "\n".join(memory.content for memory in told(cli.store))
    assert "No rule to make target" in texts
    assert "yarn" not in texts


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("none.jsonl", "cannot be read"),
        ("plain.txt", "is not a session transcript"),
        ("", "There is no transcript"),
    ],
)
def test_what_is_no_transcript_is_refused(cli: Cli, name: str, sentence: str) -> None:
    cli.write("plain.txt", "no, use pnpm\n")
    err = cli.refused("capture", "transcript", *([name] if name else []))
    assert sentence in err
    assert not cli.store.exists()


def test_an_event_that_corrects_is_kept_and_its_secrets_are_not(
    cli: Cli, hook: Callable[..., str]
) -> None:
    hook("SessionStart", source="startup")
    assert hook("UserPromptSubmit", prompt=f"No, use pnpm instead of npm here, key {SECRET}") == ""
    hook("UserPromptSubmit", prompt="build the cart")
    (memory,) = told(cli.store)
    assert memory.observation_type == "correction"
    assert memory.status == "candidate"
    assert memory.source.hook == "UserPromptSubmit"
    assert memory.source.speaker == "user"
    assert memory.session_id == SESSION
    assert SECRET.encode() not in kept(captures_dir() or cli.store)
    assert cli.json("history", "-n", "1")[0]["actor"] == "agent:claude"


def test_no_line_of_a_key_is_kept_that_a_command_was_cut_into(
    cli: Cli, transcript: Transcript, hook: Callable[..., str]
) -> None:
    letters = string.ascii_letters + string.digits + "+/"
    lines = ["/" + drawn(n, letters, seed=at) for at, n in enumerate((63, 63, 40))]
    head, tail = (f"-----{word} RSA PRIVATE" + " KEY-----" for word in ("BEGIN", "END"))
    block = "\n".join((head, *lines, tail))
    failing = {"command": f"deploy --key {block} --to staging"}
    lost = f"Exit code 1\n{lines[1]}: No such file or directory"
    transcript.ran(failing["command"], lost, failed=True)
    transcript.ran(f"deploy --to staging --key {block} --force", "done")
    hook("SessionStart", source="startup")
    error = "deploy: the region is not set, set REGION"
    hook("PostToolUseFailure", tool_name="Bash", tool_input=failing, error=error)
    cli.ok("capture", "transcript", str(transcript.path))
    assert any("deploy" in memory.content for memory in told(cli.store))
    held_there = kept(captures_dir() or cli.store, cli.store)
    assert not [line for line in lines if line[4:24].encode() in held_there]


def test_a_session_that_is_called_like_a_secret_is_kept_by_another_name(
    cli: Cli, transcript: Transcript, hook: Callable[..., str]
) -> None:
    name = "gh" + "p_" + drawn(36)
    hook("SessionStart", source="startup", session_id=name)
    hook("UserPromptSubmit", prompt="No, use pnpm instead of npm, please", session_id=name)
    secret = transcript.path.with_name(f"{name}.jsonl")
    shutil.copy(transcript.path, secret)
    cli.ok("capture", "transcript", str(secret))
    assert len({memory.session_id for memory in told(cli.store)}) == 1
    assert name.encode() not in kept(captures_dir() or cli.store, cli.store)


def test_a_hook_and_the_transcript_tell_the_same_once(
    cli: Cli, transcript: Transcript, hook: Callable[..., str]
) -> None:
    hook("SessionStart", source="startup", transcript_path=str(transcript.path))
    hook("UserPromptSubmit", prompt=f"No, use pnpm instead of npm, key {SECRET}")
    use = re.findall(r'"tool_use_id": "(\w+)"', transcript.path.read_text())[0]
    bash = {"tool_name": "Bash", "tool_input": {"command": "git push"}, "tool_use_id": use}
    hook("PostToolUseFailure", **bash, error=UPSTREAM)
    bash |= {"tool_input": {"command": "git push -u origin cart"}, "tool_use_id": "toolu_x"}
    done = {"stdout": "done", "stderr": "", "interrupted": False}
    hook("PostToolUse", **bash, tool_response=done)
    assert len(told(cli.store)) == 2
    for name in ("Stop", "PreCompact", "SessionEnd", "Stop"):
        hook(name, transcript_path=str(transcript.path))
    assert len(told(cli.store)) == 2
    assert "0 new lessons" in cli.ok("capture", "transcript", str(transcript.path), "--again")


def test_stop_reads_the_transcript_from_where_it_was_left(
    cli: Cli, transcript: Transcript, hook: Callable[..., str]
) -> None:
    hook("Stop", transcript_path=str(transcript.path), last_assistant_message="done")
    assert len(told(cli.store)) == 2
    transcript.asked("don't touch the generated files, please")
    hook("Stop", transcript_path=str(transcript.path))
    assert told(cli.store)[-1].content.startswith("don't touch the generated files")
    assert "Passed over: requests (1)." in cli.ok("capture", "status")


def test_a_summary_is_kept_by_its_sections(cli: Cli, hook: Callable[..., str]) -> None:
    summary = "Summary:\n4. Errors and fixes:\n   - SQLite does not support ALTER COLUMN: rewrote the table\n"
    hook("PostCompact", trigger="auto", compact_summary=summary)
    hook("PostCompact", trigger="auto", compact_summary=summary)
    (memory,) = told(cli.store)
    assert memory.observation_type == "bug_fix"
    assert memory.content == "SQLite does not support ALTER COLUMN: rewrote the table"


def test_hooks_of_other_forms_are_understood(cli: Cli, hook: Callable[..., str]) -> None:
    lost = "deploy failed: region us-east-9 does not exist"
    hook("", event="before_start")
    for _ in range(2):
        hook("", event="on_error", error=lost)
    prompt = "No, run it with --frozen please"
    hook("UserPromptSubmit", "codex", prompt=prompt, turn_id="t", transcript_path=None)
    for word, output, code in (("tests", "No rule to make target 'tests'", 2), ("test", "ok", 0)):
        hook(
            "PostToolUse", "codex", tool_name="shell", tool_use_id=word,
            tool_input={"command": ["bash", "-lc", f"make {word}"]},
            tool_response={"output": output, "exit_code": code},
        )  # fmt: skip
    error, correction, failure = told(cli.store)
    assert error.status == "signal"
    assert error.content == lost
    assert correction.observation_type == "correction"
    assert "`make test`" in failure.content


def test_an_event_of_cursor_is_taken_as_it_tells_it(cli: Cli, cursor: Callable[..., str]) -> None:
    push = {"command": "git push", "working_directory": str(cli.cwd)}
    assert cursor("sessionStart", is_background_agent=False) == ""
    prompt = "No, use pnpm instead of npm"
    assert cursor("beforeSubmitPrompt", prompt=prompt, attachments=[]) == ""
    cursor(
        "postToolUseFailure", tool_name="Shell", tool_input=push, tool_use_id="t-1", error_message=UPSTREAM,
        failure_type="error", duration=12.5, is_interrupt=False,
    )  # fmt: skip
    better = {**push, "command": "git push -u origin cart"}
    done = json.dumps({"output": "done", "exitCode": 0})
    cursor("postToolUse", tool_name="Shell", tool_input=better, tool_use_id="t-2", tool_output=done)
    said, solved = told(cli.store)
    assert said.content == prompt
    assert said.session_id == "c-1"
    assert said.source.hook == "beforeSubmitPrompt"
    assert "git push -u origin cart" in solved.content
    cli.ok("review", "approve", said.id)
    cli.ok("capture", "brief", "--for-agent", "cursor")
    given = json.loads(cursor("sessionStart"))
    assert "pnpm instead of npm" in given["additional_context"]
    (read,) = cli.json("reads")
    assert [read[name] for name in ("agent", "session", "door")] == ["cursor", "c-1", "hook"]


THREAD = "0199a6f2-3d1e-7c20-8a5b-6d0f1c2e9b44"


def rollout(folder: Path, *items: tuple[str, dict[str, Any]]) -> Path:
    """Write a session file of Codex as it writes one: a head, then what was said and done."""
    path = folder / "2026" / "03" / "19" / f"rollout-2026-03-19T10-00-00-{THREAD}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {
        "id": THREAD,
        "cwd": "/home/ann/shop",
        "originator": "codex_cli",
        "instructions": "x" * 70_000,
    }
    content = [{"type": "input_text", "text": "No, use yarn everywhere"}]
    about = {"type": "message", "role": "user", "content": content}
    lines = (("session_meta", head), ("response_item", about), *items)
    with path.open("a") as file:
        for number, (kind, payload) in enumerate(lines):
            at = f"2026-03-19T10:00:{number:02}.000Z"
            line = {"timestamp": at, "type": kind, "payload": payload}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
    return path


def ran(
    id: str, command: object, output: object, name: str = "shell"
) -> list[tuple[str, dict[str, Any]]]:
    call = {"type": "function_call", "name": name, "arguments": json.dumps(command), "call_id": id}
    done = {"type": "function_call_output", "call_id": id, "output": output}
    return [
        ("response_item", call),
        ("event_msg", {"type": "token_count"}),
        ("response_item", done),
    ]


UPSTREAM = "fatal: The current branch cart has no upstream branch."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "call", "lost", "done"),
    [
        (
            "shell", lambda line: {"command": ["bash", "-lc", line], "workdir": "/home/ann/shop"},
            json.dumps({"output": UPSTREAM, "metadata": {"exit_code": 128, "duration_seconds": 0.1}}),
            json.dumps({"output": "done", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}),
        ),
        (
            "exec_command", lambda line: {"cmd": line},
            f"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 128\nOutput:\n{UPSTREAM}",
            "Chunk ID: 2\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\ndone",
        ),
        (
            "shell_command", lambda line: {"command": line},
            f"Exit code: 128\nWall time: 0.1 seconds\nOutput:\n{UPSTREAM}",
            "Exit code: 0\nWall time: 0.1 seconds\nOutput:\ndone",
        ),
    ],
)  # fmt: skip
def test_sessions_of_codex_are_read_as_those_of_claude_code(
    cli: Cli, tmp_path: Path, name: str, call: Callable[[str], object], lost: str, done: str
) -> None:
    asked = (
        "event_msg",
        {"type": "user_message", "message": f"No, use pnpm instead of npm, key {SECRET}"},
    )
    path = rollout(
        tmp_path / "sessions", asked, *ran("c1", call("git push"), lost, name),
        *ran("c2", call("git push -u origin cart"), done, name),
    )  # fmt: skip
    shown = cli.json("capture", "transcript", str(tmp_path / "sessions"), "--dry-run")
    assert shown["transcripts"] == 1
    assert len(shown["lessons"]) == 2
    assert shown["passed_over"] == {}
    cli.ok("capture", "transcript", str(path))
    solved, said = sorted(told(cli.store), key=lambda memory: memory.content[0] == "N")
    assert "no upstream branch" in solved.content
    assert "git push -u origin cart" in solved.content
    assert said.session_id == THREAD
    assert said.source.hook == "transcript"
    assert SECRET not in said.content
    assert "yarn" not in said.content
    again = cli.json("capture", "transcript", str(path), "--again")
    assert again["stored"] == []
    assert again["passed_over"] == {"known": 2}
    assert "git push" in cli.ok("replay", str(path))


def test_a_hook_of_codex_and_its_session_file_tell_the_same_once(
    cli: Cli, hook: Callable[..., str], tmp_path: Path
) -> None:
    said = "No, use pnpm instead of npm"
    path = rollout(tmp_path / "sessions", ("event_msg", {"type": "user_message", "message": said}))
    common = {"session_id": THREAD, "transcript_path": str(path)}
    hook("SessionStart", "codex", **common, source="startup")
    hook("UserPromptSubmit", "codex", **common, prompt=said)
    hook("Stop", "codex", **common)
    assert [memory.content for memory in told(cli.store)] == [said]
    said = "Process exited with code"
    lost, done = f"{said} 128\nOutput:\n{UPSTREAM}", f"{said} 0\nOutput:\nok"
    rollout(
        tmp_path / "sessions", ("compacted", {"message": "1. Errors and fixes:\n   - a\n"}),
        *ran("c1", {"cmd": "git push"}, lost, "exec_command"),
        *ran("c2", {"cmd": "git push -u origin cart"}, done, "exec_command"),
    )  # fmt: skip
    hook("Stop", "codex", **common)
    assert len(told(cli.store)) == 2


@pytest.mark.parametrize(
    "event",
    [b"", b"nonsense", b"[1]", b"\xff\xfe", b'{"hook_event_name": "Stop"}', b"null", b"{}" * 9],
)
def test_no_event_breaks_an_agent(cli: Cli, monkeypatch: pytest.MonkeyPatch, event: bytes) -> None:
    feed(monkeypatch, event)
    assert cli("capture", "claude-code") == Result(0, "", "")
    assert not cli.store.exists()


def test_what_goes_wrong_is_kept_in_a_log(
    cli: Cli, hook: Callable[..., str], tmp_path: Path
) -> None:
    cli.store.write_text("a file stands where the store should be")
    hook("UserPromptSubmit", prompt="No, use pnpm instead of npm")
    cli.store.unlink()
    (failure,) = cli.json("capture", "status")["failures"]
    assert failure["event"] == "UserPromptSubmit"
    assert failure["problem"]
    hook("Stop", transcript_path=str(tmp_path / "gone.jsonl"))


def test_an_event_that_finds_the_store_held_is_stored_by_the_next_one(
    cli: Cli, hook: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("append", "the store is there")
    monkeypatch.setattr(hooks, "PATIENCE_S", 0.1)
    with FileLock(cli.store / LOCK, with_folder=True).held():
        hook("UserPromptSubmit", prompt=f"No, use pnpm instead of npm, key {SECRET}")
    status = cli.json("capture", "status")
    assert status["waiting"] == 1
    assert "The next event stores this one." in status["failures"][0]["problem"]
    captures = captures_dir()
    assert captures is not None
    files = [path for path in captures.rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in path.read_bytes() for path in files)
    for _ in range(2):
        hook("SessionEnd", session_id="another", reason="other")
        (memory,) = (one for one in told(cli.store) if one.session_id)
        assert memory.content.startswith("No, use pnpm instead of npm")
        assert memory.session_id == SESSION
    assert cli.json("capture", "status")["waiting"] == 0


def test_a_waiting_event_that_cannot_be_read_any_more_holds_up_no_later_one(
    cli: Cli, hook: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("append", "the store is there")
    transcript = tmp_path / "session.jsonl"
    transcript.write_text(json.dumps({"type": "user", "sessionId": SESSION}) + "\n")
    monkeypatch.setattr(hooks, "PATIENCE_S", 0.1)
    captures = captures_dir()
    assert captures is not None
    with held(folder_of(captures, cli.store), SESSION):
        hook("Stop", transcript_path=str(transcript))
    assert cli.json("capture", "status")["waiting"] == 1
    transcript.rename(tmp_path / "moved.jsonl")
    transcript.symlink_to(tmp_path / "moved.jsonl")
    hook("UserPromptSubmit", prompt="No, use pnpm instead of npm")
    assert any(one.content.startswith("No, use pnpm") for one in told(cli.store))
    assert cli.json("capture", "status")["waiting"] == 0


def test_a_disk_that_is_full_is_said_where_the_log_cannot_be_written(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("append", "the store is there")
    event = {
        "session_id": SESSION,
        "hook_event_name": "UserPromptSubmit",
        "prompt": "No, use pnpm instead of npm",
    }
    feed(monkeypatch, json.dumps(event).encode())
    captures = captures_dir()
    assert captures is not None
    captures.parent.mkdir(parents=True, exist_ok=True)
    captures.write_text("nothing can be written below this")
    result = cli("capture", "claude-code")
    assert result.code == 0
    assert result.out == ""
    assert "claude-code UserPromptSubmit" in result.err
    assert "cannot be written" in result.err


LIBRARIES = ("textual", "numpy", "tinydb", "model2vec", "anthropic", "mcp", "rapidfuzz")


STORE = (
    "workbench.store.library", "workbench.services.context",
)  # fmt: skip


def loaded(cli: Cli, events: list[dict[str, Any]], heavy: tuple[str, ...]) -> str:
    code = (
        "import io, json, sys\nfrom workbench.__main__ import main\n"
        f"for event in {events!r}:\n"
        "    doc = json.dumps({'session_id': 's-9', **event}).encode()\n"
        "    sys.stdin = io.TextIOWrapper(io.BytesIO(doc))\n"
        f"    code = main(['--store', {str(cli.store)!r}, 'capture', 'claude-code'])\n"
        f"print([m for m in {heavy!r} if m in sys.modules], code, file=sys.stderr)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stderr


def test_a_session_that_begins_looks_at_the_store_and_loads_no_library(cli: Cli) -> None:
    cli.ok("append", "the store is there", "--speaker", "user")
    cli.ok("capture", "brief")
    event = {"hook_event_name": "SessionStart", "source": "startup"}
    assert loaded(cli, [event], LIBRARIES) == "[] 0\n"


@pytest.mark.slow
def test_an_event_loads_next_to_nothing(cli: Cli) -> None:
    for text in ("the store is there", "and what was archived in it is known"):
        cli.ok("append", text, "--speaker", "user")
    # Of a session that was seen to begin, it is known that the store holds nothing.
    assert (
        loaded(cli, [{"hook_event_name": "SessionStart", "source": "startup"}], LIBRARIES)
        == "[] 0\n"
    )
    events: list[dict[str, Any]] = [
        {"hook_event_name": "UserPromptSubmit", "prompt": "No, use pnpm instead of npm"},
        {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {"command": "git push"},
         "tool_use_id": "toolu_1", "error": "fatal: The current branch x has no upstream branch."},
        {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "git push -u origin x"},
         "tool_use_id": "toolu_2", "tool_response": {"stdout": "done"}},
        {"hook_event_name": "SessionEnd", "reason": "other"},
    ]  # fmt: skip
    assert loaded(cli, events, (*LIBRARIES, *STORE)) == "[] 0\n"
    assert len(told(cli.store)) == 4


@pytest.mark.slow
def test_fifty_at_once_are_each_kept_exactly_once(cli: Cli) -> None:
    cli.ok("append", "the store is there")
    said = [(f"s-{n // 2 % 5}", f"No, use tool{n // 2} for step {n // 2}") for n in range(50)]
    command = [*WORKBENCH, "--store", str(cli.store), "capture", "claude-code"]
    running = [subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE) for _ in said]
    for process, (session, prompt) in zip(running, said, strict=True):
        doc = {"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": prompt}
        assert process.stdin is not None
        process.stdin.write(json.dumps(doc).encode())
        process.stdin.close()
    assert [process.wait() for process in running] == [0] * 50
    # Those that waited for too long are stored by the next event.
    last = b'{"hook_event_name": "SessionEnd", "session_id": "last"}'
    subprocess.run(command, cwd=ROOT, input=last, check=True)
    kept = [(memory.session_id, memory.content) for memory in told(cli.store) if memory.session_id]
    assert sorted(kept) == sorted(set(said))


class Session(Transcript):
    """A session that is written step by step, as Claude Code keeps it."""

    def used(self, tool: str, path: str, result: str, failed: bool = False, **given: str) -> None:
        id = f"toolu_{self._session[:6]}{self._count:04}"
        named = {"file_path": f"/home/ann/shop/{path}", **given}
        use = {"type": "tool_use", "id": id, "name": tool, "input": named}
        told = {"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}
        self.line(type="assistant", message={"role": "assistant", "content": [use]})
        self.line(type="user", message={"role": "user", "content": [told]})

    def edited(self, path: str) -> None:
        self.used("Edit", path, "updated", old_string="a", new_string="b")

    def said(self, text: str) -> None:
        content = [{"type": "text", "text": text}]
        self.line(type="assistant", message={"role": "assistant", "content": content})

    def whole(self) -> None:
        self.first()
        self.second()
        self.third()

    def first(self) -> None:
        """A task that succeeds: red, mended, green; what comes after the tests decides nothing."""
        self.asked("Fix the login redirect loop in src/auth/login.py")
        self.used("Read", "src/auth/login.py", "1→import os")
        self.edited("src/auth/login.py")
        self.ran("pytest tests/auth", "1 failed, 8 passed in 0.31s", failed=True)
        self.asked("[Request interrupted by user]")
        self.asked("go on")
        self.edited("src/auth/login.py")
        self.ran("pytest tests/auth 2>&1 | tail -3", "9 passed in 0.30s")
        self.ran(f"git commit -m 'fix login {SECRET}'", "[main 1234567] fix login")
        lost = "<tool_use_error>File does not exist.</tool_use_error>"
        self.used("Read", "tasks/b1.output", lost, failed=True)
        self.said("Done. All 9 tests pass.")

    def second(self) -> None:
        """A task that fails: a build stays red, in the middle of which the context is summed up."""
        self.asked("Now add a CSV export to the reports page")
        self.edited("src/reports/export.ts")
        summary = "This session is being continued from a previous conversation that ran out of context. Summary:\n1. x"
        self.asked(summary, isCompactSummary=True)
        self.edited("src/reports/export.ts")
        self.ran(
            "npm run build", "src/reports/export.ts(3,1): error TS2304: no 'Row'.", failed=True
        )
        self.asked("did you push?")
        self.ran("git status", "nothing to commit")
        self.said("No, not yet.")

    def third(self) -> None:
        """A task of which nothing says how it ended, after one that is too small for an episode."""
        self.asked("Which port does postgres listen on in compose?")
        self.ran("grep -n 5432 compose.yml", "5432")
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
    tasks = [one["task"]["original_input"][:7] for one in episodes]
    assert tasks == ["Fix the", "Now add", "Rename "]
    first, second, third = (one["outcome"]["evidence"] for one in episodes)
    assert "9 passed" in first[0]
    assert "All 9 tests pass" in first[1]
    assert "npm run build" in second[0]
    assert third == ["no evidence"]
    rows = [(row["captured"], row["approved"], row["tags"]) for row in listed(cli)]
    assert rows == [(True, False, []), (True, False, []), (True, False, ["no evidence"])]
    assert SECRET not in json.dumps(episodes)
    assert episodes[0]["session_id"] == SESSION


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
    session.edited("src/auth/login.py")
    session.ran("pytest tests/auth", "9 passed")
    assert stop("SessionEnd") == ["SUCCESS"]
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
    assert left["id"] == third
    assert left["outcome"] == "PARTIAL"
    assert left["approved"] is True
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
    found = {memory.observation_type: memory for memory in told(cli.store)}
    assert set(found) == {"code_change", "decision"}
    assert "login.py" in found["code_change"].content
    assert found["decision"].content.startswith("I'll go with a signed cookie")
    assert all((m.status, m.importance_score <= 2) == ("signal", True) for m in found.values())


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
    cli: Cli, cursor: Callable[..., str]
) -> None:
    """Its transcripts leave out what tools answered, and are not read."""
    turn = 0

    def tell(name: str, **more: Any) -> None:
        path = str(cli.cwd / "agent-transcripts" / "c-1.jsonl")
        cursor(name, generation_id=f"g-{turn}", transcript_path=path, **more)

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
    by_outcome = {row["outcome"]: shown(cli, row["id"]) for row in listed(cli)}
    assert set(by_outcome) == {"SUCCESS", "PARTIAL"}
    first, second = by_outcome["SUCCESS"], by_outcome["PARTIAL"]
    assert second["task"]["original_input"].startswith("Rename the billing tables")
    assert first["outcome"]["primary_output"] == "Done. All 9 tests pass."
    assert "9 passed" in first["outcome"]["evidence"][0]
    assert first["session_id"] == "c-1"
    assert first["metadata"]["captured"] is True
    assert SECRET not in json.dumps([first, second])


def kept(*folders: Path) -> bytes:
    """Return all that the files of some folders hold."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return b"".join(path.read_bytes() for path in files)
