"""The stages of a consolidation: each looks at the store and returns a plan, which is carried out as it stands."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from workbench.core.agents.episodes.cluster import EpisodeCluster
from workbench.core.agents.episodes.episode import Episode, EpisodeUse
from workbench.core.agents.episodes.phases import is_over, phase_of
from workbench.core.agents.patterns.combining import weaknesses
from workbench.core.agents.patterns.duplicates import pattern_groups
from workbench.core.agents.patterns.matching import USED
from workbench.core.agents.patterns.pattern import Application, Pattern
from workbench.core.agents.read import AgentRead
from workbench.services.agents.episodes.finding import EpisodeFinder
from workbench.services.agents.patterns.patterns import Patterns
from workbench.services.context import Context
from workbench.services.review.finders.mining import recurring
from workbench.services.tuning.retriever import Retriever

Becomes = Literal["archived", "validated", "under_review", "candidate", "deprecated"]

WEAK = 2
"""Reasons for which a pattern goes out of use; for a single one it is only counted."""

Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Change:
    """One record that another stage of its life begins for; `by` is what stands for it then, if something does."""

    id: str
    becomes: Becomes
    by: str = ""


@dataclass(frozen=True, slots=True)
class StagePlan:
    """What a stage would do: how many records it looked at, what changes, numbers by name, and how it is done.

    `measured` records are written again with other numbers. Without `carry_out` there is nothing to do.
    """

    looked: int
    changes: tuple[Change, ...] = ()
    measured: int = 0
    facts: Mapping[str, float] = field(default_factory=dict)
    carry_out: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """What a stage works with: the store as the context's actor, which stages are `chosen`, and who is told how far.

    A stage that is cancelled may plan less; it plans nothing that is not so.
    """

    context: Context
    finder: EpisodeFinder
    patterns: Patterns
    retriever: Callable[[], Retriever]
    chosen: frozenset[str]
    progress: Progress
    cancelled: Cancelled


def episodes(work: Work) -> StagePlan:
    """Put episodes that say the same under one of them."""
    consolidation = work.finder.consolidation
    plan = consolidation.plan(work.cancelled, work.progress)
    stands = {id: one.representative for one in plan.clusters for id in one.members}
    changes = tuple(Change(id, "archived", stands[id]) for id in plan.archived)
    facts = {"clusters": len(plan.clusters)}
    return StagePlan(plan.looked, changes, 0, facts, (lambda: consolidation.carry_out(plan)) if plan.clusters else None)


def extraction(work: Work) -> StagePlan:
    """Look for patterns that recur in episodes: they wait in Review, where they are worked out, and are never applied.

    Counted are those that nobody has decided about yet.
    """
    proposals = work.context.library.proposals
    found = [one for one in recurring(work.context, work.cancelled) if proposals.find(one.id) is None]
    return StagePlan(len(work.context.library.table(Episode)), facts={"to_review": len(found)})


def validation(work: Work) -> StagePlan:
    """Hold every pattern against its applications."""
    found = work.patterns.validations()
    changes = tuple(Change(one.after.id, one.after.status) for one in found if one.moves)
    measured = sum(one.after != one.before for one in found)
    waiting = sum(one.outlook == "insufficient" and one.before.status == "candidate" for one in found)
    facts = {"too_little_evidence": waiting}
    return StagePlan(len(found), changes, measured, facts, work.patterns.validate if measured else None)


def refinement(work: Work) -> StagePlan:
    """Take patterns out of use that are worth little for several reasons.

    Counted are those for one reason, and the groups of those that say the same, which wait in Review.
    """
    if "validation" in work.chosen:  # as they stand after that, whether or not it is done already
        every = tuple(one.after for one in work.patterns.validations())
    else:
        every = work.patterns.all()
    now = work.context.now()
    found = {pattern.id: weaknesses(pattern, now) for pattern in every}
    gone = tuple(id for id, why in found.items() if len(why) >= WEAK)
    facts = {"worth_little": sum(bool(why) for why in found.values()), "alike": len(pattern_groups(every))}
    changes = tuple(Change(id, "deprecated") for id in gone)
    return StagePlan(len(every), changes, 0, facts, (lambda: work.patterns.prune(gone)) if gone else None)


def indexes(work: Work) -> StagePlan:
    """Work out what searches need, so that none of them waits for it."""
    many = len(work.context.library.table(Episode))

    def make() -> None:
        retriever = work.retriever()
        retriever.patterns.of(USED)
        if many:
            retriever.episodes.prepare(work.progress, work.cancelled)

    return StagePlan(many + len(work.context.library.table(Pattern)), carry_out=make)


def report(work: Work) -> StagePlan:
    """Count what there is."""
    library, now = work.context.library, work.context.now()
    heads = library.table(Episode).all()
    phases = Counter(f"episodes_{phase_of(one, now)}" for one in heads)
    phases["episodes_retention_over"] = sum(is_over(one, now) for one in heads)
    patterns = Counter(f"patterns_{one.status}" for one in library.table(Pattern).all())
    reads = [one for one in library.table(AgentRead).all() if one.episodes]
    sizes = {
        "episodes_bytes": sum(path.stat().st_size for _, path in library.blobs.files()),
        "episodes_read": len({id for one in reads for id in one.episodes}),
        "episodes_referenced": sum(bool(one.referenced_by) for one in library.table(EpisodeUse).all()),
        "clusters": len(library.table(EpisodeCluster)),
        "applications": len(library.table(Application)),
    }
    facts = {**phases, **patterns, **sizes}
    return StagePlan(len(heads) + sum(patterns.values()), facts={name: facts[name] for name in sorted(facts)})
