"""Session transcripts of Claude Code: JSONL, a message or a note of the program a line.

Read as events (see `core.agents.transcript.events`), from any line on. Progress of tools and hooks,
snapshots of files and the program's own remarks are no text. A subagent's messages stand in
progress lines of the session, or in files beside it.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from workbench.core.agents.transcript.events import Answer, Call, Event, Prompt, Said, Summary, cut
from workbench.core.record import parse_time

# Files of JSON objects, one a line, to which a program is still adding.


_LONGEST = 64 * 1024 * 1024

Doc = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was read: the events in it, where the next one begins, and the session that it
    says it is of.

    `is_broken` says that it is no JSON object.
    """

    events: tuple[Event, ...]
    end: int
    session: str = ""
    is_broken: bool = False


@dataclass(frozen=True, slots=True)
class Reader:
    """A kind of session files.

    `events` gives those of a line, for the subagent whose file it is; `is_noise` tells lines of
    which none is read; `files_of` gives a session's file and what belongs to it, `sessions_in`
    those of a folder, the oldest first, and `session_of` the session that a file is of by its name.
    `looks_like` tells whether a file that begins so is one. Those that look at the disk raise
    `OSError`.
    """

    events: Callable[[Doc, str], Iterable[Event]]
    is_noise: Callable[[bytes], bool]
    files_of: Callable[[Path], tuple[Path, ...]]
    sessions_in: Callable[[Path], tuple[Path, ...]]
    session_of: Callable[[Path], str]
    looks_like: Callable[[bytes], bool]

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
            events = tuple(self.events(doc, agent))
            yield Line(events, offset, str(doc.get("sessionId") or ""))


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


_NOTES = (b'"type":"file-history-snapshot"', b'"type":"progress"', b'"type": "progress"')
_SUBAGENT = b"agent_progress"


def _is_noise(raw: bytes) -> bool:
    start = raw[:2_000]
    return any(note in start for note in _NOTES) and _SUBAGENT not in raw[:6_000]


def files_of(path: Path) -> tuple[Path, ...]:
    """Return a session's file and those of its subagents beside it. Raises `OSError`."""
    beside = path.with_suffix("") / "subagents"
    own = sorted(beside.glob("*.jsonl")) if beside.is_dir() else []
    return (path, *own)


def sessions_in(folder: Path) -> tuple[Path, ...]:
    """Return the files of the sessions in a folder, the oldest first. Raises `OSError`."""
    found = [
        path
        for path in folder.glob("*.jsonl")
        if path.is_file() and not path.name.startswith(("agent-", "rollout-"))
    ]
    return tuple(sorted(found, key=lambda path: (path.stat().st_mtime, path.name)))


def session_of(path: Path) -> str:
    """Return the session that a file is of, by its name; a subagent's stands in its session's
    folder.
    """
    return path.parent.parent.name if path.parent.name == "subagents" else path.stem


def looks_like(start: bytes) -> bool:
    """Tell whether the beginning of a file is that of a transcript."""
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


def _events(doc: dict[str, Any], whose: str = "") -> Iterator[Event]:
    kind = doc.get("type")
    if kind == "queue-operation":
        if doc.get("operation") == "enqueue" and isinstance(doc.get("content"), str):
            yield Prompt("", time_of(doc), text=cut(doc["content"]))
        return
    if kind == "progress":
        data = doc.get("data")
        inner = data.get("message") if isinstance(data, dict) else None
        if isinstance(data, dict) and isinstance(inner, dict):
            agent = str(data.get("agentId") or doc.get("parentToolUseID") or "subagent")
            yield from _message(inner, {**doc, **inner}, agent)
        return
    if kind in ("user", "assistant") and not doc.get("isMeta"):
        agent = (
            str(doc.get("agentId") or "subagent") if doc.get("isSidechain") and not whose else whose
        )
        yield from _message(doc, doc, agent)


def _message(doc: Mapping[str, Any], around: Mapping[str, Any], agent: str) -> Iterator[Event]:
    """Yield what a message of the conversation holds; `around` is the line that it stands in."""
    message = doc.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks if isinstance(blocks, list) else ():
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
        given, cwd = block.get("input"), str(around.get("cwd") or "")
        name, given = str(block.get("name")), given if isinstance(given, dict) else {}
        return Call(str(block.get("id")), at, agent, name, given, cwd)
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


READER = Reader(_events, _is_noise, files_of, sessions_in, session_of, looks_like)
