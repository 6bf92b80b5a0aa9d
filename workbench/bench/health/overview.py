"""Counts of a store, the one-line status, and what is new since the last look."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.bench.context import Context, is_person
from workbench.bench.reflection.gauge import gauge_of, verdict_of
from workbench.bench.review.review import Review
from workbench.core.reflection.trigger import Gauge
from workbench.core.stream.memory import STATUSES


@dataclass(frozen=True, slots=True)
class Stats:
    """What a store holds: numbers of records, and memories by status, observation type and category."""

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


@dataclass(frozen=True, slots=True)
class SinceLastLook:
    """What others did since a revision: memories that arrived, reads by agents, and what waits for a decision."""

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
        return f"Since you last looked: {', '.join(parts)} · {self.pending} to review"


class Overview:
    """Looks at the store as a whole; writes nothing."""

    def __init__(self, context: Context, review: Review) -> None:
        self._context = context
        self._library = context.library
        self._review = review

    def stats(self) -> Stats:
        """Count everything."""
        library, memories = self._library, self._library.memories.all()
        status = Counter(m.status for m in memories)
        return Stats(
            memories=len(memories),
            pending=self._review.waiting(),
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

    def status_line(self, since: int | None) -> str:
        """Return one line for a status bar; `since` is the revision last looked at, `None` for never."""
        parts = [f"{self._review.waiting()} pending"]
        verdict = verdict_of(self._context)
        if verdict.due:
            parts.append(f"reflection due ({verdict.reason})")
        new = self.since(since).arrived if since is not None else tuple(m.id for m in self._library.memories.all())
        parts.append(f"{len(new)} new")
        return " · ".join(parts)

    def since(self, rev: int) -> SinceLastLook:
        """Return what actors other than this person did after revision `rev`."""
        arrived: list[str] = []
        read: set[str] = set()
        for entry in self._library.changes_back():
            if entry.rev <= rev:
                break
            if is_person(entry.actor) and not entry.actor.startswith(("import", "reflector", "curator")):
                continue
            ids = [self._id(c.doc) for c in entry.changes if c.table == "memories" and c.op == "insert"]
            arrived += [id for id in ids if id]
            if entry.kind == "access":
                read |= {id for c in entry.changes if c.table == "memories" and (id := self._id(c.doc))}
        return SinceLastLook(tuple(reversed(arrived)), tuple(sorted(read)), self._review.waiting())

    def _id(self, doc_id: str) -> str:
        return self._library.key_at("memories", doc_id)
