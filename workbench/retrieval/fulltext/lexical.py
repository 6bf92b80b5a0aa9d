"""Full text over the memories: which texts hold a term or a phrase, what a query asks for, and
absolute BM25.

Absolute BM25 is BM25 divided by the most that the query could ever reach, the sum over its terms of
idf · (k1 + 1), absent terms counted. It runs from 0 to below 1 without looking at the pool, so an
accidental shared word stays small, which rank fusion and per-query normalisation blow up.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from workbench.core.record import WorkStopped
from workbench.core.runtime import Cancelled, Progress
from workbench.core.words import (
    ENGLISH,
    LATIN,
    bare,
    cased,
    humps,
    language_of_word,
    parts,
    split,
    stop_words,
    units,
)
from workbench.retrieval.arrays import Column, Mask, Rows, Scores
from workbench.retrieval.cache_files import from_texts, read_arrays, to_texts, write_arrays
from workbench.retrieval.fulltext.terms import (
    COMPOUNDING,
    LANGUAGES,
    SILENT,
    Lexicon,
    TermNumbers,
    compounds_in,
    edition,
    is_particle,
    is_silent,
    language_of,
    own_term,
    spelling,
    stem_in,
    terms_of,
    worth,
)
from workbench.retrieval.fulltext.thesaurus import (
    Matches,
    Near,
    Related,
    TermMatch,
    expandable,
    nearness,
)
from workbench.retrieval.text_keys import Keys, KeyTable, first_places, text_keys

Numbers = NDArray[np.int64]
Hashes = NDArray[np.uint64]

Found = tuple[Rows, Numbers | Column]
"""Texts that hold something, and how often."""

NOTHING: Found = (np.zeros(0, np.intp), np.zeros(0, np.int64))

BATCH = 4_096
"""Texts read between two looks at `cancelled`."""

MOST_COUNTED = 65_535
"""How often one term counts in one text at most."""


@dataclass(frozen=True, eq=False)
class Postings:
    """Which of some texts, numbered from 0, hold which terms; immutable.

    `terms` are the hashes of all terms, sorted; term i stands in the texts `docs[starts[i]:starts[i
    + 1]]`, in each of them as often as `counts` says. `words` are all words in order, as indexes
    into `terms`, of each text as many as `sizes` says; compounds are only counted. `lengths` are
    the words of each text without those that say nothing: BM25's document length. `languages` has
    each text's language by its number in `LANGUAGES`.
    """

    keys: Keys
    lengths: Numbers
    languages: NDArray[np.uint8]
    sizes: Numbers
    words: NDArray[np.int32]
    terms: Hashes
    starts: Numbers
    docs: NDArray[np.int32]
    counts: NDArray[np.uint16]
    lexicon: Lexicon

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        keys: Keys,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> "Postings":
        """Read texts, whose `keys` are given. Raises `WorkStopped` when `cancelled()` becomes true."""
        known = TermNumbers()
        words, wholes = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        sizes, whole_docs, languages = list[int](), list[int](), list[int]()
        for start in range(0, len(texts), BATCH):
            if cancelled is not None and cancelled():
                raise WorkStopped(
                    f"Indexing was stopped after {start:,} of {len(texts):,} texts.",
                    "No memory is affected; the rest is indexed next time.",
                )
            spelled, compounds = list[str](), list[int]()
            for doc in range(start, min(start + BATCH, len(texts))):
                text = texts[doc]
                found, language = known.spelled(text)
                spelled += found
                sizes.append(len(found))
                languages.append(LANGUAGES.index(language))
                whole = known.wholes(text)
                compounds += whole
                whole_docs += [doc] * len(whole)
            words.append(np.array(known.words(spelled), np.int32))
            wholes.append(np.array(compounds, np.int32))
            if progress is not None:
                progress(len(sizes), len(texts))
        hashes = np.fromiter(map(_hash, known.numbers), np.uint64, len(known.numbers))
        value = np.fromiter(map(worth, known.numbers), np.float64, len(known.numbers))
        order = np.argsort(hashes)
        place = np.argsort(order).astype(np.int32)
        number, owners = (
            np.concatenate(words),
            np.repeat(np.arange(len(texts), dtype=np.int32), sizes),
        )
        lengths = np.ceil(np.bincount(owners, value[number], len(texts))).astype(np.int64)
        return _postings(
            hashes[order], place[np.concatenate([number, *wholes])],
            np.concatenate([owners, np.array(whole_docs, np.int32)]), None, keys=keys, lengths=lengths,
            languages=np.array(languages, np.uint8), sizes=np.array(sizes, np.int64), words=place[number],
            lexicon=Lexicon.of(known.met),
        )  # fmt: skip

    @classmethod
    def joined(cls, some: Sequence["Postings"], used: Mask) -> "Postings":
        """Return the texts of several that are used, in order; `used` has a flag for each text."""
        ends = np.cumsum([len(one) for one in some])[:-1]
        flags, places = np.split(used, ends), np.split((np.cumsum(used) - 1).astype(np.int32), ends)
        terms = np.unique(np.concatenate([one.terms for one in some]))
        number, docs, counts, words = list[Any](), list[Any](), list[Any](), list[Any]()
        for one, flag, place in zip(some, flags, places, strict=True):
            mine, kept = np.searchsorted(terms, one.terms).astype(np.int32), flag[one.docs]
            number.append(np.repeat(mine, np.diff(one.starts))[kept])
            docs.append(place[one.docs[kept]])
            counts.append(one.counts[kept])
            words.append(mine[one.words[np.repeat(flag, one.sizes)]])
        columns = {
            name: np.concatenate(
                [getattr(one, name)[flag] for one, flag in zip(some, flags, strict=True)]
            )
            for name in ("keys", "lengths", "languages", "sizes")
        }
        return _postings(
            terms, *map(np.concatenate, (number, docs, counts)), words=np.concatenate(words), **columns,
            lexicon=Lexicon.joined(one.lexicon for one in some),
        )  # fmt: skip

    @classmethod
    def read(cls, path: Path) -> "Postings | None":
        arrays = read_arrays(path, edition())
        if arrays is None:
            return None
        lexicon = Lexicon(tuple(line.split("\t")) for line in to_texts(arrays["lexicon"]))
        return cls(**{name: arrays[name] for name in _ARRAYS}, lexicon=lexicon)

    def write(self, path: Path) -> None:
        """Keep it in a file; where that cannot be done, nothing is kept."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        write_arrays(
            path,
            edition(),
            arrays | {"lexicon": from_texts(["\t".join(row) for row in self.lexicon.rows()])},
        )

    def __len__(self) -> int:
        return len(self.lengths)

    def find(self, term: str) -> Found:
        """Return the texts that hold a term, and how often."""
        number = self._number(term)
        if number is None:
            return NOTHING
        held = slice(int(self.starts[number]), int(self.starts[number + 1]))
        return self.docs[held].astype(np.intp), self.counts[held].astype(np.int64)

    def phrase(self, terms: Sequence[str]) -> Found:
        """Return the texts in which the terms follow each other, and how often."""
        last = len(terms) - 1
        numbers = [self._number(term) for term in terms]
        if len(self.words) <= last or None in numbers:
            return NOTHING
        at = np.flatnonzero(self.words[: len(self.words) - last] == numbers[0])
        for step, number in enumerate(numbers[1:], 1):
            at = at[self.words[at + step] == number]
        ends = np.cumsum(self.sizes)
        owner = np.searchsorted(ends, at, side="right")
        counts = np.bincount(owner[at + last < ends[owner]], minlength=1)
        rows = np.flatnonzero(counts)
        return rows, counts[rows]

    def _number(self, term: str) -> int | None:
        wanted = _hash(term)
        at = int(np.searchsorted(self.terms, np.uint64(wanted)))
        return at if at < len(self.terms) and int(self.terms[at]) == wanted else None


