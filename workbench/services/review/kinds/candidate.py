"""Candidates: memories that a reflection made, and that wait to be confirmed."""

from datetime import datetime

from workbench.core.errors import WorkbenchError
from workbench.core.record import iso
from workbench.core.review import lifecycle
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.review.kinds.handler import Handler, noted
from workbench.services.review.rejection import REJECTED_AT, REJECTED_BECAUSE
from workbench.store.library import Library, Tx


class Candidate(Handler):
    """Its proposal is the memory itself; no record of its own is kept."""

    def about(self, proposal: Proposal) -> str:
        """Return the id of the candidate."""
        return proposal.id

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return it confirmed."""
        limits = self._context.settings.lifecycle
        return (lifecycle.approve(candidate_in(self._library, proposal.id), self._context.now(), limits),)

    def subject(self, proposal: Proposal) -> Memory:
        """Return the candidate."""
        return candidate_in(self._library, proposal.id)

    def edited(self, proposal: Proposal, before: Memory, after: Memory) -> object:
        """Return the candidate as it was edited."""
        del proposal, before
        return after

    def accept(self, tx: Tx, proposal: Proposal, after: tuple[Memory, ...] | None) -> None:
        """Write the memory; nothing else notes that it was accepted."""
        del proposal
        for memory in after or ():
            tx.put(memory)

    def turn_down(self, proposal: Proposal, reason: str, at: datetime) -> tuple[object, ...]:
        """Return its tombstone, with the reason."""
        rejected = lifecycle.reject(candidate_in(self._library, proposal.id))
        return (noted(rejected, {REJECTED_AT: iso(at), **({REJECTED_BECAUSE: reason} if reason else {})}),)

    def put_off(self, proposal: Proposal, until: datetime) -> object:
        """Return it as one that waits until then."""
        return lifecycle.later(candidate_in(self._library, proposal.id), until)


def candidate_in(library: Library, id: str) -> Memory:
    """Return a memory that is a candidate still. Raises `WorkbenchError`."""
    memory = library.memories.get(id)
    if memory.status != "candidate":
        raise WorkbenchError(f"{id} is no candidate any more ({memory.status}).", "Nothing was changed.")
    return memory
