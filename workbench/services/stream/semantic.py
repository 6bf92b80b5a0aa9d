"""What is near a person's words by meaning, ranked as an agent would be given it: beside what holds
the words.

A candidate waits for a decision and no agent is given it, but a person may look for it: those near
the words stand where they would be ranked, beside the ranking.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import NamedTuple

import numpy as np

from workbench.core.stream.filter import Predicate
from workbench.core.stream.memory import Memory
from workbench.core.tuning.scoring import Scored
from workbench.retrieval.arrays import micros
from workbench.retrieval.floor import reach_of, weak_rows
from workbench.services.agents.serving import Served, look
from workbench.services.stream.stream import passed
from workbench.services.tuning.tuning import Tuning

MOST = 20
"""How many memories are listed that are near by meaning."""

_LOOKED_AT = 256
"""Of the memories that no agent is served so many are looked at, those that match best, whether
they wait.
"""


class Waiting(NamedTuple):
    """A candidate near some words: no agent is given it, and `above` of those that are would be
    ranked above it.
    """

    memory: Memory
    above: int


@dataclass(frozen=True, slots=True)
class SemanticMatches:
    """The memories near some words by meaning, the best first, with how their scores came about.

    `relevances` are theirs, by id. It is ranked under the profile that is `used`.
    `waiting` are the candidates near them, which are not ranked, the best first.
    With `is_empty` nothing in the store is relevant to the words. `held`
    are the scores of the memories that hold the words, where they were asked for.
    """

    rows: tuple[Scored, ...]
    is_empty: bool = False
    held: Mapping[str, float] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    relevances: Mapping[str, float] = field(default_factory=dict)
    used: str = ""


def semantic_matches(
    tuning: Tuning,
    query: str,
    tests: Sequence[Predicate],
    without: Collection[str],
    now: datetime,
    *,
    worth: bool = False,
) -> SemanticMatches:
    """Rank the memories for a query under the profile of the settings, down to the floor; it only
    looks.

    Those in `without` are left out, and those that do not pass the `tests`; with `worth` it says
    what those left out are worth. May wait for the model, and for the floor. Raises `Stopped`.
    """
    served = look(tuning, query, None, tuning.default(), now)
    held = (
        {id: score for id in without if (score := served.ranking.total_of(id)) is not None}
        if worth
        else {}
    )
    rows = _ranked(served, tests, without)
    waiting = _waiting(tuning, served, tests, without, rows)
    relevances = {scored.memory.id: served.floor.relevance(scored.memory.id) for scored in rows}
    return SemanticMatches(
        rows, served.floor.empty and not waiting, held, waiting, relevances, str(tuning.used)
    )


def waiting_near(tuning: Tuning, served: Served) -> tuple[Memory, ...]:
    """Return the candidates that would be in an answer if nothing waited, the best first."""
    near = _waiting(tuning, served, (), (), served.top)
    return tuple(waiting.memory for waiting in near if waiting.above < served.ranking.k)


def _ranked(
    served: Served, tests: Sequence[Predicate], without: Collection[str]
) -> tuple[Scored, ...]:
    """Return what is near down to the floor, with the parts of a score for these only."""
    ranking, floor = served.ranking, served.floor
    if floor.empty:
        return ()
    rows = ranking.candidates.rows
    # What holds the words ranks first mostly: it is left out before any record is read.
    among = floor.strong(rows) & ~ranking.pool.among(without)[rows]
    fresh = (memory for memory in ranking.descending(among) if all(test(memory) for test in tests))
    found = islice(fresh, _most(served))
    return tuple(scored for memory in found if (scored := ranking.scored(memory.id)) is not None)


def _most(served: Served) -> int:
    """Return how many are listed: without a floor nothing tells where relevance ends, so no more
    than an agent has.
    """
    return served.ranking.k if served.floor.verdict.standard.floor is None else MOST


def _waiting(
    tuning: Tuning,
    served: Served,
    tests: Sequence[Predicate],
    without: Collection[str],
    rows: Sequence[Scored],
) -> tuple[Waiting, ...]:
    """Return the candidates near a query, each with how many of some `rows` stand above it.

    They are above the floor, and would be among the best of all if agents were served them.
    """
    ranking = served.ranking
    near, ranker = _candidates(served, tests, without), tuning.retriever.ranker()
    if (
        not near or ranker.pool is not ranking.pool
    ):  # what changed this very moment is ranked anew anyway
        return ()
    mask = ranking.pool.served(ranking.now)
    mask[[ranking.pool.row(memory.id) for memory in near]] = True
    every = ranker.rank(
        ranker.relevance(served.floor.scores.query),
        ranking.profile,
        ranking.now,
        _most(served),
        mask,
    )
    places = {id: place for place, id in enumerate(every.ids)}
    last = len(places)
    above = [places.get(scored.memory.id, last) for scored in rows]
    found = [memory for memory in near if memory.id in places]
    found.sort(key=lambda memory: places[memory.id])
    return tuple(Waiting(one, sum(place < places[one.id] for place in above)) for one in found)


def _candidates(
    served: Served, tests: Sequence[Predicate], without: Collection[str]
) -> list[Memory]:
    """Return the candidates that pass some tests, above the floor by themselves, those that match
    best first.
    """
    standard, scores, pool = served.floor.verdict.standard, served.floor.scores, served.floor.pool
    mask = ~pool.servable & (pool.created <= micros(served.floor.now))
    if standard.floor is not None:
        mask[weak_rows(standard.floor, scores, np.arange(len(pool)))] = False
        reach = reach_of(scores, mask)
        if reach is None or (served.floor.empty and standard.floor.is_empty(reach)):
            return []
    rows = np.flatnonzero(mask)
    best = rows[np.argsort(-scores.relevance[rows], kind="stable")[:_LOOKED_AT]]
    waiting = [
        memory
        for memory in pool.memories_at(best)
        if memory.status == "candidate" and memory.id not in without
    ]
    return passed(waiting, tests)
