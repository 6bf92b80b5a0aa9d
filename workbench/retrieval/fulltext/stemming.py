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
    found: list[list[str]] = [[] for _ in words]
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
        db.executemany("INSERT INTO word(rowid, text) VALUES (?, ?)", enumerate(map(_storable, words)))
        for row, stem in db.execute("SELECT doc, term FROM part ORDER BY doc, offset"):
            found[row].append(stem)
    return ["".join(parts) or word for parts, word in zip(found, words, strict=True)]


def _storable(word: str) -> str:
    return word.encode(errors="replace").decode()
