"""Where the words of a query stand, with their related ones: what relevance counts words from."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from workbench.core.words import cased, folded, split
from workbench.retrieval.arrays import Column, Rows
from workbench.retrieval.fulltext.stemming import stems

Near = tuple[tuple[str, float], ...]
"""Stems that mean nearly the same, with their cosine."""

Related = Callable[[str], Near]
"""Returns what is near a stem."""

LEAST = 0.5
"""The cosine from which on a word is related; one of 1 counts as the word itself."""


@dataclass(frozen=True, slots=True, eq=False)
class TermMatch:
    """A term that is asked for, its inverse document frequency, and the rows that have it or a related one.

    `own` is how often a row has the term, `near` its related words, each counted by how near it is (0…1).
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
        """The weights of the terms."""
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
    """Return the stems of a query's words that may have related ones, each with how the word is abbreviated.

    Words with digits have none, nor what names somebody or something: the names of actors, and whatever is
    capitalised though it does not begin the query. The abbreviation of a long word is that of its number of letters:
    a11y for accessibility, k8s for Kubernetes.
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
    others, of_kept, short = set(stems(proper)), stems(kept), stems([_abbreviated(word) for word in kept])
    found: dict[str, Near] = dict.fromkeys(of_kept, ())
    found |= {
        stem: ((brief, 1.0),) for stem, word, brief in zip(of_kept, kept, short, strict=True) if len(word) >= LONG
    }
    return {stem: near for stem, near in found.items() if stem not in others}


def _abbreviated(word: str) -> str:
    return f"{word[0]}{len(word) - 2}{word[-1]}"


def present(text: str, related: Sequence[tuple[str, float]]) -> Near:
    """Return which of some related stems a text has."""
    begin = {stem[:1] for stem, _ in related}
    # A stem begins as its word does; beyond ASCII, accents may be taken from that.
    words = [word for word in _words_of(text) if word[0] in begin or not word.isascii()] if related else []
    found = frozenset(stems(words)) if words else frozenset[str]()
    return tuple((stem, cosine) for stem, cosine in related if stem in found)


@lru_cache(1)
def _words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, each once; one text is asked for each term of a query, one after the other."""
    return tuple(dict.fromkeys(split(text)))
