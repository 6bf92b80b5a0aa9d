"""An episode as the store keeps it: a short head, with everything else in a file beside it that is named by its hash.

An episode says what happened and is not changed. What a person adds, notes and tags, stands beside or in the head; what
is counted, how often it was read and which others rest on it, is a record of its own.
"""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, get_args

from workbench.core.errors import InvalidRecord
from workbench.core.record import to_doc
from workbench.core.text import printable

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
    person who looked at it stands by what it says.
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
    version: int = 1


@dataclass(frozen=True, slots=True)
class EpisodeNote:
    """What a person noted on an episode."""

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


def head(id: str, at: datetime, outcome: Outcome, hash: str, type: str, domain: str, tags: tuple[str, ...]) -> Episode:
    """Return the head of a new episode; of its tags those that there is room for."""
    made = Episode(id, at.replace(microsecond=0), outcome, hash, type[:KIND], domain[:KIND])
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
