"""Judged queries to measure with: from the store or from a file, matched with the memories that are there."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from workbench.core.files.format import Issue, JudgedQuery, ReadContext
from workbench.core.record import InvalidQuery, UnreadableFile, iso
from workbench.core.text import counted, one_line
from workbench.core.tuning.judgment import SavedQuery
from workbench.core.tuning.measure import RELEVANT_FROM
from workbench.formats import opening
from workbench.services.context import Context
from workbench.store.library import Library


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Judged queries, each with at least one relevant memory of the store.

    `digest` names the set by its content (16 hexadecimal digits), whatever store it is used on. `unknown` are
    the graded ids that the store does not have; they were left out. `empty` counts the queries left out because
    nothing relevant for them is in the store, `early` those asked before any of their relevant memories was made.
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
            found.append(f"{which} no relevant memory in this store and {'is' if self.empty == 1 else 'are'} left out.")
        if self.early:
            which = counted(self.early, "query is", "queries are")
            found.append(f"{which} asked at a moment when none of the relevant memories existed: nothing can be found.")
        return tuple(found)


def from_file(context: Context, path: Path) -> JudgedSet:
    """Read a query set, or the qrels of queries that the store has. Raises `UnreadableFile` or `InvalidQuery`."""
    reading = ReadContext(now=context.now(), file=str(path))
    parsed = opening.read_file(path, context=reading)
    if not parsed.queries:
        raise UnreadableFile(f"{path} holds no queries.", 'One a line: {"query": "…", "relevant": {"ID": 3}}.')
    return _matched(
        context, one_line(path.name, 80), [_resolved(context, query) for query in parsed.queries], parsed.issues
    )


def from_store(context: Context) -> JudgedSet:
    """Return the store's own saved queries with their judgments. Raises `InvalidQuery` when none is usable."""
    queries = tuple(judged_queries(context))
    if not any(query.relevant for query in queries):
        raise InvalidQuery("No query of this store is judged yet.", "Save a query and grade some memories for it.")
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
    """Return a query's topic unless it only repeats the text, as that of a qrels file without texts does."""
    return query.topic if query.topic != query.text else ""


def saved_as(library: Library, query: JudgedQuery) -> SavedQuery | None:
    """Return the saved query that a file means by its topic, or names by the id that stands for its text."""
    if (found := library.queries.find(query.topic or query.text)) is not None or not query.topic:
        return found
    return next((known for known in library.queries.all() if known.topic == query.topic), None)


def digest_of(queries: Iterable[JudgedQuery]) -> str:
    """Name judged queries by their content; their order does not matter."""
    lines = [
        json.dumps([q.text, iso(q.now) if q.now else None, sorted((id, g) for id, g in q.relevant.items())])
        for q in queries
    ]
    return sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


def _matched(context: Context, name: str, queries: Iterable[JudgedQuery], issues: tuple[Issue, ...]) -> JudgedSet:
    given = tuple(queries)
    if not len(context.library.memories):
        hint = "`workbench import` or `workbench ingest` adds some."
        raise InvalidQuery("The store has no memories, so there is nothing to measure.", hint)
    alias = {old: memory.id for memory in context.library.memories.all() for old in memory.aliases}
    unknown: dict[str, None] = {}
    matched = [replace(query, relevant=_known(context, query, alias, unknown)) for query in given]
    usable = tuple(q for q in matched if any(grade >= RELEVANT_FROM for grade in q.relevant.values()))
    if not usable:
        graded = "None of its graded memories is in this store." if unknown else "No memory in it has a grade above 0."
        raise InvalidQuery(f"Nothing can be measured with {name}. {graded}", "Nothing was changed.")
    early = sum(_is_early(context, query) for query in usable)
    return JudgedSet(name, usable, digest_of(given), tuple(unknown), len(matched) - len(usable), issues, early)


def _is_early(context: Context, query: JudgedQuery) -> bool:
    """Tell whether a query is asked before any of its relevant memories was made."""
    if query.now is None:
        return False
    relevant = (id for id, grade in query.relevant.items() if grade >= RELEVANT_FROM)
    return all(context.library.memories.get(id).created_at > query.now for id in relevant)


def _known(context: Context, query: JudgedQuery, alias: dict[str, str], unknown: dict[str, None]) -> dict[str, int]:
    """Return the grades of memories that exist; a memory that was merged away counts as what it became."""
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
        else replace(query, text=saved.text, tags=saved.tags, now=saved.now, topic=_told_apart(saved))
    )
