"""What deciding on a proposal does; here for one whose changes came with it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from workbench.core.change import Change, diff
from workbench.core.errors import WorkbenchError
from workbench.core.named import implementation
from workbench.core.record import from_doc, to_doc
from workbench.core.review.kinds import ProposalKind, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.context import Context, apply_changes
from workbench.store.library import Tx

CONTENT = "content"
"""What the operation of a proposal calls the text that accepting writes."""


class Handler:
    """Shows, accepts, turns down and puts off the open proposals of one kind in an open store.

    What `brings_text` of a file is accepted as an import: no person stands by its words.
    """

    brings_text: ClassVar[bool] = False

    def __init__(self, context: Context, kind: ProposalKind) -> None:
        self.kind = kind
        self._context = context
        self._library = context.library

    def about(self, proposal: Proposal) -> str:
        """Return the id of the memory that it is about, or "" for none."""
        return next(iter(proposal.evidence), "")

    def text(self, proposal: Proposal, memory: Memory) -> str:
        """Return the text a decision is about: of the memory that it is about, unless something else is to be said."""
        del proposal
        return memory.content

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...] | None:
        """Return the memories that accepting writes, from the records as they are now.

        `None` where other changes are written. Raises `WorkbenchError` when accepting is impossible.
        """
        del proposal
        return None

    def subject(self, proposal: Proposal) -> Memory:
        """Return the memory that a person may edit before accepting. Raises `WorkbenchError` for none."""
        del proposal
        raise WorkbenchError("This proposal has no text to edit.", "Approve or reject it; nothing was changed.")

    def edited(self, proposal: Proposal, before: Memory, after: Memory) -> object:
        """Return the record to store when its subject was edited: the proposal, whose operation says what differs."""
        fields = diff("memories", after.id, to_doc(before), to_doc(after)).fields
        changed = {name: change.after for name, change in fields.items()}
        return replace(proposal, operation={**proposal.operation, CONTENT: after.content, **changed})

    def with_edits(self, proposal: Proposal, memory: Memory) -> Memory:
        """Return a memory with what a person edited."""
        edits = {**proposal.operation, "id": memory.id}
        return from_doc(Memory, {**to_doc(memory), **edits}) if proposal.operation else memory

    def changes(self, proposal: Proposal) -> tuple[Change, ...]:
        """Return what accepting would change, field by field. Raises `WorkbenchError` when it is impossible."""
        after = self.becoming(proposal)
        if after is None:
            return proposal.changes
        before = {memory.id: self._library.memories.get(memory.id) for memory in after}
        return tuple(diff("memories", m.id, to_doc(before[m.id]), to_doc(m)) for m in after)

    def accept(self, tx: Tx, proposal: Proposal, after: tuple[Memory, ...] | None) -> None:
        """Write what `becoming` returned, or else what came with the proposal, and that it was accepted."""
        if after is None:
            self.apply(tx, proposal)
        for memory in after or ():
            tx.put(memory)
        tx.put(replace(proposal, state="accepted", decided_at=self._context.now()))

    def keeping_old(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the memories that are written when the older one of two is kept instead of the newer.

        Raises `WorkbenchError` where there are no two.
        """
        del proposal
        raise WorkbenchError("This is not about an older and a newer memory.", "Nothing was decided.")

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Write the changes of a proposal that makes no memories."""
        apply_changes(tx, self._library, proposal.changes)

    def turn_down(self, proposal: Proposal, reason: str, at: datetime) -> tuple[object, ...]:
        """Return the records to store when it is rejected `at` a moment: itself, and what follows from the answer."""
        del reason
        return (self.rejected(proposal, at),)

    def rejected(self, proposal: Proposal, at: datetime) -> Proposal:
        """Return it as it is once it is rejected."""
        return replace(proposal, state="rejected", decided_at=at)

    def put_off(self, proposal: Proposal, until: datetime) -> object:
        """Return the record to store when it is put off."""
        return replace(proposal, review_after=until)


class Unknown(Handler):
    """A kind that only a later version knows: it is shown, and turned down."""

    def accept(self, tx: Tx, proposal: Proposal, after: tuple[Memory, ...] | None) -> None:
        """Refuse. Raises `WorkbenchError`."""
        del tx, after
        message = f"This version does not know what a proposal of the kind “{proposal.kind}” does."
        raise WorkbenchError(message, "Nothing was changed.")


def handler_of(context: Context, kind: str) -> Handler:
    """Return what decides on the proposals of a kind; its module is imported then."""
    entry = kind_of(kind)
    handler: Handler = implementation(entry.handler)(context, entry)
    return handler


def noted(memory: Memory, notes: Mapping[str, str]) -> Memory:
    """Return a memory with further metadata."""
    return replace(memory, metadata={**memory.metadata, **notes})
