"""A part of the full-text index: which of some texts hold a term or a phrase, and how often."""

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.retrieval.arrays import Mask, Rows
from workbench.retrieval.fulltext.lexicon import Lexicon
from workbench.retrieval.fulltext.vocabulary import OWN, Encoded, Terms, Vocabulary

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
