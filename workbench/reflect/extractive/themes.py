"""Recurring themes: for each sentence the memories that say something near it, and when they did.

Leader clustering by cosine: any sentence may lead, and what is near it supports it. Static embeddings share a large
common component, which is taken out first; what remains is compared with how near unrelated sentences come.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.reflect.extractive.sentences import Sentence

Vectors = NDArray[np.float32]

LEAST = 3
"""Memories, from as many times or sessions, that make a theme."""

_COMMON = 30.0
"""Sentences from which on their mean is mostly the common component, and not what they are about."""

_DEVIATIONS, _LOWEST, _HIGHEST = 3.0, 0.42, 0.6
"""Standard deviations of all cosines from which a pair counts as near, and the bounds of that threshold."""

_CLEAR, _CERTAIN = 0.5, 0.65
"""Cosines from which one shared meaningful word makes two sentences near, and from which none is needed.

Of other languages than English the vectors know letters rather than words, and too much is near: two are needed.
"""

_ON_ONE_SUBJECT = 0.3
"""Cosine from which two sentences about the focus are near."""

_COMMONPLACE = 0.06
"""Share of all sentences above which a word says nothing about what two of them share."""


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """How near the sentences are: `cosines` (n, n), 0 where a pair is not near, and (n, m) per memory.

    `by_memory` also counts as near what has only the focus in common.
    `rows` are the m memories of the second, by their place in the request; `occasions` names when each was made.
    """

    cosines: NDArray[np.float32]
    by_memory: NDArray[np.float32]
    rows: NDArray[np.intp]
    occasions: NDArray[np.intp]
    threshold: float


@dataclass(frozen=True, slots=True)
class Theme:
    """What supports a sentence: rows of the request by falling nearness, on how many occasions, and how near (0–1)."""

    rows: tuple[int, ...]
    occasions: int
    nearness: float


def without_common(vectors: Vectors, mean: Vectors) -> Vectors:
    """Return unit vectors without the component that all share."""
    bare: Vectors = vectors - mean
    length = np.linalg.norm(bare, axis=1, keepdims=True)
    unit: Vectors = (bare / np.maximum(length, 1e-9)).astype(np.float32)
    return unit


def common_of(vectors: Vectors) -> Vectors:
    """Return what all vectors share, less of it the fewer they are."""
    count = len(vectors)
    common: Vectors = vectors.mean(axis=0) * np.float32(count / (count + _COMMON))
    return common


def compare(
    sentences: Sequence[Sentence], vectors: Vectors, occasions: Sequence[int], focused: Sequence[bool] = ()
) -> Near:
    """Compare every sentence with every other; `vectors` (n, dim) are bare, `occasions` is by row of the request.

    Sentences that are `focused` have their subject in common already, so that less makes two of them near.
    """
    cosines = np.clip(vectors @ vectors.T, -1.0, 1.0)
    threshold = _threshold(cosines)
    same = np.flatnonzero(np.array(focused, np.bool_))
    between = cosines[np.ix_(same, same)]
    _drop_what_shares_no_word(cosines, sentences, threshold)
    supported = cosines
    if len(same):
        supported = cosines.copy()
        supported[np.ix_(same, same)] = np.where(between >= _ON_ONE_SUBJECT, np.maximum(between, threshold), 0)
    rows = np.array([s.row for s in sentences], np.intp)
    starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    by_memory = np.maximum.reduceat(supported, starts, axis=1)
    made = np.array([occasions[row] for row in rows[starts].tolist()], np.intp)
    return Near(cosines, by_memory, rows[starts], made, threshold)


def theme_of(near: Near, sentence: int, row: int, least: int = LEAST) -> Theme | None:
    """Return what supports a sentence of memory `row`, or `None` when fewer than `least` memories do."""
    column = near.by_memory[sentence]
    found = np.flatnonzero(column >= near.threshold)
    if len(found) < least:
        return None
    ordered = found[np.lexsort((near.rows[found], -column[found]))]
    first: dict[int, float] = {}
    for place in ordered.tolist():
        first.setdefault(int(near.occasions[place]), float(column[place]))
    if len(first) < least:
        return None
    own = near.occasions[near.rows == row]
    others = [value for occasion, value in first.items() if occasion not in own.tolist()][: LEAST + 1]
    return Theme(tuple(near.rows[ordered].tolist()), len(first), sum(others) / max(1, len(others)))


def _threshold(cosines: NDArray[np.float32]) -> float:
    """Return from where on a pair is nearer than chance."""
    count = len(cosines)
    pairs = max(1, count * count - count)
    mean = (float(cosines.sum()) - count) / pairs
    variance = (float((cosines * cosines).sum()) - count) / pairs - mean * mean
    return float(min(_HIGHEST, max(_LOWEST, mean + _DEVIATIONS * max(0.0, variance) ** 0.5)))


def _drop_what_shares_no_word(cosines: NDArray[np.float32], sentences: Sequence[Sentence], threshold: float) -> None:
    """Set pairs to 0 that only their vectors hold together: the less alike, the more words they have to share."""
    counts: dict[str, int] = {}
    for sentence in sentences:
        for stem in sentence.stems:
            counts[stem] = counts.get(stem, 0) + 1
    most = max(4.0, _COMMONPLACE * len(sentences))
    stems = [frozenset(stem for stem in s.stems if counts[stem] <= most) for s in sentences]
    familiar = np.array([s.familiar for s in sentences], np.bool_)
    certain = (cosines >= _CERTAIN) & (familiar[:, None] & familiar[None, :])
    left, right = np.nonzero(np.triu((cosines >= threshold) & ~certain, 1))
    clear = (cosines[left, right] >= _CLEAR) & familiar[left] & familiar[right]
    bad = [
        at
        for at, (a, b, one) in enumerate(zip(left.tolist(), right.tolist(), clear.tolist(), strict=True))
        if len(stems[a] & stems[b]) < (1 if one else 2)
    ]
    cosines[left[bad], right[bad]] = 0
    cosines[right[bad], left[bad]] = 0
