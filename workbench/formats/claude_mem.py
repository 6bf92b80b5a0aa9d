"""claude-mem's export JSON: `{observations: [...], sessions: [...], summaries: [...], prompts:
[...]}`.
"""

import math
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from workbench.core.files.format import Format, Parsed, ReadContext, Sure, Unread, reason_of
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import FILE_KEY, Memory, Source
from workbench.core.text import MAX_KEPT, clean_for_store
from workbench.formats.patch import count_unread, opened
from workbench.formats.shared import values
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.records import created_at, digest, joined, made, take, take_text
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import Notes, an_object

# One observation or session summary of claude-mem, from its database or its export.
#
# An observation has title, narrative, facts, concepts and files; a summary what was asked for,
# looked into, learned and done in a session, and what comes next.


NAME = "claude-mem"

ReadRow = Callable[[Any, ReadContext], tuple[Memory, Notes]]
"""Reads one row. Raises `ValueError`."""

_TYPES = {
    "bugfix": "code_change", "feature": "code_change", "refactor": "code_change", "change": "code_change",
    "decision": "decision", "discovery": "discovery",
}  # fmt: skip
_KNOWN = frozenset(
    {"id", "title", "created_at", "created_at_epoch", "memory_session_id", "sdk_session_id"}
)
_LISTS = ("facts", "concepts", "files_read", "files_modified")
_PARTS = {
    "learned": "Learned", "completed": "Completed", "investigated": "Investigated", "next_steps": "Next steps",
    "notes": "Notes",
}  # fmt: skip
"""What a summary says beside what was asked for: what was learned comes first."""


def observation(doc: Any, context: ReadContext) -> tuple[Memory, Notes]:
    """Read one observation; the database and its export give the same memory. Raises `ValueError`.

    The assistant says what is observed of its work, or the subagent that a newer version names.
    """
    doc = an_object(doc, "an observation")
    notes: Notes = []
    said = {name: _text(doc.get(name)) for name in ("title", "subtitle", "narrative", "text")}
    lists = {name: _listed(doc.get(name), name, notes) for name in _LISTS}
    content = _content(said, lists["facts"], notes)
    kind = _TYPES.get(_text(doc.get("type")), "")
    if not kind:
        notes.append(("type", f"unknown type {shown(doc.get('type'))} read as general"))
    concepts = lists.pop("concepts")
    memory = _memory(
        doc, context, notes, ("cm", said["title"], said["narrative"]), content, kind or "general",
        {"concepts", "narrative"}, lists, tags=tuple(dict.fromkeys(concepts)),
        source=Source(speaker=values.speaker(doc.get("agent_type")) or "assistant"),
    )  # fmt: skip
    return memory, notes


def summary(doc: Any, context: ReadContext) -> tuple[Memory, Notes]:
    """Read what was kept of one session; the database and its export give the same memory. Raises
    `ValueError`.
    """
    doc = an_object(doc, "a session summary")
    notes: Notes = []
    request, said = _text(doc.get("request")), {name: _text(doc.get(name)) for name in _PARTS}
    parts = [f"{title}: {said[name]}" for name, title in _PARTS.items() if said[name]]
    if not parts:
        raise ValueError(
            "it says nothing beside what was asked for" if request else "it says nothing"
        )
    content = "\n".join((f"Request: {request}", *parts) if request else parts)
    files = {name: _listed(doc.get(name), name, notes) for name in ("files_read", "files_edited")}
    memory = _memory(
        doc, context, notes, ("cms", request, *said.values()), content,
        "insight" if said["learned"] else "general", {*_PARTS, "request"}, files,
        source=Source(speaker="assistant"), category="session summary",
    )  # fmt: skip
    return memory, notes


