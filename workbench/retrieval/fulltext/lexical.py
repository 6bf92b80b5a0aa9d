"""Full text over the memories: absolute BM25.

Absolute BM25 is BM25 divided by the most that the query could ever reach, the sum over its terms
of idf · (k1 + 1), absent terms counted. It runs from 0 to below 1 without looking at the pool, so an
accidental shared word stays small, which rank fusion and per-query normalisation blow up.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Generic, Self, TypeVar

import numpy as np

from workbench.core.words import ENGLISH, LATIN, bare, cased, humps, language_of_word, parts, split, stop_words, units
from workbench.retrieval.arrays import Column, Mask, Rows, Scores
from workbench.retrieval.fulltext.segment import (
    COMPOUNDING,
    LANGUAGES,
    NOTHING,
    SILENT,
    Counts,
    Lexicon,
    MemorySegment,
    Segment,
    Vocabulary,
    compounds_in,
    is_particle,
    joined,
    language_of,
    own_term,
    spelling,
    stem_in,
)
from workbench.retrieval.fulltext.thesaurus import Matches, Near, Related, TermMatch, expandable, nearness

# What a query asks for: the terms that each of its words stands for in the languages of the store, and how much each.
#
# A query has no language. Each of its words is looked for as it is written, and by its stem in every language that
# the
# store holds.


PHRASE = re.compile(r'["“”„«»「」『』]([^"“”„«»「」『』]+)["“”„«»「」『』]')

LIKE, STEM, PART, BEGINNING, SHARED = 0.9, 0.8, 0.5, 0.4, 0.6
"""What a word counts that differs by accents, has the same stem, is a part of the other one or the other a part of it,
begins the same way, or (Hangul) has all pairs of syllables.
"""

_PART_FROM = 4
"""Letters of a word's shortest part."""

_REST_FROM = 2
"""Letters of the other part of a word that is asked for."""

_ROOT = 3
_ARTICLE = re.compile("[وفبك]?ال|لل|ו?ה")
"""Letters of most Arabic and Hebrew nouns, shorter than a part else is; and the article written together with them."""

_BEGIN_FROM = 5
_END_UP_TO = 4
"""Letters of the beginning that two words share at least, and those that may follow in either."""

_LONGEST_WORD, _LONGEST_PHRASE = 64, 256
"""Letters of a word that stands for others, too; and words of a phrase that are looked for."""

_MOST = 16
"""Words of the store that one word of a query stands for at most."""

_ASKED = 8
"""Queries that are kept as they were read: a ranking needs the same one more than once."""

_RARELY = 10
"""Of so many memories with a word one says something with it at least, or it is taken for one that says nothing."""

_UNSPACED = ("zh", "th")


