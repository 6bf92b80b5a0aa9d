"""An episode as the store keeps it: a short head, with everything else in a file beside it that is
named by its hash.

An episode says what happened and is not changed. What a person adds, notes and tags, stands beside
or in the head; what is counted, how often it was read and which others rest on it, is a record of
its own.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args

from workbench.core.document import Record
from workbench.core.record import InvalidRecord, as_list, as_object, parse_time, without
from workbench.core.text import printable
from workbench.core.values import WrongValue, is_deeper, read_as

Outcome = Literal["SUCCESS", "PARTIAL", "FAILURE"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

Status = Literal["active", "archived", "deleted"]
STATUSES: tuple[Status, ...] = get_args(Status)

PREFIX = "ep"
"""How the ids begin that episodes get here: `ep-YYYYMMDD-nnnnnnn`."""

MOST_TAGS, MORE_TAGS = 8, 24
"""Tags of its own that stand in the head of an episode, and those with a person's, at the most."""

LONGEST_ID = 64
LONGEST_TAG = 40

KIND = 40
"""Characters of a type and of a domain that stand in the head; the whole of both stands in the
file.
"""


class Episode(Record, frozen=True):
    """The head of an episode: when it was, of what `type` of task and in which `domain`, and how it
    ended.

    `hash` names the file with the rest (`EpisodeBody`). One that is `deleted`, at a time, is kept
    until its retention is over. `tags` are its own, as many as there is room for, and those that a
    person gave it. It is `approved` once a person who looked at it stands by what it says. One that
    is `captured` was made of a session's transcript.
    """

    id: str
    at: datetime
    outcome: Outcome
    hash: str
    type: str = ""
    domain: str = ""
    status: Status = "active"
    tags: tuple[str, ...] = ()
    deleted_at: datetime | None = None
    approved: bool = False
    captured: bool = False
    version: int = 1


class EpisodeNote(Record, frozen=True):
    id: str
    episode: str
    text: str
    at: datetime
    actor: str
    version: int = 1


class EpisodeUse(Record, frozen=True):
    """How often an episode was read by agents and when last, and apart from that which records rest
    on it.

    `id` is made of the episode's (`uses_id`).
    """

    id: str
    episode: str
    access_count: int = 0
    last_accessed_at: datetime | None = None
    referenced_by: tuple[str, ...] = ()
    version: int = 1


def uses_id(episode: str) -> str:
    """Return the id of the count of an episode's uses: another name, so that none means two
    records.
    """
    return f"{episode}:uses"


def unused(episode: str) -> EpisodeUse:
    """Return the count of an episode that nobody has read yet."""
    return EpisodeUse(uses_id(episode), episode)


def checked_id(id: str) -> str:
    """Return the id that an episode brings along; raises `InvalidRecord` for one that cannot be a
    name.
    """
    if (
        not id
        or len(id.encode("utf-8", "surrogatepass")) > LONGEST_ID
        or printable(id) != id
        or id != id.strip()
    ):
        said = f"1 to {LONGEST_ID} bytes without control characters"
        raise InvalidRecord(
            f"episode_id: expected {said}, found “{printable(id[:LONGEST_ID])}”.",
            "Nothing was stored.",
        )
    return id


def head(
    id: str,
    at: datetime,
    outcome: Outcome,
    hash: str,
    type: str,
    domain: str,
    tags: tuple[str, ...],
    *,
    captured: bool = False,
) -> Episode:
    """Return the head of a new episode, with the first of its tags."""
    own = dict.fromkeys(tag.strip() for tag in tags if 0 < len(tag.strip()) <= LONGEST_TAG)
    first = tuple(own)[:MOST_TAGS]
    return Episode(id, at.replace(microsecond=0), outcome, hash, type[:KIND], domain[:KIND], "active", first,
                   captured=captured)  # fmt: skip


