"""Texts as sequences of term numbers: stemmed words, and whole identifiers and paths besides."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from workbench.core.stopwords import STOP_WORDS
from workbench.retrieval.fulltext.stemming import stems

Terms = NDArray[np.int32]
"""Term numbers."""

# ASCII text is split by a byte table, six times faster than by the pattern that other text needs.
_ASCII_WORDS = bytes(ord(chr(c).lower()) if c < 128 and chr(c).isalnum() else 32 for c in range(256))
_WORD = re.compile(r"[^\W_]+")
# Words joined without a space, as in AUTH_SECRET, src/auth/login.py, utf-8, v1.2.3 or std::move.
# They begin where a word does: to look for one at each letter of a long word would take the square of its length.
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]+(?:[_\-./:\\@#+]+[^\W_]+)+")
# A quick look for what only compounds have; most prose has none.
_JOINED = re.compile(r"[_\-./:\\@#+](?=[^\W_])")


@dataclass(frozen=True, slots=True)
class Encoded:
    """Several texts in one.

    `words` are all words in order, text i from `ends[i − 1]` to `ends[i]`; `wholes` are the
    compounds, each of the text whose number stands in `whole_text`.
    """

    words: Terms
    ends: NDArray[np.int64]
    wholes: Terms
    whole_text: NDArray[np.int64]


class Vocabulary:
    """Numbers terms in the order they are first seen; it only grows, so numbers stay valid, also for other threads.

    Words and compounds never collide: a compound contains a joining character.
    """

    def __init__(self) -> None:
        self._word: dict[str, int] = {}
        self._term: dict[str, int] = {}
        self._names: list[str] = []
        self._lock = Lock()
        self.stop = frozenset(self.words(sorted(STOP_WORDS)).tolist())

    def __len__(self) -> int:
        return len(self._term)

    def number(self, term: str) -> int | None:
        """Return the number of a term, or `None` when it was never seen."""
        return self._term.get(term)

    def names(self, numbers: Iterable[int]) -> list[str]:
        """Return the terms that have these numbers."""
        return [self._names[number] for number in numbers]

    def words(self, words: Sequence[str]) -> Terms:
        """Return the term of each lower-case word, stemming those not seen before."""
        known = self._word
        new = list(dict.fromkeys(word for word in words if word not in known))
        if new:
            found = stems(new)
            with self._lock:
                known.update(zip(new, map(self._numbered, found), strict=True))
        return np.fromiter(map(known.__getitem__, words), np.int32, len(words))

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Split and number several texts at once."""
        words: list[str] = []
        ends: list[int] = []
        wholes: list[int] = []
        whole_text: list[int] = []
        compounds = _Compounds()
        for i, text in enumerate(texts):
            words += split_words(text)
            ends.append(len(words))
            if _JOINED.search(text):
                found = [whole for chunk in text.lower().split() for whole in compounds[chunk]]
                wholes += map(self._number, found)
                whole_text += [i] * len(found)
        return Encoded(
            self.words(words), np.array(ends, np.int64), np.array(wholes, np.int32), np.array(whole_text, np.int64)
        )

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
        return known


def split_words(text: str) -> list[str]:
    """Return the lower-case runs of letters and digits, in order."""
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).decode().split()
    return _WORD.findall(text.lower())


def cased_words(text: str) -> list[str]:
    """Return the runs of letters and digits as they are written, in order."""
    return _WORD.findall(text)


class _Compounds(dict[str, tuple[str, ...]]):
    """Identifiers and paths in a lower-case chunk without spaces, as they are written; of a path also its last part."""

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        found = _COMPOUND.findall(chunk) if _JOINED.search(chunk) else []
        ends = [end for whole in found if (end := _last_part(whole)) != whole]
        self[chunk] = result = (*found, *(end for end in ends if _COMPOUND.fullmatch(end)))
        return result


def _last_part(path: str) -> str:
    return path[max(path.rfind("/"), path.rfind("\\")) + 1 :]