@dataclass(frozen=True, slots=True)
class Asked:
    """A word, an identifier or a phrase of a query: the terms that stand for it, each with what it counts.

    A phrase has the sequences of terms that it may stand in, and so has a name like camelCase. `silent` are the terms
    of a word where it says nothing: no text is found by them, but the word is as frequent. `stem` is the English stem
    of a word, by which it has related ones.
    """

    name: str
    stem: str = ""
    terms: tuple[tuple[str, float], ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    silent: tuple[str, ...] = ()

    def found_in(self, segment: Segment) -> tuple[Rows, Counts | Column]:
        """Return the texts of a segment that have it, and how often."""
        found = [(segment.postings(term), factor) for term, factor in self.terms]
        found += [(segment.phrase(phrase), 1.0) for phrase in self.phrases]
        found = [one for one in found if len(one[0][0])]
        if len(found) == 1 and found[0][1] == 1.0:
            return found[0][0]
        return _summed(found, len(segment.lengths)) if found else NOTHING


def _summed(found: Sequence[tuple[tuple[Rows, Counts], float]], size: int) -> tuple[Rows, Column]:
    total = np.zeros(size)
    for (texts, counts), factor in found:
        total[texts] += factor * counts
    rows = np.flatnonzero(total)
    return rows, total[rows]


class Asking:
    """Reads queries for an index of some segments, each with how many rows have which text, in some `languages`."""

    def __init__(
        self, vocabulary: Vocabulary, segments: Sequence[tuple[Segment, Counts]], languages: Collection[str]
    ) -> None:
        self._vocabulary = vocabulary
        self._segments = segments
        self._languages = tuple(language for language in LATIN if language in languages)
        self._asked: dict[str, tuple[Asked, ...]] = {}

    def read(self, query: str) -> tuple[Asked, ...]:
        """Return what a query asks for; the last queries are remembered."""
        # No `lru_cache`: one of a method keeps what the method is of, and its segments, until cycles are collected.
        found = self._asked.get(query)
        if found is None:
            found = self._read(query)
            if len(self._asked) >= _ASKED:
                self._asked.clear()
            self._asked[query] = found
        return found

    def _read(self, query: str) -> tuple[Asked, ...]:
        """Return what a query asks for: words without stop words, identifiers, and `"exact phrases"` with them."""
        quoted = [split(phrase)[:_LONGEST_PHRASE] for phrase in PHRASE.findall(query)]
        rest = PHRASE.sub(" ", query)
        words: list[tuple[str, bool, tuple[str, ...]]] = [(one[0], True, ()) for one in quoted if len(one) == 1]
        words += [(word, False, humps(run)) for run in cased(rest) for word in parts(run)]
        asked: dict[str, Asked] = {}
        for (word, is_quoted, of), name in zip(words, self._terms([word for word, _, _ in words]), strict=True):
            if name not in asked and (one := self._word(word, name, is_quoted)) is not None:
                asked[name] = replace(one, phrases=(self._terms(of),)) if of else one
        for whole in compounds_in(rest):
            asked.setdefault(whole, Asked(whole, terms=((whole, 1.0),)))
        for phrase in quoted:
            if len(phrase) > 1:
                ways = dict.fromkeys(self._terms(phrase, language) for language in (ENGLISH, *self._languages))
                name = " ".join(next(iter(ways)))
                asked.setdefault(name, Asked(name, phrases=tuple(ways)))
        return tuple(asked.values())

    def _terms(self, words: Sequence[str], language: str = ENGLISH) -> tuple[str, ...]:
        """Return the terms of words where those in Latin letters are of a language."""
        spelled = [spelling(word, language_of(word, language)) for word in words]
        return tuple(self._vocabulary.names(self._vocabulary.words(spelled).tolist()))

    def _word(self, word: str, name: str, is_quoted: bool) -> Asked | None:
        """Return what one word asks for; nothing for a word that says nothing wherever the store has it."""
        own = language_of_word(word)
        terms = {} if self._vocabulary.is_silent(name) else {name: 1.0}
        languages = (own,) if own else self._languages
        speaking = [language for language in languages if word not in stop_words(language)]
        silent = [SILENT + word] if len(speaking) < len(languages) else []
        silent += [name] if self._vocabulary.is_silent(name) else []
        if speaking:
            terms |= self._alike(word, speaking, whole=bool(silent))
        if silent and is_quoted:
            terms |= dict.fromkeys(silent, 1.0)
        elif silent and self._rows(terms) * _RARELY <= self._rows(silent):
            return None
        return Asked(name, "" if own else name, tuple(terms.items()), silent=tuple(silent))

    def _rows(self, terms: Iterable[str]) -> int:
        """Return how many rows have some terms, one that has several as often."""
        return sum(int(owners[segment.postings(term)[0]].sum()) for term in terms for segment, owners in self._segments)

    def _alike(self, word: str, languages: Sequence[str], whole: bool) -> dict[str, float]:
        """Return the terms of the store that a word in some languages may stand for, the nearest ones first.

        One that is taken as a `whole` stands for no part of another one.
        """
        found = {word: 1.0}
        if len(word) > _LONGEST_WORD:
            return {own_term(word): 1.0}
        lexicons = [segment.lexicon for segment, _ in self._segments if len(segment.lexicon)]
        for lexicon in lexicons:
            for other, factor in _alike(word, lexicon, languages):
                found[other] = max(found.get(other, 0.0), factor)
            if not whole and not COMPOUNDING.isdisjoint(languages):
                for other in _parted(bare(word), lexicon):
                    found.setdefault(other, PART)
        if not whole and languages[0] not in _UNSPACED and not self._rows(map(own_term, found)):
            found |= {other: BEGINNING for lexicon in lexicons for other in _beginning_alike(word, lexicon)}
        nearest = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST]
        return {own_term(other): factor for other, factor in nearest}


