"""What happens in a session of an agent, in the order in which it is told: the values that the rules read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: when, and in which conversation (`agent` is empty for the session's own).

    `id` is that of the message or tool use, unique in a session.
    """

    id: str
    at: datetime | None = None
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Prompt(Event):
    """What was asked; by a person, unless it is the task of a subagent."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Call(Event):
    """A use of a tool; `cwd` is the folder that the session was in."""

    tool: str = ""
    given: Mapping[str, object] = field(default_factory=dict)
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class Answer(Event):
    """What came of a tool use, whose id it has."""

    text: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Said(Event):
    """What the agent said."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Summary(Event):
    """What a session that ran out of context was boiled down to."""

    text: str = ""


# Fields of events: how much of one is looked at, and how paths stand in it.


LONGEST = 20_000
"""Characters of a field that are looked at; of a longer one its beginning and its end."""


def cut(text: str) -> str:
    """Return a field as far as it is looked at: errors stand at either end."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2]}\n{text[1 - LONGEST // 2 :]}"


_HOME = r"(?<![\w.])(?:/home/[^/\s'\"`:]+|/Users/[^/\s'\"`:]+|/root|[A-Z]:\\Users\\[^\\\s'\"`]+)(?=[/\\\s'\"`:]|$)"


def short_paths(text: str) -> str:
    """Return a text in which a home folder is `~`."""
    return re.sub(_HOME, "~", text)
