"""How a store goes: what came in, what was decided and what was voted day by day, and how what it
holds is spread.
"""

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple, get_args

from workbench.core.agents.read import About, AgentRead
from workbench.core.record import as_object, clock_time, iso, moved, parse_time
from workbench.core.review.proposal import Proposal
from workbench.core.stream.confidence import standing_in, value_of
from workbench.core.stream.memory import STATUSES, Memory, Verdict, Vote
from workbench.services.context import Context
from workbench.store.entry import DocChange, Transaction

DAYS = 42
"""Days that are looked at: six weeks, the last of which ends today."""

MOST_DAYS = 3_660

UNKNOWN = ""
"""Stands for a category or a source that a memory does not name."""

MEMORIES = "memories"
"""What a question was about that does not say."""

REFLECTION = "reflection"
"""The source of what was not observed but concluded."""

Daily = tuple[int, ...]
"""A number for each day, the oldest first."""

_CONFIRMED = ("confirmed", "promoted")


class Hits(NamedTuple):
    """How many questions agents `asked`, and how many of them were `answered` with something."""

    asked: int
    answered: int

    @property
    def rate(self) -> float:
        """The share that was answered; 0 where nothing was asked."""
        return self.answered / self.asked if self.asked else 0.0


class Trends(NamedTuple):
    """What happened on each of `days` (of a person's own calendar, the last is today), and what the
    store holds now.

    `made` are the memories of a day, `types` and `categories` the same by what they are, the most
    frequent first. `approved` and `rejected` are decisions about candidates and other proposals
    that stand, `helpful` and `harmful` votes that do; marks that a file brought have no date.
    `statuses`, `confidences` (0 to 5) and `sources` are of all memories, not only of these days.
    `hits` are the questions of agents by what was looked through (source 004, section 4.3), as far
    as readings are kept.
    """

    days: tuple[date, ...]
    made: Daily
    types: Mapping[str, Daily]
    categories: Mapping[str, Daily]
    approved: Daily
    rejected: Daily
    helpful: Daily
    harmful: Daily
    statuses: Mapping[str, int]
    confidences: Mapping[str, int]
    sources: Mapping[str, int]
    hits: Mapping[str, Hits]

    @property
    def decided(self) -> Daily:
        """The decisions of each day."""
        return tuple(map(sum, zip(self.approved, self.rejected, strict=True)))

    @property
    def voted(self) -> Daily:
        return tuple(map(sum, zip(self.helpful, self.harmful, strict=True)))

    @property
    def approval(self) -> float | None:
        """The share of the decisions of all days that approved; `None` without any."""
        yes, no = sum(self.approved), sum(self.rejected)
        return yes / (yes + no) if yes + no else None


class _Decision(NamedTuple):
    """A decision about a candidate, or (`approved` is `None`) that it went another way or waits
    again.
    """

    at: str = ""
    approved: bool | None = None


