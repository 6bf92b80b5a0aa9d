"""Session transcripts of agents, read as events (see `core.agents.transcript.events`), from any line
on.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from workbench.core.agents.transcript.events import Answer, Call, Event, Prompt, Said, Summary, cut
from workbench.core.record import as_list, as_object, parse_time

# Files of JSON objects, one a line, to which a program is still adding.


_LONGEST = 64 * 1024 * 1024

Doc = dict[str, Any]


class Line(NamedTuple):
    """A line that was read: the events in it, where the next one begins, and the session that it
    says it is of.

    `is_broken` says that it is no JSON object.
    """

    events: tuple[Event, ...]
    end: int
    session: str = ""
    is_broken: bool = False


class Reader(ABC):
    """A kind of session files. What looks at the disk raises `OSError`."""

    noise: tuple[bytes, ...]
    """What the beginning of a line holds that is not read."""

    @abstractmethod
    def events(self, doc: Doc, agent: str) -> Iterator[Event]:
        """Yield the events of a line; `agent` is the subagent whose file it is."""

    @abstractmethod
    def sessions_in(self, folder: Path) -> tuple[Path, ...]:
        """Return the files of the sessions in a folder, the oldest first."""

    @abstractmethod
    def session_of(self, path: Path) -> str:
        """Return the session that a file is of, by its name."""

    @abstractmethod
    def looks_like(self, start: bytes) -> bool:
        """Tell whether a file that begins so is one."""

    def files_of(self, path: Path) -> tuple[Path, ...]:
        """Return a session's file and what belongs to it."""
        return (path,)

    def is_noise(self, raw: bytes) -> bool:
        """Tell whether nothing of a line is read."""
        start = raw[:300]
        return any(note in start for note in self.noise)

    def read(self, file: BinaryIO, offset: int = 0, agent: str = "") -> Iterator[Line]:
        """Yield the lines from an offset on; one that is still being written is not read yet.

        `agent` names the subagent whose file it is. Raises `OSError`.
        """
        file.seek(offset)
        while raw := file.readline(_LONGEST):
            if not raw.endswith(b"\n") and len(raw) < _LONGEST and object_in(raw) is None:
                return
            offset += len(raw)
            if self.is_noise(raw):
                yield Line((), offset)
                continue
            doc = object_in(raw)
            if doc is None:
                yield Line((), offset, is_broken=bool(raw.strip()))
                continue
            yield Line(tuple(self.events(doc, agent)), offset, str(doc.get("sessionId") or ""))


def object_in(raw: bytes | str) -> Doc | None:
    """Return the JSON object that a text is; `None` for anything else."""
    try:
        doc = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return doc if isinstance(doc, dict) else None


def time_of(doc: Mapping[str, Any]) -> datetime | None:
    """Return when a line was written, as far as it says so."""
    try:
        return parse_time(str(doc.get("timestamp")))
    except ValueError:
        return None


class ClaudeCode(Reader):
    """Claude Code: a message or a note of the program a line.

    Progress of tools and hooks, snapshots of files and the program's own remarks are no text. A
    subagent's messages stand in progress lines of the session, or in files beside it.
    """

    noise = (b'"type":"file-history-snapshot"', b'"type":"progress"', b'"type": "progress"')

    def is_noise(self, raw: bytes) -> bool:
        start = raw[:2_000]
        return any(note in start for note in self.noise) and b"agent_progress" not in raw[:6_000]

    def files_of(self, path: Path) -> tuple[Path, ...]:
        """Return a session's file and those of its subagents beside it."""
        beside = path.with_suffix("") / "subagents"
        own = sorted(beside.glob("*.jsonl")) if beside.is_dir() else []
        return (path, *own)

    def sessions_in(self, folder: Path) -> tuple[Path, ...]:
        found = [
            path
            for path in folder.glob("*.jsonl")
            if path.is_file() and not path.name.startswith(("agent-", "rollout-"))
        ]
        return tuple(sorted(found, key=lambda path: (path.stat().st_mtime, path.name)))

    def session_of(self, path: Path) -> str:
        """Return the session of a file; a subagent's stands in its session's folder."""
        return path.parent.parent.name if path.parent.name == "subagents" else path.stem

    def looks_like(self, start: bytes) -> bool:
        first = start.splitlines()[:50]
        for raw in first:
            doc = object_in(raw)
            if (
                doc is not None
                and isinstance(doc.get("type"), str)
                and ("sessionId" in doc or "snapshot" in doc)
            ):
                return True
        # The first line may be longer than what is looked at.
        return (
            len(first) == 1
            and start.startswith(b"{")
            and b'"sessionId"' in start
            and b'"type"' in start
        )

    def events(self, doc: Doc, agent: str) -> Iterator[Event]:
        kind = doc.get("type")
        if kind == "queue-operation":
            if doc.get("operation") == "enqueue" and isinstance(doc.get("content"), str):
                yield Prompt("", time_of(doc), text=cut(doc["content"]))
        elif kind == "progress":
            data = as_object(doc.get("data"))
            if inner := as_object(data.get("message")):
                whose = str(data.get("agentId") or doc.get("parentToolUseID") or "subagent")
                yield from _message(inner, {**doc, **inner}, whose)
        elif kind in ("user", "assistant") and not doc.get("isMeta"):
            whose = str(doc.get("agentId") or "subagent") if doc.get("isSidechain") else ""
            yield from _message(doc, doc, agent or whose)


