"""Auto-tune: try every setting of the grid, keep the best, and say what it is worth on queries it
never saw.

The metric itself is maximised, averaged over close neighbours (`Settings.smoothed`), no stand-in
for it.

The result is a proposal. Nothing here applies or saves it.
"""

import os
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from math import ceil, log2
from statistics import NormalDist, fmean, stdev

import numpy as np

from workbench.core.record import InvalidQuery, WorkStopped
from workbench.core.runtime import Cancelled, Progress
from workbench.core.tuning.autotune import (
    ERROR_RATE,
    EXACT,
    TIE,
    Moved,
    Outcome,
    Search,
    TunedProfile,
    Verdict,
)
from workbench.core.tuning.measure import Measure
from workbench.core.tuning.profile import FACTORS, WEIGHT_KEYS, Profile, check_profile, weight_of
from workbench.evaluation.pairs import JudgedScores, Settings, settings_around, values
from workbench.retrieval.arrays import Column, Mask, Rows
from workbench.retrieval.ranking.ranker import Ranker

# Is one setting really better than another? Answered over the same queries, or not at all.
#
# The verdict comes from a paired randomisation test: if both settings were equally good, every
# query's difference could as well have had the other sign. The bootstrap band only shows how wide
# the answer is.


POWER = 0.8
"""The chance of finding the difference that the estimate of further queries is made for."""

FLIPS = 9_999
"""Random assignments of signs beyond that."""

RESAMPLES = 2_000
BAND = 0.95

MOST = 500
"""More further queries than this are not worth announcing."""

_CHUNK = 1_000


def compare(
    base: Sequence[float], new: Sequence[float], metric: str = "nDCG@10", seed: int = 0
) -> Verdict:
    """Compare the values of `new` with those of `base`, query by query.

    `metric` only names what is compared; `seed` makes the random parts repeatable. Raises
    `ValueError` when the two have different lengths or are empty.
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
    return Verdict(
        metric, wins, losses, len(clean) - wins - losses, fmean(clean), low, high, p, outcome, more
    )


def hold_together(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Correct several verdicts that are read together, so that the error rate holds for all of them
    (Holm).

    With one verdict nothing changes. Verdicts that become unclear carry no estimate of further
    queries.
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

    Exact while at most 12 differences are not 0 (zeros do not change under a flip), else from 9 999
    random assignments, the observed one counted among them, so that it is never 0.
    """
    values = np.array([d for d in differences if d], np.float64)
    if not len(values):
        return 1.0
    # Sums that only rounding tells apart count as equal, or assignments as extreme as the observed
    # one get lost.
    least = abs(values.sum()) - 1e-12 * np.abs(values).sum()
    if len(values) <= EXACT:
        every = np.arange(1 << len(values))
        signs = (every[:, None] >> np.arange(len(values)) & 1).astype(np.bool_)
        return float(np.mean(_flipped(values, signs) >= least))
    random = np.random.default_rng(seed)
    hits = sum(
        int(
            np.count_nonzero(
                _flipped(values, _signs(random, min(_CHUNK, FLIPS - start), len(values))) >= least
            )
        )
        for start in range(0, FLIPS, _CHUNK)
    )
    return (1 + hits) / (1 + FLIPS)