class TrendsLook:
    """Looks at how a store goes, on any thread; it remembers what of the past it has read. It
    writes nothing.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library
        self._turn = threading.Lock()
        self._rev = 0
        self._decided: dict[str, _Decision] = {}

    def look(self, days: int = DAYS, zone: tzinfo | None = None) -> Trends:
        """Return the trends of so many days, in a time zone (the machine's when none is given).

        Raises `StoreProblem` when the journal cannot be read.
        """
        window = _Window(
            clock_time(self._context.now(), zone).date(), min(max(1, days), MOST_DAYS), zone
        )
        memories = self._library.stored(Memory)
        fresh = [
            (day, doc)
            for doc in memories
            if (day := window.day_of(doc.get("created_at"))) is not None
        ]
        yes, no = self._decisions(window)
        votes = self._library.stored(Vote)
        status = Counter(str(doc.get("status", STATUSES[0])) for doc in memories)
        confidence = Counter(value_of(standing_in(doc)) for doc in memories)
        return Trends(
            window.days,
            window.counted(day for day, _ in fresh),
            window.by_name(
                (day, str(doc.get("observation_type", "general"))) for day, doc in fresh
            ),
            window.by_name((day, str(doc.get("category", UNKNOWN))) for day, doc in fresh),
            yes,
            no,
            _voted(votes, "helpful", window),
            _voted(votes, "harmful", window),
            {name: status[name] for name in STATUSES},
            {str(step): confidence[step] for step in range(6)},
            dict(Counter(map(_source, memories)).most_common()),
            _hits(self._library.stored(AgentRead), window),
        )

    def _decisions(self, window: "_Window") -> tuple[Daily, Daily]:
        """Return what was approved and rejected on each day."""
        found = [
            _Decision(str(doc["decided_at"]), doc.get("state") == "accepted")
            for doc in self._settled()
        ]
        with self._turn:
            self._read_on()
            found += self._decided.values()
        yes, no = (
            window.counted_at(one.at for one in found if one.approved is said)
            for said in (True, False)
        )
        return yes, no

    def _settled(self) -> list[Mapping[str, object]]:
        docs = self._library.stored(Proposal)
        return [
            doc
            for doc in docs
            if doc.get("decided_at") and doc.get("state") in ("accepted", "rejected")
        ]

    def _read_on(self) -> None:
        """Take in what became of candidates since the last look: no record says when one was
        confirmed.
        """
        rev, known = self._library.revision, self._rev
        if rev == known:
            return
        fresh: dict[str, _Decision] = {}
        if rev < known:
            known, self._decided = 0, {}
        for entry, change in self._library.past.moves(
            "memories", "status", "candidate", STATUSES, after=known
        ):
            # The newest first: what was decided earlier about the same one does not stand any more.
            fresh.setdefault(change.doc, _decision(entry, change))
        self._decided |= fresh
        self._rev = rev


class _Window:
    """So many days up to the last one, and what happened on each."""

    def __init__(self, last: date, count: int, zone: tzinfo | None) -> None:
        self._zone = zone
        self._last = last.toordinal()
        self._count = min(count, self._last)
        self._first = self._last - self._count
        # Times are stored in UTC: what is a day older than the first day by their letters is older
        # by any clock.
        begin = datetime.combine(date.fromordinal(max(1, self._first)), time.min, UTC)
        self._oldest = iso(moved(begin, timedelta(days=-1)))

    @property
    def days(self) -> tuple[date, ...]:
        """The days, the oldest first."""
        return tuple(date.fromordinal(self._first + 1 + place) for place in range(self._count))

    def day_of(self, at: object) -> int | None:
        """Return the place of the day of a stored time, `None` when it is not one of these days."""
        if not isinstance(at, str) or at < self._oldest:
            return None
        try:
            place = clock_time(parse_time(at), self._zone).toordinal() - self._first - 1
        except ValueError:
            return None
        return place if 0 <= place < self._count else None

    def counted(self, places: Iterable[int]) -> Daily:
        """Return how often each place occurs."""
        counts = Counter(places)
        return tuple(counts[place] for place in range(self._count))

    def counted_at(self, times: Iterable[object]) -> Daily:
        """Return how many of some stored times each day has."""
        return self.counted(place for at in times if (place := self.day_of(at)) is not None)

    def by_name(self, found: Iterable[tuple[int, str]]) -> dict[str, Daily]:
        """Return the counts of each name, the most frequent first."""
        places: dict[str, list[int]] = {}
        for place, name in found:
            places.setdefault(name, []).append(place)
        return {
            name: self.counted(places[name])
            for name in sorted(places, key=lambda n: (-len(places[n]), n))
        }


def summed(values: Daily, each: int) -> Daily:
    """Return the sums of so many days each; the last ones end with the last day, the first may have
    fewer.
    """
    ends = range(len(values) % each or each, len(values) + 1, each)
    return tuple(sum(values[max(0, end - each) : end]) for end in ends)


def _decision(entry: Transaction, change: DocChange) -> _Decision:
    before, after = change.fields["status"]
    if before != "candidate":
        return _Decision()
    if after in _CONFIRMED:
        return _Decision(entry.at, True)
    reason = change.fields.get("archived_reason", (None, None))[1]
    return _Decision(entry.at, False) if reason == "rejected" else _Decision()


def _voted(votes: Iterable[Mapping[str, object]], verdict: Verdict, window: _Window) -> Daily:
    return window.counted_at(vote.get("at") for vote in votes if vote.get("verdict") == verdict)


_GIVEN = ("episodes", "documents")
"""What older records gave, in place of what they were about."""


def _hits(reads: Iterable[Mapping[str, object]], window: _Window) -> dict[str, Hits]:
    """Return the questions of these days by what was looked through, and how many found something."""
    asked, answered = Counter[Any](), Counter[Any]()
    for doc in reads:
        if not doc.get("is_question", True) or window.day_of(doc.get("at")) is None:
            continue
        said = doc.get("about") or next((table for table in _GIVEN if doc.get(table)), MEMORIES)
        name = said if said in get_args(About) else MEMORIES
        asked[name] += 1
        answered[name] += not doc.get("is_empty") or bool(doc.get("episodes"))
    return {name: Hits(count, answered[name]) for name, count in asked.most_common()}


def _source(doc: Mapping[str, object]) -> str:
    """Return where a memory comes from: the hook that saw it, or who said it."""
    if doc.get("is_synthetic"):
        return REFLECTION
    source = as_object(doc.get("source"))
    named = source.get("hook") or source.get("speaker")
    return str(named) if named else UNKNOWN
