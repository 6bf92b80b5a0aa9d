"""What questions reach over the memories that may be served: the best cosine and the best full-text score."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from workbench.core.errors import WorkbenchError
from workbench.core.tuning.floor import Floor, Reach
from workbench.retrieval.arrays import Mask, Rows, Scores, Vectors
from workbench.retrieval.fulltext import lexical_file
from workbench.retrieval.ranking.cases import AskedScores
from workbench.retrieval.ranking.ranker import Ranker

BACKGROUND = Path(__file__).with_name("background.txt")
"""Questions from many fields, one a line; a store has nothing to do with nearly all of them."""

CELLS = 1 << 21
"""Cosines held at a time (8 MB): as many questions as have room are put in one matrix product."""

Cancelled = Callable[[], bool]


class FloorCancelled(WorkbenchError):
    """The background questions were stopped; the store has no floor yet."""


@cache
def background() -> tuple[str, ...]:
    """Return the background questions."""
    return tuple(BACKGROUND.read_text("utf-8").splitlines())


@cache
def edition() -> str:
    """Name the background questions, and how texts are searched, by their content: 16 hexadecimal digits."""
    return blake2b("\n".join((lexical_file.edition(), *background())).encode(), digest_size=8).hexdigest()


def reach_of(scores: AskedScores, served: Mask) -> Reach | None:
    """Return what a query reaches over the rows of a mask, `None` when it has none."""
    return _reach(scores.dense, scores.lexical, served) if served.any() else None


def weak_rows(floor: Floor, scores: AskedScores, rows: Rows) -> Mask:
    """Tell of each of some rows whether it is weak: the fast form of `Floor.is_weak`."""
    dense, lexical = scores.dense[rows], scores.lexical[rows]
    return (dense.astype(np.float64) + lexical.astype(np.float64)) / 2 < floor.memory


def reached(
    ranker: Ranker, served: Mask, questions: Sequence[str], cancelled: Cancelled | None = None
) -> Iterator[Reach]:
    """Yield what each question reaches over the rows of a mask, which has at least one.

    Raises `FloorCancelled` when `cancelled()` becomes true.
    """
    asked: Vectors = ranker.embedded(questions)
    together = max(1, CELLS // len(served))
    for start in range(0, len(questions), together):
        dense = asked[start : start + together] @ ranker.vectors.T
        for question, cosines in zip(questions[start : start + together], dense, strict=True):
            if cancelled is not None and cancelled():
                raise FloorCancelled("The background questions were stopped.", "The floor is computed next time.")
            yield _reach(np.clip(cosines, -1.0, 1.0), ranker.lexical.scores(question), served)


def _reach(dense: Scores, lexical: Scores, served: Mask) -> Reach:
    if not served.all():
        dense, lexical = dense[served], lexical[served]
    return Reach(float(dense.max()), float(lexical.max()), float((dense + lexical).max()) / 2)
