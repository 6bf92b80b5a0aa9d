"""Saved queries and graded judgments: what retrieval is measured against."""

from datetime import datetime
from hashlib import blake2b

from workbench.core.document import Record
from workbench.core.record import iso

MAX_GRADE = 3


class SavedQuery(Record, frozen=True):
    """A query worth keeping. `now` is the moment it is asked at; absent means the present.

    `topic` is what other tools' files call it, where one of them brought it.
    """

    id: str
    text: str
    created_at: datetime
    now: datetime | None = None
    tags: tuple[str, ...] = ()
    version: int = 1
    topic: str = ""

    @property
    def name(self) -> str:
        """What files for other tools call it."""
        return self.topic or self.id


class Judgment(Record, frozen=True):
    """A person's grade (0 = not relevant … 3 = essential) of one memory for one saved query."""

    id: str
    query: str
    memory: str
    grade: int
    actor: str
    at: datetime
    version: int = 1


def judgment_id(query: str, memory: str) -> str:
    """Name the one judgment of `memory` for `query`."""
    return f"{query}:{memory}"


def query_id(text: str, now: datetime | None) -> str:
    """Name a saved query by what it asks, so that the same one is never stored twice."""
    moment = iso(now) if now else ""
    return (
        "query-" + blake2b(f"{text}\n{moment}".encode(errors="replace"), digest_size=6).hexdigest()
    )
