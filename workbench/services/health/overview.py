"""Counts of a store, the one-line status, and what is new since the last look."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.reflection.trigger import Gauge, Reason
from workbench.services.context import Context, is_person
from workbench.services.reflection.gauge import gauge_of
from workbench.services.review.counting import count_waiting

if TYPE_CHECKING:
    from workbench.services.review.review import Review


SMALL = 5_000
"""Memories up to which what waits is counted anew whenever somebody asks."""


class Stats(NamedTuple):
    """What a store holds: numbers of records, and memories by status, observation type and
    category.
    """

    memories: int
    pending: int
    bullets: int
    books: int
    queries: int
    judgments: int
    votes: int
    revision: int
    by_status: Mapping[str, int]
    by_type: Mapping[str, int]
    by_category: Mapping[str, int]


class SinceLastLook(NamedTuple):
    """What others did since a revision: memories that arrived, reads by agents, and what waits for
    a decision.
    """

    arrived: tuple[str, ...]
    read: tuple[str, ...]
    pending: int

    @property
    def sentence(self) -> str:
        """One line for the top of the screen; empty when nothing happened."""
        parts = []
        if self.arrived:
            parts.append(f"{len(self.arrived)} new")
        if self.read:
            parts.append(f"{len(self.read)} read by agents")
        if not parts:
            return ""
        return f"Since your last visit: {', '.join(parts)} · {self.pending} to review"


class Status(NamedTuple):
    """What a status bar tells: what waits, how many memories nobody has seen in the app yet,
    whether a reflection is due, and the store's revision. What is unseen says nothing of the
    reflection, which counts what came in by itself.
    """

    pending: int
    new: int
    due: Reason | None
    revision: int

    @property
    def line(self) -> str:
        """All of it but the revision, in one line."""
        due = [f"reflection due ({self.due})"] if self.due else []
        return " · ".join((f"{self.pending} pending", *due, f"{self.new} unseen"))


class Overview:
    """Looks at the store as a whole; writes nothing."""

    def __init__(self, context: Context, review: "Callable[[], Review]") -> None:
        self._context = context
        self._library = context.library
        self._review = review

    def stats(self) -> Stats:
        """Count everything."""
        from workbench.core.stream.memory import STATUSES  # the status loads no record

        library, memories = self._library, self._library.memories.all()
        status = Counter(m.status for m in memories)
        return Stats(
            memories=len(memories),
            pending=self._review().waiting(),
            bullets=len(library.bullets),
            books=len(library.books),
            queries=len(library.queries),
            judgments=len(library.judgments),
            votes=len(library.votes),
            revision=library.revision,
            by_status={name: status[name] for name in STATUSES},
            by_type=dict(Counter(m.observation_type for m in memories).most_common()),
            by_category=dict(Counter(m.category for m in memories if m.category).most_common()),
        )

    def gauge(self) -> Gauge:
        """Return how far the reflection trigger is along."""
        return gauge_of(self._context)

    def waiting(self) -> int:
        """Return how many proposals wait; who asks once of a store that is quickly looked through
        loads no queue.
        """
        if self._library.is_read and len(self._library.memories) > SMALL:
            return self._review().waiting()
        return count_waiting(self._library, self._context.now())

    def status(self, since: int | None) -> Status:
        """Return what a status bar tells; `since` is the revision last looked at, `None` for never."""
        new = len(self._library.memories) if since is None else len(self._news(since)[0])
        return Status(self.waiting(), new, self.gauge().due, self._library.revision)

    def since(self, rev: int) -> SinceLastLook:
        """Return what actors other than this person did after revision `rev`."""
        arrived, read = self._news(rev)
        return SinceLastLook(tuple(arrived), tuple(sorted(read)), self.waiting())

    def _news(self, rev: int) -> tuple[list[str], set[str]]:
        """Return the memories that arrived after a revision, and those that agents read."""
        arrived: list[str] = []
        read: set[str] = set()
        for one in self._library.arrivals(rev):
            if is_person(one.actor) and not one.actor.startswith(
                ("import", "reflector", "curator")
            ):
                continue
            arrived += [id for doc in one.added if (id := self._id(doc))]
            read |= {id for doc in one.read if (id := self._id(doc))}
        return arrived, read

    def _id(self, doc_id: str) -> str:
        return self._library.key_at("memories", doc_id)
