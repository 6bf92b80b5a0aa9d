"""What finds the items of each layer, the most important first."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import nsmallest

from workbench.bench.agents.context.values import Found, LeftOut
from workbench.bench.agents.serving import Served, give
from workbench.bench.context import Context
from workbench.bench.safety.safety import Safety
from workbench.bench.tuning.tuning import Tuning
from workbench.core.playbook.book import Bullet
from workbench.core.served import is_served
from workbench.core.stream.feedback import effective_importance
from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import WORKBENCH, Profile

MOST = 40
"""How many memories are looked at for what was retrieved, and for what is known."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks for what: the store, the ranking, the task in words, and a profile in place of the settings'.

    `error` is what just failed, where something did.
    """

    context: Context
    tuning: Tuning
    safety: Safety
    task: str
    playbook: Callable[[], tuple[Bullet, ...]]
    profile: Profile | None = None
    error: str = ""

    def served(self, chosen: Iterable[Memory]) -> list[Memory]:
        """Return those of some memories that an agent may be given at all."""
        now = self.context.now()
        return [memory for memory in chosen if is_served(memory, now)]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a finder found, the ranking behind it where there is one, and what is not even looked at."""

    found: tuple[Found, ...]
    served: Served | None = None
    refused: tuple[LeftOut, ...] = ()


def pinned(asking: Asking) -> Answer:
    """Find the pinned memories, the newest first."""
    held = (m for m in asking.context.library.memories.all() if m.pinned)
    found = sorted(asking.served(held), key=lambda m: (m.created_at, m.id), reverse=True)
    return Answer(tuple(map(Found, found)))


def playbook(asking: Asking) -> Answer:
    """Find the bullets of the playbook by what they are worth per token, pinned ones first."""
    return Answer(tuple(map(Found, asking.playbook())))


def known(asking: Asking) -> Answer:
    """Find what was confirmed of facts and ways of working, the most important first."""
    now = asking.context.now()

    def weight(memory: Memory) -> tuple[float, str]:
        return -effective_importance(memory, now, WORKBENCH.feedback, WORKBENCH.feedback_half_life), memory.id

    every = asking.context.library.memories.all()
    lasting = (m for m in every if m.status != "signal" and m.memory_type in ("semantic", "procedural"))
    return Answer(tuple(map(Found, nsmallest(MOST, asking.served(lasting), key=weight))))


def retrieved(asking: Asking) -> Answer:
    """Find what the ranking gives for the task, under the profile of the settings."""
    if not asking.task.strip():
        return Answer(())
    tuning = asking.tuning
    served = give(asking.context, tuning, asking.task, MOST, asking.profile or tuning.default(), asking.safety)
    found = tuple(Found(scored.memory, scored.total) for scored in served.ranking.top)
    return Answer(found, served=served)
