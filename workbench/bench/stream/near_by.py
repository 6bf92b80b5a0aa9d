"""What is near a person's words by meaning, ranked as an agent would be given it: beside what holds the words."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from workbench.bench.agents.serving import look
from workbench.bench.tuning.tuning import Tuning
from workbench.core.stream.filter import Predicate
from workbench.core.tuning.scoring import Scored

MOST = 20
"""How many memories are listed that are near by meaning."""


@dataclass(frozen=True, slots=True)
class NearBy:
    """The memories near some words by meaning, the best first, with how their scores came about.

    `full` is the score of the best memory of all. With `is_empty` nothing in the store is relevant to the words. `held`
    are the scores of the memories that hold the words, where they were asked for.
    """

    rows: tuple[Scored, ...]
    full: float = 0.0
    is_empty: bool = False
    held: Mapping[str, float] = field(default_factory=dict)


def near_by(
    tuning: Tuning,
    query: str,
    tests: Sequence[Predicate],
    without: Collection[str],
    now: datetime,
    *,
    worth: bool = False,
) -> NearBy:
    """Rank the memories for a query under the profile of the settings, down to the floor; it only looks.

    Those in `without` are left out, and those that do not pass the `tests`; with `worth` it says what those left out
    are worth. May wait for the model, and for the floor. Raises `Stopped`.
    """
    served = look(tuning, query, None, tuning.default(), now)
    ranking, floor = served.ranking, served.floor
    held = {id: score for id in without if (score := ranking.total_of(id)) is not None} if worth else {}
    if floor.empty:
        return NearBy((), is_empty=True, held=held)
    # Without a floor nothing tells where relevance ends, so there are no more than an agent is given.
    most = ranking.k if floor.verdict.standard.floor is None else MOST
    left_out, first = frozenset(without), ranking.best(1)
    strong = ranking.descending(floor.strong(ranking.candidates.rows))
    fresh = (memory for memory in strong if memory.id not in left_out and all(test(memory) for test in tests))
    rows = tuple(scored for memory in islice(fresh, most) if (scored := ranking.scored(memory.id)) is not None)
    return NearBy(rows, first[0].total if first else 0.0, held=held)
