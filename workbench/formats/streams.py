"""Memory streams of agents: genagents' `memory_stream/nodes.json`, a list of nodes with importance
0–100 and step counters, and Generative Agents' `associative_memory/nodes.json`, an object `node_1`
… `node_N`.

In the latter stand events, thoughts and chats; poignancy 1–10 is the importance. A thought's
`filling` cites nodes, a chat's holds what was said (a text, or a list of [speaker, line]) and goes
to the metadata.
"""

import hashlib
import re
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import Any, NamedTuple

from workbench.core.files.format import Format, Parsed, ReadContext, Signature, Unread
from workbench.core.record import UnreadableFile, without
from workbench.core.stream.memory import Memory, Source
from workbench.formats.patch import opened
from workbench.formats.shared import values
from workbench.formats.shared.records import made, take_tags
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import Notes, an_object, slug, time

GENAGENTS, GENERATIVE_AGENTS = "genagents", "generative-agents"

Node = dict[str, Any]

IDENTIFYING = 400
"""Characters of a stream that tell it from another agent's."""

_FOLDERS = frozenset({"memory_stream", "associative_memory", "bootstrap_memory"})
_MAX_STEP = 5_000_000
_NUMBER = re.compile(r"(?:node_)?([0-9]{1,12})")
_TOP = 100
_BLANK = "this is blank"
_LISTED_KEYS = frozenset(
    {"node_id", "node_type", "content", "importance", "created", "last_retrieved", "pointer_id"}
)
_NAMED_KEYS = frozenset(
    {"type", "created", "last_accessed", "description", "poignancy", "keywords", "filling"}
)
_SEEN = {"memory_type": "episodic", "observation_type": "general"}
_THOUGHT = {"memory_type": "semantic", "observation_type": "insight", "is_synthetic": True}
_KINDS: dict[str, dict[str, dict[str, Any]]] = {
    "node_type": {"observation": _SEEN, "reflection": _THOUGHT},
    "type": {"event": _SEEN, "chat": _SEEN, "thought": _THOUGHT},
}
"""What a node is by the key that says so; of another kind it is the first."""


def agent_name(path: str) -> str:
    """Return the agent a `nodes.json` belongs to: the folder above the usual ones, or else the
    file's own name.

    Empty when the path tells nothing (a bare `nodes.json`).
    """
    parts = PurePath(path).parts
    folders = list(parts[:-1])
    inside = bool(folders) and folders[-1] in _FOLDERS
    while folders and folders[-1] in _FOLDERS:
        folders.pop()
    stem = PurePath(path).stem
    if inside and folders:
        return slug(folders[-1])
    return "" if stem in ("", "nodes") else slug(stem)


def prefix(context: ReadContext, oldest: str) -> str:
    """Return the start of every id of a file, `ga-<agent>-`; it does not depend on the time of the
    import.

    When no agent can be told from its path, a digest of `oldest` names the file: the end of the
    text that stays the same while the stream grows.
    """
    agent = slug(context.agent) or agent_name(context.file)
    if not agent:
        agent = "nodes-" + hashlib.sha256(oldest.encode(errors="replace")).hexdigest()[:6]
    return f"ga-{agent}-"


def node_number(raw: object) -> str:
    """Return the number in a node reference (7, "7", "node_7") as text. Raises `ValueError`."""
    if values.is_whole(raw) and raw >= 0:
        return str(raw)
    found = _NUMBER.fullmatch(raw.strip()) if isinstance(raw, str) else None
    if found is None:
        raise Unread("{} is no node id", shown(raw))
    return str(int(found[1]))


def references(raw: object, start: str) -> tuple[str, ...] | None:
    """Return the ids of the nodes that `raw` points to, or None when it is something else."""
    listed = raw if isinstance(raw, list) else [raw]
    try:
        return tuple(start + node_number(item) for item in listed if item is not None)
    except ValueError:
        return None


