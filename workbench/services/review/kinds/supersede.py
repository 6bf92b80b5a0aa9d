"""What takes the place of a memory when a person says so: what an agent wants to store, or a newer memory."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from workbench.core.change import Change, diff
from workbench.core.duplicates.groups import text_mark
from workbench.core.duplicates.kept_pair import kept_pair
from workbench.core.record import WorkbenchError, from_doc, iso, to_doc
from workbench.core.review.lifecycle import approve, archive
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.review.kinds.lifecycle import Handler, noted
from workbench.store.library import Tx

_LEFT_OUT = ("id", "created_at", "last_accessed_at", "status", "related")


def operation_of(memory: Memory) -> Mapping[str, object]:
    """Return a memory as the operation of a proposal: all that it will say, but for what is known on accepting."""
    return {name: value for name, value in to_doc(memory).items() if name not in _LEFT_OUT}


class Supersede(Handler):
    """Its operation is what the new memory will say, and the first of its evidence is the memory that goes.

    Votes are not carried over: they were about another text.
    """

    def text(self, proposal: Proposal, memory: Memory) -> str:
        return str(proposal.operation.get("content") or memory.content)

    def subject(self, proposal: Proposal) -> Memory:
        return self.becoming(proposal)[1]

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the old memory as superseded, and the new one, which has no id of its own before it is stored.

        Raises `WorkbenchError` when the old one was changed since the agent saw it.
        """
        old = self._library.memories.get(self.about(proposal))
        if proposal.texts and proposal.texts[0] != text_mark(old.content):
            message = f"{old.id} was changed since the agent saw it."
            raise WorkbenchError(message, "Reject this; the agent can look again. Nothing was changed.")
        now = self._context.now()
        times = {"created_at": iso(now), "last_accessed_at": iso(now)}
        known = {"related": [old.id], "status": "confirmed" if old.status in ("confirmed", "promoted") else "signal"}
        made = from_doc(Memory, {**known, **proposal.operation, **times, "id": proposal.id})
        return archive(old, "superseded"), made

    def changes(self, proposal: Proposal) -> tuple[Change, ...]:
        """Return what accepting would change, field by field."""
        gone, made = self.becoming(proposal)
        before = self._library.memories.get(gone.id)
        return diff("memories", gone.id, to_doc(before), to_doc(gone)), diff("memories", made.id, None, to_doc(made))

    def accept(self, tx: Tx, proposal: Proposal, after: tuple[Memory, ...] | None) -> None:
        """Store the new memory under an id of its own, and let the old one name it."""
        gone, made = after or self.becoming(proposal)
        stored = replace(made, id=tx.new_memory_id(made.created_at))
        super().accept(tx, proposal, (noted(gone, {"superseded_by": stored.id}), stored))


class Replaces(Handler):
    """Its evidence are two memories that contradict each other, the older one first."""

    def subject(self, proposal: Proposal) -> Memory:
        return self.becoming(proposal)[1]

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the older memory as superseded, and the newer one, which a person stands for if they did for that."""
        old, new = self._pair(proposal)
        if old.status in ("confirmed", "promoted") and new.status in ("signal", "candidate"):
            new = approve(new, self._context.now(), self._context.settings.lifecycle)
        related = tuple(dict.fromkeys((*new.related, old.id)))
        gone = noted(archive(old, "superseded"), {"superseded_by": new.id})
        return gone, self.with_edits(proposal, replace(new, related=related))

    def keeping_old(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the newer memory as rejected, or as forgotten where a person stood for it."""
        _, new = self._pair(proposal)
        return (archive(new, "rejected" if new.status in ("signal", "candidate") else "forgotten"),)

    def turn_down(self, proposal: Proposal, reason: str, at: datetime) -> tuple[object, ...]:
        """Return it, and that both memories are kept as their texts are now."""
        decided = super().turn_down(proposal, reason, at)
        old, new = self._pair(proposal)
        return (*decided, kept_pair(old, new, proposal.similarity or 0.0, self._context.actor, at))

    def _pair(self, proposal: Proposal) -> tuple[Memory, Memory]:
        old, new = (self._library.memories.get(id) for id in proposal.evidence[:2])
        return old, new
