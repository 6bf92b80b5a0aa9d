"""A part of the full-text index: which of some texts hold a term or a phrase, and how often."""

import re
import sqlite3
import zlib
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from itertools import islice
from os.path import commonprefix
from pathlib import Path
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.core.record import WorkbenchError
from workbench.core.words import ENGLISH, LATIN, bare, humped, language_of_word, latin_language, split, stop_words
from workbench.retrieval.arrays import Mask, Rows

# Words to stems: English by the tokenizer of SQLite's full-text search, other languages by Snowball's algorithms.


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


# The distinct words of texts that are not English, where those that are alike are found: by stem, part or letters.
#
# The words of the texts are what is indexed. Which of them a word of a query stands for is decided when it is asked
# for,
# so that a stem or a part takes room once for a word and not once for each text.


COMPOUNDING = frozenset({"de", "nl", "sv", "ar", "he"})
"""Languages that write words together, or articles and prepositions with them."""

_NO_SHARE, _MOST_SHARE = 64, 63

_LAST = "\U0010ffff"
_SAME, _CHANGED = 3, 2
"""Letters at the beginning that a word has in common with its stem: so many, or all but the last ones."""

_MANY = 500
"""Words that are looked at for one that is asked for."""


class Lexicon:
    """Words, each with the languages that it was met in and its stems in them; sorted by their bare form.

    A line has a word, its bare form where that is another one, and for each language its stem where that is another
    one, too; of a language that compounds words at least its name.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        self._words, self._bare, self._stems = [], [], []
        for line in lines:
            word, _, rest = line.partition("\t")
            plain, _, stems = rest.partition("\t")
            self._words.append(word)
            self._bare.append(plain or word)
            self._stems.append(stems)

    @classmethod
    def of(cls, words: Mapping[str, Collection[str]]) -> "Lexicon":
        """Make it of words and the languages that each was met in."""
        found = []
        for word, languages in words.items():
            plain = bare(word)
            stems = " ".join(stem for language in sorted(languages) if (stem := _stem_of(word, plain, language)))
            found.append((plain, word, f"{word}\t{plain if plain != word else ''}\t{stems}".rstrip("\t")))
        return cls([line for _, _, line in sorted(found)])

    @classmethod
    def from_bytes(cls, content: bytes) -> "Lexicon":
        """Read what `to_bytes` wrote; raises `ValueError` for anything else."""
        try:
            text = zlib.decompress(content).decode()
        except (zlib.error, UnicodeDecodeError) as error:
            raise ValueError(f"no lexicon: {error}") from error
        lines, last = [], ""
        for cut in text.split("\n") if text else ():
            last = last[: ord(cut[0]) - _NO_SHARE] + cut[1:]
            lines.append(last)
        return cls(lines)

    def to_bytes(self) -> bytes:
        """Return it as it is stored: of each line what it does not share with the one before, and how much it does."""
        cut, last = [], ""
        for line in self.lines:
            share = len(commonprefix((last, line[:_MOST_SHARE])))  # noqa: RUF071 - no paths
            cut.append(chr(_NO_SHARE + share) + line[share:])
            last = line
        return zlib.compress("\n".join(cut).encode("utf-8", "replace"), 9)

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
        yield from ((self._words[at], self._bare[at]) for at in islice(self._range(plain, plain + _LAST), _MANY))

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
    return stem if stem and stem != f"{language}:{plain}" else language if language in COMPOUNDING else ""


# Texts as sequences of term numbers: words, and whole identifiers and paths besides.
#
# The term of an English word is its stem, that of a word in another language the word itself (see `lexicon`). A word
# that
# says nothing in its text's language has a term of its own, which counts only in phrases.


Terms = NDArray[np.int32]
"""Term numbers."""

LANGUAGES = (ENGLISH, *LATIN)
"""Languages of Latin letters by their numbers; a text in none of them counts as English."""

_WORTH = {"zh": 0.5, "th": 0.5}
"""Words that a pair of letters counts for in a text's length, by the language."""