def importance(raw: object, top: float, notes: Notes) -> float | None:
    """Map a rating on 0–`top` linearly to 0–10; `None` where it is none."""
    if not values.is_number(raw):
        return None
    held = min(max(float(raw), 0.0), top)
    if held != raw:
        notes.append(("importance", f"moved into 0–{top:g}"))
    if top != 10:
        notes.append(("importance", f"mapped linearly from 0–{top:g} to 0–10"))
    return held * 10 / top


class Clock(NamedTuple):
    """Turns step counters into times: step `first` is at `start`, one `step` later for each that
    follows.
    """

    start: datetime
    first: int
    step: timedelta

    def at(self, raw: object) -> datetime:
        """Return the time of a step or of an ISO 8601 text. Raises `ValueError`."""
        if is_step(raw):
            return self.start + (int(str(raw)) - self.first) * self.step
        if isinstance(raw, str):
            found, _ = time(raw)
            assert isinstance(found, datetime)
            return found
        raise Unread("{} is neither a step nor a time", shown(raw))


def is_step(raw: object) -> bool:
    """Whether `raw` is a step counter that can be placed in time."""
    return values.is_whole(raw) and abs(raw) <= _MAX_STEP


def clock_for(steps: list[int], context: ReadContext) -> Clock:
    """Place steps in time: from `context.epoch` on, or so that the last one is at `context.now`.

    Raises `UnreadableFile` when the calendar has no room for them.
    """
    first, last = min(steps, default=0), max(steps, default=0)
    try:
        step = timedelta(hours=context.step_hours)
        start = context.epoch or context.now - (last - first) * step
        _ = start + (last - first) * step
    except (OverflowError, ValueError):
        reason = f"{context.file} counts {last - first:,} steps, more than the calendar holds at this step length."
        raise UnreadableFile(
            reason, "Nothing was read; give a shorter step or an earlier first time."
        ) from None
    return Clock(start, first, step)


def _kind(node: Node, key: str, extra: Node, notes: Notes) -> dict[str, Any]:
    """Return what a node is by its kind, which `extra` keeps where it is none that is known."""
    kind, known = node.get(key), _KINDS[key]
    if isinstance(kind, str) and kind in known:
        return known[kind]
    extra[key] = kind
    notes.append((key, f"unknown type {shown(kind)} read as general"))
    return next(iter(known.values()))


def read_list(text: str, context: ReadContext) -> Parsed:
    """Read every node that can be read. Raises `UnreadableFile` when the text holds no list of
    nodes.
    """
    report = Report(context.file)
    root, lines = opened(text, report, (), lambda root: root, "list of nodes")
    found = list(lines.rows(root))
    nodes = [node for _, node, _ in found if isinstance(node, dict)]
    steps = [
        node[key]
        for node in nodes
        for key in ("created", "last_retrieved")
        if is_step(node.get(key))
    ]
    clock, start = clock_for(steps, context), prefix(context, text[:IDENTIFYING])
    memories = report.every(found, lambda node: _listed(node, clock, start, context))
    return report.parsed(
        GENAGENTS,
        memories=memories,
        in_steps=any(is_step(node.get("created")) for node in nodes),
    )


def _listed(node: Node, clock: Clock, start: str, context: ReadContext) -> tuple[Memory, Notes]:
    node = an_object(node, "a node")
    content, notes = node.get("content"), Notes()
    if not isinstance(content, str) or not content.strip():
        raise ValueError("it has no content")
    extra = without(node, *_LISTED_KEYS)
    known = _kind(node, "node_type", extra, notes)
    citations = references(node.get("pointer_id"), start)
    if citations is None:
        extra["pointer_id"] = node.get("pointer_id")
    created, retrieved = node.get("created"), node.get("last_retrieved")
    if is_step(created):
        anchor = (
            "from the given first time on"
            if context.epoch
            else "the last one at the time of the import"
        )
        notes.append(("created", f"steps read as {context.step_hours:g} h each, {anchor}"))
    memory = made(
        context,
        notes,
        start + node_number(node.get("node_id")),
        content,
        clock.at(created),
        last_accessed_at=clock.at(created if retrieved is None else retrieved),
        score=importance(node.get("importance"), _TOP, notes),
        citations=citations or (),
        metadata=extra,
        **known,
    )
    return memory, notes