def _alike(word: str, lexicon: Lexicon, languages: Sequence[str]) -> Iterator[tuple[str, float]]:
    if languages[0] in _UNSPACED:
        if len(units(word)) == 1:
            yield from ((pair, 1.0) for pair in lexicon.holding(bare(word)) if word in units(pair))
        return
    plain = bare(word)
    yield from ((other, LIKE) for other in lexicon.like(plain))
    for language in languages:
        stem = stem_in(word, language)
        if stem:
            yield from ((other, STEM) for other in lexicon.stemmed(stem))
        if language == "ko" and len(word) > 1:
            yield from _sharing(stem.partition(":")[2], lexicon)
        elif language == "ko":
            yield from ((other, STEM) for other, form in lexicon.beginning(word) if is_particle(form[1:]))


def _parted(plain: str, lexicon: Lexicon) -> Iterator[str]:
    """Yield the words that begin or end with a word, and those that it begins or ends with."""
    if len(plain) == _ROOT:
        held = lexicon.holding(plain, at_end=True)
        yield from (other for other in held if _ARTICLE.fullmatch(bare(other)[:-_ROOT]))
    elif (article := _ARTICLE.match(plain)) and len(plain) == article.end() + _ROOT:
        yield from lexicon.like(plain[article.end() :])
    if len(plain) >= _PART_FROM:
        found = [*(other for other, _ in lexicon.beginning(plain)), *lexicon.holding(plain, at_end=True)]
        for size in range(_PART_FROM, len(plain) - _REST_FROM + 1):
            found += [*lexicon.like(plain[:size]), *lexicon.like(plain[-size:])]
        yield from (other for other in found if lexicon.is_of(other, COMPOUNDING))


def _sharing(word: str, lexicon: Lexicon) -> Iterator[tuple[str, float]]:
    """Yield words that share at least half of a word's pairs of syllables, by the part that they share."""
    pairs = {first + second for first, second in pairwise(word)}
    counts = Counter(other for pair in pairs for other in set(lexicon.holding(pair)))
    yield from ((other, SHARED * count / len(pairs)) for other, count in counts.items() if 2 * count >= len(pairs))


def _beginning_alike(word: str, lexicon: Lexicon) -> Iterator[str]:
    """Yield the words that begin as a word does and end differently."""
    plain = bare(word)
    if len(plain) >= _BEGIN_FROM:
        for begin in range(max(_BEGIN_FROM, len(plain) - _END_UP_TO), len(plain) + 1):
            for other, form in lexicon.beginning(plain[:begin]):
                if len(form) <= begin + _END_UP_TO:
                    yield other


# Which rows of a store a segment speaks for.


S_co = TypeVar("S_co", bound=Segment, covariant=True)


