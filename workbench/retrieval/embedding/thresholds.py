"""From which similarity on two memories are worth a look."""

import numpy as np

from workbench.core.duplicates.thresholds import Thresholds
from workbench.retrieval.arrays import Vectors

SAMPLE = 20_000
"""Pairs drawn for a calibration."""


def calibrate(vectors: Vectors) -> Thresholds:
    """Derive thresholds for a model from how alike unrelated memories already look to it.

    Background b = the 90th percentile of the cosines of 20 000 random pairs (fixed seed) of the memories'
    unit vectors, shape (n, dim). The flag stands at four fifths of the way from b to 1, the review list at
    half of it. Paragraphs on many subjects have b = 0.47 to the bundled model, which gives 0.895 and 0.737, where
    0.88 and 0.71 were measured; memories that are all about one subject get stricter thresholds. Below 50 memories
    b is taken as 0.5.
    """
    used = vectors[np.any(vectors != 0, axis=1)] if len(vectors) else vectors
    background = 0.5
    if len(used) >= 50:
        background = _background(used)
    return Thresholds(flag=_between(background, 0.8), review=_between(background, 0.5))


def _background(vectors: Vectors) -> float:
    random = np.random.default_rng(0)
    left = random.integers(0, len(vectors), SAMPLE)
    # A shift of 1 … n−1 pairs every row with another one.
    right = (left + random.integers(1, len(vectors), SAMPLE)) % len(vectors)
    cosines = np.einsum("ij,ij->i", vectors[left], vectors[right], dtype=np.float64)
    return float(np.clip(np.quantile(cosines, 0.9), 0.0, 0.99))


def _between(background: float, share: float) -> float:
    return round(background + share * (1 - background), 3)
