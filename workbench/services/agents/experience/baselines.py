"""How comparable tasks went without a pattern: what its savings are measured against where nobody said (004, 3.3)."""

from collections.abc import Iterator, Sequence

from workbench.core.agents.episodes.episode import Episode, EpisodeBody
from workbench.core.agents.patterns.pattern import Application, Baseline, Pattern
from workbench.core.agents.patterns.statistics import WINDOW, ComparableRun, baseline_of
from workbench.core.record import moved
from workbench.services.context import Context
from workbench.services.safety.bodies import body_of
from workbench.store.blobs import BlobProblem

LEAST = 3
"""Runs from which on something can be said."""

MOST = 200
"""Runs that are looked at, the latest."""


def baseline_from_episodes(context: Context, pattern: Pattern, applied: Sequence[Application]) -> Baseline:
    """Return how episodes of the pattern's types and domains went without it; of too few nothing is known.

    One that was deleted counts nothing, nor does one that is older than what counts as evidence. A pattern that asks
    for neither a type nor a domain can be compared with nothing.
    """
    runs = list(_runs(context, pattern, {one.episode for one in applied}))
    return baseline_of(runs) if len(runs) >= LEAST else Baseline()


def _runs(context: Context, pattern: Pattern, applied: set[str]) -> Iterator[ComparableRun]:
    where = pattern.applicability
    types, domains = (
        {name.casefold() for name in names} for names in (where.problem_types, where.task_features.domain)
    )
    if not types and not domains:
        return
    now = context.now()
    since = moved(now, -WINDOW)
    with_it = applied.union(pattern.support.supporting_episodes, pattern.support.counter_episodes)
    found = [
        one
        for one in context.library.table(Episode).all()
        if one.status != "deleted" and since <= one.at <= now and one.id not in with_it
        and (not types or one.type.casefold() in types) and (not domains or one.domain.casefold() in domains)
    ]  # fmt: skip
    for one in sorted(found, key=lambda one: (one.at, one.id), reverse=True)[:MOST]:
        try:
            body = EpisodeBody(body_of(context.library, one.hash))
        except BlobProblem:
            yield ComparableRun(one.outcome == "SUCCESS")
            continue
        if not body.is_unproven:
            yield ComparableRun(one.outcome == "SUCCESS", *_took(body))


def _took(body: EpisodeBody) -> tuple[float | None, float | None]:
    """Return the seconds and the cost of an episode, as far as it says."""
    time, cost = body.get("execution.duration"), body.get("execution.resource_usage.cost")
    return tuple(float(one) if isinstance(one, int | float) else None for one in (time, cost))  # type: ignore[return-value]
