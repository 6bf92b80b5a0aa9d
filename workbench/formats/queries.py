"""TREC files: judgments as qrels (`TOPIC 0 DOCUMENT GRADE`) and rankings as runs.

Both formats separate their columns by blanks, so white space (and the percent sign itself) inside a
topic or document is written as `%20` and so on, and read back. A topic is the id of a saved query;
a file of another tool brings topics of its own, which are kept, and stand for the text of a query
that is not known yet.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from workbench.core.files.format import (
    Format,
    JudgedQuery,
    Layout,
    Parsed,
    ReadContext,
    Reason,
    Sure,
    Unread,
    in_scale,
)
from workbench.core.record import UnreadableFile, iso
from workbench.core.tuning.judgment import MAX_GRADE
from workbench.formats.shared import jsonstream
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.records import NO_CONTEXT, take
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import Notes, an_object, texts, time
from workbench.formats.shared.values import text as as_text

# Query sets: one judged query a line, `{"query", "relevant": {"<id>": grade}, "tags", "now",
# "topic"}`.
#
# `topic` is what TREC files call a query; one that is called by its text has none.


NAME = "queries"


def detect(head: str, path: str) -> Sure | None:
    """Sure when a line has `query` and `relevant`."""
    del path
    keys = jsonstream.first_keys(head)
    if "query" in keys:
        return (0.95 if "relevant" in keys else 0.4, "JSON lines with “query”")
    return None


def read(text: str, context: ReadContext) -> Parsed:
    """Read every line that can be read; the others become issues."""
    report = Report(context.file)
    queries = tuple(query for _, query in _records(text, report))
    return report.parsed(NAME, queries=queries, layout=jsonstream.layout_of(text))


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the queries, one a line; with `original`, only lines whose query changed are new."""
    old = [(n, _key(q), q) for n, q in _records(original or "", Report(""))]
    known = {key: query for _, key, query in old}
    new = {_key(query): query for query in parsed.queries}
    # What a line says is what it was read as: its own bytes stay, whatever form they have.
    new |= {key: known[key] for key, query in new.items() if known.get(key) == query}
    return jsonstream.rewritten(original, parsed.layout, new, lambda _: old, _line)


def _records(text: str, report: Report) -> list[tuple[int, JudgedQuery]]:
    reader, seen, found = JsonReader(), dict[str, int](), list[tuple[int, JudgedQuery]]()
    for number, line in jsonstream.lines(text):
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
    doc = an_object(doc, "a query")
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
            raise ValueError(
                f"relevant: the grade of a memory must be a whole number from 0 to {MAX_GRADE}"
            )
        grades[name] = int(value)
    held = {name: in_scale(grade) for name, grade in grades.items()}
    if held != grades:
        notes.append(("relevant", f"grades moved into 0–{MAX_GRADE}"))
    return held, {name: grade for name, grade in grades.items() if held[name] != grade}


def _line(query: JudgedQuery, layout: Layout) -> str:
    if query.raw is not None and _unchanged(query):
        return query.raw
    doc: dict[str, object] = {
        "query": query.text,
        "relevant": query.grades,
        "tags": list(query.tags),
    }
    if query.now is not None:
        doc["now"] = iso(query.now)
    if query.topic and query.topic != query.text:
        doc["topic"] = query.topic
    return jsonstream.dumps(doc, layout)


def _unchanged(query: JudgedQuery) -> bool:
    try:
        again, _ = _query(JsonReader().decode(query.raw or ""), "")
    except ValueError:
        return False
    return again == query


def _key(query: JudgedQuery) -> str:
    return f"{query.text}\0{iso(query.now) if query.now else ''}"


FORMAT = Format(
    NAME,
    "query set (JSON lines)",
    detect,
    read,
    write,
    holds="queries",
    suffix=".jsonl",
    endings=(".jsonl",),
)


QRELS, RUN = "trec-qrels", "trec-run"

