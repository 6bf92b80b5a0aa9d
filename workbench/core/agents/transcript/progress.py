"""Where somebody stopped who follows a session, as a value: kept between one look and the next. Light, for hooks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that nobody has resolved yet, and what was done since.

    `line` is the command line that failed (empty where it was another tool), `error` and `cause` say why, `mark` stands
    for the error. `edits` and `steps` were done since, `age` counts the tool uses since. `is_own` says that it lies in
    what the agent is just writing.
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


@dataclass(frozen=True, slots=True)
class SessionProgress:
    """What is needed to go on following a session.

    `turn` counts the prompts so far, `last` is the command that was run last; `open` are the failures by conversation,
    `written` the files that were edited.
    """

    session: str = ""
    turn: int = 0
    last: str = ""
    open: Mapping[str, tuple[Failure, ...]] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    version: int = 1
