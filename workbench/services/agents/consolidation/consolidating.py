"""Runs a consolidation: each stage is planned and carried out by itself, so that it can be stopped between two."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from workbench.core.agents.actors import require_person
from workbench.core.agents.consolidation import KEPT, STAGES, ConsolidationRun, StageKind, StageResult, goes_on
from workbench.core.errors import InvalidQuery, WorkbenchError
from workbench.core.named import implementation
from workbench.services.agents.consolidation.stages import Cancelled, StagePlan, Work
from workbench.services.agents.episodes.finding import EpisodeFinder
from workbench.services.agents.patterns.patterns import Patterns
from workbench.services.context import Context
from workbench.services.tuning.retriever import Retriever

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
