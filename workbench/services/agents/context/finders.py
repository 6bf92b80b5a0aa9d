"""What finds the items of each layer, the most important first."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from workbench.core.playbook.book import Bullet
from workbench.core.tuning.profile import WORKBENCH, Profile
from workbench.retrieval.ranking.episodic import most_important
from workbench.retrieval.ranking.pool import Pool
from workbench.services.agents.context.values import Found, LeftOut
from workbench.services.agents.serving import Served, give
from workbench.services.context import Context
from workbench.services.safety.safety import Safety
from workbench.services.tuning.tuning import Tuning

if TYPE_CHECKING:
    from workbench.services.agents.episodes.finding import FoundEpisode

MOST = 40
"""How many memories are looked at for what was retrieved, and for what is known."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks for what: the store, the ranking, the task in words, and a profile in place of the settings'.

    `pool` returns the memories as columns, by which a layer finds its own without reading all of them; `error` is
    what just failed, where something did. `kept` is what one layer worked out and another one asks for, too.
    """

    context: Context
    tuning: Tuning
    safety: Safety
    task: str
    playbook: Callable[[], tuple[Bullet, ...]]
    pool: Callable[[], Pool]
    profile: Profile | None = None
    error: str = ""
    kept: "dict[tuple[str, str], tuple[FoundEpisode, ...]]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a finder found, the ranking behind it where there is one, and what is not even looked at."""

    found: tuple[Found, ...]
    served: Served | None = None
    refused: tuple[LeftOut, ...] = ()


def pinned(asking: Asking) -> Answer:
    """Find the pinned memories, the newest first."""
    pool = asking.pool()
    held = pool.memories_at(np.flatnonzero(pool.is_pinned() & pool.served(asking.context.now())))
    return Answer(tuple(map(Found, sorted(held, key=lambda m: (m.created_at, m.id), reverse=True))))


def playbook(asking: Asking) -> Answer:
    """Find the bullets of the playbook in the order in which a budget takes them."""
    return Answer(tuple(map(Found, asking.playbook())))


def known(asking: Asking) -> Answer:
    """Find what was confirmed of facts and ways of working, the most important first."""
    pool, now = asking.pool(), asking.context.now()
    rows = np.flatnonzero(pool.settled & pool.is_of("semantic", "procedural") & pool.served(now))
    return Answer(tuple(map(Found, pool.memories_at(most_important(pool, rows, MOST, WORKBENCH, now)))))


def retrieved(asking: Asking) -> Answer:
    """Find what the ranking gives for the task, under the profile of the settings."""
    if not asking.task.strip():
        return Answer(())
    tuning = asking.tuning
    served = give(asking.context, tuning, asking.task, MOST, asking.profile or tuning.default(), asking.safety)
    best = zip(served.ranking.top, served.relevances, strict=True)
    found = tuple(Found(scored.memory, scored.total, relevance=relevance) for scored, relevance in best)
    return Answer(found, served=served)
