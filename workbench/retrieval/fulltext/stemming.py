"""Words to stems: English by the tokenizer of SQLite's full-text search, other languages by Snowball's algorithms."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Protocol

from workbench.core.errors import WorkbenchError
from workbench.core.words import bare

TOKENIZER = "porter unicode61 remove_diacritics 2"

_ALGORITHMS: Mapping[str, str] = {
    "de": "german", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese", "nl": "dutch",
    "ru": "russian", "sv": "swedish",
}  # fmt: skip

_PARTICLE = re.compile(
    "(?:(?:에서|에게|한테|께서|으로|로|에|와|과|까지|부터|이나|나|처럼|보다|마다|만)?(?:는|은|도|만|의)?"
    "|이|가|을|를|이다|입니다|이며|이고|이라|라고|이라고|하고|하다|한다|했다|합니다|된다|됐다|되었다)$"
)
"""What follows a Korean noun."""

_LONGEST = 64
"""Letters of a word that is stemmed."""

_one_at_a_time = Lock()


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - Snowball's name


@cache
def made_by() -> str:
    """Name what stems words: two indexes made by the same have the same stems."""
    # Its metadata would say which edition it is, 30 ms later.
    spec = find_spec("snowballstemmer")
    place = Path(spec.origin).parent if spec is not None and spec.origin is not None else Path()
    edition = "".join(sorted(found.name for found in place.parent.glob(f"{place.name}-*.dist-info")))
    return f"{TOKENIZER} {edition} {_PARTICLE.pattern}"


@lru_cache(1 << 16)
def stem_in(word: str, language: str) -> str:
    """Return the stem of a folded word in a language, with the language before a colon; nothing where none is known."""
    if len(word) > _LONGEST:
        return ""
    if language == "ko":
        found = _PARTICLE.search(word, 2)
        stem = word[: found.start()] if found else word
    elif language in _ALGORITHMS:
        with _one_at_a_time:
            stem = _stemmer(language).stemWord(word)
    else:
        return ""
    return f"{language}:{bare(stem)}"


def is_particle(text: str) -> bool:
    """Tell whether a text is what may follow a Korean noun."""
    return _PARTICLE.fullmatch(text) is not None


@cache
def _stemmer(language: str) -> "_Stemmer":
    from snowballstemmer import stemmer  # 50 ms, which an English store need not wait for

    found: _Stemmer = stemmer(_ALGORITHMS[language])
    return found


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
