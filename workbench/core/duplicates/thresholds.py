"""From which similarity on two texts are worth a look: settings and a model's own, read without what compares."""

from typing import NamedTuple


class Thresholds(NamedTuple):
    """Cosines: from `flag` on a likely duplicate, from `review` on an entry in the review list.

    Nothing is merged on a cosine alone, because a static model ignores word order and negation.
    """

    flag: float
    review: float


BUNDLED = Thresholds(flag=0.88, review=0.71)
"""Measured on paraphrases and near-misses for the bundled model (see `model/README.md`)."""


class DedupThresholds(NamedTuple):
    """`flag`: cosine from which a pair is proposed; `review`: from which it joins a review list.

    `order`: ordered text similarity (0–100) from which a flagged pair may be absorbed.
    """

    flag: float = BUNDLED.flag
    review: float = BUNDLED.review
    order: float = 95.0


DEFAULT_THRESHOLDS = DedupThresholds()
