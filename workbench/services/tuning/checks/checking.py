"""Holds a store's answers against what is expected of them. It only looks: no reading is kept."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from workbench.core.agents.provenance import UNKNOWN
from workbench.core.runtime import Cancelled, Progress
from workbench.core.served import hidden_because
from workbench.core.tuning.measure import AnswerExpected, Checked, Expected, QualityExpected, Shortfall
from workbench.core.tuning.profile import Profile
from workbench.services.agents.serving import Served, give
from workbench.services.context import Context
from workbench.services.safety.provenance import provenances
from workbench.services.safety.safety import Safety
from workbench.services.tuning.evaluation import Evaluator
from workbench.services.tuning.queries.sets import JudgedSet, from_file
from workbench.services.tuning.tuning import Tuning


class Checking:
    """Checks expectations by what an agent is given under a profile.

    `context` is that of the agent (`agent:NAME`); `folder` is where the paths of query sets begin.
    """

    def __init__(self, context: Context, tuning: Tuning, evaluator: Evaluator, profile: Profile, folder: Path) -> None:
        self._context = context
        self._tuning = tuning
        self._evaluator = evaluator
        self._profile = profile
        self._folder = folder
        self._sets: dict[str, JudgedSet] = {}

    def check(self, expectations: Sequence[Expected], progress: Progress, cancelled: Cancelled) -> tuple[Checked, ...]:
        """Return how the store falls short of each; a query set that cannot be read raises before anything is asked.

        Raises `UnreadableFile`, `InvalidQuery`, and `NotTrusted` for a store of which no agent is given anything.
        """
        self._context.library.require_trust()
        for expected in expectations:
            if isinstance(expected, QualityExpected) and expected.queries not in self._sets:
                path = self._folder / Path(expected.queries).expanduser()
                self._sets[expected.queries] = from_file(self._context, path)
        done: list[Checked] = []
        for expected in expectations:
            if cancelled():
                break
            done.append(self._checked(expected, cancelled))
            progress(len(done), len(expectations))
        return tuple(done)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a person should know of the query sets before they read the figures."""
        return tuple(remark for judged in self._sets.values() for remark in judged.remarks)

    def _checked(self, expected: Expected, cancelled: Cancelled) -> Checked:
        if isinstance(expected, QualityExpected):
            scored = self._evaluator.score(self._sets[expected.queries], cancelled=cancelled)
            value = scored.measure(self._profile, (expected.measure,)).mean[expected.measure.name]
            short = () if value >= expected.at_least else (Shortfall("low", value=value),)
            return Checked(expected, short, value)
        return Checked(expected, tuple(self._shortfalls(expected)))

    def _shortfalls(self, expected: AnswerExpected) -> Iterator[Shortfall]:
        now = expected.now or self._context.now()
        context = replace(self._context, clock=lambda: now)
        safe = Safety(context)
        served = give(context, self._tuning, expected.query, expected.top, self._profile, safe)
        place = {id: number for number, id in enumerate(served.ranking.ids, 1)}
        if expected.nothing and place:
            yield Shortfall("relevant", next(iter(place)), 1)
        for id in map(self._living, expected.finds):
            if id not in place:
                yield self._missing(context, safe, served, id, now)
        for id in map(self._living, expected.never):
            if id in place:
                yield Shortfall("unwanted", id, place[id])

    def _living(self, id: str) -> str:
        """Return the id of what a memory was merged into, as long as that goes on; otherwise its own."""
        memories = self._context.library.memories
        found = memories.find(id)
        if found is not None and found.archived_reason != "merged":
            return id
        heir = next((memory for memory in memories.all() if id in memory.aliases), None)
        return id if heir is None else heir.id

    def _missing(self, context: Context, safe: Safety, served: Served, id: str, now: datetime) -> Shortfall:
        """Say why a memory is not among what was given."""
        memory = context.library.memories.find(id)
        if memory is None:
            return Shortfall("unknown", id)
        if hidden_because(memory, now):
            return Shortfall("hidden", id)
        if served.floor.empty:
            return Shortfall("irrelevant", id)
        if safe.held_from_agents(memory):
            return Shortfall("held", id)
        if context.settings.agents.only_approved(context.actor) and not _approved(context, id):
            return Shortfall("unapproved", id)
        stands = self._tuning.rank(served.floor.scores.query, self._profile, now).place_of(id)
        if stands is None:
            return Shortfall("left out", id)
        return Shortfall("weak" if served.floor.is_weak(id) else "below", id, stands)


def _approved(context: Context, id: str) -> bool:
    return provenances(context, [context.library.memories.get(id)]).get(id, UNKNOWN).approved
