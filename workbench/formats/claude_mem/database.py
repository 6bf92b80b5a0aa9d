"""claude-mem's SQLite database: the tables `observations` and `session_summaries`, opened read-only."""

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from workbench.core.files.format import Detection, Format, Parsed, ReadContext
from workbench.core.files.reason import Unread, reason_of
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import Memory
from workbench.core.text import clean_for_store
from workbench.formats.claude_mem.claude_mem import ReadRow, observation, summary
from workbench.formats.shared.report import Report, shown

NAME = "claude-mem-db"
SIGNATURE = "SQLite format 3\0"
"""What every SQLite database begins with."""

_ROWS = {"observations": observation, "session_summaries": summary}
"""The tables that are read, and what reads a row of each."""

_OTHERS = {"user_prompts": "prompts"}


def detect(head: str, path: str) -> Detection:
    """Sure when the file is a SQLite database with a table of observations."""
    if not head.startswith(SIGNATURE):
        return Detection(NAME, 0.0, "no SQLite database")
    try:
        with _open(Path(path)) as database:
            columns = _columns(database)
    except (sqlite3.Error, OSError):
        return Detection(NAME, 0.0, "a SQLite database that cannot be read")
    if columns & {"title", "narrative", "text"}:
        return Detection(NAME, 0.95, "a SQLite database with a table “observations”")
    return Detection(NAME, 0.0, "a SQLite database without a table “observations”")


def read(text: str, context: ReadContext) -> Parsed:
    """Refuse a text: a database is read by its path."""
    del text
    raise UnreadableFile(f"{context.file} is no SQLite database.", "Nothing was read from it.")


def read_path(path: Path, context: ReadContext) -> Parsed:
    """Read every observation and summary that can be read; the line of an issue is the row's number."""
    report = Report(context.file)
    found: dict[str, Memory] = {}
    try:
        with _open(path) as database:
            if not _columns(database):
                raise UnreadableFile(f"{context.file} has no table “observations”.", "Nothing was read from it.")
            for table, row in _ROWS.items():
                if _columns(database, table):
                    _read_rows(database, table, row, found, context, report)
            _report_others(database, report)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableFile(f"{context.file} cannot be opened: {reason}.", "Nothing was read from it.") from None
    except sqlite3.Error as error:
        if not found:
            raise UnreadableFile(f"{context.file} cannot be read: {error}.", "Nothing was read from it.") from None
        report.skip(len(found) + 1, f"the database is damaged from here on: {error}")
    return report.parsed(NAME, memories=tuple(found.values()))


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


def _report_others(database: sqlite3.Connection, report: Report) -> None:
    for table, what in _OTHERS.items():
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


FORMAT = Format(NAME, "claude-mem database (SQLite)", detect, read, read_path=read_path)
