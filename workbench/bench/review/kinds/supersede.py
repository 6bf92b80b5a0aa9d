"""What an agent wants to put in the place of a memory: stored only when a person says so."""

from collections.abc import Mapping
from dataclasses import replace

from workbench.bench.review.kinds.handler import Handler, noted
from workbench.core.change import Change, diff
from workbench.core.duplicates.groups import text_mark
from workbench.core.errors import WorkbenchError
from workbench.core.record import from_doc, iso, to_doc
from workbench.core.review.lifecycle import archive
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory, Status
from workbench.store.library import Tx

_LEFT_OUT = ("id", "created_at", "last_accessed_at", "status", "related")


def operation_of(memory: Memory) -> Mapping[str, object]:
    """Return a memory as the operation of a proposal: all that it will say, but for what is known on accepting."""
    return {name: value for name, value in to_doc(memory).items() if name not in _LEFT_OUT}


class Supersede(Handler):
    """Its operation is what the new memory will say, and the first of its evidence is the memory that goes.

    Votes are not carried over: they were about another text.
    """

    worded = 1

    def text(self, proposal: Proposal, memory: Memory) -> str:
        """Return what the new memory will say."""
        return str(proposal.operation.get("content") or memory.content)

    def becoming(self, proposal: Proposal, content: str | None = None) -> tuple[Memory, ...]:
        """Return the old memory as superseded, and the new one, which has no id of its own before it is stored.

        Raises `WorkbenchError` when the old one was changed since the agent saw it.
        """
        old = self._library.memories.get(self.about(proposal))
        if proposal.texts and proposal.texts[0] != text_mark(old.content):
            message = f"{old.id} was changed since the agent saw it."
            raise WorkbenchError(message, "Reject this; the agent can look again. Nothing was changed.")
        now = self._context.now()
        times = {"created_at": iso(now), "last_accessed_at": iso(now)}
        new = from_doc(Memory, {**proposal.operation, **times, "id": proposal.id})
        status: Status = "confirmed" if old.status in ("confirmed", "promoted") else "signal"
        made = replace(new, content=new.content if content is None else content, related=(old.id,), status=status)
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