def tagged(episode: Episode, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> Episode:
    """Return an episode with other tags; raises `InvalidRecord` when there is no room for them."""
    kept = [tag for tag in (*episode.tags, *add) if tag not in remove]
    more = replace(episode, tags=tuple(dict.fromkeys(kept)))
    if any(not tag.strip() or len(tag) > LONGEST_TAG or printable(tag) != tag for tag in add):
        raise InvalidRecord(
            f"A tag has 1 to {LONGEST_TAG} characters, on one line.", "Nothing was changed."
        )
    if len(more.tags) > max(MORE_TAGS, len(episode.tags)):
        raise InvalidRecord(
            f"{episode.id} has no room for more tags.",
            "Nothing was changed; use a note instead.",
        )
    return more


# What an episode is made of (source 004, section 2.2): read from JSON and checked, each fault by
# the field's path.
#
# Fields that are not named here are kept where they stand. Nothing but the task and the outcome has
# to be there.

Json = Mapping[str, object]

DEEPEST = 64
"""How many lists and objects may stand in one another."""

NAMED = 3
"""Faults that are named in one sentence; all of them are in the error."""


class InvalidEpisode(InvalidRecord):
    """What was to be an episode is none; `faults` say why, each a path and what is wrong there."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        said = " ".join(f"{path}: {problem}." for path, problem in faults[:NAMED])
        more = f" And {len(faults) - NAMED:,} more." if len(faults) > NAMED else ""
        super().__init__(f"This is not an episode: {said}{more}", "Nothing was stored.")
        self.faults = tuple(faults)


FIELDS: Mapping[str, Any] = {
    **dict.fromkeys(("episode_id", "timestamp", "session_id"), str),
    **dict.fromkeys(("task", "execution", "outcome", "reflection", "metadata", "embeddings", "lifecycle"), dict),
    **dict.fromkeys(("execution.resource_usage", "outcome.quality_metrics"), dict),
    **dict.fromkeys(("task.original_input", "outcome.status", "metadata.domain", "metadata.task_type"), str),
    **dict.fromkeys(("lifecycle.last_accessed", "lifecycle.archival_status"), str),
    **dict.fromkeys(("task.constraints", "execution.trace", "execution.adaptations", "outcome.side_effects"), list),
    **{f"reflection.{name}": list for name in ("insights", "patterns_discovered", "failures_analyzed")},
    **{f"metadata.{name}": list[str] for name in ("tools_used", "strategies_applied", "tags", "memories_applied")},
    "lifecycle.referenced_by": list[str], "lifecycle.access_count": int, "execution.duration": float,
    **{f"embeddings.{name}_embedding": list[float] for name in ("task", "outcome", "full_episode")},
}  # fmt: skip
"""Every field that is looked at; goals, plan, output, complexity and analysis are whatever an agent
makes of them.
"""

REQUIRED = ("task", "task.original_input", "outcome", "outcome.status")

NO_EVIDENCE = "no evidence"
"""Tag of an episode of which nothing tells how it ended."""

COUNTED = ("access_count", "last_accessed", "referenced_by", "archival_status")
"""Parts of `lifecycle` that the store counts on itself."""


class EpisodeBody(NamedTuple):
    """An episode whole, as JSON values; the properties are its known fields."""

    doc: Json

    @property
    def id(self) -> str:
        """The id it brings along; empty for none."""
        return self.text("episode_id")

    @property
    def at(self) -> datetime | None:
        said = self.get("timestamp")
        return parse_time(said) if isinstance(said, str) else None

    @property
    def session(self) -> str:
        """The agent session it was in."""
        return self.text("session_id")

    @property
    def task(self) -> str:
        return self.text("task.original_input")

    @property
    def outcome(self) -> Outcome:
        said = self.text("outcome.status").upper()
        return next(one for one in OUTCOMES if one == said)

    @property
    def is_unproven(self) -> bool:
        """Whether nothing tells how it ended: capture tags it so."""
        return self.outcome == "PARTIAL" and NO_EVIDENCE in self.texts("metadata.tags")

    @property
    def status(self) -> Status:
        """What had become of it where it comes from."""
        said = self.text("lifecycle.archival_status").lower()
        return next((one for one in STATUSES if one == said), "active")

    def get(self, path: str) -> object:
        """Return the value at a path such as `task.context`; `None` where there is none."""
        value: object = self.doc
        for name in path.split("."):
            value = as_object(value).get(name)
        return value

    @property
    def captured(self) -> bool:
        """Whether it was made of a session's transcript, and nobody told it."""
        return self.get("metadata.captured") is True

    def text(self, path: str) -> str:
        """Return the text at a path; empty where there is none."""
        said = self.get(path)
        return said if isinstance(said, str) else ""

    def texts(self, path: str) -> tuple[str, ...]:
        """Return the texts in the list at a path."""
        return tuple(one for one in as_list(self.get(path)) if isinstance(one, str))

    def number(self, path: str) -> float | None:
        """Return the number at a path."""
        found = self.get(path)
        return float(found) if isinstance(found, int | float) else None

    @property
    def kept(self) -> Json:
        """What is kept of it beside the store: all but its name, and what the store itself counts."""
        doc = without(self.doc, "episode_id")
        lifecycle = doc.get("lifecycle")
        if isinstance(lifecycle, Mapping):
            rest = without(lifecycle, *COUNTED)
            doc.pop("lifecycle") if not rest else doc.update(lifecycle=rest)
        return doc


def read_episode(doc: object) -> EpisodeBody:
    """Return an episode of JSON values; raises `InvalidEpisode`, which names every field that is
    not as it must be.
    """
    if not isinstance(doc, Mapping):
        raise InvalidEpisode([("episode", "is not an object")])
    if is_deeper(doc, DEEPEST):
        raise InvalidEpisode([("episode", f"is nested deeper than {DEEPEST} levels")])
    body = EpisodeBody(doc)
    faults = [(path, problem) for path in FIELDS for path, problem in _wrong(body, path)]
    if faults:
        raise InvalidEpisode(faults)
    if body.id:
        checked_id(body.id)
    return body


def _wrong(body: EpisodeBody, path: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one field."""
    above, value = path.rpartition(".")[0], body.get(path)
    if above and not isinstance(body.get(above), Mapping):
        return  # that is its own fault, or there is nothing to look at
    if value is None:
        if path in REQUIRED:
            yield path, "is missing"
        return
    try:
        read_as(FIELDS[path], value)
    except WrongValue as error:
        yield path + error.path, error.problem
        return
    if isinstance(value, int | float) and not 0 <= value < math.inf:
        yield path, "is not a number of at least 0"
    if (
        path.startswith("embeddings.")
        and isinstance(value, list | tuple)
        and not all(map(math.isfinite, value))
    ):
        yield path, "contains something that is not a number"
    fits, problem = _MEANING.get(path, (bool, ""))
    if problem and not fits(body.text(path)):
        yield path, problem


def _is_time(text: str) -> bool:
    try:
        return parse_time(text) is not None
    except (ValueError, OverflowError):
        return False


_MEANING: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "task.original_input": (lambda text: bool(text.strip()), "is empty"),
    "outcome.status": (
        lambda text: text.upper() in OUTCOMES,
        f"is not one of {', '.join(OUTCOMES)}",
    ),
    "lifecycle.archival_status": (
        lambda text: text.lower() in STATUSES,
        f"is not one of {', '.join(STATUSES)}",
    ),
    "timestamp": (_is_time, "is not an ISO 8601 time"),
    "lifecycle.last_accessed": (_is_time, "is not an ISO 8601 time"),
}
"""What texts have to say, and what is said of those that do not."""
