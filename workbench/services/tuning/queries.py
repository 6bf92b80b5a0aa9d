"""Saved queries and their judgments: grading, sets to measure with, files for other tools, and runs
of others.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from workbench.core.files.format import Format, Issue, JudgedQuery, Parsed, ReadContext
from workbench.core.record import (
    InvalidQuery,
    InvalidRecord,
    UnknownRecord,
    UnreadableFile,
    WorkStopped,
    iso,
)
from workbench.core.runtime import Cancelled, Progress
from workbench.core.text import clean_for_store, counted, one_line
from workbench.core.tuning.judgment import MAX_GRADE, Judgment, SavedQuery, judgment_id, query_id
from workbench.core.tuning.measure import RELEVANT_FROM, STANDARD
from workbench.core.tuning.profile import Profile
from workbench.formats import opening
from workbench.formats import queries as queryset
from workbench.formats import queries as trec
from workbench.formats.exports import export_format
from workbench.formats.queries import read_run
from workbench.services.context import Context, Service
from workbench.services.files.overwriting import FileStates
from workbench.services.tuning.tuning import Tuning
from workbench.store.library import Library

# Grades for the results of a query, as records that can be undone and exported.


class Judging(Service):
    """Saved queries and judgments of a store."""

    def find(self, query: str, now: datetime | None = None) -> SavedQuery | None:
        """Return the saved query with this text and moment, or `None`."""
        return self._library.queries.find(query_id(clean_for_store(query), now))

    def grades(self, query: str, now: datetime | None = None) -> dict[str, int]:
        """Return the grades given for a query, by memory; empty when it is not saved."""
        name = query_id(clean_for_store(query), now)
        return {j.memory: j.grade for j in self._library.judgments.all() if j.query == name}

    def grade(self, query: str, memory: str) -> int | None:
        """Return the grade of a memory for a query asked in the present; `None` for none."""
        name = judgment_id(query_id(clean_for_store(query), None), memory)
        judgment = self._library.judgments.find(name)
        return None if judgment is None else judgment.grade

    def save_query(
        self, query: str, now: datetime | None = None, tags: tuple[str, ...] = (), actor: str = ""
    ) -> SavedQuery:
        """Save a query, without judgments yet; one that is saved stays as it is. Raises
        `InvalidQuery`.
        """
        saved = self._query(query, now, tags)
        if self._library.queries.find(saved.id) is None:
            with self._library.transaction(
                actor or self._context.actor, f"save the query “{saved.text}”"
            ) as tx:
                if self._library.queries.find(saved.id) is None:
                    tx.put(saved)
        return self._library.queries.get(saved.id)

    def judge(
        self, query: str, now: datetime | None, memory: str, grade: int, actor: str = ""
    ) -> Judgment:
        """Grade a memory for a query, 0 (not relevant) to 3 (essential); a later grade replaces an
        earlier one.

        `now` is the moment the query is asked at, `None` the present. The query is saved along when
        it is new, in the same transaction. The same grade again writes nothing. Raises
        `InvalidQuery`, `UnknownRecord` or `InvalidRecord`.
        """
        if type(grade) is not int or not 0 <= grade <= MAX_GRADE:
            raise InvalidRecord(
                f"{grade!r} is not a grade.", f"Grades are whole numbers from 0 to {MAX_GRADE}."
            )
        if memory not in self._library.memories:
            raise UnknownRecord(
                f"There is no memory {memory} in this store.", "Nothing was judged."
            )
        saved = self._query(query, now, ())
        name, who = judgment_id(saved.id, memory), actor or self._context.actor
        before = self._library.judgments.find(name)
        if before is not None and before.grade == grade and saved.id in self._library.queries:
            return before
        judgment = Judgment(name, saved.id, memory, grade, who, self._context.now())
        with self._library.transaction(who, f"judge {memory} as {grade}") as tx:
            if saved.id not in self._library.queries:
                tx.put(saved)
            tx.put(judgment)
        return judgment

    def _query(self, query: str, now: datetime | None, tags: tuple[str, ...]) -> SavedQuery:
        text = clean_for_store(query)
        if not text.strip():
            raise InvalidQuery("The query is empty.", "Nothing was saved.")
        return SavedQuery(query_id(text, now), text, self._context.now(), now, tags)


# Judged queries to measure with: from the store or a file, matched with the memories that are
# there.


class JudgedSet(NamedTuple):
    """Judged queries, each with at least one relevant memory of the store.

    `digest` names the set by its content (16 hexadecimal digits), whatever store it is used on.
    `unknown` are the graded ids that the store does not have; they were left out. `empty` counts
    the queries left out because nothing relevant for them is in the store, `early` those asked
    before any of their relevant memories was made.
    """

    name: str
    queries: tuple[JudgedQuery, ...]
    digest: str
    unknown: tuple[str, ...] = ()
    empty: int = 0
    issues: tuple[Issue, ...] = ()
    early: int = 0

    @property
    def judgments(self) -> int:
        """How many grades the queries hold."""
        return sum(len(query.relevant) for query in self.queries)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a person should know before they read the figures."""
        found = [str(issue) for issue in self.issues]
        if self.unknown:
            shown = ", ".join(self.unknown[:3]) + (", …" if len(self.unknown) > 3 else "")
            ids = counted(len(self.unknown), "graded id is", "graded ids are")
            found.append(f"{ids} not in this store and ignored: {shown}.")
        if self.empty:
            which = counted(self.empty, "query has", "queries have")
            found.append(
                f"{which} no relevant memory in this store and {'is' if self.empty == 1 else 'are'} left out."
            )
        if self.early:
            which = counted(self.early, "query is", "queries are")
            found.append(
                f"{which} asked at a moment when none of the relevant memories existed: nothing can be found."
            )
        return tuple(found)


