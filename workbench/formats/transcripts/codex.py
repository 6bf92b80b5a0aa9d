"""Session files of Codex (`rollout-TIME-SESSION.jsonl`): JSONL, `{"timestamp", "type", "payload"}`
a line.

Read as events (see `core.agents.transcript.events`), from any line on. What a person asked stands
in `user_message` events; the messages that are sent to the model hold instructions and surroundings
as well, and are no prompts.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.core.agents.transcript.events import Answer, Call, Event, Prompt, Said, Summary, cut
from workbench.formats.transcripts.claude_code import Reader, object_in, time_of

_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_NOISE = (
    b'"type":"token_count"',
    b'"type":"reasoning"',
    b'"type":"agent_reasoning"',
    b'"type":"turn_context"',
)
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)\s*$", re.MULTILINE)
_FILE = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_HEAD = 600
"""Characters of an output among which what ran says how it ended."""


def files_of(path: Path) -> tuple[Path, ...]:
    """Return a session's file; there are none beside it."""
    return (path,)


def sessions_in(folder: Path) -> tuple[Path, ...]:
    """Return the files of the sessions below a folder, the oldest first. Raises `OSError`."""
    found = [path for path in folder.rglob("rollout-*.jsonl") if path.is_file()]
    return tuple(sorted(found, key=lambda path: path.name))


def session_of(path: Path) -> str:
    """Return the session that a file is of, by its name."""
    found = _SESSION.search(path.stem)
    return found[0] if found else path.stem


def looks_like(start: bytes) -> bool:
    """Tell whether the beginning of a file is that of a session."""
    first = start.split(b"\n", 1)[0]
    doc = object_in(first)
    if doc is not None:
        return doc.get("type") == "session_meta" and isinstance(doc.get("payload"), dict)
    # The first line holds the instructions, which may be longer than what is looked at.
    return b'"type":"session_meta"' in first[:300]


def _is_noise(raw: bytes) -> bool:
    return any(note in raw[:300] for note in _NOISE)


def _events(doc: dict[str, Any], agent: str) -> Iterator[Event]:
    payload = doc.get("payload")
    if not isinstance(payload, dict):
        return
    kind, at = doc.get("type"), time_of(doc)
    if kind == "compacted" and payload.get("message"):
        yield Summary("", at, agent, str(payload["message"]))
    elif kind == "event_msg" and payload.get("type") == "user_message":
        yield Prompt("", at, agent, cut(str(payload.get("message") or "")))
    elif kind == "event_msg" and payload.get("type") == "agent_message":
        yield Said("", at, agent, cut(str(payload.get("message") or "")))
    elif kind == "response_item" and (read_as := _ITEMS.get(str(payload.get("type")))) is not None:
        yield read_as(payload, Event(str(payload.get("call_id") or payload.get("id")), at, agent))


def _call(payload: Mapping[str, Any], known: Event) -> Event:
    given = object_in(str(payload.get("arguments"))) or {}
    cwd = given.get("workdir", given.get("cwd"))
    name = str(payload.get("name")).rpartition(".")[2]
    return Call(known.id, known.at, known.agent, name, given, cwd if isinstance(cwd, str) else "")


def _own_call(payload: Mapping[str, Any], known: Event) -> Event:
    return Call(
        known.id, known.at, known.agent, str(payload.get("name")), _patch(str(payload.get("input")))
    )


def _patch(text: str) -> dict[str, object]:
    """Return what a patch changes, as other agents give an edit: the first file, and the lines
    before and after.
    """
    file = _FILE.search(text)
    if file is None:
        return {"input": cut(text)}
    sides = {
        sign: "\n".join(line[1:] for line in text.splitlines() if line.startswith(sign))
        for sign in "-+"
    }
    return {
        "file_path": file[1].strip(),
        "old_string": cut(sides["-"]),
        "new_string": cut(sides["+"]),
    }


def _shell_call(payload: Mapping[str, Any], known: Event) -> Event:
    action = payload.get("action")
    given = action if isinstance(action, dict) else {}
    cwd = given.get("working_directory")
    return Call(
        known.id, known.at, known.agent, "local_shell", given, cwd if isinstance(cwd, str) else ""
    )


def _answer(payload: Mapping[str, Any], known: Event) -> Event:
    """Read what a tool answered: a text, that of a JSON object with an exit code, or one whose head
    says it.
    """
    output = payload.get("output")
    doc = object_in(output) if isinstance(output, str) and output.startswith("{") else output
    failed = False
    if isinstance(doc, dict):
        about = doc.get("metadata")
        code = about.get("exit_code") if isinstance(about, dict) else None
        failed = doc.get("success") is False or (isinstance(code, int) and code != 0)
        output = doc.get("output", doc.get("content", output))
    text = _text_of(output)
    ended = _EXIT.search(text[:_HEAD])
    if ended is not None:
        failed = failed or ended[1] != "0"
        head, mark, rest = text.partition("Output:\n")
        text = rest if mark and len(head) < _HEAD else text
    return Answer(known.id, known.at, known.agent, cut(text), failed)


def _text_of(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


_ITEMS = {
    "function_call": _call,
    "custom_tool_call": _own_call,
    "local_shell_call": _shell_call,
    "function_call_output": _answer,
    "custom_tool_call_output": _answer,
    "local_shell_call_output": _answer,
}
"""How each part of a conversation is read that tells something."""


READER = Reader(_events, _is_noise, files_of, sessions_in, session_of, looks_like)