_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_CODED = re.compile(r"(?:%[0-9A-F]{2})+")
# A byte order mark at the start of a file is none of its text.
_BLANK = re.compile(r"[\s%\ufeff]+")
_LOOKED_AT = 20


class RunLine(NamedTuple):
    """One result of a run: which place and score a document got for a topic."""

    topic: str
    document: str
    place: int
    score: float


class Run(NamedTuple):
    """The rankings of one system, named by `tag`, in the order of the file."""

    tag: str
    lines: tuple[RunLine, ...]

    @property
    def rankings(self) -> dict[str, tuple[str, ...]]:
        """The documents of each topic, best first: by falling score, as evaluation tools read a
        run.
        """
        by_topic: dict[str, list[RunLine]] = {}
        for line in self.lines:
            by_topic.setdefault(line.topic, []).append(line)
        return {
            topic: tuple(
                line.document for line in sorted(lines, key=lambda line: (-line.score, line.place))
            )
            for topic, lines in by_topic.items()
        }


def detect_qrels(head: str, path: str) -> Sure | None:
    """Sure when the first lines have four columns, the last one a whole number."""
    del path
    rows = _head_rows(head)
    if rows and all(len(row) == 4 and _WHOLE.fullmatch(row[3]) for row in rows):
        return (
            0.9 if all(row[1] in ("0", "Q0") for row in rows) else 0.5,
            "topic 0 document grade",
        )
    return None


def detect_run(head: str, path: str) -> Sure | None:
    """Sure when the first lines have six columns, with a place and a score."""
    del path
    rows = _head_rows(head)
    if rows and all(
        len(row) == 6 and _WHOLE.fullmatch(row[3]) and _number(row[4]) is not None for row in rows
    ):
        return (0.9, "topic Q0 document place score tag")
    return None


def read_qrels(text: str, context: ReadContext) -> Parsed:
    """Read judgments as one query per topic; a line that cannot be read becomes an issue."""
    report = Report(context.file)
    queries: dict[str, dict[str, int]] = {}
    for _, topic, document, grade in _judgments(text, report):
        queries.setdefault(topic, {})[document] = grade
    found = tuple(_trec_query(topic, grades) for topic, grades in queries.items())
    return report.parsed(QRELS, queries=found, layout=jsonstream.layout_of(text))


def _trec_query(topic: str, grades: Mapping[str, int]) -> JudgedQuery:
    held = {document: in_scale(grade) for document, grade in grades.items()}
    beyond = {document: grade for document, grade in grades.items() if held[document] != grade}
    return JudgedQuery(topic, held, topic=topic, beyond=beyond)


def write_qrels(parsed: Parsed, original: str | None = None) -> str:
    """Write the judgments; a query without a topic is called by its text. With `original`, only
    changed lines are new.

    A line whose grade lies outside 0–3 stays as long as the grade that it was read as.
    """
    known = (
        {query.topic: query for query in read_qrels(original, NO_CONTEXT).queries}
        if original is not None
        else {}
    )
    grades: dict[str, dict[str, int]] = {}
    for query in parsed.queries:
        topic = query.topic or query.text
        before = known[topic].beyond if topic in known else {}
        grades.setdefault(topic, {}).update(
            replace(query, beyond={**before, **query.beyond}).grades
        )
    new = {
        f"{topic}\0{id}": _trec_line(topic, id, g)
        for topic, of in grades.items()
        for id, g in of.items()
    }
    if original is None:
        return jsonstream.assemble(new.values(), parsed.layout)
    rows = list(_judgments(original, Report("")))
    # Of several grades for one document the last one counts, so every line of it stands for that
    # one.
    last = {(topic, document): grade for _, topic, document, grade in rows}
    old = {
        number: (f"{topic}\0{document}", _trec_line(topic, document, last[topic, document]))
        for number, topic, document, _ in rows
    }
    return jsonstream.weave(original, old, new, jsonstream.layout_of(original))


