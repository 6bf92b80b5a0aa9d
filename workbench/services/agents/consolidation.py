"""The report of a consolidation as JSON and as Markdown: what each stage did, when it was, when the next one is due."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from workbench.core.agents.actors import require_person
from workbench.core.agents.consolidation import KEPT, STAGES, ConsolidationRun, StageKind, StageResult, due_at, goes_on
from workbench.core.agents.episodes.criteria import EpisodeCluster, is_over, phase_of
from workbench.core.agents.episodes.episode import Episode, EpisodeUse
from workbench.core.agents.patterns.duplicates import weaknesses
from workbench.core.agents.patterns.matching import USED
from workbench.core.agents.patterns.pattern import Application, Pattern
from workbench.core.agents.read import AgentRead
from workbench.core.named import implementation
from workbench.core.record import InvalidQuery, WorkbenchError, iso, minute
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled, Progress
from workbench.core.text import counted
from workbench.services.agents.episode_finding import EpisodeFinder
from workbench.services.agents.patterns import Patterns
from workbench.services.context import Context
from workbench.services.review.finders import merges, recurring
from workbench.services.tuning.retriever import Retriever

# The stages of a consolidation: each looks at the store and returns a plan, which is carried out as it stands.


Becomes = Literal["archived", "validated", "under_review", "candidate", "deprecated", "proposed"]

WEAK = 2
"""Reasons for which a pattern goes out of use; for a single one it is only counted."""


@dataclass(frozen=True, slots=True)
class Change:
    """One record that another stage of its life begins for; `by` is what stands for it then, if something does.

    Of what is proposed, it is the title.
    """

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
    """Look for patterns that recur in episodes: they wait in Review, and are never applied."""
    found = _undecided(work, recurring(work.context, work.cancelled))
    carry_out = (lambda: _propose(work, found)) if found else None
    return StagePlan(len(work.context.library.table(Episode)), _proposed(found), carry_out=carry_out)


def _undecided(work: Work, found: Iterable[Proposal]) -> tuple[Proposal, ...]:
    return tuple(one for one in found if work.context.library.proposals.find(one.id) is None)


def _proposed(found: Iterable[Proposal]) -> tuple[Change, ...]:
    return tuple(Change(one.id, "proposed", one.title) for one in found)


def _propose(work: Work, found: Sequence[Proposal]) -> None:
    """Store proposals; one that asks the same with less to go by, and waits still, gives way."""
    library, asked = work.context.library, {one.id.rpartition("-")[0] for one in found if one.kind == "pattern"}
    with library.transaction(work.context.actor, f"propose {counted(len(found), 'change')} of patterns") as tx:
        for old in library.proposals.all():
            if old.state == "open" and old.id.rpartition("-")[0] in asked:
                tx.delete(old)
        for one in found:
            tx.put(one)


def validation(work: Work) -> StagePlan:
    """Hold every pattern against its applications."""
    found = work.patterns.validations()
    changes = tuple(Change(one.after.id, one.after.status) for one in found if one.moves)
    measured = sum(one.after != one.before for one in found)
    waiting = sum(one.outlook == "insufficient" and one.before.status == "candidate" for one in found)
    facts = {"too_little_evidence": waiting}
    return StagePlan(len(found), changes, measured, facts, work.patterns.validate if measured else None)


def refinement(work: Work) -> StagePlan:
    """Take patterns out of use that are worth little for several reasons; those that say the same wait in Review.

    Those that are worth little for one reason are counted.
    """
    if "validation" in work.chosen:  # as they stand after that, whether or not it is done already
        every = tuple(one.after for one in work.patterns.validations())
    else:
        every = work.patterns.all()
    now = work.context.now()
    found = {pattern.id: weaknesses(pattern, now) for pattern in every}
    gone = tuple(id for id, why in found.items() if len(why) >= WEAK)
    same = _undecided(work, merges(work.context, [one for one in every if one.id not in gone]))
    facts = {"worth_little": sum(bool(why) for why in found.values())}
    changes = (*(Change(id, "deprecated") for id in gone), *_proposed(same))

    def carry_out() -> None:
        if gone:
            work.patterns.prune(gone)
        if same:
            _propose(work, same)

    return StagePlan(len(every), changes, 0, facts, carry_out if changes else None)


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


# Runs a consolidation: each stage is planned and carried out by itself, so that it can be stopped between two.


Tell = Callable[[StageKind, int, int], None]
"""Is told how far a stage is: so many of so many."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a run: what it is, and what it would do, or did."""

    kind: StageKind
    plan: StagePlan


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What a run did, or a dry run would do: stage by stage; the stages that are `left`; and its record, if it has one.

    With `again` it went on with a run that was broken off.
    """

    stages: tuple[Stage, ...]
    left: tuple[StageKind, ...] = ()
    run: ConsolidationRun | None = None
    again: bool = False


def nobody(kind: StageKind, done: int, total: int) -> None:
    """Tell nobody how far a stage is."""


class Consolidating:
    """Consolidates a store as the context's actor, a person. A dry run plans the same and writes nothing."""

    def __init__(
        self, context: Context, finder: EpisodeFinder, patterns: Patterns, retriever: Callable[[], Retriever]
    ) -> None:
        self._context, self._finder, self._patterns = context, finder, patterns
        self._retriever = retriever

    def runs(self) -> tuple[ConsolidationRun, ...]:
        """Return the runs that are known, the latest first."""
        every = self._context.library.table(ConsolidationRun).all()
        return tuple(sorted(every, key=lambda one: (one.begun_at, one.id), reverse=True))

    def last(self) -> ConsolidationRun | None:
        """Return the latest run; `None` when there was none."""
        return next(iter(self.runs()), None)

    def chosen(self, names: Sequence[str]) -> tuple[StageKind, ...]:
        """Return stages by their names, in the order in which they run; all without a name. Raises `InvalidQuery`."""
        known = {kind.id for kind in STAGES}
        wrong = next((name for name in names if name not in known), None)
        if wrong is not None:
            raise InvalidQuery(f"There is no stage “{wrong}”.", f"Stages are: {', '.join(k.id for k in STAGES)}.")
        return tuple(kind for kind in STAGES if not names or kind.id in names)

    def look(
        self, names: Sequence[str] = (), tell: Tell = nobody, cancelled: Cancelled = lambda: False
    ) -> Consolidated:
        """Return what a run would do now; writes nothing. What is planned until it is cancelled is returned."""
        kinds, stages = self.chosen(names), list[Stage]()
        for place, kind in enumerate(kinds):
            plan = self._planned(kind, kinds, tell, cancelled)
            if cancelled():
                return Consolidated(tuple(stages), kinds[place:])
            stages.append(Stage(kind, plan))
        return Consolidated(tuple(stages))

    def carry_out(
        self,
        names: Sequence[str] = (),
        tell: Tell = nobody,
        cancelled: Cancelled = lambda: False,
        *,
        anew: bool = False,
    ) -> Consolidated:
        """Run the stages; each that changes something is one action of its own, which undo takes back.

        Without names, and unless it is to begin `anew`, a run that was broken off goes on. Cancelled, it ends with the
        stage that is done, and the rest is left. Raises what a stage raises: what was done before it stands.
        """
        require_person(self._context.actor, "consolidate")
        last = self.last()
        run = last if last is not None and not names and not anew and goes_on(last, self._context.now()) else None
        again, kinds = run is not None, self.chosen(run.left if run is not None else names)
        if run is None:
            id, at = f"consolidation-{uuid.uuid4().hex[:12]}", self._context.now()
            run = ConsolidationRun(id, at, self._context.actor, tuple(kind.id for kind in kinds))
        stages = list[Stage]()
        for place, kind in enumerate(kinds):
            plan = self._planned(kind, self.chosen(run.stages), tell, cancelled)
            if cancelled() or not self._is_done(plan, cancelled):
                self._keep(run)
                return Consolidated(tuple(stages), kinds[place:], run, again)
            run = self._noted(run, kind, plan)
            stages.append(Stage(kind, plan))
        return Consolidated(tuple(stages), (), run, again)

    def _is_done(self, plan: StagePlan, cancelled: Cancelled) -> bool:
        """Carry a plan out; tell whether it was not stopped meanwhile, as what only makes what is computed may be."""
        try:
            if plan.carry_out is not None:
                plan.carry_out()
        except WorkbenchError:
            if not cancelled():
                raise
            return False
        return True

    def _planned(self, kind: StageKind, kinds: Sequence[StageKind], tell: Tell, cancelled: Cancelled) -> StagePlan:
        work = Work(
            self._context, self._finder, self._patterns.acting_for(self._context), self._retriever,
            frozenset(one.id for one in kinds), lambda done, total: tell(kind, done, total), cancelled,
        )  # fmt: skip
        return cast(StagePlan, implementation(kind.planner)(work))

    def _noted(self, run: ConsolidationRun, kind: StageKind, plan: StagePlan) -> ConsolidationRun:
        now, changed = self._context.now(), len(plan.changes) + plan.measured
        result = StageResult(kind.id, now, plan.looked, changed, dict(plan.facts))
        noted = replace(run, done=(*run.done, result))
        return self._keep(noted if noted.left else replace(noted, ended_at=now))

    def _keep(self, run: ConsolidationRun) -> ConsolidationRun:
        """Keep the record of a run, which is no change of a person's that an undo takes back."""
        with self._context.library.transaction(self._context.actor, "note a consolidation", kind="access") as tx:
            tx.put(run)
            for old in [one for one in self.runs() if one.id != run.id][KEPT - 1 :]:
                tx.delete(old)
        return run


