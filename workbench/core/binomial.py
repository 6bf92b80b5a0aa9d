"""How likely so many successes are, without scipy."""

import math


def at_least(successes: int, trials: int, chance: float) -> float:
    """Return the probability of so many successes or more when each comes with this chance.

    Without trials it is 1. Raises `ValueError` for more successes than trials, or a chance outside
    0–1.
    """
    if not 0 <= successes <= trials or not 0 <= chance <= 1:
        raise ValueError("successes are between 0 and the trials, a chance is between 0 and 1")
    if successes == 0 or chance in (0.0, 1.0):
        return 1.0 if successes == 0 else chance
    # In logarithms, since what a thousand trials multiply is too small and too large for a number
    # each.
    hit, miss, whole = math.log(chance), math.log1p(-chance), math.lgamma(trials + 1)
    terms = (
        math.exp(
            whole - math.lgamma(k + 1) - math.lgamma(trials - k + 1) + k * hit + (trials - k) * miss
        )
        for k in range(successes, trials + 1)
    )
    return min(1.0, math.fsum(terms))
