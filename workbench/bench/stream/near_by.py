"""What is near a person's words by meaning, ranked as an agent would be given it: beside what holds the words."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from workbench.bench.agents.serving import look
from workbench.bench.stream.finding import passed
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
    are worth. May wait for the model, and for the floor.
    """
    served = look(tuning, query, None, tuning.default(), now)
    held = {id: score for id in without if (score := served.ranking.total_of(id)) is not None} if worth else {}
    if served.floor.empty:
        return NearBy((), is_empty=True, held=held)
    ranking, count = served.ranking, 4 * MOST
    # Without a floor nothing tells where relevance ends, so there are no more than an agent is given.
    most = ranking.k if served.floor.verdict.standard.floor is None else MOST
    while True:
        best = ranking.best(count)
        strong = [scored for scored in best if not served.floor.is_weak(scored.memory.id)]
        passing = {memory.id for memory in passed([scored.memory for scored in strong], tests)}
        rows = [scored for scored in strong if scored.memory.id in passing and scored.memory.id not in without]
        if len(rows) >= most or len(best) < count:
            return NearBy(tuple(rows[:most]), best[0].total if best else 0.0, held=held)
        count *= 4