def from_file(context: Context, path: Path) -> JudgedSet:
    """Read a query set, or the qrels of queries that the store has. Raises `UnreadableFile` or
    `InvalidQuery`.
    """
    reading = ReadContext(now=context.now(), file=str(path))
    parsed = opening.read_file(path, context=reading)
    if not parsed.queries:
        raise UnreadableFile(
            f"{path} has no queries.", 'One per line: {"query": "…", "relevant": {"ID": 3}}.'
        )
    return _matched(
        context,
        one_line(path.name, 80),
        [_resolved(context, query) for query in parsed.queries],
        parsed.issues,
    )


def from_store(context: Context) -> JudgedSet:
    """Return the store's own saved queries with their judgments. Raises `InvalidQuery` when none is
    usable.
    """
    queries = tuple(judged_queries(context))
    if not any(query.relevant for query in queries):
        hint = "Name a query set, `workbench import FILE` one, or grade memories in Tune (v)."
        raise InvalidQuery(NONE_JUDGED, hint)
    return _matched(context, "the store", queries, ())


def judged_queries(context: Context) -> Iterator[JudgedQuery]:
    """Yield the store's saved queries with their judgments, also those without any."""
    for query, grades in graded(context):
        yield JudgedQuery(query.text, grades, query.tags, query.now, topic=_told_apart(query))


def graded(context: Context) -> Iterator[tuple[SavedQuery, dict[str, int]]]:
    """Yield the store's saved queries, each with its grades by memory."""
    grades: dict[str, dict[str, int]] = {}
    for judgment in context.library.judgments.all():
        grades.setdefault(judgment.query, {})[judgment.memory] = judgment.grade
    for query in context.library.queries.all():
        yield query, grades.get(query.id, {})


def _told_apart(query: SavedQuery) -> str:
    """Return a query's topic unless it only repeats the text, as that of a qrels file without texts
    does.
    """
    return query.topic if query.topic != query.text else ""


def saved_as(library: Library, query: JudgedQuery) -> SavedQuery | None:
    """Return the saved query that a file means by its topic, or names by the id that stands for its
    text.
    """
    if (found := library.queries.find(query.topic or query.text)) is not None or not query.topic:
        return found
    return next((known for known in library.queries.all() if known.topic == query.topic), None)


def digest_of(queries: Iterable[JudgedQuery]) -> str:
    """Name judged queries by their content; their order does not matter."""
    lines = [
        json.dumps(
            [q.text, iso(q.now) if q.now else None, sorted((id, g) for id, g in q.relevant.items())]
        )
        for q in queries
    ]
    return sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


