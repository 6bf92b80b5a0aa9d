"""How sure a ratio of votes is: the mean and a band of its Beta posterior, without scipy."""

import math
from dataclasses import dataclass
from functools import lru_cache

MOST = 100_000.0
"""Counts beyond this are scaled down to it: the band is then narrower than two decimals can show."""

_TINY = 1e-300
_CLOSE = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the share of helpful marks lies: posterior mean, lower and upper end of the band, marks counted."""

    mean: float
    low: float
    high: float
    count: int


@lru_cache(4096)
def helpful_share(helpful: int, harmful: int, band: float = 0.9) -> Interval:
    """Return the share of helpful marks under a uniform prior: Beta(1 + helpful, 1 + harmful).

    The band leaves (1 − `band`) / 2 of the posterior on either side. Negative counts are taken as 0.
    """
    helpful, harmful = max(0, helpful), max(0, harmful)
    total = helpful + harmful
    scale = min(1.0, MOST / total) if total else 1.0
    a, b = 1 + helpful * scale, 1 + harmful * scale
    tail = (1 - band) / 2
    return Interval((1 + helpful) / (2 + total), beta_quantile(tail, a, b), beta_quantile(1 - tail, a, b), total)


def beta_quantile(share: float, a: float, b: float) -> float:
    """Return x with I_x(a, b) = `share`, by bisection to seven digits."""
    low, high = 0.0, 1.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        if beta_share(middle, a, b) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def beta_share(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b): the share of Beta(a, b) below `x`."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    front = math.exp(log_front)
    # The continued fraction converges fast on the near side of the mean; the other side is its complement.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction of I_x(a, b) by Lentz's method, two terms per step."""
    c = 1.0
    d = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            step = c * d
            value *= step
        if abs(step - 1) < _CLOSE:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
