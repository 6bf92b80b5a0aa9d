"""Words to stems, by the tokenizer of SQLite's full-text search."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing

from workbench.core.errors import WorkbenchError

TOKENIZER = "porter unicode61 remove_diacritics 2"


def stems(words: Sequence[str]) -> list[str]:
    """Return the stem of each word: lower case, without accents, Porter's algorithm.

    A word in which the tokenizer finds nothing stays as it is. Raises `WorkbenchError` when
    this Python's SQLite has no FTS5.
    """
    plain = [row for row, word in enumerate(words) if word.isascii() and word.isalnum()]
    others = {row: word for row, word in enumerate(words) if not (word.isascii() and word.isalnum())}
    found = list(words)
    # A connection of its own per call costs 0.2 ms and makes this safe to call from any thread.
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        try:
            db.execute(f"CREATE VIRTUAL TABLE word USING fts5(text, tokenize = '{TOKENIZER}')")
        except sqlite3.OperationalError as error:
            raise WorkbenchError(
                "Full-text search is not available: this Python's SQLite was built without FTS5.",
                "Nothing was changed; use a Python whose sqlite3 module has FTS5.",
            ) from error
        db.execute("CREATE VIRTUAL TABLE part USING fts5vocab(word, 'instance')")
        db.execute("BEGIN")
        # Each of the plain ones is one word for the tokenizer, too: in one row they take half the time.
        db.execute("INSERT INTO word(rowid, text) VALUES (-1, ?)", (" ".join([words[row] for row in plain]),))
        for place, stem in db.execute("SELECT offset, term FROM part"):
            found[plain[place]] = stem
        if others:
            db.execute("DELETE FROM word")
            db.executemany(
                "INSERT INTO word(rowid, text) VALUES (?, ?)", zip(others, map(_storable, others.values()), strict=True)
            )
            parts: dict[int, list[str]] = {}
            for row, stem in db.execute("SELECT doc, term FROM part ORDER BY doc, offset"):
                parts.setdefault(row, []).append(stem)
            for row, stems_of_row in parts.items():
                found[row] = "".join(stems_of_row)
    return found


def _storable(word: str) -> str:
    return word.encode(errors="replace").decode()
