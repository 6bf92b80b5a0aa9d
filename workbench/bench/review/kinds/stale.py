"""A memory that names what is not in the working tree any more."""

from workbench.bench.review.kinds.handler import Handler
from workbench.bench.stream.fields import with_text
from workbench.core.duplicates.groups import text_mark
from workbench.core.errors import WorkbenchError
from workbench.core.review.lifecycle import forget
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory

CONTENT = "content"
"""What its operation calls the text with the new names."""


class Stale(Handler):
    """Its operation has the text with the new names; without one the memory is forgotten."""

    def text(self, proposal: Proposal, memory: Memory) -> str:
        """Return the text with the new names."""
        return str(proposal.operation.get(CONTENT) or memory.content)

    def becoming(self, proposal: Proposal, content: str | None = None) -> tuple[Memory, ...]:
        """Return the memory with the new names, or as a person says it, or forgotten.

        Raises `WorkbenchError` when its text was changed since the names were looked for.
        """
        memory = self._library.memories.get(self.about(proposal))
        if proposal.texts and proposal.texts[0] != text_mark(memory.content):
            message = f"The text of {memory.id} was changed since its names were looked for."
            raise WorkbenchError(message, "Check again; nothing was changed.")
        text = content if content is not None else proposal.operation.get(CONTENT)
        return (with_text(memory, text) if isinstance(text, str) else forget(memory),)
