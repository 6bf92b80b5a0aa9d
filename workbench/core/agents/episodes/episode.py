"""An episode as the store keeps it: a short head, with everything else in a file beside it that is named by its hash.

An episode says what happened and is not changed. What a person adds, notes and tags, stands beside or in the head; what
is counted, how often it was read and which others rest on it, is a record of its own.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, NamedTuple, get_args

from workbench.core.record import InvalidRecord, parse_time, to_doc
from workbench.core.text import one_line, printable

Outcome = Literal["SUCCESS", "PARTIAL", "FAILURE"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

Status = Literal["active", "archived", "deleted"]
STATUSES: tuple[Status, ...] = get_args(Status)

PREFIX = "ep"
"""How the ids begin that episodes get here: `ep-YYYYMMDD-nnnnnnn`."""

MOST = 300
"""Bytes that the head of an episode takes in the store, at the most."""

LONGEST_ID = 64
LONGEST_TAG = 40

_RESERVED = len(b'"status":"archived","deleted_at":"2026-11-21T12:00:00Z","approved":true,')
"""Bytes that are left free, for what becomes of an episode later."""

KIND = 40
"""Characters of a type and of a domain that stand in the head; the whole of both stands in the file."""


@dataclass(frozen=True, slots=True)
class Episode:
    """The head of an episode: when it was, of what `type` of task and in which `domain`, and how it ended.

    `hash` names the file with the rest (`EpisodeBody`). One that is `deleted`, at a time, is kept until its retention
    is over. `tags` are its own, as many as there is room for, and those that a person gave it. It is `approved` once a
    person who looked at it stands by what it says. One that is `captured` was made of a session's transcript.
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


@dataclass(frozen=True, slots=True)
class EpisodeNote:
    id: str
    episode: str
    text: str
    at: datetime
    actor: str
    version: int = 1


@dataclass(frozen=True, slots=True)
class EpisodeUse:
    """How often an episode was read by agents and when last, and apart from that which records rest on it.

    `id` is made of the episode's (`uses_id`).
    """

    id: str
    episode: str
    access_count: int = 0
    last_accessed_at: datetime | None = None
    referenced_by: tuple[str, ...] = ()
    version: int = 1


def uses_id(episode: str) -> str:
    """Return the id of the count of an episode's uses: another name, so that none means two records."""
    return f"{episode}:uses"


def unused(episode: str) -> EpisodeUse:
    """Return the count of an episode that nobody has read yet."""
    return EpisodeUse(uses_id(episode), episode)


