"""Consolidating episodes: those that say the same are put under one and archived; a dry run is the same plan."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from workbench.core.agents.actors import require_person
from workbench.core.agents.episodes.cluster import (
    LEAST,
    WINDOW,
    EpisodeCluster,
    average,
    cluster_id,
    objection,
    variation,
)
from workbench.core.agents.episodes.phases import phase_of
from workbench.core.errors import InvalidRecord
from workbench.core.text import counted
from workbench.retrieval.arrays import Rows
from workbench.services.agents.episodes.keeping import Episodes
from workbench.services.agents.episodes.pool import EpisodePool, EpisodePools
from workbench.services.context import Context

Cancelled = Callable[[], bool]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ConsolidationPlan:
    """What would be consolidated: the clusters, and how many episodes were old enough to be looked at."""

    clusters: tuple[EpisodeCluster, ...]
    looked: int

    @property
    def archived(self) -> tuple[str, ...]:
        """The episodes that would be archived: all but those that stand for others."""
        members = (id for one in self.clusters for id in one.members if id != one.representative)
        return tuple(members)


class Consolidation:
    """Consolidates the episodes of a store. Only mature and aged ones are: what is recent may still be looked at."""

    def __init__(self, context: Context, pools: EpisodePools) -> None:
        self._context, self._pools = context, pools
        self._episodes = Episodes(context)

    def plan(
        self, cancelled: Cancelled = lambda: False, progress: Progress = lambda _done, _all: None
    ) -> ConsolidationPlan:
        """Return what would be consolidated; writes nothing. What is planned until it is cancelled is returned."""
        pool, now = self._pools.pool(), self._context.now()
        groups: dict[tuple[str, str, str], list[int]] = {}
        for row, head in enumerate(pool.heads):
            if phase_of(head, now) in ("mature", "aged") and pool.digests[row].task:
                groups.setdefault((head.type, head.domain, head.outcome), []).append(row)
        clusters, looked, count = list[EpisodeCluster](), 0, sum(map(len, groups.values()))
        for rows in groups.values():
            if cancelled():
                break
            progress(looked, count)
            looked += len(rows)
            if len(rows) > 1:
                clusters += _clusters(pool, np.array(rows, np.intp), now)
        ordered = sorted(clusters, key=lambda one: (one.last_at, one.id), reverse=True)
        return ConsolidationPlan(tuple(ordered), count)

    def carry_out(self, plan: ConsolidationPlan) -> None:
        """Keep the clusters of a plan and archive what they hold together, as one action.

        Raises `InvalidRecord` when an episode was changed since, and `WorkbenchError` for an agent.
        """
        require_person(self._context.actor, "consolidate episodes")
        count = len(plan.archived)
        label = f"consolidate {counted(count, 'episode')}"
        with self._context.library.transaction(self._context.actor, label) as tx:
            for id in plan.archived:
                episode = self._episodes.get(id)
                if episode.status != "active":
                    raise InvalidRecord(f"{id} was changed since this was planned.", "Nothing was changed.")
                tx.put(replace(episode, status="archived"))
            for cluster in plan.clusters:
                tx.put(cluster)
                self._episodes.refer(tx, cluster.members, cluster.id)


def _clusters(pool: EpisodePool, rows: Rows, now: datetime) -> list[EpisodeCluster]:
    """Return the clusters among episodes of one type, domain and outcome, the latest one standing for each."""
    order = rows[np.argsort(-pool.at[rows], kind="stable")]
    free = np.ones(len(order), np.bool_)
    vectors, window, found = pool.wholes[order], int(WINDOW.total_seconds() * 1_000_000), list[EpisodeCluster]()
    for place in range(len(order)):
        if not free[place]:
            continue
        free[place] = False
        near = free & (vectors @ vectors[place] > LEAST) & (pool.at[order[place]] - pool.at[order] <= window)
        head = pool.digests[order[place]]
        alike = [at for at in np.flatnonzero(near).tolist() if not objection(pool.digests[order[at]], head)]
        if alike:
            free[alike] = False
            found.append(_cluster(pool, [int(order[at]) for at in (place, *alike)], now))
    return found


def _cluster(pool: EpisodePool, rows: Sequence[int], now: datetime) -> EpisodeCluster:
    heads, digests = [pool.heads[row] for row in rows], [pool.digests[row] for row in rows]
    others = zip(heads[1:], digests[1:], strict=True)
    return EpisodeCluster(
        cluster_id(heads[0].id),
        heads[0].id,
        tuple(one.id for one in heads),
        tuple(variation(head.id, digest, digests[0]) for head, digest in others),
        min(one.at for one in heads),
        max(one.at for one in heads),
        now,
        float(heads[0].outcome == "SUCCESS"),
        average([digest.duration for digest in digests]),
    )
