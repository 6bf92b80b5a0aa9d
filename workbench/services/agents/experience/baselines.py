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


Known = dict[str, ComparableRun | None]
"""What episodes took, by their hashes: `None` where nothing tells how one ended."""


def baseline_from_episodes(
    context: Context, pattern: Pattern, applied: Sequence[Application], known: Known
) -> Baseline:
    """Return how episodes of the pattern's types and domains went without it; of too few nothing is known.

    One that was deleted counts nothing, nor does one that is older than what counts as evidence. A pattern that asks
    for neither a type nor a domain can be compared with nothing. What is looked up is kept in `known`.
    """
    runs = list(_runs(context, pattern, {one.episode for one in applied}, known))
    return baseline_of(runs) if len(runs) >= LEAST else Baseline()


def _runs(context: Context, pattern: Pattern, applied: set[str], known: Known) -> Iterator[ComparableRun]:
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
        if one.hash not in known:
            known[one.hash] = _run(context, one)
        run = known[one.hash]
        if run is not None:
            yield run


def _run(context: Context, episode: Episode) -> ComparableRun | None:
    success = episode.outcome == "SUCCESS"
    try:
        body = EpisodeBody(body_of(context.library, episode.hash))
    except BlobProblem:
        return ComparableRun(success)
    return None if body.is_unproven else ComparableRun(success, *_took(body))


def _took(body: EpisodeBody) -> tuple[float | None, float | None]:
    """Return the seconds and the cost of an episode, as far as it says."""
    time, cost = body.get("execution.duration"), body.get("execution.resource_usage.cost")
    return tuple(float(one) if isinstance(one, int | float) else None for one in (time, cost))  # type: ignore[return-value]
