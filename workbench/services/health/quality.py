"""Whether memory gets better: a few numbers week by week, each of the store as it was at the end of
that week.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta, tzinfo
from statistics import fmean, median
from typing import TYPE_CHECKING, Literal, NamedTuple

from workbench.core.document import from_doc
from workbench.core.record import (
    InvalidRecord,
    WorkbenchError,
    WorkStopped,
    clock_time,
    moved,
    parse_time,
)
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory
from workbench.core.text import counted
from workbench.core.tuning.measure import NDCG10, RELEVANT_FROM
from workbench.core.tuning.profile import Profile, ProfileInUse
from workbench.services.context import Context
from workbench.services.review.counting import count_open
from workbench.store.entry import Doc

if TYPE_CHECKING:
    from workbench.services.tuning.profiles import Profiles
    from workbench.services.tuning.retriever import Retriever

WEEKS = 6
MOST_WEEKS = 52
WEEK = timedelta(days=7)

LARGEST = 20_000
"""Memories up to which the judged queries are asked again of each week's store."""

ASKED = 24
"""Judged queries that are asked again of each week at most: of more, a sample."""

FEW = 10
"""Questions, votes or memories below which a share tells nothing."""

_TO_COME = "The judged queries are not asked again yet."

Unit = Literal["share", "score", "days", "count"]
Tables = Mapping[str, Mapping[str, Doc]]


class Kind(NamedTuple):
    """One of the numbers: what it is `called`, what it is a share `of`, and whether it gets better
    by rising (`None`: it is neither good nor bad).
    """

    id: str
    called: str
    of: str
    unit: Unit
    rises: bool | None


KINDS = (
    Kind("answered", "Agents' questions answered", "question", "share", True),
    Kind("ndcg", f"{NDCG10.title} of the judged queries", "query", "score", True),
    Kind("harmful", "Harmful votes", "vote", "share", False),
    Kind("used", "Memories served to agents", "memory", "share", True),
    Kind("age", "Median age of memories served", "memory", "days", None),
    Kind("debt", "Decisions waiting in Review", "", "count", False),
)


class Value(NamedTuple):
    """A number at the end of a week, and of how many it is."""

    value: float
    of: int


class Figure(NamedTuple):
    """A number week by week, the oldest first; `None` where there is none."""

    kind: Kind
    ends: tuple[datetime, ...]
    values: tuple[Value | None, ...]

    @property
    def now(self) -> Value | None:
        return self.values[-1]

    @property
    def heights(self) -> tuple[int, ...]:
        """The values as whole numbers, for a chart: shares and scores in hundredths."""
        scale = 100 if self.kind.unit in ("share", "score") else 1
        return tuple(round(one.value * scale) if one else 0 for one in self.values)

    def shown(self, one: Value | None) -> str:
        """Return a value with its unit."""
        if one is None:
            return "–"
        forms = {"share": "{:.0%}", "score": "{:.2f}", "days": "{:.0f} d", "count": "{:,.0f}"}
        return forms[self.kind.unit].format(one.value)

    @property
    def verdict(self) -> str:
        """Say whether it got better since the first week that has it; empty without one."""
        first, now = next((one for one in self.values if one), None), self.now
        if first is None or now is None or first is now:
            return ""
        if self.kind.unit in ("share", "score") and min(first.of, now.of) < FEW:
            return "too few to tell"
        if self.shown(first) == self.shown(now):
            return "no change"
        if self.kind.rises is None:
            return "higher" if now.value > first.value else "lower"
        return "better" if (now.value > first.value) == self.kind.rises else "worse"

    @property
    def sentence(self) -> str:
        """What it is now, what it was, and what that says."""
        if self.now is None:
            return f"{self.kind.called}: nothing this week."
        of = "of" if self.kind.unit == "share" else "over"
        base = f" {of} {_counted(self.now.of, self.kind.of)}" if self.kind.of else ""
        said = f"{self.kind.called}: {self.shown(self.now)}{base}"
        if not self.verdict:
            return f"{said}; nothing earlier to compare with."
        place = next(n for n, one in enumerate(self.values) if one)
        then = f"{self.shown(self.values[place])} in the week to {self.ends[place]:%Y-%m-%d}"
        return f"{said}, {then}: {self.verdict}."


def _counted(count: int, word: str) -> str:
    return counted(count, word, f"{word[:-1]}ies" if word.endswith("y") else "")