def _matched(
    context: Context, name: str, queries: Iterable[JudgedQuery], issues: tuple[Issue, ...]
) -> JudgedSet:
    given = tuple(queries)
    if not len(context.library.memories):
        hint = "`workbench import` or `workbench ingest` adds some."
        raise InvalidQuery("The store has no memories, so nothing can be measured.", hint)
    alias = {old: memory.id for memory in context.library.memories.all() for old in memory.aliases}
    unknown: dict[str, None] = {}
    matched = [replace(query, relevant=_known(context, query, alias, unknown)) for query in given]
    usable = tuple(
        q for q in matched if any(grade >= RELEVANT_FROM for grade in q.relevant.values())
    )
    if not usable:
        graded = (
            "None of its graded memories is in this store."
            if unknown
            else "No memory in it has a grade above 0."
        )
        raise InvalidQuery(f"Nothing can be measured with {name}. {graded}", "Nothing was changed.")
    early = sum(_is_early(context, query) for query in usable)
    return JudgedSet(
        name, usable, digest_of(given), tuple(unknown), len(matched) - len(usable), issues, early
    )


def _is_early(context: Context, query: JudgedQuery) -> bool:
    """Tell whether a query is asked before any of its relevant memories was made."""
    if query.now is None:
        return False
    relevant = (id for id, grade in query.relevant.items() if grade >= RELEVANT_FROM)
    return all(context.library.memories.get(id).created_at > query.now for id in relevant)


def _known(
    context: Context, query: JudgedQuery, alias: dict[str, str], unknown: dict[str, None]
) -> dict[str, int]:
    """Return the grades of memories that exist; a memory that was merged away counts as what it
    became.
    """
    known: dict[str, int] = {}
    for id, grade in query.relevant.items():
        here = id if id in context.library.memories else alias.get(id)
        if here is None:
            unknown[id] = None
        else:
            known[here] = max(grade, known.get(here, 0))
    return known


def _resolved(context: Context, query: JudgedQuery) -> JudgedQuery:
    """Return the query that a qrels file names by its id or topic."""
    saved = saved_as(context.library, query)
    return (
        query
        if saved is None
        else replace(
            query, text=saved.text, tags=saved.tags, now=saved.now, topic=_told_apart(saved)
        )
    )


# Saved queries, their judgments and rankings of them as files for other tools: query sets, qrels
# and runs.


RUN_DEPTH = 100
"""Results per query in a run: enough for every metric that is cut at or above the usual k."""

_QRELS = export_format(trec.QRELS_FORMAT.name)

NONE_JUDGED = "No judged queries yet."
NONE_SAVED = "No saved queries yet."


def _require(records: Sized, problem: str) -> None:
    if not len(records):
        raise InvalidQuery(problem, "Save a query in Tune and grade some memories, or import some.")


def queries_jsonl(context: Context) -> str:
    """Return the store's saved queries with their judgments, one JSON object a line. Raises
    `InvalidQuery`.
    """
    _require(context.library.queries, NONE_SAVED)
    return queryset.write(Parsed(queryset.NAME, queries=tuple(judged_queries(context))))


def qrels(context: Context, original: str | None = None) -> str:
    """Return the store's judgments as TREC qrels; topics are those they came with, or the ids of
    the saved queries.

    What did not change in `original`, the text that is replaced, stays as it is; by default that is
    the one qrels file that the store was read from. Raises `InvalidQuery` without judgments.
    """
    _require(context.library.judgments, NONE_JUDGED)
    queries = tuple(
        JudgedQuery(query.text, grades, topic=query.name) for query, grades in graded(context)
    )
    known = (
        original
        if original is not None
        else _origin(context, frozenset(query.topic for query in queries))
    )
    return trec.write_qrels(Parsed(trec.QRELS, queries=queries), known)


def _origin(context: Context, topics: frozenset[str]) -> str | None:
    """Return the text of the one qrels file whose topics are in the store; `None` for several, or
    none.
    """
    states, kind = FileStates(context.library), _QRELS
    qrels = [text for path in states.paths() if (text := states.base_as(kind, path)) is not None]
    now = ReadContext(now=context.now(), file="")
    held = [
        text
        for text in qrels
        if topics & {query.topic for query in trec.read_qrels(text, now).queries}
    ]
    return held[0] if len(held) == 1 else None


