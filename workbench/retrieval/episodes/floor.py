"""The floor under episodes: what questions reach that a store's episodes have nothing to do with (`core.tuning.floor`).

By cosine alone, over a sample of the rows: the score of episodes knows no words.
"""

from typing import NamedTuple

import numpy as np

from workbench.core.tuning.floor import BY_WORDS as WORDS
from workbench.core.tuning.floor import OF_FOUR, OF_TEN
from workbench.retrieval.arrays import Embed, Vectors
from workbench.retrieval.floor.reaching import background

SAMPLE = 4_096
"""Rows that the background questions are held against, at most."""

LEAST, FEW = 30, 0.4
"""Episodes below which there is no floor, and the similarity below which nothing is relevant then."""


class EpisodeFloor(NamedTuple):
    """What background questions reach: nine of ten stay below `query`, three of four find a better one than `row`."""

    query: float
    row: float


BY_WORDS = EpisodeFloor(WORDS.query, WORDS.memory)
"""The floor where words alone tell."""


def floor_of(tasks: Vectors, wholes: Vectors, embed: Embed) -> EpisodeFloor:
    """Return the floor under episodes with these vectors."""
    if len(tasks) < LEAST:
        return EpisodeFloor(FEW, FEW)
    rows = np.unique(np.linspace(0, len(tasks) - 1, SAMPLE).astype(np.intp))
    asked = embed(list(background()["en"]))
    best = np.maximum(asked @ tasks[rows].T, asked @ wholes[rows].T).max(axis=1)
    return EpisodeFloor(float(np.quantile(best, OF_TEN / 10)), float(np.quantile(best, 1 - OF_FOUR / 4)))
