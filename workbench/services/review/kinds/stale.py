"""A memory that names what is not in the working tree any more."""

from dataclasses import replace

from workbench.core.duplicates.groups import text_mark
from workbench.core.record import WorkbenchError
from workbench.core.review.lifecycle import forget
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.review.kinds.lifecycle import CONTENT, Handler
from workbench.services.stream.fields import with_text


class Stale(Handler):
    """Its operation has the text with the new names; without one the memory is forgotten."""

    def text(self, proposal: Proposal, memory: Memory) -> str:
        """Return the text with the new names."""
        return str(proposal.operation.get(CONTENT) or memory.content)

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the memory with the new names, or as a person edited it, or forgotten.

        Raises `WorkbenchError` when its text was changed since the names were looked for.
        """
        return (self.subject(proposal) if proposal.operation.get(CONTENT) else forget(self.subject(proposal)),)

    def subject(self, proposal: Proposal) -> Memory:
        """Return the memory with the new names; raises as `becoming` does."""
        memory = self._library.memories.get(self.about(proposal))
        if proposal.texts and proposal.texts[0] != text_mark(memory.content):
            message = f"The text of {memory.id} was changed since its names were looked for."
            raise WorkbenchError(message, "Check again; nothing was changed.")
        return self.with_edits(proposal, with_text(memory, self.text(proposal, memory)))

    def edited(self, proposal: Proposal, before: Memory, after: Memory) -> object:
        """Return the proposal as it was edited; the memory is not to be forgotten any more."""
        flags = tuple(flag for flag in proposal.flags if flag != "gone")
        return super().edited(replace(proposal, flags=flags), before, after)
