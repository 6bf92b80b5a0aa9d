"""What every record shares: the errors a person may see, what is absent from a document, and times."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, TypeVar


class WorkbenchError(Exception):
    """Something a person can act on.

    `message` is one sentence that says what happened; `hint`, when given, says
    what was not lost or what to do next. Both are plain text.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidRecord(WorkbenchError):
    """A record breaks a rule of the data model; nothing was written."""


class AlreadyPromoted(WorkbenchError):
    """A memory stands where agents read it, and is not promoted to another place too."""


class InvalidQuery(WorkbenchError):
    """A filter or query cannot be read."""


class UnreadableFile(WorkbenchError):
    """A file is missing, of an unknown format, or damaged; nothing was read from it."""


class UnknownRecord(WorkbenchError):
    """No record carries the given id."""


class StoreProblem(WorkbenchError):
    """The store cannot be opened, read or written."""


class OnlyLookedAt(StoreProblem):
    """A change of a store that is looked at as it was at a revision."""

    def __init__(self, rev: int) -> None:
        message = f"This is the store at revision {rev}, read-only."
        super().__init__(message, "Nothing was changed; open the present state to change it.")


class UnknownOutcome(StoreProblem):
    """A change was written, that failed, and it could not be taken back: it may be stored or not."""


class WorkStopped(WorkbenchError):
    """Long work was stopped before it was through; what it changed or keeps is said."""


class Conflict(WorkbenchError):
    """A later change touched the same field, so an older one cannot be taken back blindly."""


def cannot_write(folder: Path, error: OSError) -> StoreProblem:
    """Say in one sentence that the store cannot be written and what that means."""
    message = f"The store {folder} cannot be written: {why_failed(error)}."
    return StoreProblem(message, "Nothing was changed and nothing stored is lost.")


def cannot_read(folder: Path, error: OSError) -> StoreProblem:
    """Say in one sentence that the store cannot be read."""
    return StoreProblem(
        f"The store {folder} cannot be read: {why_failed(error)}.", "Nothing was changed."
    )


def why_failed(error: OSError) -> str:
    """Return what the system says of an error, as a part of a sentence."""
    said = error.strerror or str(error)
    return said[:1].lower() + said[1:]


Doc = Mapping[str, object]
V = TypeVar("V")


def as_object(value: object) -> Mapping[str, Any]:
    """Return a value of a document that is an object; anything else counts as an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> Sequence[Any]:
    """Return a value of a document that is a list; anything else counts as an empty one."""
    return value if isinstance(value, list | tuple) else ()


def without(doc: Mapping[str, V], *names: str) -> dict[str, V]:
    """Return an object that lacks some of its keys."""
    return {name: value for name, value in doc.items() if name not in names}


class _Absent:
    """Marks a field that is not in the document, which JSON's null could not tell from a stored
    null.
    """

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


def iso(at: datetime) -> str:
    """Write a time as ISO 8601 in UTC, with `Z`."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def clock_time(at: datetime, zone: tzinfo | None = None) -> datetime:
    """Return a time in a zone (the machine's when none is given), as it is where the calendar ends
    before it.
    """
    try:
        return at.astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return at


def minute(at: datetime, zone: tzinfo | None = None) -> str:
    """Write a time for people, to the minute, in a zone as `clock_time` has it: "2026-03-20 17:30"."""
    return clock_time(at, zone).replace(tzinfo=None).isoformat(" ", "minutes")


def moved(at: datetime, span: timedelta) -> datetime:
    """Return a time so much later (or earlier), at most as far as the calendar goes."""
    try:
        return at + span
    except OverflowError:
        end = datetime.max if span > timedelta(0) else datetime.min
        return end.replace(tzinfo=at.tzinfo)


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 time; one without an offset is taken as UTC. Raises `ValueError`."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is UTC:
        return at
    if at.tzinfo is None:
        return at.replace(tzinfo=UTC)
    try:
        return at.astimezone(UTC)
    except OverflowError as error:  # the first or last hours there are, in another place
        raise ValueError(f"{text} is outside the range of times") from error
