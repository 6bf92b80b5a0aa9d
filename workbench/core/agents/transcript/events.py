"""What happens in a session of an agent, in the order in which it is told: the values that the
rules read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

import msgspec

from workbench.core.document import Record

if TYPE_CHECKING:
    from workbench.core.agents.episodes.episode import Outcome


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: when, and in which conversation (`agent` is empty for the session's
    own).

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


def has(pattern: str, text: str) -> bool:
    """Tell whether a text has a pattern, whatever the case."""
    return bool(re.search(pattern, text, re.IGNORECASE))


# Where somebody stopped who follows a session, as a value: kept between one look and the next.
# Light, for hooks.


class Failure(Record, frozen=True):
    """A failure that nobody has resolved yet, and what was done since.

    `line` is the command line that failed (empty where it was another tool), `error` and `cause`
    say why, `mark` stands for the error. `edits` and `steps` were done since, `age` counts the tool
    uses since. `is_own` says that it lies in what the agent is just writing.
    """

    id: str
    tool: str
    line: str
    error: str
    cause: str
    mark: str
    at: datetime | None = None
    turn: int = 0
    cwd: str = ""
    is_own: bool = False
    edits: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    age: int = 0
    version: int = 1


class SessionProgress(Record, frozen=True):
    """What is needed to go on following a session.

    `turn` counts the prompts so far, `last` is the command that was run last; `open` are the
    failures by conversation, `written` the files that were edited.
    """

    session: str = ""
    turn: int = 0
    last: str = ""
    open: Mapping[str, tuple[Failure, ...]] = msgspec.field(default_factory=dict)
    written: tuple[str, ...] = ()
    version: int = 1


Verdict = Literal["", "passed", "failed", "accepted", "rejected"]

LEAST_CALLS = 3
"""Tool uses from which a task without an edit is kept as an episode."""

_CLAIM = r"[^.\n]*\b\d+ tests? pass[^.\n]*"


class Step(Record, frozen=True):
    """A use of a tool: `action` is the command line or the file, `error` what it failed with."""

    tool: str
    action: str = ""
    failed: bool = False
    error: str = ""


class Task(Record, frozen=True):
    """What a person asked for, what was done since, and what speaks for how it ended.

    `verdict` is the latest one since the last edit, `evidence` what it goes by; one of tests is not
    replaced by that of a build. `prompt` tells the latest prompt again, `background` a test that
    runs on: its id and command. `is_asked`: the latest prompt was a question, so that what is said
    is its answer. The agent may have stored an episode of it (`is_told`), or capture has
    (`is_stored`).
    """

    id: str
    text: str
    at: datetime | None = None
    ended: datetime | None = None
    prompt: str = ""
    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    calls: int = 0
    trace: tuple[Step, ...] = ()
    tools: tuple[str, ...] = ()
    verdict: Verdict = ""
    evidence: str = ""
    is_tested: bool = False
    said: str = ""
    background: tuple[str, ...] = ()
    is_asked: bool = False
    is_told: bool = False
    is_stored: bool = False

    @property
    def is_worth(self) -> bool:
        """Whether it becomes an episode."""
        return not self.is_told and (bool(self.edited) or self.calls >= LEAST_CALLS)

    @property
    def outcome(self) -> "Outcome":
        if not self.verdict:
            return "PARTIAL"
        return "SUCCESS" if self.verdict in ("passed", "accepted") else "FAILURE"

    @property
    def claim(self) -> str:
        """What the agent said of tests at the end; it decides nothing."""
        found = re.search(_CLAIM, self.said)
        return " ".join(found[0].split()) if found else ""

    @property
    def kind(self) -> str:
        """The type of task, by the words that it begins with."""
        return next(
            (kind for kind, told in _KINDS if re.search(told, self.text[:200], re.IGNORECASE)), ""
        )

    @property
    def domain(self) -> str:
        """The language of most of the files that were edited, or else read."""
        suffixes = [PurePosixPath(path).suffix[1:].lower() for path in self.edited or self.files]
        named = [_LANGUAGES.get(suffix, suffix) for suffix in suffixes if suffix]
        return max(named, key=lambda name: (named.count(name), name)) if named else ""


_KINDS = (
    ("bug_fix", r"\b(?:fix|bug|broken|fails?|failing|crash|debug|repair)"),
    ("refactoring", r"\b(?:refactor|rename|simplify|extract|clean up|move|split)\b"),
    ("documentation", r"\b(?:docs|document|readme|changelog)\b"),
    ("feature", r"\b(?:implement|add|create|build|support|introduce|write|work on)\b"),
    ("testing", r"\b(?:tests?|coverage)\b"),
)
_LANGUAGES = {
    "py": "python", "ex": "elixir", "exs": "elixir", "heex": "elixir", "ts": "typescript", "tsx": "typescript",
    "js": "javascript", "jsx": "javascript", "rs": "rust", "rb": "ruby", "kt": "kotlin", "cs": "csharp", "sh": "shell",
    "md": "documentation",
}  # fmt: skip
