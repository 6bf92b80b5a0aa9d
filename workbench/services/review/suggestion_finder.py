"""Working out what waits without being stored, finder by finder, and handing it to Review."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from workbench.core.record import WorkbenchError
from workbench.core.review.kinds import KINDS, ProposalKind, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.services.review.finders.finder import Parts, finder_of, finding
from workbench.services.review.review import Review

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
