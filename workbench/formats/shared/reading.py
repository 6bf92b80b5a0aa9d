"""What every reader of other tools' memories does: name them, date them, rate them, check them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import PurePath
from typing import Any

from workbench.core.files.format import ReadContext
from workbench.core.stream.memory import STATUSES, Memory, Status, broken_rule
from workbench.formats.lifecycle import values
from workbench.formats.lifecycle.values import Decode, Notes
from workbench.formats.memory_streams.nodes import slug
from workbench.formats.shared.records import take

_LONGEST_COUNT = 6
_PLAIN_FOLDERS = frozenset({"memory", "detail", "working-memory", ".claude"})


def digest(*parts: str) -> str:
    """Return six hexadecimal digits that tell texts apart."""
    return sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:6]


def unique_id(prefix: str, name: str) -> str:
    """Make a readable id of a name; different names never share one."""
    return "-".join(part for part in (prefix, slug(name), digest(name)) if part)


def place(context: ReadContext) -> str:
    """Return the project or session folder that a file belongs to, as part of an id; empty when unknown."""
    folders = list(PurePath(context.path).parts[1:-1])
    while folders and folders[-1] in _PLAIN_FOLDERS:
        folders.pop()
    return slug(folders[-1]) if folders else ""


def created_at(
    doc: Mapping[str, Any], names: Sequence[str], context: ReadContext, notes: Notes, decode: Decode = values.time
) -> datetime:
    """Return the first time among some keys, or the time of the import; `decode` reads one."""
    for name in names:
        found = take(doc, name, decode, None, notes)
        if isinstance(found, datetime):
            return found
    notes.append(("created_at", "set to the time of the import, the record has none"))
    return context.now


def rating(context: ReadContext, observation_type: str, content: str, notes: Notes) -> float:
    """Return the importance of a record that brings none."""
    notes.append(("importance", "rated from type and content, the record has none"))
    return min(max(float(context.importance(observation_type, content)), 0.0), 10.0)


COUNTS = ("helpful", "harmful")
"""The names in front matter under which votes are counted."""


def votes_in(facts: Mapping[str, str]) -> tuple[int, int]:
    """Return how often a file's front matter says that its record helped and harmed; what is no count is none."""
    helpful, harmful = (facts.get(name, "").strip() for name in COUNTS)
    return _votes(helpful), _votes(harmful)


def _votes(said: str) -> int:
    return int(said) if said.isascii() and said.isdigit() and len(said) <= _LONGEST_COUNT else 0


def status_in(facts: Mapping[str, Any]) -> Status:
    """Return the status that a file states for its record; a signal where it states none that is known."""
    said = str(facts.get("status", "")).strip("\"'")
    return next((status for status in STATUSES if status == said), "signal")


def checked(memory: Memory) -> Memory:
    """Return `memory`. Raises `ValueError` with the rule of the data model that it breaks."""
    problem = broken_rule(memory)
    if problem:
        raise ValueError(problem)
    return memory