def read_run(text: str, file: str = "the run") -> Run:
    """Read rankings. Raises `UnreadableFile` at the first line that is none."""
    lines: list[RunLine] = []
    tag = ""
    for number, row in _rows(text):
        score = _number(row[4]) if len(row) == 6 else None
        if score is None or not _WHOLE.fullmatch(row[3]):
            what = "expected six columns: topic, Q0, document, place, score and tag"
            raise UnreadableFile(f"{file}:{number}: {what}.", "Nothing was read.")
        lines.append(RunLine(decoded(row[0]), decoded(row[2]), int(row[3]), score))
        tag = decoded(row[5])
    return Run(tag, tuple(lines))


def write_run(run: Run) -> str:
    """Write rankings; scores with all their digits, so that a run is read back as it was."""
    rows = (
        f"{coded(x.topic)} Q0 {coded(x.document)} {x.place} {x.score!r} {coded(run.tag)}\n"
        for x in run.lines
    )
    return "".join(rows)


def ranked(tag: str, rankings: Mapping[str, Iterable[tuple[str, float]]]) -> Run:
    """Make a run from (document, score) pairs per topic, best first.

    Evaluation tools sort by score alone and break ties their own way, so a score that does not fall
    is put just below the one before.
    """
    lines: list[RunLine] = []
    for topic, found in rankings.items():
        last = math.inf
        for place, (document, score) in enumerate(found, 1):
            last = score if score < last else math.nextafter(last, -math.inf)
            lines.append(RunLine(topic, document, place, last))
    return Run(tag, tuple(lines))


def coded(text: str) -> str:
    """Write a name without blanks."""
    return _BLANK.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text)


def decoded(text: str) -> str:
    """Read a name that `coded` wrote; what stands for anything but white space and percent signs
    stays.
    """
    return _CODED.sub(_decoded, text)


def _decoded(found: re.Match[str]) -> str:
    plain = bytes.fromhex(found[0].replace("%", "")).decode(errors="replace")
    return plain if _BLANK.fullmatch(plain) else found[0]


def _trec_line(topic: str, document: str, grade: int) -> str:
    return f"{coded(topic)} 0 {coded(document)} {grade}"


def _judgments(text: str, report: Report) -> Iterator[tuple[int, str, str, int]]:
    """Yield (line number, topic, document, grade) and report what cannot be read."""
    seen: set[tuple[str, str]] = set()
    for number, row in _rows(text):
        if len(row) != 4 or not _WHOLE.fullmatch(row[3]):
            report.skip(number, "expected four columns: topic, 0, document and a whole number")
            continue
        topic, document, grade = decoded(row[0]), decoded(row[2]), int(row[3])
        if (topic, document) in seen:
            report.remark(
                number,
                Reason("{} is judged a second time; the later grade counts", (shown(document),)),
            )
        seen.add((topic, document))
        if not 0 <= grade <= MAX_GRADE:
            report.mapped("grade", f"moved into 0–{MAX_GRADE}")
        yield number, topic, document, grade


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        row = re.split(r"[ \t]+", line.strip(" \t\r"))
        if row != [""]:
            yield number, row


def _head_rows(head: str) -> list[list[str]]:
    """Return the first rows; the last line of a longer text may be cut and is left out."""
    rows = [row for _, row in _rows(head.rpartition("\n")[0] or head)]
    return rows[:_LOOKED_AT]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _refuse_run(text: str, context: ReadContext) -> Parsed:
    del text
    raise UnreadableFile(
        f"{context.file} is a TREC run: rankings, which are no memories and no judgments.",
        "Nothing was read; `workbench queries measure FILE` holds it against judgments, which come as qrels.",
    )


QRELS_FORMAT = Format(
    QRELS, "TREC judgments (qrels)", detect_qrels, read_qrels, write_qrels, holds="queries", suffix=".qrels",
    endings=(".qrels",), by_topic=True,
)  # fmt: skip
RUN_FORMAT = Format(RUN, "TREC run", detect_run, _refuse_run)
