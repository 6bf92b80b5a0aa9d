"""What full text is made of: the terms of a text, which are stems, words, identifiers and paths,
and the words alike.

The term of an English word is its stem, that of a word in another language the word itself (see
`Lexicon`). A word that says nothing in its text's language has a term of its own, which counts only
in phrases.
"""

import re
import sqlite3
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Protocol

from workbench.core.record import WorkbenchError
from workbench.core.words import (
    ENGLISH,
    LATIN,
    STOP_WORDS,
    bare,
    humped,
    language_of_word,
    latin_language,
    split,
    stop_words,
)

# Words to stems: English by the tokenizer of SQLite's full-text search, other languages by
# Snowball's algorithms.


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


_VERSION = 4
"""To be raised whenever texts are split or stored in another way."""


@cache
def edition() -> str:
    """Name all that decides which terms a text has: 12 hexadecimal digits."""
    # Its metadata would say which edition the stemmer is, 30 ms later.
    spec = find_spec("snowballstemmer")
    place = Path(spec.origin).parent if spec is not None and spec.origin is not None else Path()
    stemmer = sorted(found.name for found in place.parent.glob(f"{place.name}-*.dist-info"))
    rules = (
        TOKENIZER,
        _PARTICLE.pattern,
        STOP_WORDS.read_text("utf-8"),
        unicodedata.unidata_version,
    )
    return blake2b("\n".join((str(_VERSION), *stemmer, *rules)).encode(), digest_size=6).hexdigest()


@lru_cache(1 << 16)
def stem_in(word: str, language: str) -> str:
    """Return the stem of a folded word in a language, with the language before a colon; nothing
    where none is known.
    """
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
    others = {
        row: word for row, word in enumerate(words) if not (word.isascii() and word.isalnum())
    }
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
        # Each of the plain ones is one word for the tokenizer, too: in one row they take half the
        # time.
        db.execute(
            "INSERT INTO word(rowid, text) VALUES (-1, ?)",
            (" ".join([words[row] for row in plain]),),
        )
        for place, stem in db.execute("SELECT offset, term FROM part"):
            found[plain[place]] = stem
        if others:
            db.execute("DELETE FROM word")
            db.executemany(
                "INSERT INTO word(rowid, text) VALUES (?, ?)",
                zip(others, map(_storable, others.values()), strict=True),
            )
            parts: dict[int, list[str]] = {}
            for row, stem in db.execute("SELECT doc, term FROM part ORDER BY doc, offset"):
                parts.setdefault(row, []).append(stem)
            for row, stems_of_row in parts.items():
                found[row] = "".join(stems_of_row)
    return found


def _storable(word: str) -> str:
    return word.encode(errors="replace").decode()


# The distinct words of texts that are not English, where those that are alike are found: by stem,
# part or letters.
#
# The words of the texts are what is indexed. Which of them a word of a query stands for is decided
# when it is asked for, so that a stem or a part takes room once for a word and not once for each
# text.


COMPOUNDING = frozenset({"de", "nl", "sv", "ar", "he"})
"""Languages that write words together, or articles and prepositions with them."""

_LAST = "\U0010ffff"
_SAME, _CHANGED = 3, 2
"""Letters at the beginning that a word has in common with its stem: so many, or all but the last
ones.
"""

_MANY = 500
"""Words that are looked at for one that is asked for."""


