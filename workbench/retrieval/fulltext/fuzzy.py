"""Free-word filtering that forgives a typo, and ordered similarity of two texts."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from rapidfuzz import fuzz

from workbench.retrieval.arrays import Column, Mask
from workbench.retrieval.fulltext.line_words import TYPO_FROM, WORD, LineWords

EXACT, START, INSIDE = 100.0, 95.0, 90.0
"""Scores of a query word that is a whole word of the line, starts one, or stands inside one."""

TYPO, TYPO_START = 80.0, 75.0
"""Scores of a query word that is a word of the line, or starts one, but for one typo."""

SPANNED = 2_000
"""Characters of a line in which matches are marked; nobody is shown more of one."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FuzzyMatch:
    """A matching line: its index, its score (0–100) and the parts to highlight, as [start, end) of the line."""

    index: int
    score: float
    spans: tuple[Span, ...]


class FuzzyLines:
    """Lines prepared for filtering at every keystroke; immutable.

    The words of the lines are read when a query first has too few literal matches.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lower = [_lower(line) for line in lines]

    def rank(self, query: str, limit: int | None = None, cutoff: float = 0.0) -> list[FuzzyMatch]:
        """Return the lines that match every word of `query`, best first, equals in their own order.

        A word matches as a substring, case ignored, or with one typo as one of the line's words.
        Lines where every word is a substring score 90–100 and come before all others, which score
        below 80. An empty query matches nothing; `cutoff` is the lowest score that is returned.
        """
        words = list(dict.fromkeys(_lower(query).split()))
        if not words or limit == 0:
            return []
        holds = [np.array([word in line for line in self._lower], np.bool_) for word in words]
        literal = np.logical_and.reduce(holds)
        scores = self._literal_scores(words, literal)
        enough = limit is not None and np.count_nonzero(scores >= max(cutoff, INSIDE)) >= limit
        if not enough and cutoff <= TYPO and any(len(word) >= TYPO_FROM for word in words):
            scores = np.maximum(scores, self._typo_scores(words, holds, literal))
        rows = np.flatnonzero((scores > 0) & (scores >= cutoff))
        best = rows[np.lexsort((rows, -scores[rows]))][:limit]
        return [FuzzyMatch(row, float(scores[row]), self._spans(row, words)) for row in best.tolist()]

    def _literal_scores(self, words: Sequence[str], rows: Mask) -> Column:
        """Return the mean score per line of words that are substrings; 0 for lines not in `rows`."""
        scores = np.zeros(len(self._lower))
        hits = np.flatnonzero(rows)
        lines = [self._lower[row] for row in hits.tolist()]
        for word in words:
            start = re.compile(rf"(?<!\w){re.escape(word)}").search
            whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)").search
            scores[hits] += [(EXACT if whole(line) else START) if start(line) else INSIDE for line in lines]
        return scores / len(words)

    def _typo_scores(self, words: Sequence[str], holds: Sequence[Mask], literal: Mask) -> Column:
        """Return the mean score of lines in which at least one word has a typo; 0 for all others."""
        total = np.zeros(len(self._lower))
        every = ~literal
        for word, held in zip(words, holds, strict=True):
            whole, start = (self._line_words.lines_with(near) for near in self._line_words.near(word))
            best = np.select([held, whole, start], [INSIDE, TYPO, TYPO_START], 0.0)
            total += best
            every &= best > 0
        # Scaled so that a line with any typo stays below every line without one.
        return np.where(every, total / len(words) * (TYPO / INSIDE), 0.0)

    @cached_property
    def _line_words(self) -> LineWords:
        return LineWords(self._lower)

    def _spans(self, row: int, words: Sequence[str]) -> tuple[Span, ...]:
        line = self._lower[row][:SPANNED]
        found: list[Span] = []
        for word in words:
            places = [(m.start(), m.end()) for m in re.finditer(re.escape(word), line)]
            if not places:
                near = LineWords([line]).near(word)
                places = [m.span() for m in WORD.finditer(line) if m[0] in near[0] or m[0] in near[1]]
            found += places
        return _merged(found)


def fuzzy_rank(query: str, lines: Sequence[str], limit: int | None = None, cutoff: float = 0.0) -> list[FuzzyMatch]:
    """Rank `lines` once; see `FuzzyLines.rank`. Prepare `FuzzyLines` when the same lines are asked again."""
    return FuzzyLines(lines).rank(query, limit, cutoff)


def order_similarity(a: str, b: str) -> float:
    """Return how alike two texts are in order, 0–100: the smaller of letter by letter and word by word.

    Case, spacing, Unicode form and (between words) punctuation do not count. The words see what a static
    embedding cannot: "always pnpm, never npm" and its reverse share 95 % of their letters but 50 % of their words.
    """
    a, b = _plain(a), _plain(b)
    words_a, words_b = WORD.findall(a), WORD.findall(b)
    words = float(fuzz.ratio(words_a, words_b)) if words_a or words_b else 100.0
    # That the letters are more alike than the words is mostly so, and sooner known than how alike they are.
    return words if fuzz.ratio(a, b, score_cutoff=words) else float(fuzz.ratio(a, b))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    # A few letters grow in lower case; leaving those keeps spans true to the line.
    return "".join(low if len(low := c.lower()) == 1 else c for c in text)


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    """Return the spans in order, with those that overlap or touch joined."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