_ARRAYS = ("keys", "lengths", "languages", "sizes", "words", "terms", "starts", "docs", "counts")


def _postings(
    terms: Hashes, number: Rows, docs: Rows, counts: Rows | None, **columns: Any
) -> Postings:
    """Put postings together from the numbers of terms and the texts that they stand in, in any
    order.

    Each pair stands there once and has a count, or without `counts` as often as it is counted.
    """
    pairs = number.astype(np.int64)
    pairs <<= 32
    pairs |= docs
    if counts is None:
        pairs.sort()
        first = np.flatnonzero(np.diff(pairs, prepend=-1))
        counts, pairs = np.diff(first, append=len(pairs)), pairs[first]
    else:
        order = np.argsort(pairs)
        counts, pairs = counts[order], pairs[order]
    return Postings(
        **columns,
        terms=terms,
        starts=np.searchsorted(pairs, np.arange(len(terms) + 1) << 32),
        docs=(pairs & 0xFFFFFFFF).astype(np.int32),
        counts=np.minimum(counts, MOST_COUNTED).astype(np.uint16),
    )


def _hash(term: str) -> int:
    return int.from_bytes(
        blake2b(term.encode(errors="surrogatepass"), digest_size=8).digest(), "little"
    )


# What a query asks for: the terms that each of its words stands for in the languages of the store,
# and how much each.
#
# A query has no language. Each of its words is looked for as it is written, and by its stem in
# every language that the store holds.