@dataclass(frozen=True, eq=False)
class Part(Generic[S_co]):
    """A segment and the rows that have its texts: row `rows[i]` has text `texts[i]`.

    Several rows may have one text, and a text may have no row any more.
    """

    segment: S_co
    rows: Rows
    texts: Rows

    @cached_property
    def owners(self) -> Counts:
        """How many rows have each text."""
        return np.bincount(self.texts, minlength=len(self.segment.lengths)).astype(np.int64)

    @cached_property
    def lengths(self) -> Counts:
        """The length of each row's text, in words."""
        return self.segment.lengths[self.texts]

    def without(self, rows: Mask) -> "Part[S_co]":
        kept = ~rows[self.rows]
        return self if kept.all() else Part(self.segment, self.rows[kept], self.texts[kept])

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages of the rows' texts in Latin letters."""
        return frozenset(LANGUAGES[number] for number in np.unique(self.segment.languages[self.texts]).tolist())

    def frequency(self, asked: Asked) -> int:
        """Return how many rows have what is asked for, or the word where it says nothing."""
        some = [asked.found_in(self.segment)[0], *(self.segment.postings(term)[0] for term in asked.silent)]
        return int(self.owners[np.unique(np.concatenate(some))].sum())

    def counted(self, asked: Asked, related: Sequence[tuple[str, float]]) -> tuple[Rows, Column, Column]:
        """Return the rows that have what is asked for, or stems related to it; and how often each has both.

        A related stem counts by the factor that stands beside it.
        """
        own, near = np.zeros(len(self.segment.lengths)), np.zeros(len(self.segment.lengths))
        texts, counts = asked.found_in(self.segment)
        own[texts] = counts
        for stem, factor in related:
            texts, counts = self.segment.postings(stem)
            near[texts] += factor * counts
        found = np.flatnonzero(np.take(own + near, self.texts) if related else np.take(own, self.texts))
        texts = self.texts[found]
        return self.rows[found], own[texts], near[texts]


class PartScores:
    """Adds up the scores of one part, text by text."""

    def __init__(self, part: Part[Segment], damping: Column) -> None:
        self.part = part
        self._damping = damping
        self._total = np.zeros(len(damping))
        self._found: tuple[Rows, Counts | Column] | None = None

    def look(self, asked: Asked) -> int:
        """Look up what is asked for; return how many rows have it."""
        self._found = asked.found_in(self.part.segment)
        if asked.silent:
            return self.part.frequency(asked)
        return int(self.part.owners[self._found[0]].sum())

    def add(self, weight: float) -> None:
        """Count what was looked up last."""
        assert self._found is not None
        texts, counts = self._found
        self._total[texts] += weight * counts / (counts + self._damping[texts])

    def into(self, scores: Column) -> None:
        """Put the sums where their rows are."""
        scores[self.part.rows] = self._total[self.part.texts]


K1 = 1.2
B = 0.75
OVERLAY = 2_000
"""Changed rows kept apart before they are put together with those that changed earlier."""


