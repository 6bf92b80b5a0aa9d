"""Words of like meaning, read off the embedding model's own vocabulary: nothing in it comes from a
store.

A stem's vector is the mean of its words' unit vectors. Its related stems are the nearest ones, at
most `MOST`, with a cosine of `LEAST` or more. It depends on the model only, so it is made once for
a model; the bundled one's is shipped.
"""

import io
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.core.words import cased, folded, split
from workbench.retrieval.arrays import Column, Rows, Vectors
from workbench.retrieval.cache_files import UNREADABLE
from workbench.retrieval.fulltext.terms import stems

# Where the words of a query stand, with their related ones: what relevance counts words from.


Near = tuple[tuple[str, float], ...]
"""Stems that mean nearly the same, with their cosine."""

Related = Callable[[str], Near]
"""Returns what is near a stem."""

LEAST = 0.5
"""The cosine from which on a word is related; one of 1 counts as the word itself."""


@dataclass(frozen=True, slots=True, eq=False)
class TermMatch:
    """A term that is asked for, its inverse document frequency, and the rows that have it or a
    related one.

    `own` is how often a row has the term, `near` its related words, each counted by how near it is
    (0…1).
    """

    term: str
    weight: float
    related: Near
    rows: Rows
    own: Column
    near: Column


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The terms of a query, in its order; `lengths` has each row's words without stop words."""

    terms: tuple[TermMatch, ...]
    lengths: Column

    @property
    def weights(self) -> tuple[float, ...]:
        return tuple(term.weight for term in self.terms)

    def counts(self, row: int) -> tuple[tuple[float, float], ...]:
        """Return how often one row has each term, and its related words by how near they are."""
        found = []
        for term in self.terms:
            at = (term.rows == row).nonzero()[0].tolist()
            found.append((float(term.own[at[0]]), float(term.near[at[0]])) if at else (0.0, 0.0))
        return tuple(found)


LONG = 8
"""Letters of the shortest word that is abbreviated by their number."""


def nearness(cosine: float) -> float:
    """Return how much a related word counts, 0…1, by its cosine."""
    return (cosine - LEAST) / (1 - LEAST)


def expandable(query: str, names: Collection[str]) -> Mapping[str, Near]:
    """Return the stems of a query's words that may have related ones, each with how the word is
    abbreviated.

    Words with digits have none, nor what names somebody or something: the names of actors, and
    whatever is capitalised though it does not begin the query. The abbreviation of a long word is
    that of its number of letters: a11y for accessibility, k8s for Kubernetes.
    """
    words = [word for word in cased(query) if folded(word)]
    named = {part for name in names for part in split(name)}
    kept: list[str] = []
    proper: list[str] = []
    for place, word in enumerate(words):
        lower = folded(word)
        sound = word.isalpha() and lower not in named and not (place and word[0].isupper())
        (kept if sound else proper).append(lower)
    if not kept:
        return {}
    others, of_kept, short = (
        set(stems(proper)),
        stems(kept),
        stems([_abbreviated(word) for word in kept]),
    )
    found: dict[str, Near] = dict.fromkeys(of_kept, ())
    found |= {
        stem: ((brief, 1.0),)
        for stem, word, brief in zip(of_kept, kept, short, strict=True)
        if len(word) >= LONG
    }
    return {stem: near for stem, near in found.items() if stem not in others}


def _abbreviated(word: str) -> str:
    return f"{word[0]}{len(word) - 2}{word[-1]}"


def present(text: str, related: Sequence[tuple[str, float]]) -> Near:
    """Return which of some related stems a text has."""
    begin = {stem[:1] for stem, _ in related}
    # A stem begins as its word does; beyond ASCII, accents may be taken from that.
    words = (
        [word for word in _words_of(text) if word[0] in begin or not word.isascii()]
        if related
        else []
    )
    found = frozenset(stems(words)) if words else frozenset[str]()
    return tuple((stem, cosine) for stem, cosine in related if stem in found)


@lru_cache(1)
def _words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, each once; one text is asked for each term of a query, one after
    the other.
    """
    return tuple(dict.fromkeys(split(text)))


MOST = 16
SHORTEST = 3
"""Letters of the shortest word that takes part."""

BLOCK = 1_024
"""Stems compared at a time with all others."""


class Thesaurus:
    """Which stems are related to which: row i of `cosines` belongs to the stems numbered from
    `ends[i − 1]`.
    """

    def __init__(
        self,
        names: Sequence[str],
        ends: NDArray[np.int64],
        others: NDArray[np.int64],
        cosines: Vectors,
    ) -> None:
        self.names = tuple(names)
        self._number = {name: number for number, name in enumerate(self.names)}
        self._ends, self._others, self._cosines = ends, others, cosines

    def __len__(self) -> int:
        return len(self._others)

    def near(self, stem: str) -> Near:
        """Return the stems related to one, the nearest first; nothing for one that the model does
        not know.
        """
        number = self._number.get(stem)
        if number is None:
            return ()
        part = slice(int(self._ends[number - 1]) if number else 0, int(self._ends[number]))
        return tuple(
            (self.names[other], float(cosine))
            for other, cosine in zip(
                self._others[part].tolist(), self._cosines[part].tolist(), strict=True
            )
        )

    def to_bytes(self) -> bytes:
        out = io.BytesIO()
        np.savez_compressed(
            out,
            names=np.frombuffer("\n".join(self.names).encode(), np.uint8),
            counts=np.diff(self._ends, prepend=0).astype(np.uint8),
            others=self._others.astype(np.uint16 if len(self.names) <= 1 << 16 else np.uint32),
            cosines=self._cosines.astype(np.float16),
        )
        return out.getvalue()


def built(vocabulary: Mapping[str, int], vectors: Vectors) -> Thesaurus:
    """Make the thesaurus of a model from its tokens, each with its row in `vectors`, shape (tokens,
    dim).
    """
    words = sorted(
        w for w in vocabulary if w.isascii() and w.isalpha() and w.islower() and len(w) >= SHORTEST
    )
    units = _unit(np.asarray(vectors[[vocabulary[word] for word in words]], np.float32))
    of_word = stems(words)
    names = sorted(set(of_word))
    place = {name: number for number, name in enumerate(names)}
    sums = np.zeros((len(names), units.shape[1]), np.float32)
    np.add.at(sums, [place[stem] for stem in of_word], units)
    return _compared(names, _unit(sums))


def read(path: Path) -> Thesaurus | None:
    """Return the thesaurus in a file, `None` when there is none or it cannot be read."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return Thesaurus(
                file["names"].tobytes().decode().split("\n"),
                np.cumsum(file["counts"].astype(np.int64)),
                file["others"].astype(np.int64),
                file["cosines"].astype(np.float32),
            )
    except UNREADABLE:
        return None


def _compared(names: Sequence[str], units: Vectors) -> Thesaurus:
    others, cosines, counts = [], [], []
    for start in range(0, len(names), BLOCK):
        cosine = units[start : start + BLOCK] @ units.T
        cosine[np.arange(len(cosine)), np.arange(start, start + len(cosine))] = -1.0
        for row in cosine:
            near = np.flatnonzero(row >= LEAST)
            near = near[np.argsort(-row[near], kind="stable")][:MOST]
            others.append(near)
            cosines.append(row[near])
            counts.append(len(near))
    nothing: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    return Thesaurus(
        names,
        np.cumsum(counts),
        np.concatenate(others or nothing),
        np.concatenate(cosines or nothing).astype("f4"),
    )


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(lengths, 1e-9)
    return unit