def read_object(text: str, context: ReadContext) -> Parsed:
    """Read every node that can be read. Raises `UnreadableFile` when the text holds no object of
    nodes.
    """
    report, start = Report(context.file), prefix(context, text.rstrip()[-IDENTIFYING:])
    root, lines = opened(text, report, (), lambda root: root, "object of nodes")
    entries = ((lines.at(e.start), e, e.changes) for e in root.entries)
    found = report.every(entries, lambda e: _named(e.key, e.value, start, context))
    return report.parsed(GENERATIVE_AGENTS, memories=found)


def _named(key: object, node: object, start: str, context: ReadContext) -> tuple[Memory, Notes]:
    if not isinstance(key, str) or not isinstance(node, dict):
        raise ValueError("not a node: expected “node_<number>” and a JSON object")
    content, notes = node.get("description"), Notes()
    if not isinstance(content, str) or not content.strip():
        raise ValueError("it has no description")
    if content.strip().strip(".").casefold() == _BLANK:
        raise ValueError("a thought that says “this is blank”")
    extra = without(node, *_NAMED_KEYS)
    if extra.get("embedding_key") == content:
        del extra["embedding_key"]
    known = _kind(node, "type", extra, notes)
    created = _time(node, "created", None)
    memory = made(
        context,
        notes,
        start + node_number(key),
        content,
        created,
        last_accessed_at=_time(node, "last_accessed", created),
        score=importance(node.get("poignancy"), 10, notes),
        tags=take_tags(node, "keywords", notes),
        citations=_cited(node.get("filling"), start, extra, notes),
        source=Source(speaker=_speaker(node)),
        metadata=extra,
        **known,
    )
    return memory, notes


def _time(node: Node, name: str, absent: datetime | None) -> datetime:
    raw = node.get(name)
    if raw is None and absent is not None:
        return absent
    if not isinstance(raw, str):
        raise Unread("{}: {} is no time", name, shown(raw))
    found, _ = time(raw)
    assert isinstance(found, datetime)
    return found


def _cited(raw: object, start: str, extra: dict[str, object], notes: Notes) -> tuple[str, ...]:
    """Return the nodes a thought was drawn from; any other filling is kept in the metadata."""
    if raw is None or raw == [] or raw == "":
        return ()
    found = references(raw, start)
    if found is None:
        extra["filling"] = raw
        notes.append(("filling", "what was said is kept in the metadata"))
        return ()
    return found


def _speaker(node: Node) -> str | None:
    """Return who speaks in a chat: the one who does, or of several the chat's subject."""
    filling = node.get("filling")
    if node.get("type") != "chat" or not isinstance(filling, list):
        return None
    lines = [line for line in filling if isinstance(line, list) and len(line) == 2]
    names = {name for who, _ in lines if (name := values.speaker(who))}
    return (
        next(iter(names))
        if len(names) == 1
        else next((n for n in names if n == node.get("subject")), None)
    )


LIST_FORMAT = Format(
    GENAGENTS,
    "genagents memory stream",
    Signature("a JSON list of nodes with “node_type”", (r"\A\s*\[", r'"node_type"\s*:')),
    read_list,
)
OBJECT_FORMAT = Format(
    GENERATIVE_AGENTS,
    "Generative Agents memory stream",
    Signature(
        "a JSON object of “node_<number>” entries",
        (r'\A\s*\{\s*"node_[0-9]+"\s*:',),
        0.5,
        r'"(?:poignancy|embedding_key|filling)"\s*:',
        0.45,
    ),
    read_object,
)
