"""Consolidating a store: stages that look at it and return what is carried out as it stands; and the report."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from workbench.core.agents.actors import require_person
from workbench.core.agents.consolidation import KEPT, STAGES, ConsolidationRun, StageKind, StageResult, due_at, goes_on
from workbench.core.agents.episodes.criteria import EpisodeCluster, is_over, phase_of
from workbench.core.agents.episodes.episode import Episode, EpisodeUse
from workbench.core.agents.patterns.duplicates import weaknesses
from workbench.core.agents.patterns.matching import USED
from workbench.core.agents.patterns.pattern import Application, Pattern
from workbench.core.agents.read import AgentRead
from workbench.core.record import InvalidQuery, WorkbenchError, iso, minute
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled, Progress
from workbench.core.text import counted
from workbench.services.agents.episode_finding import EpisodeFinder
from workbench.services.agents.patterns import Patterns
from workbench.services.context import Context
from workbench.services.review.finders import merges, recurring
from workbench.services.tuning.retriever import Retriever

Becomes = Literal["archived", "validated", "under_review", "candidate", "deprecated", "proposed"]

WEAK = 2
"""Reasons for which a pattern goes out of use; for a single one it is only counted."""


class Change(NamedTuple):
    """One record that another stage of its life begins for; `by` is what stands for it then, or what is proposed."""

    id: str
    becomes: Becomes
    by: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """What a stage did, or would do: how many records it looked at, what changes, numbers by name, and how it is done.

    `measured` records are written again with other numbers. Without `carry_out` there is nothing to do.
    """

    looked: int
    changes: tuple[Change, ...] = ()
    measured: int = 0
    facts: Mapping[str, float] = field(default_factory=dict)
    carry_out: Callable[[], object] | None = None
    kind: StageKind = STAGES[0]


Tell = Callable[[StageKind, int, int], None]
"""Is told how far a stage is: so many of so many."""


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
        self._context, self._library, self._finder, self._retriever = context, context.library, finder, retriever
        self._patterns = patterns.acting_for(context)

    def runs(self) -> tuple[ConsolidationRun, ...]:
        """Return the runs that are known, the latest first."""
        every = self._library.table(ConsolidationRun).all()
        return tuple(sorted(every, key=lambda one: (one.begun_at, one.id), reverse=True))

    def last(self) -> ConsolidationRun | None:
        """Return the latest run; `None` when there was none."""
        return next(iter(self.runs()), None)

    def chosen(self, names: Sequence[str]) -> tuple[StageKind, ...]:
        """Return stages by their names, in the order in which they run; all without a name. Raises `InvalidQuery`."""
        wrong = next((name for name in names if all(name != kind.id for kind in STAGES)), None)
        if wrong is not None:
            raise InvalidQuery(f"There is no stage “{wrong}”.", f"Stages are: {', '.join(k.id for k in STAGES)}.")
        return tuple(kind for kind in STAGES if not names or kind.id in names)

    def look(
        self, names: Sequence[str] = (), tell: Tell = nobody, cancelled: Cancelled = lambda: False
    ) -> Consolidated:
        """Return what a run would do now; writes nothing. What is planned until it is cancelled is returned."""
        kinds = self.chosen(names)
        return self._through(kinds, kinds, tell, cancelled)

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
        last, now = self.last(), self._context.now()
        if last is not None and not names and not anew and goes_on(last, now):
            done = self._through(self.chosen(last.left), self.chosen(last.stages), tell, cancelled, last)
            return replace(done, again=True)
        kinds = self.chosen(names)
        id = f"consolidation-{uuid.uuid4().hex[:12]}"
        run = ConsolidationRun(id, now, self._context.actor, tuple(kind.id for kind in kinds))
        return self._through(kinds, kinds, tell, cancelled, run)

    def _through(
        self,
        kinds: tuple[StageKind, ...],
        chosen: tuple[StageKind, ...],
        tell: Tell,
        cancelled: Cancelled,
        run: ConsolidationRun | None = None,
    ) -> Consolidated:
        """Plan stages one after the other, and carry each out where there is a run to note it in."""
        stages, names = list[Stage](), frozenset(kind.id for kind in chosen)
        for place, kind in enumerate(kinds):

            def progress(done: int, total: int, kind: StageKind = kind) -> None:
                tell(kind, done, total)

            stage = replace(self._planned(kind.id, names, progress, cancelled), kind=kind)
            if cancelled() or (run is not None and not _is_done(stage, cancelled)):
                if run is not None:
                    self._keep(run)
                return Consolidated(tuple(stages), kinds[place:], run)
            if run is not None:
                run = self._noted(run, stage)
            stages.append(stage)
        return Consolidated(tuple(stages), (), run)

    def _noted(self, run: ConsolidationRun, stage: Stage) -> ConsolidationRun:
        now, changed = self._context.now(), len(stage.changes) + stage.measured
        result = StageResult(stage.kind.id, now, stage.looked, changed, dict(stage.facts))
        noted = replace(run, done=(*run.done, result))
        return self._keep(noted if noted.left else replace(noted, ended_at=now))

    def _keep(self, run: ConsolidationRun) -> ConsolidationRun:
        """Keep the record of a run, which is no change of a person's that an undo takes back."""
        with self._library.transaction(self._context.actor, "note a consolidation", kind="access") as tx:
            tx.put(run)
            for old in [one for one in self.runs() if one.id != run.id][KEPT - 1 :]:
                tx.delete(old)
        return run

    # The stages; one that is cancelled may plan less, and plans nothing that is not so

    def _planned(self, stage: str, chosen: frozenset[str], progress: Progress, cancelled: Cancelled) -> Stage:
        match stage:
            case "episodes":
                return self._episodes(progress, cancelled)
            case "extraction":
                found = self._undecided(recurring(self._context, cancelled))
                looked = len(self._library.table(Episode))
                return Stage(looked, _proposed(found), carry_out=(lambda: self._propose(found)) if found else None)
            case "validation":
                return self._validation()
            case "refinement":
                return self._refinement(after_validation="validation" in chosen)
            case "indexes":
                return self._indexes(progress, cancelled)
            case _:
                return self._report()

    def _episodes(self, progress: Progress, cancelled: Cancelled) -> Stage:
        """Put episodes that say the same under one of them."""
        consolidation = self._finder.consolidation
        plan = consolidation.plan(cancelled, progress)
        stands = {id: one.representative for one in plan.clusters for id in one.members}
        changes = tuple(Change(id, "archived", stands[id]) for id in plan.archived)
        carry_out = (lambda: consolidation.carry_out(plan)) if plan.clusters else None
        return Stage(plan.looked, changes, 0, {"clusters": len(plan.clusters)}, carry_out)

    def _undecided(self, found: Iterable[Proposal]) -> tuple[Proposal, ...]:
        return tuple(one for one in found if self._library.proposals.find(one.id) is None)

    def _propose(self, found: Sequence[Proposal]) -> None:
        """Store proposals; one that asks the same with less to go by, and waits still, gives way."""
        asked = {one.id.rpartition("-")[0] for one in found if one.kind == "pattern"}
        label = f"propose {counted(len(found), 'change')} of patterns"
        with self._library.transaction(self._context.actor, label) as tx:
            for old in self._library.proposals.all():
                if old.state == "open" and old.id.rpartition("-")[0] in asked:
                    tx.delete(old)
            for one in found:
                tx.put(one)

    def _validation(self) -> Stage:
        """Hold every pattern against its applications."""
        found = self._patterns.validations()
        changes = tuple(Change(one.after.id, one.after.status) for one in found if one.moves)
        measured = sum(one.after != one.before for one in found)
        waiting = sum(one.outlook == "insufficient" and one.before.status == "candidate" for one in found)
        carry_out = self._patterns.validate if measured else None
        return Stage(len(found), changes, measured, {"too_little_evidence": waiting}, carry_out)

    def _refinement(self, *, after_validation: bool) -> Stage:
        """Take patterns out of use that are worth little for several reasons; those that say the same wait in Review.

        Those that are worth little for one reason are counted.
        """
        every = self._patterns.all()
        if after_validation:  # as they stand then, whether or not it is done already
            every = tuple(one.after for one in self._patterns.validations())
        now = self._context.now()
        found = {pattern.id: weaknesses(pattern, now) for pattern in every}
        gone = tuple(id for id, why in found.items() if len(why) >= WEAK)
        same = self._undecided(merges(self._context, [one for one in every if one.id not in gone]))
        changes = (*(Change(id, "deprecated") for id in gone), *_proposed(same))

        def carry_out() -> None:
            if gone:
                self._patterns.prune(gone)
            if same:
                self._propose(same)

        facts = {"worth_little": sum(bool(why) for why in found.values())}
        return Stage(len(every), changes, 0, facts, carry_out if changes else None)

    def _indexes(self, progress: Progress, cancelled: Cancelled) -> Stage:
        """Work out what searches need, so that none of them waits for it."""
        many = len(self._library.table(Episode))

        def make() -> None:
            retriever = self._retriever()
            retriever.patterns.of(USED)
            if many:
                retriever.episodes.prepare(progress, cancelled)

        return Stage(many + len(self._library.table(Pattern)), carry_out=make)

    def _report(self) -> Stage:
        library, now = self._library, self._context.now()
        heads = library.table(Episode).all()
        facts = Counter(f"episodes_{phase_of(one, now)}" for one in heads)
        facts.update(f"patterns_{one.status}" for one in library.table(Pattern).all())
        facts |= {
            "episodes_retention_over": sum(is_over(one, now) for one in heads),
            "episodes_bytes": sum(path.stat().st_size for _, path in library.blobs.files()),
            "episodes_read": len({id for read in library.table(AgentRead).all() for id in read.episodes}),
            "episodes_referenced": sum(bool(one.referenced_by) for one in library.table(EpisodeUse).all()),
            "clusters": len(library.table(EpisodeCluster)),
            "applications": len(library.table(Application)),
        }
        return Stage(len(heads) + len(library.table(Pattern)), facts=dict(sorted(facts.items())))