def size_of(episode: Episode) -> int:
    """Return the bytes of a head as it is stored."""
    return len(json.dumps(to_doc(episode), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def checked_id(id: str) -> str:
    """Return the id that an episode brings along; raises `InvalidRecord` for one that cannot be a name."""
    if not id or len(id.encode("utf-8", "surrogatepass")) > LONGEST_ID or printable(id) != id or id != id.strip():
        said = f"1 to {LONGEST_ID} bytes without control characters"
        raise InvalidRecord(
            f"episode_id: expected {said}, found “{printable(id[:LONGEST_ID])}”.", "Nothing was stored."
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
    """Return the head of a new episode; of its tags those that there is room for."""
    made = Episode(id, at.replace(microsecond=0), outcome, hash, type[:KIND], domain[:KIND], captured=captured)
    while _room(made) < 0 and (made.type or made.domain):
        # Characters outside ASCII take more: cut the longer one, a letter at a time.
        longer = "type" if len(made.type) >= len(made.domain) else "domain"
        made = replace(made, **{longer: getattr(made, longer)[:-1]})
    for tag in dict.fromkeys(tag.strip() for tag in tags):
        more = replace(made, tags=(*made.tags, tag))
        if tag and len(tag) <= LONGEST_TAG and _room(more) >= 0:
            made = more
    return made


def tagged(episode: Episode, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> Episode:
    """Return an episode with other tags; raises `InvalidRecord` when there is no room for them."""
    kept = [tag for tag in (*episode.tags, *add) if tag not in remove]
    more = replace(episode, tags=tuple(dict.fromkeys(kept)))
    if any(not tag.strip() or len(tag) > LONGEST_TAG or printable(tag) != tag for tag in add):
        raise InvalidRecord(f"A tag has 1 to {LONGEST_TAG} characters, on one line.", "Nothing was changed.")
    if _room(more) < 0 and len(more.tags) > len(episode.tags):
        raise InvalidRecord(f"There is no room for more tags on {episode.id}.", "Nothing was changed; a note has room.")
    return more


def _room(episode: Episode) -> int:
    return MOST - _RESERVED - size_of(replace(episode, status="active", deleted_at=None, approved=False))


# What an episode is made of (source 004, section 2.2): read from JSON and checked, each fault by the field's path.
#
# Fields that are not named here are kept where they stand. Nothing but the task and the outcome has to be there.


Json = Mapping[str, object]

DEEPEST = 64
"""How many lists and objects may stand in one another."""

NAMED = 3
"""Faults that are named in one sentence; all of them are in the error."""

_SHOWN = 40


class Field(NamedTuple):
    """A field that is known: its path, `what` a value of it is, in words, and whether it must be there."""

    path: str
    what: str
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A value that is not what it has to be: where, what was expected, and what was found ("" for nothing)."""

    path: str
    expected: str
    found: str = ""

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, found {self.found or 'nothing'}."


class InvalidEpisode(InvalidRecord):
    """What was to be an episode is none; `faults` say why, each by the path of its field."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        said = " ".join(map(str, faults[:NAMED]))
        more = f" And {len(faults) - NAMED:,} more." if len(faults) > NAMED else ""
        super().__init__(f"This is no episode: {said}{more}", "Nothing was stored.")
        self.faults = tuple(faults)


TEXT, SAID = "a text", "a text that says something"
TIME, NUMBER, COUNT = "an ISO 8601 time", "a number of at least 0", "a whole number of at least 0"
OBJECT, LIST, TEXTS, VECTOR = "an object", "a list", "a list of texts", "a list of numbers"
OUTCOME, STATUS = " or ".join((", ".join(OUTCOMES[:-1]), OUTCOMES[-1])), " or ".join(STATUSES)

FIELDS: tuple[Field, ...] = (
    Field("episode_id", TEXT), Field("timestamp", TIME), Field("session_id", TEXT),
    Field("task", OBJECT, True), Field("task.original_input", SAID, True), Field("task.constraints", LIST),
    Field("execution", OBJECT), Field("execution.trace", LIST), Field("execution.adaptations", LIST),
    Field("execution.duration", NUMBER), Field("execution.resource_usage", OBJECT),
    Field("outcome", OBJECT, True), Field("outcome.status", OUTCOME, True), Field("outcome.side_effects", LIST),
    Field("outcome.quality_metrics", OBJECT),
    Field("reflection", OBJECT), Field("reflection.insights", LIST), Field("reflection.patterns_discovered", LIST),
    Field("reflection.failures_analyzed", LIST),
    Field("metadata", OBJECT), Field("metadata.domain", TEXT), Field("metadata.task_type", TEXT),
    Field("metadata.tools_used", TEXTS), Field("metadata.strategies_applied", TEXTS), Field("metadata.tags", TEXTS),
    Field("metadata.memories_applied", TEXTS),
    Field("embeddings", OBJECT), Field("embeddings.task_embedding", VECTOR),
    Field("embeddings.outcome_embedding", VECTOR), Field("embeddings.full_episode_embedding", VECTOR),
    Field("lifecycle", OBJECT), Field("lifecycle.access_count", COUNT), Field("lifecycle.last_accessed", TIME),
    Field("lifecycle.referenced_by", TEXTS), Field("lifecycle.archival_status", STATUS),
)  # fmt: skip
"""Every field that is looked at; goals, plan, output, complexity and analysis are whatever an agent makes of them."""

NO_EVIDENCE = "no evidence"
"""Tag of an episode of which nothing tells how it ended."""

COUNTED = ("access_count", "last_accessed", "referenced_by", "archival_status")
"""Parts of `lifecycle` that the store counts on itself."""


@dataclass(frozen=True, slots=True)
class EpisodeBody:
    """An episode whole, as JSON values; the properties are its known fields."""

    doc: Json

    @property
    def id(self) -> str:
        """The id it brings along; empty for none."""
        return self._text("episode_id")

    @property
    def at(self) -> datetime | None:
        said = self.get("timestamp")
        return parse_time(said) if isinstance(said, str) else None

    @property
    def session(self) -> str:
        """The agent session it was in."""
        return self._text("session_id")

    @property
    def task(self) -> str:
        return self._text("task.original_input")

    @property
    def outcome(self) -> Outcome:
        said = self._text("outcome.status").upper()
        return next(one for one in OUTCOMES if one == said)

    @property
    def is_unproven(self) -> bool:
        """Whether nothing tells how it ended: capture tags it so."""
        return self.outcome == "PARTIAL" and NO_EVIDENCE in self.texts("metadata.tags")

    @property
    def status(self) -> Status:
        """What had become of it where it comes from."""
        said = self._text("lifecycle.archival_status").lower()
        return next((one for one in STATUSES if one == said), "active")

    def get(self, path: str) -> object:
        """Return the value at a path such as `task.context`; `None` where there is none."""
        value: object = self.doc
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    @property
    def captured(self) -> bool:
        """Whether it was made of a session's transcript, and nobody told it."""
        return self.get("metadata.captured") is True

    def text(self, path: str) -> str:
        """Return the text at a path; empty where there is none."""
        return self._text(path)

    def texts(self, path: str) -> tuple[str, ...]:
        """Return the texts in the list at a path."""
        found = self.get(path)
        return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list | tuple) else ()

    @property
    def kept(self) -> Json:
        """What is kept of it beside the store: all but its name, and what the store itself counts."""
        doc = {name: value for name, value in self.doc.items() if name != "episode_id"}
        lifecycle = doc.get("lifecycle")
        if isinstance(lifecycle, Mapping):
            rest = {name: value for name, value in lifecycle.items() if name not in COUNTED}
            doc.pop("lifecycle") if not rest else doc.update(lifecycle=rest)
        return doc

    def _text(self, path: str) -> str:
        said = self.get(path)
        return said if isinstance(said, str) else ""


def read_episode(doc: object) -> EpisodeBody:
    """Return an episode of JSON values; raises `InvalidEpisode`, which names every field that is not as it must be."""
    if not isinstance(doc, Mapping):
        raise InvalidEpisode([Fault("episode", OBJECT, _found(doc))])
    faults = list(_faults(doc))
    if faults:
        raise InvalidEpisode(faults)
    body = EpisodeBody(doc)
    if body.id:
        checked_id(body.id)
    return body


def _faults(doc: Json) -> Iterator[Fault]:
    body = EpisodeBody(doc)
    for name, what, is_required in FIELDS:
        above, _, _ = name.rpartition(".")
        if above and not isinstance(body.get(above), Mapping):
            continue  # that is its own fault, or there is nothing to look at
        value = body.get(name)
        if value is None:
            if is_required:
                yield Fault(name, what)
        else:
            yield from _CHECKS[what](name, what, value)
    yield from _too_deep(doc, "", 0)


def _too_deep(value: object, path: str, depth: int) -> Iterator[Fault]:
    if depth > DEEPEST:
        yield Fault(path, f"at most {DEEPEST} levels", "more")
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _too_deep(item, f"{path}.{one_line(str(name), _SHOWN)}" if path else str(name), depth + 1)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            if isinstance(item, Mapping | list | tuple):
                yield from _too_deep(item, f"{path}[{index}]", depth + 1)


Check = Callable[[str, str, object], Iterator[Fault]]


def _is(test: Callable[[object], bool]) -> Check:
    def check(path: str, what: str, value: object) -> Iterator[Fault]:
        if not test(value):
            yield Fault(path, what, _found(value))

    return check


def _each(test: Callable[[object], bool], what_each: str) -> Check:
    def check(path: str, what: str, value: object) -> Iterator[Fault]:
        if not isinstance(value, list | tuple):
            yield Fault(path, what, _found(value))
            return
        wrong = ((index, one) for index, one in enumerate(value) if not test(one))
        yield from (Fault(f"{path}[{index}]", what_each, _found(one)) for index, one in wrong)

    return check


def _is_said(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and parse_time(value) is not None
    except (ValueError, OverflowError):
        return False


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_CHECKS: Mapping[str, Check] = {
    TEXT: _is(lambda value: isinstance(value, str)),
    SAID: _is(_is_said),
    TIME: _is(_is_time),
    NUMBER: _is(lambda value: _is_number(value) and value >= 0),  # type: ignore[operator]
    COUNT: _is(lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0),
    OBJECT: _is(lambda value: isinstance(value, Mapping)),
    LIST: _is(lambda value: isinstance(value, list | tuple)),
    TEXTS: _each(lambda value: isinstance(value, str), TEXT),
    VECTOR: _each(_is_number, "a number"),
    OUTCOME: _is(lambda value: isinstance(value, str) and value.upper() in OUTCOMES),
    STATUS: _is(lambda value: isinstance(value, str) and value.lower() in STATUSES),
}


def _found(value: object) -> str:
    if isinstance(value, str):
        return f"“{one_line(value, _SHOWN)}”" if value.strip() else "an empty text"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)[:_SHOWN]
    return "an object" if isinstance(value, Mapping) else "a list"