class Lexicon:
    """Words, each with its bare form and, for each language that it was met in, its stem; sorted by
    the bare form.

    The stem is left out where it is the bare form; of a language that compounds words its name is
    there at least.
    """

    def __init__(self, rows: Iterable[tuple[str, ...]] = ()) -> None:
        self._bare, self._words, self._stems = list[str](), list[str](), list[str]()
        for plain, word, stems in sorted(rows):
            self._bare.append(plain)
            self._words.append(word)
            self._stems.append(stems)

    @classmethod
    def of(cls, words: Mapping[str, Collection[str]]) -> "Lexicon":
        """Make it of words and the languages that each was met in."""
        plain = {word: bare(word) for word in words}
        stems = {
            word: {
                stem for language in languages if (stem := _stem_of(word, plain[word], language))
            }
            for word, languages in words.items()
        }
        return cls((plain[word], word, " ".join(sorted(stems[word]))) for word in words)

    @classmethod
    def joined(cls, some: Iterable["Lexicon"]) -> "Lexicon":
        """Return one with the words of several."""
        found: dict[tuple[str, str], set[str]] = {}
        for lexicon in some:
            for plain, word, stems in lexicon.rows():
                found.setdefault((plain, word), set()).update(stems.split())
        return cls((plain, word, " ".join(sorted(stems))) for (plain, word), stems in found.items())

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield what it was made of."""
        return zip(self._bare, self._words, self._stems, strict=True)

    def __len__(self) -> int:
        return len(self._words)

    def like(self, plain: str) -> Iterator[str]:
        """Yield the words with a bare form."""
        yield from (self._words[at] for at in self._range(plain, plain + "\0"))

    def is_of(self, word: str, languages: Collection[str]) -> bool:
        """Tell whether a word of it was met in one of some languages."""
        at = self._words.index(word, bisect_left(self._bare, bare(word)))
        return any(stem.partition(":")[0] in languages for stem in self._stems[at].split(" "))

    def beginning(self, plain: str) -> Iterator[tuple[str, str]]:
        """Yield the words whose bare form begins so, and that form."""
        yield from (
            (self._words[at], self._bare[at])
            for at in islice(self._range(plain, plain + _LAST), _MANY)
        )

    def stemmed(self, stem: str) -> Iterator[str]:
        """Yield the words that have a stem, as `stem_in` returns it, or are it."""
        own = stem.partition(":")[2]
        yield from self.like(own)
        begin = own[: max(_SAME, len(own) - _CHANGED)]
        yield from (
            self._words[at]
            for at in self._range(begin, begin + _LAST)
            if stem in self._stems[at] and stem in self._stems[at].split(" ")
        )

    def holding(self, part: str, *, at_end: bool = False) -> Iterator[str]:
        """Yield the words in whose bare form a part stands, or that end with it."""
        text, starts = self._text
        wanted, place = (part + "\n" if at_end else part), -1
        for _ in range(_MANY):
            place = text.find(wanted, place + 1)
            if place < 0:
                return
            number = bisect_left(starts, place + 1) - 1
            yield self._words[number]
            place = text.find("\n", place)

    @cached_property
    def _text(self) -> tuple[str, list[int]]:
        starts, end = [], 0
        for word in self._bare:
            starts.append(end)
            end += len(word) + 1
        return "".join(f"{word}\n" for word in self._bare), starts

    def _range(self, first: str, end: str) -> range:
        return range(bisect_left(self._bare, first), bisect_left(self._bare, end))


def _stem_of(word: str, plain: str, language: str) -> str:
    stem = stem_in(word, language)
    return (
        stem
        if stem and stem != f"{language}:{plain}"
        else language
        if language in COMPOUNDING
        else ""
    )


# The terms of texts.


LANGUAGES = (ENGLISH, *LATIN)
"""Languages of Latin letters by their numbers; a text in none of them counts as English."""

_WORTH = {"zh": 0.5, "th": 0.5}
"""Words that a pair of letters counts for in a text's length, by the language."""

SILENT = "·"
"""Stands before a word that says nothing in a language; never part of a word."""

OWN = "\u02d9"
"""Stands before a word in Latin letters that is not English, whose word may be another one's
English stem.
"""

_AS_IT_IS = "="
"""Stands before a word whose term is not its English stem."""

