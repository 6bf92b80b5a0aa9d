"""A finder: works out, from a store and what lies around it, what waits for a person without being stored."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from workbench.core.named import implementation
from workbench.core.review.kinds import KINDS, ProposalKind
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled

if TYPE_CHECKING:
    from workbench.services.agents.documents.documents import Documents
    from workbench.services.claims.checking import StillTrue
    from workbench.services.context import Context
    from workbench.services.duplicates.deduplication import Deduplication
    from workbench.services.files.imports.importing import Importer
    from workbench.services.health.upkeep import Upkeep
    from workbench.services.safety.trust import Trust
    from workbench.services.tuning.retriever import Retriever


class Parts(Protocol):
    """What a finder may ask of an open store's bench."""

    @property
    def context(self) -> "Context":
        """The store, the clock and the settings."""

    @property
    def upkeep(self) -> "Upkeep":
        """What the lifecycle suggests."""

    @property
    def deduplication(self) -> "Deduplication":
        """Groups of memories that say the same."""

    @property
    def retriever(self) -> "Retriever":
        """The ranking and its model."""

    @property
    def importer(self) -> "Importer":
        """The way in for files."""

    @property
    def documents(self) -> "Documents":
        """The documents of agents."""

    @property
    def still_true(self) -> "StillTrue":
        """What memories and bullets name, held against the working tree."""

    @property
    def trust(self) -> "Trust":
        """How far the store is trusted."""


@dataclass(frozen=True, slots=True)
class Finder:
    """Works out proposals of one kind or several; `find` reads only, on any thread, and raises `WorkbenchError`.

    A `searching` one looks at every memory: in a large store it waits until a person asks for it. One that
    `needs_model` waits until that is loaded, and one `by_hand` always until somebody asks. Each proposal has the same
    id as long as its question is the same. `stamp` tells cheaply whether anything that it looks at is other than the
    last time; while it is not, nobody looks.
    """

    find: Callable[[Parts, Cancelled], tuple[Proposal, ...]]
    searching: bool = True
    needs_model: bool = False
    by_hand: bool = False
    stamp: Callable[[Parts], str] | None = None


def finder_of(kind: ProposalKind) -> Finder:
    """Return what works out proposals of a kind that has a finder; its module is imported then."""
    found: Finder = implementation(kind.finder)
    return found


def finding() -> dict[str, tuple[ProposalKind, ...]]:
    """Return the kinds that are worked out, by the name of what does it, in their order."""
    found: dict[str, tuple[ProposalKind, ...]] = {}
    for kind in KINDS.values():
        if kind.finder:
            found[kind.finder] = (*found.get(kind.finder, ()), kind)
    return found


# Memories that say the same, as merges that nobody proposed yet.


def _find(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    deduplication, now = parts.deduplication, parts.context.now()
    plan = deduplication.standing(deduplication.plan(None, None, cancelled))
    return (*(group.proposal(now) for group in plan.groups), *deduplication.two_sided(plan))


COPIES = Finder(_find, needs_model=True)


# What the rules of the lifecycle suggest now: prunes, what has earned to be confirmed, what may be true no longer.


def _find_upkeep(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    """Contradictions are looked for once the model is there."""
    del cancelled
    return parts.upkeep.plan(search=parts.retriever.ready).proposals


UPKEEP = Finder(_find_upkeep)
