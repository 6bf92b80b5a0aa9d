"""A segment of the full-text index as a file: an SQLite database with an FTS5 table, written once, never changed.

`words` holds the terms as `vocabulary` splits and stems them, so its tokenizer only parts them at spaces; it does
not keep the texts. The file is named by a hash of its content that is keyed with how it was made: a torn, damaged
or foreign file, or one of another version, does not fit its name.
"""

import hashlib
import sqlite3
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from workbench.core.files.atomic import draft_beside, unlocked
from workbench.core.words import STOP_WORDS
from workbench.retrieval.fulltext.segment import Encoded, Vocabulary, lexicon_of, made_by, text_lengths
from workbench.retrieval.text_keys import Keys

SUFFIX = ".fts"

VERSION = 3
"""To be raised whenever texts are split or stored in another way."""

LONGEST = 8_000
"""Characters of a term that are stored: FTS5 cuts a term at 32 768 bytes."""

_SCHEMA = (
    r"""CREATE VIRTUAL TABLE words USING fts5(word, compound, content='', columnsize=0,
        tokenize="ascii tokenchars '_-./:\@#+'")""",
    "CREATE VIRTUAL TABLE places USING fts5vocab(words, 'instance')",
    "CREATE TABLE texts(keys BLOB, lengths BLOB, languages BLOB, lexicon BLOB)",
)

_GATHERED = 32 << 20
"""Bytes of postings that SQLite gathers before it writes them: all of a usual segment's."""


@dataclass(frozen=True, slots=True)
class NewSegment:
    """Texts to be written as a segment: their keys, and they themselves as encoded words."""

    keys: Keys
    encoded: Encoded
    vocabulary: Vocabulary

    def write(self, folder: Path) -> Path:
        """Write the segment into `folder` under the name it gets; raises `OSError` or `sqlite3.Error`."""
        with draft_beside(folder / SUFFIX, ".segment-") as (_, draft):
            with closing(sqlite3.connect(unlocked(draft), isolation_level=None, uri=True)) as db:
                # A crash leaves a file that does not have its name yet, so SQLite need not guard against one.
                db.execute("PRAGMA journal_mode = OFF")
                db.execute("PRAGMA synchronous = OFF")
                db.execute("BEGIN EXCLUSIVE")
                for statement in _SCHEMA:
                    db.execute(statement)
                self._fill(db)
                db.execute("COMMIT")
            return draft.replace(folder / f"{digest(draft)}{SUFFIX}")

    def _fill(self, db: sqlite3.Connection) -> None:
        db.execute(f"INSERT INTO words(words, rank) VALUES ('hashsize', {_GATHERED})")
        db.executemany("INSERT INTO words(rowid, word, compound) VALUES (?, ?, ?)", self._terms())
        db.execute("INSERT INTO words(words) VALUES ('optimize')")
        lengths = text_lengths(self.encoded, self.vocabulary).astype("<i4").tobytes()
        languages = self.encoded.languages.tobytes() if self.encoded.languages.any() else None
        lexicon = lexicon_of(self.encoded, self.vocabulary)
        row = (self.keys.astype("<u8").tobytes(), lengths, languages, lexicon.to_bytes() if len(lexicon) else None)
        db.execute("INSERT INTO texts VALUES (?, ?, ?, ?)", row)

    def _terms(self) -> Iterator[tuple[int, str, str]]:
        """Yield for each text its number from 1, its words and its compounds."""
        words = [term[:LONGEST] for term in self.vocabulary.names(self.encoded.words.tolist())]
        compounds: dict[int, list[str]] = {}
        wholes = self.vocabulary.names(self.encoded.wholes.tolist())
        for number, term in zip(self.encoded.whole_text.tolist(), wholes, strict=True):
            compounds.setdefault(number, []).append(term[:LONGEST])
        start = 0
        for number, end in enumerate(self.encoded.ends.tolist()):
            yield number + 1, " ".join(words[start:end]), " ".join(compounds.get(number, ()))
            start = end


def digest(path: Path) -> str:
    """Return the name that the content of a file deserves, without the suffix; raises `OSError`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16, key=_made())).hexdigest()


def edition() -> str:
    """Name the way files are made: 12 hexadecimal digits."""
    return hashlib.blake2b(_made(), digest_size=6).hexdigest()


def _made() -> bytes:
    """Return a key of everything that decides what stands in a file."""
    parts = (str(VERSION), made_by(), *_SCHEMA, STOP_WORDS.read_text("utf-8"), unicodedata.unidata_version)
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=32).digest()