# Words joined without a space, as in AUTH_SECRET, src/auth/login.py, utf-8, v1.2.3 or std::move.
# They begin where a word does: to look for one at each letter of a long word would take the square
# of its length.
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]+(?:[_\-./:\\@#+]+[^\W_]+)+")
# A quick look for what only compounds have; most prose has none.
_JOINED = re.compile(r"[_\-./:\\@#+](?=[^\W_])")


class TermNumbers:
    """Numbers the terms of texts in the order they are first seen; a word and a compound never are
    the same term.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.met: dict[str, set[str]] = {}
        """The languages in which a word was met that is not English."""
        self._of_word: dict[str, int] = {}
        self._spelled: dict[str, dict[str, str]] = {}
        self._compounds = _Compounds()

    def spelled(self, text: str) -> tuple[list[str], str]:
        """Return the words of a text, spelled as `terms_of` wants them, and the language of those
        in Latin letters.
        """
        found = split(text)
        language = latin_language(text, found) or ENGLISH
        if language == ENGLISH and text.isascii():
            return found, language
        known = self._spelled.setdefault(language, {})
        return [known.get(word) or self._spell(word, language, known) for word in found], language

    def words(self, spelled: Sequence[str]) -> list[int]:
        """Return the number of each word's term."""
        known = self._of_word
        new = [word for word in dict.fromkeys(spelled) if word not in known]
        known.update(zip(new, map(self._number, terms_of(new)), strict=True))
        return [known[word] for word in spelled]

    def wholes(self, text: str) -> list[int]:
        """Return the numbers of the compounds of a text, and of the parts of names like camelCase."""
        return [*map(self._number, compounds_in(text, self._compounds)), *self.words(humped(text))]

    def _spell(self, word: str, language: str, known: dict[str, str]) -> str:
        own = language_of(word, language)
        spelled = known[word] = spelling(word, own)
        if spelled[0] == _AS_IT_IS and spelled[1] != SILENT:
            self.met.setdefault(word, set()).add(own)
        return spelled

    def _number(self, term: str) -> int:
        return self.numbers.setdefault(term, len(self.numbers))


def terms_of(spelled: Sequence[str]) -> list[str]:
    """Return the terms of words as `spelling` returns them: the stems of English ones, all others
    as they are.
    """
    english = [word for word in spelled if word[0] != _AS_IT_IS]
    stem = dict(zip(english, stems(english), strict=True)) if english else {}
    return [word[1:] if word[0] == _AS_IT_IS else stem[word] for word in spelled]


def is_silent(term: str) -> bool:
    """Tell whether a term says nothing."""
    return term[:1] == SILENT or term in _silent_stems()


@cache
def _silent_stems() -> frozenset[str]:
    return frozenset(stems(sorted(stop_words())))


def worth(term: str) -> float:
    """Return how many words a term counts for in the length of its text, none where it says
    nothing.
    """
    if is_silent(term):
        return 0.0
    return 1.0 if term.isascii() else _WORTH.get(language_of_word(term), 1.0)


def language_of(word: str, language: str) -> str:
    """Return a word's language in a text whose Latin letters are of a language; numbers and codes
    count as English.
    """
    return language_of_word(word) or (language if word.isalpha() else ENGLISH)


def spelling(word: str, language: str) -> str:
    """Return a word as `terms_of` wants it: a word of a language, or one that says nothing in it."""
    if language == ENGLISH:
        return word
    return _AS_IT_IS + (SILENT + word if word in stop_words(language) else own_term(word))


def own_term(word: str) -> str:
    """Return the term of a word that is not English."""
    return word if language_of_word(word) else OWN + word


def compounds_in(text: str, known: "_Compounds | None" = None) -> list[str]:
    """Return the identifiers and paths in a text; what is known of its parts is looked up and added
    to.
    """
    if not _JOINED.search(text):
        return []
    parts = _Compounds() if known is None else known
    return [whole for chunk in text.lower().split() for whole in parts[chunk]]


class _Compounds(dict[str, tuple[str, ...]]):
    """Identifiers and paths in a lower-case chunk without spaces, as they are written; of a path
    also its last part.
    """

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        found = _COMPOUND.findall(chunk) if _JOINED.search(chunk) else []
        ends = [end for whole in found if (end := _last_part(whole)) != whole]
        self[chunk] = result = (*found, *(end for end in ends if _COMPOUND.fullmatch(end)))
        return result


def _last_part(path: str) -> str:
    return path[max(path.rfind("/"), path.rfind("\\")) + 1 :]
