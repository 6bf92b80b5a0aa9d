"""Is one setting really better than another? Answered over the same queries, or not at all.

The verdict comes from a paired randomisation test: if both settings were equally good, every query's
difference could as well have had the other sign. The bootstrap band only shows how wide the answer is.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, log2
from statistics import NormalDist, fmean, stdev

import numpy as np

from workbench.core.tuning.verdict import ERROR_RATE, EXACT, TIE, Outcome, Verdict
from workbench.retrieval.arrays import Column, Mask

POWER = 0.8
"""The chance of finding the difference that the estimate of further queries is made for."""

FLIPS = 9_999
"""Random assignments of signs beyond that."""

RESAMPLES = 2_000
BAND = 0.95

MOST = 500
"""More further queries than this are not worth announcing."""

_CHUNK = 1_000


def compare(base: Sequence[float], new: Sequence[float], metric: str = "nDCG@10", seed: int = 0) -> Verdict:
    """Compare the values of `new` with those of `base`, query by query.

    `metric` only names what is compared; `seed` makes the random parts repeatable. Raises `ValueError` when the
    two have different lengths or are empty.
    """
    differences = [after - before for before, after in zip(base, new, strict=True)]
    if not differences:
        raise ValueError("no query to compare")
    clean = [0.0 if abs(d) <= TIE else d for d in differences]
    wins, losses = sum(d > 0 for d in clean), sum(d < 0 for d in clean)
    low, high = bootstrap_band(clean, seed)
    p = sign_flip_p(clean, seed)
    outcome = _outcome(p, fmean(clean))
    more = further_queries(clean) if outcome == "unclear" else None
    return Verdict(metric, wins, losses, len(clean) - wins - losses, fmean(clean), low, high, p, outcome, more)


def hold_together(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Correct several verdicts that are read together, so that the error rate holds for all of them (Holm).

    With one verdict nothing changes. Verdicts that become unclear carry no estimate of further queries.
    """
    order = sorted(range(len(verdicts)), key=lambda i: verdicts[i].p)
    corrected = list(verdicts)
    most = 0.0
    for place, i in enumerate(order):
        most = max(most, min(1.0, verdicts[i].p * (len(verdicts) - place)))
        outcome = _outcome(most, verdicts[i].delta)
        corrected[i] = replace(verdicts[i], p=most, outcome=outcome, family=len(verdicts))
    return tuple(corrected)


def sign_flip_p(differences: Sequence[float], seed: int = 0) -> float:
    """Return the two-sided p value of the paired randomisation test of the mean.

    Exact while at most 12 differences are not 0 (zeros do not change under a flip), else from 9 999 random
    assignments, the observed one counted among them, so that it is never 0.
    """
    values = np.array([d for d in differences if d], np.float64)
    if not len(values):
        return 1.0
    # Sums that only rounding tells apart count as equal, or assignments as extreme as the observed one get lost.
    least = abs(values.sum()) - 1e-12 * np.abs(values).sum()
    if len(values) <= EXACT:
        every = np.arange(1 << len(values))
        signs = (every[:, None] >> np.arange(len(values)) & 1).astype(np.bool_)
        return float(np.mean(_flipped(values, signs) >= least))
    random = np.random.default_rng(seed)
    hits = sum(
        int(np.count_nonzero(_flipped(values, _signs(random, min(_CHUNK, FLIPS - start), len(values))) >= least))
        for start in range(0, FLIPS, _CHUNK)
    )
    return (1 + hits) / (1 + FLIPS)


def bootstrap_band(differences: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap band of the mean, for display only."""
    values = np.asarray(differences, np.float64)
    random = np.random.default_rng(seed)
    means = np.concatenate(
        [
            values[random.integers(0, len(values), (min(_CHUNK, RESAMPLES - start), len(values)))].mean(axis=1)
            for start in range(0, RESAMPLES, _CHUNK)
        ]
    )
    low, high = np.quantile(means, [(1 - BAND) / 2, (1 + BAND) / 2])
    return float(low), float(high)


def further_queries(differences: Sequence[float]) -> int | None:
    """Estimate how many more queries would settle it, if mean and spread stayed as they are.

    That is how many the test needs to find this mean in four of five cases, and at least as many as make a
    verdict more than provisional. `None` when it would be more than 500, or when there is no difference at all.
    """
    count, mean = len(differences), fmean(differences)
    if not mean:
        return None
    enough = max(EXACT, ceil(log2(2 / ERROR_RATE)))
    if count > 1:
        normal = NormalDist()
        reach = normal.inv_cdf(1 - ERROR_RATE / 2) + normal.inv_cdf(POWER)
        enough = max(enough, ceil(min((reach * stdev(differences) / mean) ** 2, 1e9)))
    more = max(1, enough - count)
    return more if more <= MOST else None


def _outcome(p: float, mean: float) -> Outcome:
    if p > ERROR_RATE:
        return "unclear"
    return "better" if mean > 0 else "worse"


def _signs(random: np.random.Generator, rows: int, columns: int) -> Mask:
    packed = random.integers(0, 256, (rows, (columns + 7) // 8), np.uint8)
    return np.unpackbits(packed, axis=1)[:, :columns].astype(np.bool_)


def _flipped(values: Column, signs: Mask) -> Column:
    """Return the absolute sum under each row of signs (true: as observed)."""
    total: Column = np.abs(2 * (signs @ values) - values.sum())
    return total