def _is_done(stage: Stage, cancelled: Cancelled) -> bool:
    """Carry a stage out; tell whether it was not stopped meanwhile, as what only makes what is computed may be."""
    try:
        if stage.carry_out is not None:
            stage.carry_out()
    except WorkbenchError:
        if not cancelled():
            raise
        return False
    return True


def _proposed(found: Iterable[Proposal]) -> tuple[Change, ...]:
    return tuple(Change(one.id, "proposed", one.title) for one in found)


# The report, as JSON and as Markdown


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
                "stage": one.kind.id, "looked": one.looked, "measured": one.measured,
                "changes": [change._asdict() for change in one.changes], "facts": one.facts,
            }
            for one in done.stages
        ],
        "left": [kind.id for kind in done.left],
        "run": None if done.run is None else run_json(done.run),
    }  # fmt: skip


def outlook_json(looked: Consolidated, last: ConsolidationRun | None) -> dict[str, object]:
    """Return what a run would change in numbers alone, and when the last one was and the next one is due."""
    due = due_at(last)
    return {
        "last_at": None if last is None else iso(last.ended_at or last.begun_at),
        "next_due_at": None if due is None else iso(due),
        "stages": [
            {"stage": one.kind.id, "looked": one.looked, "would_change": len(one.changes)}
            | ({"facts": dict(one.facts)} if one.kind.id == "report" else {})
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
