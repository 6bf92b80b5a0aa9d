"""Free-word filtering that forgives a typo, and ordered similarity of two texts."""

import re
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz

from workbench.core.duplicates.function_words import said_words
from workbench.core.words import folded, letters, word_pattern
from workbench.retrieval.arrays import Column, Mask
from workbench.retrieval.fulltext.line_words import EXACT, INSIDE, TYPO, LineWords, Values
from workbench.retrieval.fulltext.spelling import TYPO_FROM, is_near

MOST = EXACT
"""The highest score of a line."""

SPANNED = 2_000
"""Characters of a line in which matches are marked; nobody is shown more of one."""

_KEPT = 32
"""Words that were looked for and are not looked for again: who types looks for the same ones with each key."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FuzzyMatch:
    """A matching line: its index, its score (0–100) and the parts to highlight, as [start, end) of the line."""

    index: int
    score: float
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """How well each line holds one word: as it is typed, or misspelt; and whether that shows of the line."""

    literal: Values
    misspelt: Values
    shows: Mask


class FuzzyLines:
    """Lines prepared for filtering at every keystroke. Any thread may ask.

    The first `heads` characters of a line are what shows of it; without them all does.
    """

    def __init__(self, lines: Sequence[str], heads: Sequence[int] | None = None) -> None:
        self._lines = tuple(lines)
        shown = [
            head if line.isascii() else len(folded(line[:head]))
            for line, head in zip(lines, heads, strict=True)
        ] if heads is not None else None  # fmt: skip
        self._words = LineWords([folded(line) for line in lines], shown)
        self._held: dict[str, _Held] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._lines)

    def scores(self, query: str) -> tuple[Column, Mask]:
        """Return how well each line matches every word of `query`, 0 for not at all; and whether that shows of it.

        A word matches as a substring, case ignored, or with one typo as one of the line's words.
        Lines where every word is a substring score 90–100, all others below 80. An empty query matches nothing.
        """
        words = _words_of(query)
        if not words:
            return np.zeros(len(self)), np.zeros(len(self), np.bool_)
        held = [self._looked_up(word) for word in words]
        literal = np.logical_and.reduce([one.literal > 0 for one in held])
        scores = np.where(literal, sum((one.literal for one in held), np.zeros(len(self))) / len(words), 0.0)
        if any(len(word) >= TYPO_FROM for word in words):
            scores = np.maximum(scores, _misspelt(held, literal))
        return scores, np.logical_or.reduce([one.shows for one in held])

    def rank(self, query: str, limit: int | None = None, cutoff: float = 0.0) -> list[FuzzyMatch]:
        """Return the lines that match every word of `query` (see `scores`), best first, equals in their own order.

        `cutoff` is the lowest score that is returned.
        """
        if limit == 0:
            return []
        scores, _ = self.scores(query)
        rows = np.flatnonzero((scores > 0) & (scores >= cutoff))
        best = rows[np.argsort(-scores[rows], kind="stable")][:limit]
        return [FuzzyMatch(row, float(scores[row]), self.spans(row, query)) for row in best.tolist()]

    def spans(self, row: int, query: str) -> tuple[Span, ...]:
        """Return the parts of a line to highlight, as [start, end)."""
        return spans_in(self._lines[row], query)

    def _looked_up(self, word: str) -> _Held:
        with self._lock:
            known = self._held.pop(word, None)
            if known is None:
                known = self._look_up(word)
            self._held[word] = known  # now the last to go
            if len(self._held) > _KEPT:
                del self._held[next(iter(self._held))]
            return known

    def _look_up(self, word: str) -> _Held:
        # A word as it is typed is worth more than any typo: of the best in a line one can tell which of the two it is.
        best, shows = self._words.in_lines(np.maximum(self._words.held(word), self._words.misspelt(word)))
        literal = best >= INSIDE
        return _Held(np.where(literal, best, 0), np.where(literal, 0, best), shows)


def _words_of(query: str) -> list[str]:
    return list(dict.fromkeys(folded(query).split()))


def _misspelt(held: Sequence[_Held], literal: Mask) -> Column:
    """Return the mean score of lines in which at least one word has a typo; 0 for all others."""
    total, every = np.zeros(len(literal)), ~literal
    for one in held:
        best = np.where(one.literal > 0, INSIDE, one.misspelt)
        total += best
        every &= best > 0
    # Scaled so that a line with any typo stays below every line without one.
    return np.where(every, total / len(held) * (TYPO / INSIDE), 0.0)


def fuzzy_rank(query: str, lines: Sequence[str], limit: int | None = None, cutoff: float = 0.0) -> list[FuzzyMatch]:
    """Rank `lines` once; see `FuzzyLines.rank`. Prepare `FuzzyLines` when the same lines are asked again."""
    return FuzzyLines(lines).rank(query, limit, cutoff)


def spans_in(text: str, query: str) -> tuple[Span, ...]:
    """Return the parts of a text that match the words of a query, as [start, end)."""
    line, begins, ends = _placed(text[:SPANNED])
    found: list[Span] = []
    for word in _words_of(query):
        places = [(m.start(), m.end()) for m in re.finditer(re.escape(word), line)]
        if not places and len(word) >= TYPO_FROM:
            places = [m.span() for m in word_pattern(line).finditer(line) if is_near(word, m[0])]
        found += [(begins[start], ends[end - 1]) for start, end in places]
    return _merged(found)


def _placed(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return a text folded, and where in it the letter begins and ends that each character comes from."""
    if text.isascii():
        return text.lower(), range(len(text)), range(1, len(text) + 1)
    whole: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    place = 0
    for letter in letters(text):
        whole.append(folded(letter))
        begins += [place] * len(whole[-1])
        place += len(letter)
        ends += [place] * len(whole[-1])
    return "".join(whole), begins, ends


def order_similarity(a: str, b: str) -> float:
    """Return how alike two texts are in order, 0–100: the smaller of letter by letter and word by word.

    Case, spacing, Unicode form and (between words) punctuation do not count. The words see what a static
    embedding cannot: "always pnpm, never npm" and its reverse share 95 % of their letters but 50 % of their words.
    """
    a, b = _plain(a), _plain(b)
    words_a, words_b = (word_pattern(t).findall(t) if t.isascii() else said_words(t) for t in (a, b))
    words = float(fuzz.ratio(words_a, words_b)) if words_a or words_b else 100.0
    # That the letters are more alike than the words is mostly so, and sooner known than how alike they are.
    return words if fuzz.ratio(a, b, score_cutoff=words) else float(fuzz.ratio(a, b))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    """Return the spans in order, with those that overlap or touch joined."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