def _memory(
    doc: dict[str, Any],
    context: ReadContext,
    notes: Notes,
    named: tuple[str, ...],
    content: str,
    kind: str,
    held: set[str],
    lists: dict[str, tuple[str, ...]],
    **said: Any,
) -> Memory:
    """Return the memory of a row; `named` are how its id begins, its title, and what else its id is
    made of, `held` the keys that it holds otherwise.
    """
    known = {*_KNOWN, *held, *lists}
    extra = {name: value for name, value in doc.items() if name not in known and value is not None}
    extra |= {name: list(items) for name, items in lists.items() if items}
    project = _text(doc.get("project"))
    return made(
        context,
        notes,
        _id(doc, *named[1:], kind=named[0]),
        content,
        created_at(doc, ("created_at_epoch", "created_at"), context, notes, _time),
        kind,
        summary=named[1],
        session_id=_text(doc.get("memory_session_id")) or _text(doc.get("sdk_session_id")),
        memory_type="episodic",
        metadata={**extra, FILE_KEY: {"format": NAME, "name": named[1], "project": project}},
        **said,
    )


def _id(doc: dict[str, Any], *said: str, kind: str = "cm") -> str:
    """Number and a digest: the numbers of two people's databases are the same ones."""
    at = take_text(doc, "created_at_epoch", Notes()) or _text(doc.get("created_at"))
    number = take_text(doc, "id", Notes())
    return joined(kind, number, digest(at, *said))


def _content(said: dict[str, str], facts: tuple[str, ...], notes: Notes) -> str:
    body = said["narrative"] or said["text"] or said["subtitle"] or ("" if facts else said["title"])
    whole = "\n".join(part for part in (body, *(f"- {fact}" for fact in facts)) if part)
    if not whole:
        raise ValueError("it says nothing: no title, narrative, facts or text")
    if len(whole) > MAX_KEPT and body:
        notes.append(("facts", "too long to stand below the narrative: kept in the metadata only"))
        return body
    return whole


def _time(raw: object) -> values.Reading:
    """Read a time; milliseconds since 1970 are what the tool writes, so that nothing is changed by
    reading them.
    """
    return values.time(raw)[0], ""


def _text(raw: object) -> str:
    return raw.strip() if isinstance(raw, str) else ""


def _listed(raw: object, name: str, notes: Notes) -> tuple[str, ...]:
    """Read a list, or the JSON text of one as the database holds it."""
    if isinstance(raw, str) and raw.lstrip().startswith("["):
        try:
            raw = JsonReader().decode(raw)
        except ValueError:
            notes.append((name, "a broken list read as one text"))
    found = take({name: raw}, name, values.texts, (), notes) if raw not in (None, "") else ()
    return tuple(item for item in found if item.strip())


_READ: dict[str, ReadRow] = {"observations": observation, "summaries": summary}
_OTHERS = {"sessions": "sessions", "prompts": "prompts"}
_INSIDE = frozenset({*_READ, *_OTHERS})
_LISTED = re.compile(r'"observations"\s*:\s*\[')
_EXPORT = re.compile(r'"(?:exportedAt|totalObservations)"\s*:')
_MARKS = re.compile(
    r'"(?:narrative|facts|concepts|files_modified|memory_session_id|created_at_epoch)"\s*:'
)


def detect(head: str, path: str) -> Sure | None:
    """Sure when an object says it is an export, or lists observations with their narrative."""
    del path
    if head.lstrip().startswith("{") and (_LISTED.search(head) or _EXPORT.search(head)):
        sure = (
            0.45 * bool(_EXPORT.search(head))
            + 0.25 * bool(_MARKS.search(head))
            + 0.25 * bool(_LISTED.search(head))
        )
        return (sure, "a JSON object of “observations”")
    return None


def read(text: str, context: ReadContext) -> Parsed:
    """Read every observation and session summary that can be read; sessions and prompts are counted
    and reported.
    """
    report = Report(context.file)
    root, lines = opened(
        text, report, _INSIDE, lambda root: root.inside("[", *_READ), "list of “observations”"
    )
    rows = (
        (line, (read, doc), changes)
        for name, read in _READ.items()
        for line, doc, changes in lines.rows(root.inside("[", name))
    )
    found = report.every(rows, lambda row: row[0](row[1], context))
    count_unread(root, lines, report, _OTHERS)
    return report.parsed(NAME, memories=found)


FORMAT = Format(NAME, "claude-mem export (JSON)", detect, read)


# claude-mem's SQLite database: the tables `observations` and `session_summaries`, opened read-only.


DATABASE = "claude-mem-db"
SIGNATURE = "SQLite format 3\0"
"""What every SQLite database begins with."""

_ROWS = {"observations": observation, "session_summaries": summary}
"""The tables that are read, and what reads a row of each."""

