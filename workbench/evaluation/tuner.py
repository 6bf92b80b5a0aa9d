"""Auto-tune: try every setting of the grid, keep the best, and say what it is worth on queries it never saw.

The metric itself is maximised, averaged over close neighbours (`Settings.smoothed`), no stand-in for it.

The result is a proposal. Nothing here applies or saves it.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace

import numpy as np

from workbench.core.errors import InvalidQuery, WorkStopped
from workbench.core.tuning.autotune import Moved, Search, TunedProfile
from workbench.core.tuning.factors import FACTORS, WEIGHT_KEYS
from workbench.core.tuning.measure import Measure
from workbench.core.tuning.profile import Profile, check_profile, weight_of
from workbench.evaluation.objective import JudgedScores, values
from workbench.evaluation.settings import Settings, settings_around
from workbench.evaluation.verdict import compare
from workbench.retrieval.arrays import Column, Rows
from workbench.retrieval.ranking.ranker import Ranker

Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]

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
    """Maximise the mean metric over the grid around `start` and cross-validate the choice over the queries.

    The `contenders` are tried beside the grid as they are, and what the queries cannot say anything about stays. With
    fewer queries than folds every query is a fold of its own. `progress` counts queries. Raises `InvalidQuery` with
    fewer than two queries or folds, `InvalidRecord` for a broken profile, and `WorkStopped`.
    """
    check_profile(start)
    if len(queries) < 2:
        raise InvalidQuery("Tuning needs at least two judged queries.", "Judge more of them; nothing was changed.")
    if search.folds < 2:
        raise InvalidQuery("Cross-validation needs at least two folds.", "Nothing was changed.")
    dead = dead_factors(ranker, queries, settings_around(start).lives, cancelled)
    settings = settings_around(start, contenders=contenders, dead=dead)
    table = score_table(ranker, queries, settings, search.measure, progress, cancelled)
    return replace(propose(settings, table, search), dead=dead)


def dead_factors(
    ranker: Ranker, queries: Sequence[JudgedScores], lives: Sequence[Profile], cancelled: Cancelled | None = None
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
    """Return the metric of every setting for every query, shape (settings, queries). Raises `WorkStopped`."""
    table = np.empty((len(settings), len(queries)))
    # Most of the time goes into numpy loops that do not hold the interpreter's lock.
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as workers:
        waiting: dict[Future[Column], int] = {
            workers.submit(values, ranker, query, settings, measure): i for i, query in enumerate(queries)
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
    """Return the setting whose surroundings have the largest mean; among equals the one nearest to the start."""
    means = settings.smoothed(table.mean(axis=1))
    equal = np.flatnonzero(means >= means.max() - EQUAL)
    return int(equal[np.argmin(settings.distance[equal])])


def _folds(count: int, folds: int, seed: int) -> list[Rows]:
    order = np.random.default_rng(seed).permutation(count)
    return [np.sort(part) for part in np.array_split(order, folds)]


def _moved(start: Profile, end: Profile) -> tuple[Moved, ...]:
    one, other = (sum(weight_of(p, key) for key in WEIGHT_KEYS) for p in (start, end))
    shares = [Moved(f.id, weight_of(start, f.weight) / one, weight_of(end, f.weight) / other) for f in FACTORS]
    ends = [None if p.mode == "off" else p.half_lives.episodic for p in (start, end)]
    moved = [*shares, *([] if start.mode == "rank" else [Moved("half-life", *ends)])]
    return tuple(
        m
        for m in moved
        if m.before is None or m.after is None or abs(m.before - m.after) > EQUAL
        if (m.before, m.after) != (None, None)
    )