def judgments(context: Context) -> str:
    """Return every judgment of the store with who gave it and when, one JSON object a line, the
    earliest first.

    The other files hold grades alone, as other tools read them. Raises `InvalidQuery` without
    judgments.
    """
    _require(context.library.judgments, NONE_JUDGED)
    lines = []
    for given in sorted(context.library.judgments.all(), key=lambda one: (one.at, one.id)):
        query = context.library.queries.find(given.query)
        asked = {"text": query.text, "now": iso(query.now) if query.now else None} if query else {}
        given_by = {
            "memory": given.memory,
            "grade": given.grade,
            "by": given.actor,
            "at": iso(given.at),
        }
        topic = query.name if query else given.query
        lines.append(json.dumps({"topic": topic, **asked, **given_by}, ensure_ascii=False))
    return "\n".join(lines) + "\n"


def run(
    context: Context,
    tuning: Tuning,
    profile: Profile,
    *,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> str:
    """Return a profile's rankings of all saved queries as a TREC run tagged with its name; topics
    as in `qrels`.

    Every query is asked at its own moment and gives `RUN_DEPTH` results, or the profile's k when that
    is more. Raises `InvalidQuery` without queries, and `WorkStopped`.
    """
    _require(context.library.queries, NONE_SAVED)
    queries = tuple(context.library.queries.all())
    found: dict[str, list[tuple[str, float]]] = {}
    for done, query in enumerate(queries, 1):
        if cancelled is not None and cancelled():
            raise WorkStopped("The run was stopped.", "Nothing was written.")
        ranking = tuning.rank(query.text, profile, query.now, max(RUN_DEPTH, profile.k))
        scores = ranking.totals[ranking.positions].tolist()
        found[query.name] = list(zip(ranking.ids, scores, strict=True))
        if progress is not None:
            progress(done, len(queries))
    return trec.write_run(trec.ranked(profile.name, found))


class QueryKind(NamedTuple):
    """One kind of file: what it is to whoever replaces one, and what writes it.

    Without `write` it is made of a ranking (see `run`). Runs and judgments are read by no format.
    """

    export_format: Format
    write: Callable[[Context], str] | None = None


KINDS: Mapping[str, QueryKind] = {
    "jsonl": QueryKind(export_format(queryset.NAME), queries_jsonl),
    "qrels": QueryKind(_QRELS, qrels),
    "run": QueryKind(
        Format("run", "TREC run", write=queryset.write, holds="queries", suffix=".run")
    ),
    "judgments": QueryKind(
        Format("judgments", "judgments", write=queryset.write, holds="queries", suffix=".jsonl"),
        judgments,
    ),
}
"""What is written of saved queries, by the name of the file's kind."""


# How good the rankings of another system are: a TREC run against the judgments of this store.


class RunScores(NamedTuple):
    """The means of a run, tagged `tag`, over the judged queries; one that it leaves out counts 0.

    `missing` counts judged queries without results, `unknown` its topics that are no saved query's.
    """

    tag: str
    mean: Mapping[str, float]
    queries: int
    missing: int
    unknown: int

    @property
    def sentence(self) -> str:
        """The figures on one line."""
        means = " · ".join(f"{name} {value:.3f}" for name, value in self.mean.items())
        gaps = f" · {self.missing:,} without results" if self.missing else ""
        return f"{means} over {self.queries:,} judged {'query' if self.queries == 1 else 'queries'}{gaps}"


def score_run(context: Context, path: Path) -> RunScores:
    """Measure a run by the store's judgments. Raises `UnreadableFile`, or `InvalidQuery` when
    nothing fits.
    """
    run = read_run(opening.read_text(path), path.name)
    rankings = run.rankings
    saved = list(graded(context))
    # A run made here before a query got its topic calls it by its id.
    judged = {
        (q.name if q.name in rankings else q.id): grades for q, grades in saved if _usable(grades)
    }
    if not rankings.keys() & judged.keys():
        raise InvalidQuery(
            f"The run “{run.tag}” ranks no judged query of this store.",
            "Its topics have to be those of the qrels that were imported, or the ids of saved queries.",
        )
    mean = {
        m.name: fmean(m.of(rankings.get(topic, ()), grades) for topic, grades in judged.items())
        for m in STANDARD
    }
    missing = sum(topic not in rankings for topic in judged)
    known = {name for query, _ in saved for name in (query.id, query.topic)}
    unknown = sum(topic not in known for topic in rankings)
    return RunScores(run.tag, mean, len(judged), missing, unknown)


def _usable(grades: Mapping[str, int]) -> bool:
    return any(grade >= RELEVANT_FROM for grade in grades.values())
