"""Holds retrieval against expectations, as an agent is served: what is held back or weak is not found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.bench.agents.serving import Served, give
from workbench.bench.context import Context
from workbench.bench.safety.safety import Safety
from workbench.bench.tuning.evaluation import Evaluator
from workbench.bench.tuning.queries.sets import from_file
from workbench.bench.tuning.tuning import Tuning
from workbench.core.served import hidden_because
from workbench.core.tuning.expectation import Expectation
from workbench.core.tuning.measure import NDCG10
from workbench.core.tuning.profile import Profile


@dataclass(frozen=True, slots=True)
class Miss:
    """One thing that is not as expected: `kind` is `absent`, `low`, `found`, `something` or `ndcg`.

    `id` is the memory it is about, `place` where it stands (0 for nowhere), `value` what was measured instead, `why`
    says why a memory is given to nobody.
    """

    kind: str
    id: str = ""
    place: int = 0
    value: float = 0.0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """An expectation, and what is not as it says; nothing where it holds."""

    expectation: Expectation
    misses: tuple[Miss, ...]

    @property
    def holds(self) -> bool:
        """Whether all is as expected."""
        return not self.misses


class Checker:
    """Checks expectations under one profile; it only looks, and nothing counts as read."""

    def __init__(self, context: Context, tuning: Tuning, evaluator: Evaluator, profile: Profile, folder: Path) -> None:
        self._context = replace(context, actor="agent:check")
        self._tuning, self._evaluator, self._profile, self._folder = tuning, evaluator, profile, folder
        self._safety = Safety(self._context)

    def check(self, expected: Sequence[Expectation]) -> Iterator[Checked]:
        """Yield each expectation with what is not as it says. Raises `WorkbenchError` for a set that cannot be read."""
        for one in expected:
            yield Checked(one, tuple(self._of_set(one) if one.queries else self._of_query(one)))

    def _of_query(self, one: Expectation) -> Iterator[Miss]:
        served = give(self._context, self._tuning, one.query, one.top, self._profile, self._safety)
        places = {id: place for place, id in enumerate(served.ranking.ids, 1)}
        if one.nothing and places:
            yield Miss("something", next(iter(places)), 1)
        yield from (self._miss(id, served) for id in one.finds if id not in places)
        yield from (Miss("found", id, places[id]) for id in one.never if id in places)

    def _miss(self, id: str, served: Served) -> Miss:
        """Return why a memory does not stand near the top."""
        memory = self._context.library.memories.find(id)
        if memory is None:
            return Miss("absent", id, why="it is not in the store")
        if hidden := hidden_because(memory, self._context.now()):
            return Miss("absent", id, why=hidden)
        if self._safety.held_from_agents(memory):
            return Miss("absent", id, why="held back for what it says")
        if served.floor.empty:
            return Miss("absent", id, why="nothing here is relevant to the query")
        place = self._tuning.rank(served.floor.scores, self._profile, served.ranking.now).place_of(id)
        if place is None:
            return Miss("absent", id, why="the profile leaves it out")
        return Miss("low", id, place, why="below the floor" if served.floor.is_weak(id) else "")

    def _of_set(self, one: Expectation) -> Iterator[Miss]:
        judged = from_file(self._context, self._folder / Path(one.queries).expanduser())
        mean = self._evaluator.evaluate(judged, [self._profile]).results[0].mean[NDCG10.name]
        if mean < one.ndcg:
            yield Miss("ndcg", value=mean)