def bootstrap_band(differences: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap band of the mean, for display only."""
    values = np.asarray(differences, np.float64)
    random = np.random.default_rng(seed)
    means = np.concatenate(
        [
            values[
                random.integers(0, len(values), (min(_CHUNK, RESAMPLES - start), len(values)))
            ].mean(axis=1)
            for start in range(0, RESAMPLES, _CHUNK)
        ]
    )
    low, high = np.quantile(means, [(1 - BAND) / 2, (1 + BAND) / 2])
    return float(low), float(high)


def further_queries(differences: Sequence[float]) -> int | None:
    """Estimate how many more queries would settle it, if mean and spread stayed as they are.

    That is how many the test needs to find this mean in four of five cases, and at least as many as
    make a verdict more than provisional. `None` when it would be more than 500, or when there is no
    difference at all.
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


EQUAL = 1e-9
"""Means no further apart than this are equal."""

_LOOK = 0.1
"""Seconds between two looks at `cancelled`."""


USUAL = Search()


def tune(
    ranker: Ranker,
    queries: Sequence[JudgedScores],
    start: Profile,
    search: Search = USUAL,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
    contenders: Sequence[Profile] = (),
) -> TunedProfile:
    """Maximise the mean metric over the grid around `start` and cross-validate the choice over the
    queries.

    The `contenders` are tried beside the grid as they are, and what the queries cannot say anything
    about stays. With fewer queries than folds every query is a fold of its own. `progress` counts
    queries. Raises `InvalidQuery` with fewer than two queries or folds, `InvalidRecord` for a
    broken profile, and `WorkStopped`.
    """
    check_profile(start)
    if len(queries) < 2:
        raise InvalidQuery(
            "Tuning needs at least two judged queries.", "Judge more of them; nothing was changed."
        )
    if search.folds < 2:
        raise InvalidQuery("Cross-validation needs at least two folds.", "Nothing was changed.")
    dead = dead_factors(ranker, queries, settings_around(start).lives, cancelled)
    settings = settings_around(start, contenders=contenders, dead=dead)
    table = score_table(ranker, queries, settings, search.measure, progress, cancelled)
    return replace(propose(settings, table, search), dead=dead)


def dead_factors(
    ranker: Ranker,
    queries: Sequence[JudgedScores],
    lives: Sequence[Profile],
    cancelled: Cancelled | None = None,
) -> tuple[str, ...]:
    """Return the factors that tell no two memories apart for any of the queries, however they age.

    What their weight should be these queries cannot say. Raises `WorkStopped`.
    """
    left = [factor.id for factor in FACTORS]
    for query in queries:
        for life in lives:
            if not left:
                return ()
            _stop_if(cancelled)
            factors = ranker.rank(query.scores, life, query.now, k=0).factors
            left = [id for id in left if id not in factors or factors[id].dead]
    return tuple(left)


def _stop_if(cancelled: Cancelled | None) -> None:
    if cancelled is not None and cancelled():
        raise WorkStopped("Tuning was stopped.", "Nothing was changed.")


def score_table(
    ranker: Ranker,
    queries: Sequence[JudgedScores],
    settings: Settings,
    measure: Measure,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Column:
    """Return the metric of every setting for every query, shape (settings, queries). Raises
    `WorkStopped`.
    """
    table = np.empty((len(settings), len(queries)))
    # Most of the time goes into numpy loops that do not hold the interpreter's lock.
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as workers:
        waiting: dict[Future[Column], int] = {
            workers.submit(values, ranker, query, settings, measure): i
            for i, query in enumerate(queries)
        }
        while waiting:
            try:
                _stop_if(cancelled)
            except WorkStopped:
                workers.shutdown(cancel_futures=True)
                raise
            done, _ = wait(waiting, timeout=_LOOK, return_when=FIRST_COMPLETED)
            for future in done:
                table[:, waiting.pop(future)] = future.result()
            if progress is not None and done:
                progress(len(queries) - len(waiting), len(queries))
    return table


def propose(settings: Settings, table: Column, search: Search = USUAL) -> TunedProfile:
    """Choose a setting from a table of shape (settings, queries) and cross-validate the choice."""
    count = table.shape[1]
    folds = min(search.folds, count)
    held_out = np.empty(count)
    for fold in _folds(count, folds, search.seed):
        held_out[fold] = table[best(settings, np.delete(table, fold, axis=1)), fold]
    chosen = best(settings, table)
    profile = settings.profile(chosen)
    return TunedProfile(
        profile=profile,
        start=settings.start,
        metric=search.measure.name,
        before=float(table[0].mean()),
        after=float(held_out.mean()),
        fitted=float(table[chosen].mean()),
        verdict=compare(table[0].tolist(), held_out.tolist(), search.measure.title, search.seed),
        moved=_moved(settings.start, profile),
        queries=count,
        folds=folds,
        tried=len(settings),
        contender=profile.name if chosen >= settings.grid else "",
    )


def best(settings: Settings, table: Column) -> int:
    """Return the setting whose surroundings have the largest mean; among equals the one nearest to
    the start.
    """
    means = settings.smoothed(table.mean(axis=1))
    equal = np.flatnonzero(means >= means.max() - EQUAL)
    return int(equal[np.argmin(settings.distance[equal])])


def _folds(count: int, folds: int, seed: int) -> list[Rows]:
    order = np.random.default_rng(seed).permutation(count)
    return [np.sort(part) for part in np.array_split(order, folds)]


def _moved(start: Profile, end: Profile) -> tuple[Moved, ...]:
    one, other = (sum(weight_of(p, key) for key in WEIGHT_KEYS) for p in (start, end))
    shares = [
        Moved(f.id, weight_of(start, f.weight) / one, weight_of(end, f.weight) / other)
        for f in FACTORS
    ]
    ends = [None if p.mode == "off" else p.half_lives.episodic for p in (start, end)]
    moved = [*shares, *([] if start.mode == "rank" else [Moved("half-life", *ends)])]
    return tuple(
        m
        for m in moved
        if m.before is None or m.after is None or abs(m.before - m.after) > EQUAL
        if (m.before, m.after) != (None, None)
    )
