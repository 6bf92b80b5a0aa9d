"""Texts as sequences of term numbers: words, and whole identifiers and paths besides.

The term of an English word is its stem, that of a word in another language the word itself (see `lexicon`). A word that
says nothing in its text's language has a term of its own, which counts only in phrases.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from workbench.core.words import ENGLISH, LATIN, humped, language_of_word, latin_language, split, stop_words
from workbench.retrieval.fulltext.stemming import stems

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
        """Tell whether a term does not count."""
        return self._term.get(term) in self.stop

    def worth(self, terms: Terms) -> NDArray[np.float64]:
        """Return how many words each term counts for in the length of its text, none for those that say nothing."""
        worth = np.array(self._worth)
        worth[list(self.stop)] = 0.0
        found: NDArray[np.float64] = worth[terms]
        return found

    def names(self, numbers: Iterable[int]) -> list[str]:
        """Return the terms that have these numbers."""
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
