"""Query sets: one judged query a line, `{"query", "relevant": {"<id>": grade}, "tags", "now", "topic"}`.

`topic` is what TREC files call a query; one that is called by its text has none.
"""

from typing import Any

from workbench.core.files.format import Detection, Format, JudgedQuery, Layout, Parsed, ReadContext, in_scale
from workbench.core.files.reason import Unread
from workbench.core.record import iso
from workbench.core.tuning.judgment import MAX_GRADE
from workbench.formats.lifecycle.values import Notes, texts, time
from workbench.formats.lifecycle.values import text as as_text
from workbench.formats.shared import jsonlines
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.records import take
from workbench.formats.shared.report import Report

NAME = "queries"


def detect(head: str, path: str) -> Detection:
    """Sure when a line has `query` and `relevant`."""
    del path
    keys = jsonlines.first_keys(head)
    if "query" in keys:
        return Detection(NAME, 0.95 if "relevant" in keys else 0.4, "JSON lines with “query”")
    return Detection(NAME, 0.0, "no line has a “query”")


def read(text: str, context: ReadContext) -> Parsed:
    """Read every line that can be read; the others become issues."""
    report = Report(context.file)
    queries = tuple(query for _, query in _records(text, report))
    return report.parsed(NAME, queries=queries, layout=jsonlines.layout_of(text))


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the queries, one a line; with `original`, only lines whose query changed are new."""
    layout = parsed.layout if original is None else jsonlines.layout_of(original)
    old = _records(original, Report("")) if original is not None else []
    known = {_key(query): query for _, query in old}
    # What a line says is what it was read as: its own bytes stay, whatever form they have.
    queries = [known[_key(query)] if known.get(_key(query)) == query else query for query in parsed.queries]
    written = {_key(query): _line(query, layout) for query in queries}
    if original is None:
        return jsonlines.assemble(written.values(), layout)
    return jsonlines.weave(original, {n: (_key(q), _line(q, layout)) for n, q in old}, written, layout)


def _records(text: str, report: Report) -> list[tuple[int, JudgedQuery]]:
    reader, seen, found = JsonReader(), dict[str, int](), list[tuple[int, JudgedQuery]]()
    for number, line in jsonlines.lines(text):
        try:
            query, notes = _query(reader.decode(line), line)
            first = seen.setdefault(_key(query), number)
            if first != number:
                raise Unread("the same query at the same moment stands on line {}", first)
        except ValueError as reason:
            report.skip(number, reason)
            continue
        for field, how in (*notes, *(("value", change) for change in sorted(reader.changes))):
            report.mapped(field, how)
        found.append((number, query))
    return found


def _query(doc: Any, line: str) -> tuple[JudgedQuery, Notes]:
    if not isinstance(doc, dict):
        raise ValueError("not a query: expected a JSON object")
    text = doc.get("query")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("it has no query text")
    notes: Notes = []
    relevant, beyond = _grades(doc.get("relevant"), notes)
    tags, note = texts(doc["tags"]) if doc.get("tags") is not None else ((), "")
    if note:
        notes.append(("tags", note))
    now, note = time(doc["now"]) if doc.get("now") is not None else (None, "")
    if note:
        notes.append(("now", note))
    topic = take(doc, "topic", as_text, "", notes)
    return JudgedQuery(text, relevant, tags, now, line, topic, beyond), notes


def _grades(raw: object, notes: Notes) -> tuple[dict[str, int], dict[str, int]]:
    """Return the grades on our scale, and those that a file has beyond it."""
    if raw is None:
        return {}, {}
    if isinstance(raw, list) and all(isinstance(name, str) for name in raw):
        notes.append(("relevant", "a list of ids read as grade 1 each"))
        return dict.fromkeys(raw, 1), {}
    if not isinstance(raw, dict):
        raise ValueError("relevant: expected an object of memory ids and grades")
    grades: dict[str, int] = {}
    for name, value in raw.items():
        if not isinstance(value, int | float) or value != int(value):
            raise ValueError(f"relevant: the grade of a memory is no whole number from 0 to {MAX_GRADE}")
        grades[name] = int(value)
    held = {name: in_scale(grade) for name, grade in grades.items()}
    if held != grades:
        notes.append(("relevant", f"grades moved into 0–{MAX_GRADE}"))
    return held, {name: grade for name, grade in grades.items() if held[name] != grade}


def _line(query: JudgedQuery, layout: Layout) -> str:
    if query.raw is not None and _unchanged(query):
        return query.raw
    doc: dict[str, object] = {"query": query.text, "relevant": query.grades, "tags": list(query.tags)}
    if query.now is not None:
        doc["now"] = iso(query.now)
    if query.topic and query.topic != query.text:
        doc["topic"] = query.topic
    return jsonlines.dumps(doc, layout)


def _unchanged(query: JudgedQuery) -> bool:
    try:
        again, _ = _query(JsonReader().decode(query.raw or ""), "")
    except ValueError:
        return False
    return again == query


def _key(query: JudgedQuery) -> str:
    return f"{query.text}\0{iso(query.now) if query.now else ''}"


FORMAT = Format(
    NAME, "query set (JSON lines)", detect, read, write, holds="queries", suffix=".jsonl", endings=(".jsonl",)
)