def _message(doc: Mapping[str, Any], around: Mapping[str, Any], agent: str) -> Iterator[Event]:
    """Yield what a message of the conversation holds; `around` is the line that it stands in."""
    content = as_object(doc.get("message")).get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in as_list(blocks):
        if (
            isinstance(block, dict)
            and (event := _event(block, str(doc.get("type")), around, agent)) is not None
        ):
            yield event


def _event(
    block: Mapping[str, Any], role: str, around: Mapping[str, Any], agent: str
) -> Event | None:
    """Return what a part of a message tells; `None` for what an assistant thinks."""
    at, id = time_of(around), str(around.get("uuid") or "")
    kind = block.get("type")
    if kind == "text":
        text = str(block.get("text") or "")
        if role != "user":
            return Said(id, at, agent, cut(text))
        return (
            Summary(id, at, agent, text)
            if around.get("isCompactSummary")
            else Prompt(id, at, agent, cut(text))
        )
    if kind == "tool_use":
        name, given = str(block.get("name")), as_object(block.get("input"))
        return Call(str(block.get("id")), at, agent, name, given, str(around.get("cwd") or ""))
    if kind == "tool_result":
        text, failed = cut(text_of(block.get("content"))), bool(block.get("is_error"))
        return Answer(str(block.get("tool_use_id")), at, agent, text, failed)
    return None


def text_of(content: object) -> str:
    """Return the text of a tool's answer: it is one, or a list of parts of which some are text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return ""


_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)\s*$", re.MULTILINE)
_FILE = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_HEAD = 600
"""Characters of an output among which what ran says how it ended."""


class Codex(Reader):
    """Codex (`rollout-TIME-SESSION.jsonl`): `{"timestamp", "type", "payload"}` a line.

    What a person asked stands in `user_message` events; the messages that are sent to the model
    hold instructions and surroundings as well, and are no prompts.
    """

    noise = (
        b'"type":"token_count"',
        b'"type":"reasoning"',
        b'"type":"agent_reasoning"',
        b'"type":"turn_context"',
    )

    def sessions_in(self, folder: Path) -> tuple[Path, ...]:
        """Return the files of the sessions below a folder, the oldest first."""
        found = [path for path in folder.rglob("rollout-*.jsonl") if path.is_file()]
        return tuple(sorted(found, key=lambda path: path.name))

    def session_of(self, path: Path) -> str:
        found = _SESSION.search(path.stem)
        return found[0] if found else path.stem

    def looks_like(self, start: bytes) -> bool:
        first = start.split(b"\n", 1)[0]
        doc = object_in(first)
        if doc is not None:
            return doc.get("type") == "session_meta" and isinstance(doc.get("payload"), dict)
        # The first line holds the instructions, which may be longer than what is looked at.
        return b'"type":"session_meta"' in first[:300]

    def events(self, doc: Doc, agent: str) -> Iterator[Event]:
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
        elif (
            kind == "response_item"
            and (read_as := _ITEMS.get(str(payload.get("type")))) is not None
        ):
            yield read_as(
                payload, Event(str(payload.get("call_id") or payload.get("id")), at, agent)
            )


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
    given = as_object(payload.get("action"))
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
        code = as_object(doc.get("metadata")).get("exit_code")
        failed = doc.get("success") is False or (isinstance(code, int) and code != 0)
        output = doc.get("output", doc.get("content", output))
    text = text_of(output)
    ended = _EXIT.search(text[:_HEAD])
    if ended is not None:
        failed = failed or ended[1] != "0"
        head, mark, rest = text.partition("Output:\n")
        text = rest if mark and len(head) < _HEAD else text
    return Answer(known.id, known.at, known.agent, cut(text), failed)


_ITEMS = {
    "function_call": _call,
    "custom_tool_call": _own_call,
    "local_shell_call": _shell_call,
    "function_call_output": _answer,
    "custom_tool_call_output": _answer,
    "local_shell_call_output": _answer,
}
"""How each part of a conversation is read that tells something."""


READERS = (Codex(), ClaudeCode())
"""The kinds of session files that are read, in the order of asking."""


def reader_of(start: bytes) -> Reader | None:
    """Return who reads a file that begins so; `None` where nobody does."""
    return next((reader for reader in READERS if reader.looks_like(start)), None)