_OTHER_TABLES = {"user_prompts": "prompts"}


def detect_database(head: str, path: str) -> Sure | None:
    """Sure when the file is a SQLite database with a table of observations."""
    if not head.startswith(SIGNATURE):
        return None
    try:
        with _open(Path(path)) as database:
            columns = _columns(database)
    except (sqlite3.Error, OSError):
        return None
    if columns & {"title", "narrative", "text"}:
        return (0.95, "a SQLite database with a table “observations”")
    return None


def refuse_text(text: str, context: ReadContext) -> Parsed:
    """Refuse a text: a database is read by its path."""
    del text
    raise UnreadableFile(f"{context.file} is no SQLite database.", "Nothing was read from it.")


def read_path(path: Path, context: ReadContext) -> Parsed:
    """Read every observation and summary that can be read; the line of an issue is the row's
    number.
    """
    report = Report(context.file)
    found: dict[str, Memory] = {}
    try:
        with _open(path) as database:
            if not _columns(database):
                raise UnreadableFile(
                    f"{context.file} has no table “observations”.", "Nothing was read from it."
                )
            for table, row in _ROWS.items():
                if _columns(database, table):
                    _read_rows(database, table, row, found, context, report)
            _report_other_tables(database, report)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableFile(
            f"{context.file} cannot be opened: {reason}.", "Nothing was read from it."
        ) from None
    except sqlite3.Error as error:
        if not found:
            raise UnreadableFile(
                f"{context.file} cannot be read: {error}.", "Nothing was read from it."
            ) from None
        report.skip(len(found) + 1, f"the database is damaged from here on: {error}")
    return report.parsed(DATABASE, memories=tuple(found.values()))


def _read_rows(
    database: sqlite3.Connection,
    table: str,
    read: ReadRow,
    found: dict[str, Memory],
    context: ReadContext,
    report: Report,
) -> None:
    rows = database.execute(f'SELECT * FROM "{table}"')
    names = [str(column[0]) for column in rows.description]
    for number, row in enumerate(rows, 1):
        doc = {name: _plain(value) for name, value in zip(names, row, strict=True)}
        try:
            memory, notes = read(doc, context)
            if memory.id in found:
                raise Unread("{} was already read", shown(memory.id))
        except ValueError as reason:
            report.skip(number, reason_of(reason).under("row {} of {}", number, table))
            continue
        found[memory.id] = memory
        report.mapped_all(notes)


def _report_other_tables(database: sqlite3.Connection, report: Report) -> None:
    for table, what in _OTHER_TABLES.items():
        if _columns(database, table):
            (number,) = database.execute(f'SELECT count(*) FROM "{table}"').fetchone()
            if number:
                report.skip(1, f"{what} are not read ({number:,} of them)", number)


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for reading only, and leave nothing beside it."""
    address = path.absolute().as_uri() + "?mode=ro"
    if _at_rest(path):
        # Otherwise reading alone would put the two files of the log beside it.
        address += "&immutable=1"
    with closing(_connected(address)) as database:
        yield database


def _at_rest(path: Path) -> bool:
    """Whether the database keeps a write-ahead log, and nobody has it open."""
    with path.open("rb") as file:
        header = file.read(20)
    return header[18:20] == b"\x02\x02" and not path.with_name(path.name + "-wal").exists()


def _connected(address: str) -> sqlite3.Connection:
    database = sqlite3.connect(address, uri=True)
    try:
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.Error:
        database.close()
        raise
    return database


def _columns(database: sqlite3.Connection, table: str = "observations") -> set[str]:
    """Return the columns of a table; a view is none, as it may run for ever."""
    known = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    if database.execute(known, (table,)).fetchone() is None:
        return set()
    return {str(row[1]) for row in database.execute(f'PRAGMA table_info("{table}")')}


def _plain(value: object) -> object:
    """Return a value of the database as one of JSON."""
    if isinstance(value, bytes):
        return clean_for_store(value.decode("utf-8", "replace"))
    if isinstance(value, str):
        return clean_for_store(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


DATABASE_FORMAT = Format(
    DATABASE, "claude-mem database (SQLite)", detect_database, refuse_text, read_path=read_path
)