class Weeks(NamedTuple):
    """All numbers, the end of each week, and what the log does not tell: `since` when it does
    (`None`: all weeks), when something was `purged`, and what to know of the ranking: why there is
    none, or that it is of a sample; `ranked` says whether one was asked for.
    """

    ends: tuple[datetime, ...]
    figures: tuple[Figure, ...]
    since: datetime | None
    purged: datetime | None
    ranking_note: str
    ranked: bool

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know before comparing."""
        found = [self.ranking_note] if self.ranking_note else []
        if self.since is not None:
            found.append(
                f"Known since {self.since:%Y-%m-%d}, where the history of this store begins."
            )
        if self.purged is not None:
            found.append(f"What was purged until {self.purged:%Y-%m-%d} counts in no week.")
        return tuple(found)


class Quality:
    """Looks at how the store was at the end of each of the last weeks, on any thread; writes
    nothing.
    """

    def __init__(
        self,
        context: Context,
        retriever: "Callable[[], Retriever]",
        profiles: "Callable[[], Profiles]",
    ) -> None:
        self._context = context
        self._retriever = retriever
        self._profiles = profiles

    def look(
        self, weeks: int = WEEKS, *, zone: tzinfo | None = None, ranking: bool = True,
        cancelled: Cancelled = lambda: False,
    ) -> Weeks:  # fmt: skip
        """Return the numbers of so many weeks, the last of which ends now; `ranking` asks the judged
        queries again, which needs the model.

        Raises `StoreProblem` and `WorkStopped`.
        """
        now, count = self._context.now(), max(1, min(weeks, MOST_WEEKS))
        times = [moved(now, -WEEK * back) for back in range(count)]
        rank, note = self._ranking(cancelled) if ranking else (None, _TO_COME)

        def look(at: datetime, tables: Tables) -> dict[str, Value | None]:
            if cancelled():
                raise WorkStopped("The look back was stopped.", "Nothing was changed.")
            return {**_values(tables, at), "ndcg": rank(tables, at) if rank else None}

        found, known = self._context.library.past.look_back(times, look)
        found += [{}] * (count - len(found))
        ends = tuple(clock_time(at, zone) for at in reversed(times))
        figures = tuple(
            Figure(kind, ends, tuple(week.get(kind.id) for week in reversed(found)))
            for kind in KINDS
        )
        since, purged = (at and clock_time(at, zone) for at in known)
        return Weeks(ends, figures, since, purged, note, ranking)

    def _ranking(
        self, cancelled: Cancelled
    ) -> "tuple[Callable[[Tables, datetime], Value | None] | None, str]":
        """Return what asks today's judged queries of a store as it was, and what to know of that,
        such as why it is not done.
        """
        from workbench.services.tuning.queries import judged_queries  # loads the numeric libraries

        queries = [
            query
            for query in judged_queries(self._context)
            if any(grade >= RELEVANT_FROM for grade in query.relevant.values())
        ]
        if not queries:
            return None, "No judged queries yet: v in Tune grades results."
        asked, note = queries[:: -(-len(queries) // ASKED)], ""
        if len(asked) < len(queries):
            note = (
                f"A sample of {len(asked)} of the {len(queries):,} judged queries is asked again."
            )
        if len(self._context.library.memories) > LARGEST:
            return None, f"Queries are asked again of at most {LARGEST:,} memories."
        try:
            retriever = self._retriever()
            retriever.embedder  # noqa: B018 - loads the model
        except WorkbenchError as error:
            return None, str(error)

        def rank(tables: Tables, at: datetime) -> Value | None:
            memories = list(_memories(tables))
            if not memories:
                return None
            ranker = retriever.ranker_of(memories, cancelled)
            now_called = {old: memory.id for memory in memories for old in memory.aliases}
            profile, values = self._profile(tables), list[float]()
            for query in asked:
                grades = {now_called.get(id, id): grade for id, grade in query.relevant.items()}
                scores = ranker.relevance(query.text)
                ids = ranker.rank(scores, profile, query.now or at, NDCG10.k).ids
                values.append(NDCG10.of(ids, grades))
            return Value(fmean(values), len(asked))

        return rank, note

    def _profile(self, tables: Tables) -> Profile:
        """Return the profile that ranked then, as far as the store says so and it still is there."""
        profiles, present = self._profiles(), self._context.profile
        if present.origin != "environment":
            settings = (doc for doc in _docs(tables, "settings") if doc["id"] == "profile")
            named = next(settings, {"value": self._context.settings.profile})
            with suppress(WorkbenchError):
                text = str(named.get("text", ""))
                return profiles.used(ProfileInUse(str(named["value"]), "store", text))
        return profiles.used(present)


def _memories(tables: Tables) -> Iterator[Memory]:
    for doc in tables.get("memories", {}).values():
        with suppress(InvalidRecord):
            yield from_doc(Memory, doc)


def _values(tables: Tables, at: datetime) -> dict[str, Value | None]:
    """Return the numbers that need no ranking, of the week that ends at a time."""
    memories = {str(doc["id"]): doc for doc in _docs(tables, "memories")}
    reads = [doc for doc in _docs(tables, "reads") if _within(doc, at)]
    asked = [doc for doc in reads if doc.get("is_question", True)]
    answered = sum(not doc.get("is_empty") or bool(doc.get("episodes")) for doc in asked)
    votes = [doc for doc in _docs(tables, "votes") if _within(doc, at)]
    harmful = sum(doc.get("verdict") == "harmful" for doc in votes)
    served = {id for doc in reads for id in doc.get("memories", ())} & memories.keys()
    ages = [(at - parse_time(memories[id]["created_at"])) / timedelta(days=1) for id in served]
    alive = [id for id, doc in memories.items() if doc.get("status") != "archived"]
    candidates = [doc for doc in memories.values() if doc.get("status") == "candidate"]
    proposals = [doc for doc in _docs(tables, "proposals") if doc.get("state", "open") == "open"]
    return {
        "answered": _share(answered, len(asked)),
        "harmful": _share(harmful, len(votes)),
        "used": _share(len(served & set(alive)), len(alive)),
        "age": Value(max(0.0, median(ages)), len(ages)) if ages else None,
        "debt": Value(count_open(candidates, proposals, at), 0),
    }


def _docs(tables: Tables, name: str) -> Iterator[Doc]:
    return (doc for doc in tables.get(name, {}).values() if "id" in doc)


def _within(doc: Doc, at: datetime) -> bool:
    """Tell whether something was in the week that ends at a time."""
    with suppress(ValueError):
        return moved(at, -WEEK) < parse_time(str(doc.get("at"))) <= at
    return False


def _share(part: int, whole: int) -> Value | None:
    return Value(part / whole, whole) if whole else None
