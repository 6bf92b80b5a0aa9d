"""What came into a store from elsewhere: what it says, who says it, and a person's word on it."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.core.agents.actors import require_person
from workbench.store.identity import StoreTrust, require_own

if TYPE_CHECKING:
    from workbench.services.context import Context
    from workbench.services.safety.safety import Held, Safety


@dataclass(frozen=True, slots=True)
class Arrived:
    """What is not known on this machine: how many changes, how many by each actor, and what is
    flagged in the store.

    Secrets in the names of actors are masked.

    `memories` and `bullets` are how many the store would serve from then on, `lines` the
    hashes of the changes.
    """

    changes: int
    actors: Mapping[str, int]
    memories: int
    bullets: int
    flagged: "tuple[Held, ...]"
    lines: frozenset[str] = field(default=frozenset(), repr=False)


class Trust:
    """Tells how far an open store is trusted, and takes a person's word."""

    def __init__(self, context: "Context", safety: "Callable[[], Safety]") -> None:
        self._library = context.library
        self._actor = context.actor
        self._safety = safety

    @property
    def standing(self) -> StoreTrust:
        """How far the store is trusted now."""
        return self._library.standing

    def arrived(self) -> Arrived:
        """Return what came from elsewhere; nothing is changed. Raises `StoreProblem`."""
        library = self._library
        safety, lines, actors = self._safety(), set(), Counter[str]()
        for mark, actor in library.foreign_lines():
            actors[safety.masked(actor)] += 1
            lines.add(mark)
        # Read after its lines, so that everything that is counted was looked at.
        library.refresh()
        found = safety.flagged()
        counts = len(library.memories), len(library.bullets)
        return Arrived(sum(actors.values()), actors, *counts, tuple(found), frozenset(lines))

    def require_own(self) -> None:
        """Raise `StoreProblem` for a store that is another user's or can only be read: it takes no
        word.
        """
        require_own(self._library.folder)

    def accept(self, arrived: Arrived) -> None:
        """Take over what a person saw.

        Raises `WorkbenchError` for an agent, `StoreProblem` as `require_own` does and when more
        came since.
        """
        require_person(self._actor, "trust a store")
        self.require_own()
        self._library.trust(arrived.lines)
        self._library.save_checkpoint()
