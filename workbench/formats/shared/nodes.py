"""What the two memory-stream formats share: agents' names, node ids, times and whole-file reading."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import Any

from workbench.core.files.format import ReadContext
from workbench.core.files.reason import Unread
from workbench.core.record import UnreadableFile
from workbench.formats.shared.report import shown
from workbench.formats.shared.values import Notes, time

Node = dict[str, Any]

IDENTIFYING = 400
"""Characters of a stream that tell it from another agent's."""

_FOLDERS = frozenset({"memory_stream", "associative_memory", "bootstrap_memory"})
_MAX_STEP = 5_000_000
_SLUG, _HEAD = 60, 600
"""Characters that a reduced name has at most, and those of a long name that are mostly enough to
know them.
"""

_NUMBER = re.compile(r"(?:node_)?([0-9]{1,12})")


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


def slug(name: str) -> str:
    """Reduce a name to lower-case letters, digits and single hyphens, at most 60 of them."""
    end = next(
        (at for at in range(_HEAD, min(len(name), 2 * _HEAD)) if _stands_alone(name[at])), len(name)
    )
    found = _reduced(name[:end])
    if end < len(name) and len(found) <= _SLUG:
        found = _reduced(name)
    return found[:_SLUG].strip("-")


def _stands_alone(char: str) -> bool:
    """Tell whether a character never becomes one with what stands before it: that can be read
    without the rest.
    """
    first = unicodedata.normalize("NFKC", char)[0]
    return not unicodedata.category(first).startswith("M") and not "\u1160" <= first <= "\u11ff"


def _reduced(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\W_]+", "-", plain).strip("-")


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
    if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0:
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


def importance(
    raw: object, top: float, observation_type: str, content: str, context: ReadContext, notes: Notes
) -> float:
    """Map a rating on 0–`top` linearly to 0–10; without one, rate by `context.importance`."""
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        notes.append(("importance", "rated from type and content, the node has none"))
        return min(max(float(context.importance(observation_type, content)), 0.0), 10.0)
    held = min(max(float(raw), 0.0), top)
    if held != raw:
        notes.append(("importance", f"moved into 0–{top:g}"))
    if top != 10:
        notes.append(("importance", f"mapped linearly from 0–{top:g} to 0–10"))
    return held * 10 / top


@dataclass(frozen=True, slots=True)
class Clock:
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
    return isinstance(raw, int) and not isinstance(raw, bool) and abs(raw) <= _MAX_STEP


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
