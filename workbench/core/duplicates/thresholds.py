"""From which similarity on two memories are worth a look."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines: from `flag` on a likely duplicate, from `review` on an entry in the review list.

    Nothing is merged on a cosine alone, because a static model ignores word order and negation.
    """

    flag: float
    review: float


BUNDLED = Thresholds(flag=0.90, review=0.75)
"""Measured on paraphrases and near-misses for the bundled model (see `model/README.md`)."""