LISTED = 20
"""Changes of a stage that are listed in words; JSON has all."""


def run_json(run: ConsolidationRun) -> dict[str, object]:
    due = due_at(run)
    return {
        "id": run.id,
        "begun_at": iso(run.begun_at),
        "ended_at": None if run.ended_at is None else iso(run.ended_at),
        "next_due_at": None if due is None else iso(due),
        "left": list(run.left),
        "stages": [
            {"stage": one.stage, "at": iso(one.at), "looked": one.looked, "changed": one.changed, "facts": one.facts}
            for one in run.done
        ],
    }


def done_json(done: Consolidated, *, dry: bool) -> dict[str, object]:
    """Return what a run did, or would do."""
    return {
        "dry_run": dry,
        "stages": [
            {
                "stage": one.kind.id,
                "looked": one.plan.looked,
                "measured": one.plan.measured,
                "changes": [{"id": c.id, "becomes": c.becomes, "by": c.by} for c in one.plan.changes],
                "facts": one.plan.facts,
            }
            for one in done.stages
        ],
        "left": [kind.id for kind in done.left],
        "run": None if done.run is None else run_json(done.run),
    }


def outlook_json(looked: Consolidated, last: ConsolidationRun | None) -> dict[str, object]:
    """Return what a run would change in numbers alone, and when the last one was and the next one is due."""
    due = due_at(last)
    return {
        "last_at": None if last is None else iso(last.ended_at or last.begun_at),
        "next_due_at": None if due is None else iso(due),
        "stages": [
            {"stage": one.kind.id, "looked": one.plan.looked, "would_change": len(one.plan.changes)}
            | ({"facts": dict(one.plan.facts)} if one.kind.id == "report" else {})
            for one in looked.stages
        ],
        "note": "A person carries it out: `workbench consolidate`.",
    }


def markdown(run: ConsolidationRun) -> str:
    """Return the report of a run as Markdown."""
    return "\n".join(_lines(run)) + "\n"


def _lines(run: ConsolidationRun) -> Iterator[str]:
    titles = {kind.id: kind.title for kind in STAGES}
    due = due_at(run)
    yield f"# Consolidation of {minute(run.begun_at)}"
    yield ""
    yield f"Ended {minute(run.ended_at)}." if run.ended_at is not None else f"Left to do: {', '.join(run.left)}."
    if due is not None:
        yield f"The next one is due {minute(due)}."
    for one in run.done:
        yield ""
        yield f"## {titles.get(one.stage, one.stage)}"
        yield ""
        yield f"- looked at: {one.looked:,}"
        yield f"- changed: {one.changed:,}"
        yield from fact_lines(one.facts)


def fact_lines(facts: Mapping[str, float]) -> Iterator[str]:
    """Yield numbers by name, a line each."""
    for name, value in facts.items():
        yield f"- {name.replace('_', ' ')}: {value:,.0f}"