PHRASE = re.compile(r'["“”„«»「」『』]([^"“”„«»「」『』]+)["“”„«»「」『』]')

LIKE, STEM, PART, BEGINNING, SHARED = 0.9, 0.8, 0.5, 0.4, 0.6
"""What a word counts that differs by accents, has the same stem, is a part of the other one or the
other a part of it, begins the same way, or (Hangul) has all pairs of syllables.
"""

_PART_FROM = 4
"""Letters of a word's shortest part."""

_REST_FROM = 2
"""Letters of the other part of a word that is asked for."""

_ROOT = 3
_ARTICLE = re.compile("[وفبك]?ال|لل|ו?ה")
"""Letters of most Arabic and Hebrew nouns, shorter than a part else is; and the article written
together with them.
"""

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
"""Of so many memories with a word one says something with it at least, or it is taken for one that
says nothing.
"""

_UNSPACED = ("zh", "th")


@dataclass(frozen=True, slots=True)
class Asked:
    """A word, an identifier or a phrase of a query: the terms that stand for it, each with what it
    counts.

    A phrase has the sequences of terms that it may stand in, and so has a name like camelCase.
    `silent` are the terms of a word where it says nothing: no text is found by them, but the word
    is as frequent. `stem` is the English stem of a word, by which it has related ones.
    """

    name: str
    stem: str = ""
    terms: tuple[tuple[str, float], ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    silent: tuple[str, ...] = ()


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
            yield from (
                (other, STEM) for other, form in lexicon.beginning(word) if is_particle(form[1:])
            )


def _parted(plain: str, lexicon: Lexicon) -> Iterator[str]:
    """Yield the words that begin or end with a word, and those that it begins or ends with."""
    if len(plain) == _ROOT:
        held = lexicon.holding(plain, at_end=True)
        yield from (other for other in held if _ARTICLE.fullmatch(bare(other)[:-_ROOT]))
    elif (article := _ARTICLE.match(plain)) and len(plain) == article.end() + _ROOT:
        yield from lexicon.like(plain[article.end() :])
    if len(plain) >= _PART_FROM:
        found = [
            *(other for other, _ in lexicon.beginning(plain)),
            *lexicon.holding(plain, at_end=True),
        ]
        for size in range(_PART_FROM, len(plain) - _REST_FROM + 1):
            found += [*lexicon.like(plain[:size]), *lexicon.like(plain[-size:])]
        yield from (other for other in found if lexicon.is_of(other, COMPOUNDING))


def _sharing(word: str, lexicon: Lexicon) -> Iterator[tuple[str, float]]:
    """Yield words that share at least half of a word's pairs of syllables, by the part that they
    share.
    """
    pairs = {first + second for first, second in pairwise(word)}
    counts = Counter(other for pair in pairs for other in set(lexicon.holding(pair)))
    yield from (
        (other, SHARED * count / len(pairs))
        for other, count in counts.items()
        if 2 * count >= len(pairs)
    )


def _beginning_alike(word: str, lexicon: Lexicon) -> Iterator[str]:
    """Yield the words that begin as a word does and end differently."""
    plain = bare(word)
    if len(plain) >= _BEGIN_FROM:
        for begin in range(max(_BEGIN_FROM, len(plain) - _END_UP_TO), len(plain) + 1):
            for other, form in lexicon.beginning(plain[:begin]):
                if len(form) <= begin + _END_UP_TO:
                    yield other


K1 = 1.2
B = 0.75
OVERLAY = 2_000
"""Changed rows kept apart before they are put together with the rest."""


class LexicalIndex:
    """Words, identifiers and phrases of n texts; row i has the text numbered `texts[i]`, several
    may have the same one.

    Immutable: changes give a new index. The texts are in one or two `parts`, counted through: those
    that were read from disk or built together, which a changed index shares with the old one, and
    those that changed since.
    """

    def __init__(self, parts: Sequence[Postings], texts: Rows) -> None:
        self.parts = tuple(parts)
        self._texts = texts
        self._lengths = np.concatenate([part.lengths for part in self.parts])
        self._owners = np.bincount(texts, minlength=len(self._lengths))
        words = int((self._owners * self._lengths).sum())
        self._documents = int(self._owners[self._lengths > 0].sum())
        mean = words / self._documents if self._documents else 1.0
        self._damping = K1 * (1 - B + B * self._lengths / mean)
        self._queries: dict[str, tuple[Asked, ...]] = {}

    @classmethod
    def build(cls, texts: Sequence[str]) -> Self:
        """Index `texts` in memory."""
        return cls([Postings.of(texts, text_keys(texts))], np.arange(len(texts)))

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def used(self) -> Mask:
        """Which texts any row has."""
        return self._owners > 0

    def scores(self, query: str) -> Scores:
        """Return absolute BM25 for every row, float32 of shape (n,), 0…1.

        Words count by their stems, stop words do not count; an identifier or path as it is written
        counts besides its words; `"two words"` in quotes count only where they follow each other.
        """
        total, most = np.zeros(len(self._lengths)), 0.0
        for asked in self._asked(query):
            texts, counts = self._found(asked)
            weight = self._weight(asked, texts) * (K1 + 1)
            most += weight
            total[texts] += weight * counts / (counts + self._damping[texts])
        found = total[self._texts]
        return (found / most if most else found).astype(np.float32)

    def matches(
        self, query: str, related: Related | None = None, names: Collection[str] = ()
    ) -> Matches:
        """Return where the terms of a query stand, and the words that are `related` to them.

        What `names` somebody has no related words (`matches.expandable`).
        """
        plain = expandable(PHRASE.sub(" ", query), names) if related is not None else {}
        found = [
            self._match(
                one,
                (*related(one.stem), *plain[one.stem])
                if related is not None and one.stem in plain
                else (),
            )
            for one in self._asked(query)
        ]
        return Matches(tuple(found), self._row_lengths)

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages of the texts in Latin letters; a text of one that is not told apart counts
        as English.
        """
        numbers = np.concatenate([part.languages for part in self.parts])[self.used]
        return frozenset(
            LANGUAGES[number] for number in np.flatnonzero(np.bincount(numbers)).tolist()
        )

    def with_replaced(self, texts: Mapping[int, str]) -> Self:
        """Return an index in which the given rows have new texts; an empty text removes a row's
        words.
        """
        return self._changed(texts, len(self))

    def with_added(self, texts: Sequence[str]) -> Self:
        """Return an index with more rows at the end."""
        return self._changed(
            {len(self) + i: text for i, text in enumerate(texts)}, len(self) + len(texts)
        )

    def together(self) -> Self:
        """Return an index of the same rows whose texts are in one part, and no others with them."""
        if len(self.parts) == 1 and self.used.all():
            return self
        return type(self)(
            [Postings.joined(self.parts, self.used)], (np.cumsum(self.used) - 1)[self._texts]
        )

    def _changed(self, texts: Mapping[int, str], size: int) -> Self:
        if not texts:
            return self
        rows, new = np.array(list(texts), np.intp), list(texts.values())
        numbers = np.zeros(size, np.intp)
        numbers[: len(self)] = self._texts
        numbers[rows] = len(self._lengths) + np.arange(len(new))
        parts = (*self.parts, Postings.of(new, text_keys(new)))
        if len(parts) > 2:
            base, *changed = parts
            is_new = numbers >= len(base)
            used = np.bincount(numbers[is_new] - len(base), minlength=sum(map(len, changed))) > 0
            numbers[is_new] = len(base) + (np.cumsum(used) - 1)[numbers[is_new] - len(base)]
            parts = (base, Postings.joined(changed, used))
        index = type(self)(parts, numbers)
        return index.together() if len(parts[-1]) > OVERLAY else index

    def _match(self, asked: Asked, related: Near) -> TermMatch:
        own, near = np.zeros(len(self._lengths)), np.zeros(len(self._lengths))
        texts, counts = self._found(asked)
        own[texts] = counts
        for stem, cosine in related:
            held, times = self._postings(stem)
            near[held] += nearness(cosine) * times
        rows = np.flatnonzero((own + near if related else own)[self._texts])
        of_rows = self._texts[rows]
        return TermMatch(
            asked.name, self._weight(asked, texts), related, rows, own[of_rows], near[of_rows]
        )

    @cached_property
    def _row_lengths(self) -> Column:
        return self._lengths[self._texts].astype(np.float64)

    def _weight(self, asked: Asked, texts: Rows) -> float:
        """Return the inverse document frequency of what stands in some texts, or in others where it
        says nothing.
        """
        if asked.silent:
            held = np.zeros(len(self._lengths), np.bool_)
            for some in (texts, *(self._postings(term)[0] for term in asked.silent)):
                held[some] = True
            texts = np.flatnonzero(held)
        frequency = int(self._owners[texts].sum())
        return math.log1p((max(self._documents, frequency) - frequency + 0.5) / (frequency + 0.5))

    def _postings(self, term: str) -> Found:
        return self._in_all([part.find(term) for part in self.parts])

    def _in_all(self, found: Sequence[Found]) -> Found:
        """Return what was found in each part as texts that are counted through."""
        if len(found) == 1:
            return found[0]
        (texts, counts), (more, others) = found
        return np.concatenate([texts, more + len(self.parts[0])]), np.concatenate([counts, others])

    def _found(self, asked: Asked) -> Found:
        """Return the texts that have what is asked for, and how often."""
        found = [(self._postings(term), factor) for term, factor in asked.terms]
        found += [
            (self._in_all([part.phrase(one) for part in self.parts]), 1.0) for one in asked.phrases
        ]
        found = [one for one in found if len(one[0][0])]
        if not found:
            return NOTHING
        if len(found) == 1 and found[0][1] == 1.0:
            return found[0][0]
        total = np.zeros(len(self._lengths))
        for (texts, counts), factor in found:
            total[texts] += factor * counts
        held = np.flatnonzero(total)
        return held, total[held]

    def _rows(self, terms: Iterable[str]) -> int:
        """Return how many rows have some terms, one that has several as often."""
        return sum(int(self._owners[self._postings(term)[0]].sum()) for term in terms)

    def _asked(self, query: str) -> tuple[Asked, ...]:
        """Return what a query asks for; a ranking needs the same query more than once."""
        found = self._queries.get(query)
        if found is None:
            found = self._read(query)
            if len(self._queries) >= _ASKED:
                self._queries.clear()
            self._queries[query] = found
        return found

    def _read(self, query: str) -> tuple[Asked, ...]:
        """Return what a query asks for: words without stop words, identifiers, and `"exact
        phrases"` with them.
        """
        quoted = [split(phrase)[:_LONGEST_PHRASE] for phrase in PHRASE.findall(query)]
        rest = PHRASE.sub(" ", query)
        words: list[tuple[str, bool, tuple[str, ...]]] = [
            (one[0], True, ()) for one in quoted if len(one) == 1
        ]
        words += [(word, False, humps(run)) for run in cased(rest) for word in parts(run)]
        asked: dict[str, Asked] = {}
        for (word, is_quoted, of), name in zip(
            words, _terms([word for word, _, _ in words]), strict=True
        ):
            if name not in asked and (one := self._word(word, name, is_quoted)) is not None:
                asked[name] = replace(one, phrases=(_terms(of),)) if of else one
        for whole in compounds_in(rest):
            asked.setdefault(whole, Asked(whole, terms=((whole, 1.0),)))
        for phrase in quoted:
            if len(phrase) > 1:
                ways = dict.fromkeys(
                    _terms(phrase, language) for language in (ENGLISH, *self._latin)
                )
                name = " ".join(next(iter(ways)))
                asked.setdefault(name, Asked(name, phrases=tuple(ways)))
        return tuple(asked.values())

    @property
    def _latin(self) -> tuple[str, ...]:
        return tuple(language for language in LATIN if language in self.languages)

    def _word(self, word: str, name: str, is_quoted: bool) -> Asked | None:
        """Return what one word asks for; nothing for a word that says nothing wherever the store
        has it.
        """
        own = language_of_word(word)
        terms = {} if is_silent(name) else {name: 1.0}
        languages = (own,) if own else self._latin
        speaking = [language for language in languages if word not in stop_words(language)]
        silent = [SILENT + word] if len(speaking) < len(languages) else []
        silent += [name] if is_silent(name) else []
        if speaking:
            terms |= self._alike(word, speaking, whole=bool(silent))
        if silent and is_quoted:
            terms |= dict.fromkeys(silent, 1.0)
        elif silent and self._rows(terms) * _RARELY <= self._rows(silent):
            return None
        return Asked(name, "" if own else name, tuple(terms.items()), silent=tuple(silent))

    def _alike(self, word: str, languages: Sequence[str], whole: bool) -> dict[str, float]:
        """Return the terms of the store that a word in some languages may stand for, the nearest
        ones first.

        One that is taken as a `whole` stands for no part of another one.
        """
        found = {word: 1.0}
        if len(word) > _LONGEST_WORD:
            return {own_term(word): 1.0}
        lexicons = [part.lexicon for part in self.parts if len(part.lexicon)]
        for lexicon in lexicons:
            for other, factor in _alike(word, lexicon, languages):
                found[other] = max(found.get(other, 0.0), factor)
            if not whole and not COMPOUNDING.isdisjoint(languages):
                for other in _parted(bare(word), lexicon):
                    found.setdefault(other, PART)
        if not whole and languages[0] not in _UNSPACED and not self._rows(map(own_term, found)):
            found |= {
                other: BEGINNING
                for lexicon in lexicons
                for other in _beginning_alike(word, lexicon)
            }
        nearest = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST]
        return {own_term(other): factor for other, factor in nearest}


def _terms(words: Sequence[str], language: str = ENGLISH) -> tuple[str, ...]:
    """Return the terms of words where those in Latin letters are of a language."""
    return tuple(terms_of([spelling(word, language_of(word, language)) for word in words]))


SMALL = 256
"""Texts that are read again each time rather than written down, where there are many others."""


class LexicalCache:
    """A file below `folder` with the postings of all texts that were indexed: it knows texts by
    their content.

    A text is read once. The file is not truth: whatever is missing, torn or foreign is made again,
    and it can be deleted at any time. Nobody waits: a file is replaced in one step, and of two who
    write it the last one is believed. Not for several threads; the indexes it returns are.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "index.npz"
        self._stored: Postings | None = None

    def index(
        self,
        texts: Sequence[str],
        keys: Keys | None = None,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> LexicalIndex:
        """Return the index of `texts`, whose `keys` are `text_keys(texts)`; new texts are written
        to the cache.

        `progress(done, total)` counts the texts that have to be indexed. Raises `WorkStopped` when
        `cancelled()` becomes true.
        """
        keys = text_keys(texts) if keys is None else keys
        stored = self._stored or Postings.read(self.path) or Postings.of((), text_keys(()))
        numbers = KeyTable(stored.keys).find(keys)
        missing = np.flatnonzero(numbers < 0)
        new = missing[first_places(keys[missing])]
        fresh = Postings.of([texts[row] for row in new.tolist()], keys[new], progress, cancelled)
        numbers[missing] = len(stored) + KeyTable(fresh.keys).find(keys[missing])
        index = LexicalIndex([part for part in (stored, fresh) if len(part)] or [stored], numbers)
        few = len(fresh) <= SMALL and len(fresh) * SMALL <= len(stored)
        if not few or 2 * np.count_nonzero(index.used) < len(stored):
            index = index.together()
            index.parts[0].write(self.path)
        self._stored = index.parts[0]
        return index
