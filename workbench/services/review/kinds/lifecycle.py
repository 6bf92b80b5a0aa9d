"""What the lifecycle asks of a memory: its outcome is computed from the memory as it is when it is accepted."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import ClassVar, cast

from workbench.core.change import Change, diff
from workbench.core.named import implementation
from workbench.core.record import WorkbenchError, from_doc, iso, to_doc
from workbench.core.review import lifecycle
from workbench.core.review.kinds import ProposalKind, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.review.upkeep import Outcome, Refused
from workbench.core.stream.memory import Memory
from workbench.services.context import Context, apply_changes
from workbench.services.review.rejection import REJECTED_AT, REJECTED_BECAUSE
from workbench.store.library import Library, Tx

# What deciding on a proposal does; here for one whose changes came with it.


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
        message = f"This version does not know the proposal kind “{proposal.kind}”."
        raise WorkbenchError(message, "Nothing was changed.")


def handler_of(context: Context, kind: str) -> Handler:
    """Return what decides on the proposals of a kind; its module is imported then."""
    entry = kind_of(kind)
    handler: Handler = implementation(entry.handler)(context, entry)
    return handler


def noted(memory: Memory, notes: Mapping[str, str]) -> Memory:
    """Return a memory with further metadata."""
    return replace(memory, metadata={**memory.metadata, **notes})


# Candidates: memories that a reflection made, and that wait to be confirmed.


class Candidate(Handler):
    """Its proposal is the memory itself; no record of its own is kept."""

    def about(self, proposal: Proposal) -> str:
        return proposal.id

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        limits = self._context.settings.lifecycle
        return (lifecycle.approve(candidate_in(self._library, proposal.id), self._context.now(), limits),)

    def subject(self, proposal: Proposal) -> Memory:
        return candidate_in(self._library, proposal.id)

    def edited(self, proposal: Proposal, before: Memory, after: Memory) -> object:
        del proposal, before
        return after

    def accept(self, tx: Tx, proposal: Proposal, after: tuple[Memory, ...] | None) -> None:
        """Write the memory; nothing else notes that it was accepted."""
        del proposal
        for memory in after or ():
            tx.put(memory)

    def turn_down(self, proposal: Proposal, reason: str, at: datetime) -> tuple[object, ...]:
        rejected = lifecycle.reject(candidate_in(self._library, proposal.id))
        return (noted(rejected, {REJECTED_AT: iso(at), **({REJECTED_BECAUSE: reason} if reason else {})}),)

    def put_off(self, proposal: Proposal, until: datetime) -> object:
        """Return it as one that waits until then."""
        return lifecycle.later(candidate_in(self._library, proposal.id), until)


def candidate_in(library: Library, id: str) -> Memory:
    """Return a memory that is a candidate still. Raises `WorkbenchError`."""
    memory = library.memories.get(id)
    if memory.status != "candidate":
        raise WorkbenchError(f"{id} is no longer a candidate ({memory.status}).", "Nothing was changed.")
    return memory


# What waits here and is decided where it can be seen whole: a store and documents that came from elsewhere.


class Store(Handler):
    """Trusting a store shows what came, and who wrote it."""

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Refuse. Raises `WorkbenchError`, which says where it is decided."""
        del tx, proposal
        raise WorkbenchError(
            "The data is shown before it is trusted.", "`workbench trust` shows it and asks; nothing was changed."
        )


class DocumentsChanged(Handler):
    """Trusting documents shows each of them."""

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Refuse. Raises `WorkbenchError`, which says where it is decided."""
        del tx
        hint = f"`workbench documents {proposal.operation.get('path', 'DIR')} --trust` shows them and asks."
        raise WorkbenchError("The documents are shown first.", f"{hint} Nothing was changed.")


class Lifecycle(Handler):
    """It is about the first memory of its evidence; the rules of its kind say what an answer does."""

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...] | None:
        """Return the memory as the rule leaves it; `None` for one that brought changes."""
        if proposal.changes or not proposal.evidence:
            return None
        rule = cast(Outcome, implementation(self.kind.outcome))
        memory = self._library.memories.get(proposal.evidence[0])
        return (rule(memory, self._context.now(), self._context.settings.lifecycle),)

    def turn_down(self, proposal: Proposal, reason: str, at: datetime) -> tuple[object, ...]:
        """Return it, and what its kind says that follows."""
        memory = self._library.memories.find(self.about(proposal))
        decided = super().turn_down(proposal, reason, at)
        if memory is None or not self.kind.refused:
            return decided
        return (*decided, *cast(Refused, implementation(self.kind.refused))(proposal, memory, at))
