"""What finds the items of each layer, the most important first."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, lru_cache
from math import log
from typing import TYPE_CHECKING

import numpy as np

from workbench.core.duplicates.function_words import is_negation, said_words
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.budget import STANDINGS, standing
from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import WORKBENCH, Profile
from workbench.retrieval.arrays import Mask
from workbench.retrieval.patterns import telling, words_of
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

MOST_BULLETS = 5_000
"""Bullets of which is known how near to the task they are."""

NEAR, SHARED = 0.4, 2.0
"""How near a bullet is that has to do with a task, and how much the words that both have count beside the cosine."""

FIRST = 40
"""Characters of a rule whose first words are looked at."""


@dataclass(frozen=True)
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

    @property
    def said(self) -> str:
        """The task, with what just failed in it."""
        return f"{self.task}\n{self.error}".strip()

    @cached_property
    def served(self) -> Served | None:
        """What the ranking gives for what is said, under the profile of the settings; nothing without a task."""
        if not self.task.strip():
            return None
        profile = self.profile or self.tuning.default()
        return give(self.context, self.tuning, self.said, MOST, profile, self.safety)

    @cached_property
    def settled(self) -> list[Memory]:
        """The most important of what was confirmed of facts and ways of working."""
        pool, now = self.pool(), self.context.now()
        rows = np.flatnonzero(_of_knowledge(pool, now))
        return pool.memories_at(most_important(pool, rows, MOST, WORKBENCH, now))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a finder found, the ranking behind it where there is one, and what is not even looked at."""

    found: tuple[Found, ...]
    served: Served | None = None
    refused: tuple[LeftOut, ...] = ()


def pinned(asking: Asking) -> Answer:
    """Find what must never be done, and the pinned memories, the newest first."""
    pool = asking.pool()
    every: list[Bullet | Memory] = [*asking.playbook(), *asking.settled]
    rules = [one for one in every if _forbids(one.content) and not _is_harmful(one)]
    held = pool.memories_at(np.flatnonzero(pool.is_pinned() & pool.served(asking.context.now())))
    held = sorted(held, key=lambda m: (m.created_at, m.id), reverse=True)
    return Answer((*map(Found, rules), *map(Found, held)))


def playbook(asking: Asking) -> Answer:
    """Find the bullets of the playbook in the order in which a budget takes them.

    For a task those of one class stand by how near to it they are, and those that were voted harmful are left out.
    """
    every = [Found(one, standing=standing(one)) for one in asking.playbook()]
    if not (every and asking.task.strip()):
        return Answer(tuple(every))
    near = _near(asking)
    refused = tuple(LeftOut(one.id, "harmful") for one in every if _is_harmful(one.record))
    rows = [replace(one, fits=near[one.id] >= NEAR) for one in every if not _is_harmful(one.record)]
    rows.sort(key=lambda one: (STANDINGS.index(one.standing or "untried"), -near[one.id]))
    return Answer(tuple(rows), refused=refused)


def _near(asking: Asking) -> dict[str, float]:
    """Return how near to what is said each bullet is: by its meaning, and by the words, rare ones more."""
    masked, bullets = asking.safety.masked, asking.playbook()
    known = asking.tuning.retriever.nearest_bullets(asking.said, MOST_BULLETS, masked)
    cosines = {(bullet.book, bullet.id): cosine for bullet, cosine in known}
    texts, counts = _words_of(tuple(masked(one.content) for one in bullets))
    weights = {word: log(1 + len(texts) / counts.get(word, 1)) for word in words_of(asking.said)}
    most = sum(weights.values()) or 1.0
    return {
        f"{one.book}/{one.id}": cosines.get((one.book, one.id), 0.0)
        + SHARED * sum(weights[word] for word in weights.keys() & its) / most
        for one, its in zip(bullets, texts, strict=True)
    }


@lru_cache(2)
def _words_of(texts: tuple[str, ...]) -> tuple[list[frozenset[str]], Counter[str]]:
    """Return the words that tell texts apart, and in how many of them each stands."""
    found = telling(*texts)
    return found, Counter(word for some in found for word in some)


def known(asking: Asking) -> Answer:
    """Find what was confirmed of facts and ways of working: what the task is about first, then the most important."""
    memories, served = asking.settled, asking.served
    if served is None or served.floor.empty:
        return Answer(tuple(map(Found, memories)))
    pool, floor = served.floor.pool, served.floor
    rows = np.flatnonzero(_of_knowledge(pool, asking.context.now()))
    rows = rows[floor.strong(rows)]
    best = pool.memories_at(rows[np.argsort(-floor.scores.relevance[rows], kind="stable")[:MOST]])
    about = [Found(memory, relevance=floor.relevance(memory.id)) for memory in best]
    ids = {one.id for one in about}
    rest = (Found(memory, fits=False) for memory in memories if memory.id not in ids)
    return Answer((*about, *rest)[:MOST])


def _of_knowledge(pool: Pool, now: datetime) -> Mask:
    return pool.settled & pool.is_of("semantic", "procedural") & pool.served(now)


def _forbids(text: str) -> bool:
    """Tell whether a rule begins with what must not be done."""
    first = said_words(text[:FIRST].lower())[:2]
    return any(map(is_negation, first[:1])) or first == ["do", "not"]


def retrieved(asking: Asking) -> Answer:
    """Find what the ranking gives for the task, under the profile of the settings; what tools printed comes last."""
    served = asking.served
    if served is None:
        return Answer(())
    best = sorted(
        zip(served.ranking.top, served.relevances, strict=True),
        key=lambda one: one[0].memory.observation_type == "tool_output",
    )
    refused = tuple(LeftOut(one.memory.id, "harmful") for one, _ in best if _is_harmful(one.memory))
    found = (Found(one.memory, one.total, relevance=near) for one, near in best if not _is_harmful(one.memory))
    return Answer(tuple(found), served, refused)


def _is_harmful(record: object) -> bool:
    """Tell whether a memory or bullet was voted harmful as often as helpful."""
    return isinstance(record, Memory | Bullet) and 0 < record.harmful_count >= record.helpful_count