class LexicalIndex:
    """Words, identifiers and phrases of n texts; row i is text i. Immutable: changes give a new index.

    Rows belong to parts: those read from disk (`LexicalCache`), and in memory those that were built or changed
    since. A changed index shares the large parts with the old one; the latest changes live in a small overlay.
    Raises `CacheDamaged` from whatever reads a part on disk that has become unreadable.
    """

    def __init__(
        self, size: int, vocabulary: Vocabulary, parts: Sequence[Part[Segment]], overlay: Part[Segment] | None = None
    ) -> None:
        self._size = size
        self._vocabulary = vocabulary
        self._fixed = tuple(parts)
        self._overlay = overlay
        self.parts = self._fixed if overlay is None else (*self._fixed, overlay)
        filled, words = 0, 0
        for part in self.parts:
            filled += int(np.count_nonzero(part.lengths))
            words += int(part.lengths.sum())
        mean = words / filled if filled else 1.0
        self._documents = filled
        self._damping: list[Column] = [
            np.asarray(K1 * (1 - B + B * part.segment.lengths / mean), np.float64) for part in self.parts
        ]

    @classmethod
    def build(cls, texts: Sequence[str]) -> Self:
        """Index `texts` in memory."""
        vocabulary = Vocabulary()
        everything = np.arange(len(texts))
        return cls(len(texts), vocabulary, [Part(_segment(texts, vocabulary), everything, everything)])

    def __len__(self) -> int:
        return self._size

    def scores(self, query: str) -> Scores:
        """Return absolute BM25 for every row, float32 of shape (n,), 0…1.

        Words count by their stems, stop words do not count; an identifier or path as it is written counts
        besides its words; `"two words"` in quotes count only where they follow each other.
        """
        sums = [PartScores(part, damping) for part, damping in zip(self.parts, self._damping, strict=True)]
        most = 0.0
        for asked in self._asked(query):
            frequency = sum(part.look(asked) for part in sums)
            weight = math.log1p((max(self._documents, frequency) - frequency + 0.5) / (frequency + 0.5)) * (K1 + 1)
            most += weight
            for part in sums:
                part.add(weight)
        total = np.zeros(self._size)
        for part in sums:
            part.into(total)
        return (total / most if most else total).astype(np.float32)

    def matches(self, query: str, related: Related | None = None, names: Collection[str] = ()) -> Matches:
        """Return where the terms of a query stand, and the words that are `related` to them.

        What `names` somebody has no related words (`matches.expandable`).
        """
        plain = expandable(PHRASE.sub(" ", query), names) if related is not None else {}
        found = [
            self._match(
                one, (*related(one.stem), *plain[one.stem]) if related is not None and one.stem in plain else ()
            )
            for one in self._asked(query)
        ]
        return Matches(tuple(found), self._row_lengths)

    def _asked(self, query: str) -> tuple[Asked, ...]:
        return self._asking.read(query)

    @cached_property
    def _asking(self) -> Asking:
        return Asking(self._vocabulary, [(part.segment, part.owners) for part in self.parts], self.languages)

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages of the texts in Latin letters; a text of one that is not told apart counts as English."""
        return frozenset[str]().union(*(part.languages for part in self.parts))

    def _match(self, asked: Asked, related: Near) -> TermMatch:
        every: list[tuple[Rows, Column, Column]] = [(np.zeros(0, np.intp), np.zeros(0), np.zeros(0))]
        for part in self.parts:
            every.append(part.counted(asked, [(stem, nearness(cosine)) for stem, cosine in related]))
        rows, own, near = (np.concatenate(column) for column in zip(*every, strict=True))
        silent = bool(asked.silent)
        frequency = sum(part.frequency(asked) for part in self.parts) if silent else int(np.count_nonzero(own))
        weight = math.log1p((max(self._documents, frequency) - frequency + 0.5) / (frequency + 0.5))
        return TermMatch(asked.name, weight, related, rows, own, near)

    @cached_property
    def _row_lengths(self) -> Column:
        lengths = np.zeros(self._size)
        for part in self.parts:
            lengths[part.rows] = part.lengths
        return lengths

    def with_replaced(self, texts: Mapping[int, str]) -> Self:
        """Return an index in which the given rows have new texts; an empty text removes a row's words."""
        return self._changed(dict(texts), self._size)

    def with_added(self, texts: Sequence[str]) -> Self:
        """Return an index with more rows at the end."""
        return self._changed({self._size + i: text for i, text in enumerate(texts)}, self._size + len(texts))

    def _changed(self, texts: dict[int, str], size: int) -> Self:
        if not texts:
            return self
        rows = np.array(sorted(texts), np.intp)
        gone: Mask = np.zeros(size, np.bool_)
        gone[rows] = True
        fixed = [part.without(gone) for part in self._fixed]
        old = [] if self._overlay is None else [self._overlay.without(gone)]
        new: Part[Segment] = Part(
            _segment([texts[row] for row in rows.tolist()], self._vocabulary), rows, np.arange(len(rows))
        )
        overlay = self._together([*old, new])
        if len(overlay.rows) > OVERLAY:
            loose = [part for part in fixed if isinstance(part.segment, MemorySegment)]
            kept = [part for part in fixed if part not in loose]
            return type(self)(size, self._vocabulary, [*kept, self._together([*loose, overlay])])
        return type(self)(size, self._vocabulary, fixed, overlay)

    def _together(self, parts: Sequence[Part[Segment]]) -> Part[Segment]:
        """Return parts in memory, in which each text has one row, as one."""
        if len(parts) == 1:
            return parts[0]
        segments = [part.segment for part in parts if isinstance(part.segment, MemorySegment)]
        encoded = joined([(s.texts, part.texts) for s, part in zip(segments, parts, strict=True)])
        rows = np.concatenate([part.rows for part in parts])
        return Part(MemorySegment(encoded, self._vocabulary), rows, np.arange(len(rows)))


def _segment(texts: Sequence[str], vocabulary: Vocabulary) -> MemorySegment:
    return MemorySegment(vocabulary.encode(texts), vocabulary)
