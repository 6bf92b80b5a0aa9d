"""A finder: works out, from a store and what lies around it, what waits for a person without being stored."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from workbench.core.named import implementation
from workbench.core.record import WorkbenchError
from workbench.core.review.kinds import KINDS, ProposalKind, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.services.review.review import Review

if TYPE_CHECKING:
    from workbench.services.agents.documents.documents import Documents
    from workbench.services.claims import StillTrue
    from workbench.services.context import Context
    from workbench.services.duplicates.deduplication import Deduplication
    from workbench.services.files.importing import Importer
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
    found: Finder = implementation(f"workbench.services.review.{kind.finder}")
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


# Working out what waits without being stored, finder by finder, and handing it to Review.


SMALL = 2_000
"""Memories up to which all of them are looked at unasked."""


@dataclass(frozen=True, slots=True)
class WorkedOut:
    """What came of a look: the kinds that were not looked for (`unasked`: the store is large; `unready`: the model is
    not loaded yet), and why a finder failed, by the kinds it was to find.
    """

    unasked: tuple[str, ...] = ()
    unready: tuple[str, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


class SuggestionFinder:
    """Lets finders look, away from the keyboard; writes nothing."""

    def __init__(self, parts: Parts, review: Review) -> None:
        self._parts = parts
        self._review = review
        self._stamps: dict[str, str] = {}

    def run(
        self,
        cancelled: Cancelled,
        *,
        only: Collection[str] = (),
        asked: bool = False,
        load: bool = False,
        quick: bool = False,
    ) -> WorkedOut:
        """Work out the kinds `only` (all of them when empty), and let Review list what is found.

        Somebody `asked` for what looks at every memory of a large store; `load` loads the model where it is needed;
        a `quick` look passes over what looks at every memory in any store.
        """
        unasked, unready, problems = list[str](), list[str](), list[tuple[str, str]]()
        large = len(self._parts.context.library.memories) > SMALL
        for name, kinds in finding().items():
            if cancelled() or (only and not any(kind.id in only for kind in kinds)):
                continue
            finder, ids = finder_of(kinds[0]), [kind.id for kind in kinds]
            if (finder.searching and quick) or (finder.by_hand and not asked):
                continue
            if finder.searching and large and not asked:
                unasked += ids
            elif finder.needs_model and not load and not self._parts.retriever.ready:
                unready += ids
            else:
                problems += self._look(name, kinds, cancelled, again=asked)
        return WorkedOut(tuple(unasked), tuple(unready), tuple(problems))

    def take(self, kind: str, found: Iterable[Proposal]) -> None:
        """Let Review list what somebody else worked out of a kind, and of those that are found together with it."""
        self._review.take_found({kind_of(kind).finder: found})

    def kind_of(self, id: str) -> str:
        """Return the kind of a proposal of this name that could be worked out; empty for none."""
        names = (kind.id for kind in KINDS.values() if kind.finder and id.startswith(f"{kind.id}-"))
        return max(names, key=len, default="")

    def _look(
        self, name: str, kinds: tuple[ProposalKind, ...], cancelled: Cancelled, *, again: bool
    ) -> list[tuple[str, str]]:
        """Let a finder look unless all is as it was the last time, or somebody wants it `again`."""
        finder, found, problems = finder_of(kinds[0]), tuple[Proposal, ...](), list[tuple[str, str]]()
        stamp = finder.stamp(self._parts) if finder.stamp is not None else ""
        if stamp and stamp == self._stamps.get(name) and not again:
            return problems
        try:
            found = finder.find(self._parts, cancelled)
        except WorkbenchError as error:
            problems.append((kinds[0].id, str(error)))
        if not cancelled():
            self._stamps[name] = stamp
            self._review.take_found({name: found})
        return problems
