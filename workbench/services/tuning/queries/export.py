"""Saved queries, their judgments and rankings of them as files for other tools: query sets, qrels and runs."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from workbench.core.files.format import ExportFormat, JudgedQuery, Parsed, ReadContext
from workbench.core.record import InvalidQuery, WorkStopped, iso
from workbench.core.runtime import Cancelled, Progress
from workbench.core.tuning.profile import Profile
from workbench.formats import queries as queryset
from workbench.formats import queries as trec
from workbench.formats.exports import export_format
from workbench.services.context import Context
from workbench.services.files.overwriting import FileStates
from workbench.services.tuning.queries.sets import graded, judged_queries
from workbench.services.tuning.tuning import Tuning

QueryFile = Literal["jsonl", "qrels", "run", "judgments"]
QUERY_FILES: tuple[QueryFile, ...] = get_args(QueryFile)

RUN_DEPTH = 100
"""Results per query in a run: enough for every metric that is cut at or above the usual k."""

_QRELS = export_format(trec.QRELS_FORMAT.name)


def queries_jsonl(context: Context) -> str:
    """Return the store's saved queries with their judgments, one JSON object a line. Raises `InvalidQuery`."""
    queries = tuple(judged_queries(context))
    if not queries:
        raise InvalidQuery("No query of this store is saved yet.", "Save one in Tune, or import some.")
    return queryset.write(Parsed(queryset.NAME, queries=queries))


def qrels(context: Context, original: str | None = None) -> str:
    """Return the store's judgments as TREC qrels; topics are those they came with, or the ids of the saved queries.

    What did not change in `original`, the text that is replaced, stays as it is; by default that is the one qrels
    file that the store was read from. Raises `InvalidQuery` without judgments.
    """
    if not len(context.library.judgments):
        raise InvalidQuery("No query of this store is judged yet.", "Grade some memories in Tune first.")
    queries = tuple(JudgedQuery(query.text, grades, topic=query.name) for query, grades in graded(context))
    known = original if original is not None else _origin(context, frozenset(query.topic for query in queries))
    return trec.write_qrels(Parsed(trec.QRELS, queries=queries), known)


def _origin(context: Context, topics: frozenset[str]) -> str | None:
    """Return the text of the one qrels file whose topics are in the store; `None` for several, or none."""
    states, kind = FileStates(context.library), _QRELS
    qrels = [text for path in states.paths() if (text := states.base_as(kind, path)) is not None]
    now = ReadContext(now=context.now(), file="")
    held = [text for text in qrels if topics & {query.topic for query in trec.read_qrels(text, now).queries}]
    return held[0] if len(held) == 1 else None


def judgments(context: Context) -> str:
    """Return every judgment of the store with who gave it and when, one JSON object a line, the earliest first.

    The other files hold grades alone, as other tools read them. Raises `InvalidQuery` without judgments.
    """
    found = sorted(context.library.judgments.all(), key=lambda judgment: (judgment.at, judgment.id))
    if not found:
        raise InvalidQuery("No query of this store is judged yet.", "Grade some memories in Tune first.")
    lines = []
    for given in found:
        query = context.library.queries.find(given.query)
        asked = {"text": query.text, "now": iso(query.now) if query.now else None} if query else {}
        given_by = {"memory": given.memory, "grade": given.grade, "by": given.actor, "at": iso(given.at)}
        topic = query.name if query else given.query
        lines.append(json.dumps({"topic": topic, **asked, **given_by}, ensure_ascii=False))
    return "\n".join(lines) + "\n"


def run(
    context: Context,
    tuning: Tuning,
    profile: Profile,
    *,
    depth: int = RUN_DEPTH,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> str:
    """Return a profile's rankings of all saved queries as a TREC run tagged with its name; topics as in `qrels`.

    Every query is asked at its own moment and gives `depth` results, or the profile's k when that is more.
    Raises `InvalidQuery` without queries, and `WorkStopped`.
    """
    queries = tuple(context.library.queries.all())
    if not queries:
        raise InvalidQuery("No query of this store is saved yet.", "Save one in Tune, or import some.")
    found: dict[str, list[tuple[str, float]]] = {}
    for done, query in enumerate(queries, 1):
        if cancelled is not None and cancelled():
            raise WorkStopped("The run was stopped.", "Nothing was written.")
        ranking = tuning.rank(query.text, profile, query.now, max(depth, profile.k))
        scores = ranking.totals[ranking.positions].tolist()
        found[query.name] = list(zip(ranking.ids, scores, strict=True))
        if progress is not None:
            progress(done, len(queries))
    return trec.write_run(trec.ranked(profile.name, found))


@dataclass(frozen=True, slots=True)
class QueryKind:
    """One kind of file: what it is to whoever replaces one, and what writes it.

    Without `write` it is made of a ranking (see `run`). Runs and judgments are read by no format.
    """

    export_format: ExportFormat
    write: Callable[[Context], str] | None = None


KINDS: Mapping[QueryFile, QueryKind] = {
    "jsonl": QueryKind(export_format(queryset.NAME), queries_jsonl),
    "qrels": QueryKind(_QRELS, qrels),
    "run": QueryKind(ExportFormat("run", "TREC run", "queries", queryset.write, ".run")),
    "judgments": QueryKind(ExportFormat("judgments", "judgments", "queries", queryset.write, ".jsonl"), judgments),
}
"""What is written of saved queries, by the name of the file's kind."""