SILENT = "·"
"""Stands before a word that says nothing in a language; never part of a word, but of a term for FTS5."""

OWN = "\u02d9"
"""Stands before a word in Latin letters that is not English, whose word may be another one's English stem."""

_AS_IT_IS = "="
"""Stands before a word whose term is not its English stem."""

# Words joined without a space, as in AUTH_SECRET, src/auth/login.py, utf-8, v1.2.3 or std::move.
# They begin where a word does: to look for one at each letter of a long word would take the square of its length.
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]+(?:[_\-./:\\@#+]+[^\W_]+)+")
# A quick look for what only compounds have; most prose has none.
_JOINED = re.compile(r"[_\-./:\\@#+](?=[^\W_])")


@dataclass(frozen=True, slots=True)
class Encoded:
    """Several texts in one.

    `words` are all words in order, text i from `ends[i − 1]` to `ends[i]`; `wholes` are the compounds, and the parts
    of names like camelCase, each of the text whose number stands in `whole_text`; `languages` has each text's language
    by its number in `LANGUAGES`.
    """

    words: Terms
    ends: NDArray[np.int64]
    wholes: Terms
    whole_text: NDArray[np.int64]
    languages: NDArray[np.uint8]


class Vocabulary:
    """Numbers terms in the order they are first seen; it only grows, so numbers stay valid, also for other threads.

    Words and compounds never collide: a compound contains a joining character.
    """

    def __init__(self) -> None:
        self.met: dict[str, frozenset[str]] = {}
        """The languages in which a term that is a word of another language than English was met in texts."""
        self._spelled: dict[str, dict[str, str]] = {}
        self._word: dict[str, int] = {}
        self._term: dict[str, int] = {}
        self._names: list[str] = []
        self._worth: list[float] = []
        self._lock = Lock()
        self.stop: set[int] = set()
        """The numbers of terms that do not count."""
        self.stop.update(self.words(sorted(stop_words())).tolist())

    def __len__(self) -> int:
        return len(self._term)

    def number(self, term: str) -> int | None:
        """Return the number of a term, or `None` when it was never seen."""
        return self._term.get(term)

    def is_silent(self, term: str) -> bool:
        return self._term.get(term) in self.stop

    def worth(self, terms: Terms) -> NDArray[np.float64]:
        """Return how many words each term counts for in the length of its text, none for those that say nothing."""
        worth = np.array(self._worth)
        worth[list(self.stop)] = 0.0
        found: NDArray[np.float64] = worth[terms]
        return found

    def names(self, numbers: Iterable[int]) -> list[str]:
        return [self._names[number] for number in numbers]

    def words(self, words: Sequence[str]) -> Terms:
        """Return the term of each word as `spelled` returns it, stemming those not seen before."""
        known = self._word
        new = list(dict.fromkeys(word for word in words if word not in known))
        if new:
            english = [word for word in new if word[0] != _AS_IT_IS]
            found = [*stems(english), *(word[1:] for word in new if word[0] == _AS_IT_IS)]
            words_of = [*english, *(word for word in new if word[0] == _AS_IT_IS)]
            with self._lock:
                known.update(zip(words_of, map(self._numbered, found), strict=True))
        return np.fromiter(map(known.__getitem__, words), np.int32, len(words))

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Split and number several texts at once."""
        words: list[str] = []
        languages: list[int] = []
        ends: list[int] = []
        wholes: list[int] = []
        whole_text: list[int] = []
        known = _Compounds()
        for i, text in enumerate(texts):
            found_words, language = self.spelled(text)
            words += found_words
            ends.append(len(words))
            languages.append(LANGUAGES.index(language))
            found = [*map(self._number, compounds_in(text, known)), *self.words(humped(text)).tolist()]
            wholes += found
            whole_text += [i] * len(found)
        return Encoded(
            self.words(words), np.array(ends, np.int64), np.array(wholes, np.int32), np.array(whole_text, np.int64),
            np.array(languages, np.uint8),
        )  # fmt: skip

    def spelled(self, text: str) -> tuple[list[str], str]:
        """Return the words of a text, spelled as `words` wants them, and the language of those in Latin letters."""
        found = split(text)
        language = latin_language(text, found) or ENGLISH
        if language == ENGLISH and text.isascii():
            return found, language
        known = self._spelled.setdefault(language, {})
        return [known.get(word) or self._spell(word, language, known) for word in found], language

    def _spell(self, word: str, language: str, known: dict[str, str]) -> str:
        own = language_of(word, language)
        spelled = spelling(word, own)
        if spelled[0] == _AS_IT_IS and spelled[1] != SILENT:
            self.met[word] = self.met.get(word, frozenset()) | {own}
        known[word] = spelled
        return spelled

    def _number(self, term: str) -> int:
        known = self._term.get(term)
        if known is not None:
            return known
        with self._lock:
            return self._numbered(term)

    def _numbered(self, term: str) -> int:
        """Return the number of a term, a new one for a new term; the lock is held."""
        known = self._term.get(term)
        if known is None:
            known = len(self._names)
            self._names.append(term)
            self._term[term] = known
            self._worth.append(1.0 if term.isascii() else _WORTH.get(language_of_word(term), 1.0))
            if term[:1] == SILENT:
                self.stop.add(known)
        return known


def language_of(word: str, language: str) -> str:
    """Return a word's language in a text whose Latin letters are of a language; numbers and codes count as English."""
    return language_of_word(word) or (language if word.isalpha() else ENGLISH)


def spelling(word: str, language: str) -> str:
    """Return a word as `Vocabulary.words` wants it: a word of a language, or one that says nothing in it."""
    if language == ENGLISH:
        return word
    return _AS_IT_IS + (SILENT + word if word in stop_words(language) else own_term(word))


def own_term(word: str) -> str:
    """Return the term of a word that is not English."""
    return word if language_of_word(word) else OWN + word


def compounds_in(text: str, known: "_Compounds | None" = None) -> list[str]:
    """Return the identifiers and paths in a text; what is known of its parts is looked up and added to."""
    if not _JOINED.search(text):
        return []
    parts = _Compounds() if known is None else known
    return [whole for chunk in text.lower().split() for whole in parts[chunk]]


class _Compounds(dict[str, tuple[str, ...]]):
    """Identifiers and paths in a lower-case chunk without spaces, as they are written; of a path also its last part."""

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        found = _COMPOUND.findall(chunk) if _JOINED.search(chunk) else []
        ends = [end for whole in found if (end := _last_part(whole)) != whole]
        self[chunk] = result = (*found, *(end for end in ends if _COMPOUND.fullmatch(end)))
        return result


def _last_part(path: str) -> str:
    return path[max(path.rfind("/"), path.rfind("\\")) + 1 :]


Counts = NDArray[np.int64]

Languages = NDArray[np.uint8]

NOTHING: tuple[Rows, Counts] = (np.zeros(0, np.intp), np.zeros(0, np.int64))
"""What is found of a term that occurs nowhere."""


class Segment(Protocol):
    """Some texts, numbered from 0; a term is a stem, an identifier or a path (see `vocabulary`)."""

    @property
    def lengths(self) -> Counts:
        """Each text's words, without stop words and compounds: BM25's document length."""
        ...

    @property
    def languages(self) -> Languages:
        """The language of each text, by its number in `vocabulary.LANGUAGES`."""
        ...

    @property
    def lexicon(self) -> Lexicon:
        """The words of the texts that are not English."""
        ...

    def postings(self, term: str) -> tuple[Rows, Counts]:
        """Return the texts that hold a term, and how often."""
        ...

    def phrase(self, terms: Sequence[str]) -> tuple[Rows, Counts]:
        """Return the texts in which the terms follow each other, and how often."""
        ...


class MemorySegment:
    """A segment in memory, made of encoded texts; immutable."""

    def __init__(self, texts: Encoded, vocabulary: Vocabulary) -> None:
        self.texts = texts
        self.lengths = text_lengths(texts, vocabulary)
        self.languages = texts.languages
        self._vocabulary = vocabulary
        terms = np.concatenate([texts.words, texts.wholes]).astype(np.int64)
        owners = np.concatenate([_owners(texts), texts.whole_text])
        pairs, self._count = np.unique((terms << 32) | owners, return_counts=True)
        self._term, self._owner = pairs >> 32, pairs & 0xFFFFFFFF

    @cached_property
    def lexicon(self) -> Lexicon:
        """The words of the texts that are not English."""
        return lexicon_of(self.texts, self._vocabulary)

    def postings(self, term: str) -> tuple[Rows, Counts]:
        """Return the texts that hold a term, and how often."""
        number = self._vocabulary.number(term)
        if number is None:
            return NOTHING
        left, right = np.searchsorted(self._term, (number, number + 1))
        return self._owner[left:right], self._count[left:right]

    def phrase(self, terms: Sequence[str]) -> tuple[Rows, Counts]:
        """Return the texts in which the terms follow each other, and how often."""
        words, last = self.texts.words, len(terms) - 1
        numbers = [self._vocabulary.number(term) for term in terms]
        if len(words) <= last or None in numbers:
            return NOTHING
        at = np.flatnonzero(words[: len(words) - last] == numbers[0])
        for step, number in enumerate(numbers[1:], 1):
            at = at[words[at + step] == number]
        owner = np.searchsorted(self.texts.ends, at, side="right")
        inside = at + last < self.texts.ends[owner]
        rows, counts = np.unique(owner[inside], return_counts=True)
        return rows, counts


def text_lengths(texts: Encoded, vocabulary: Vocabulary) -> Counts:
    """Return each text's number of words, without stop words; of a script without spaces about as many as it has."""
    sizes = np.bincount(_owners(texts), vocabulary.worth(texts.words), len(texts.ends))
    return np.ceil(sizes).astype(np.int64)


def lexicon_of(texts: Encoded, vocabulary: Vocabulary) -> Lexicon:
    """Return the words of texts that are not English."""
    met = vocabulary.met
    if not met:
        return Lexicon([])
    seen: Mask = np.zeros(len(vocabulary), np.bool_)
    seen[texts.words] = True
    names = [name.removeprefix(OWN) for name in vocabulary.names(np.flatnonzero(seen).tolist())]
    return Lexicon.of({name: met[name] for name in names if name in met})


def joined(parts: Sequence[tuple[Encoded, Rows]]) -> Encoded:
    """Return the chosen texts of several encodings as one, in the given order."""
    words: list[Terms] = []
    sizes: list[Counts] = []
    languages: list[Languages] = []
    wholes: list[Terms] = []
    whole_text: list[Counts] = []
    done = 0
    for texts, chosen in parts:
        size = np.diff(texts.ends, prepend=0)
        place = np.full(len(texts.ends), -1, np.int64)
        place[chosen] = np.arange(done, done + len(chosen))
        done += len(chosen)
        words.append(texts.words[np.repeat(place >= 0, size)])
        sizes.append(size[place >= 0])
        languages.append(texts.languages[place >= 0])
        kept = place[texts.whole_text] >= 0
        wholes.append(texts.wholes[kept])
        whole_text.append(place[texts.whole_text[kept]])
    return Encoded(
        np.concatenate(words), np.cumsum(np.concatenate(sizes)), np.concatenate(wholes), np.concatenate(whole_text),
        np.concatenate(languages),
    )  # fmt: skip


def _owners(texts: Encoded) -> Counts:
    """Return for each word the number of its text."""
    sizes = np.diff(texts.ends, prepend=0)
    return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
