"""Merges: memories that say the same become one, or are kept apart."""

from dataclasses import replace
from datetime import datetime

from workbench.core.duplicates.groups import text_mark
from workbench.core.duplicates.kept_pair import pairs_kept_by
from workbench.core.duplicates.merge import merge_memories
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.review.kinds.lifecycle import Handler


class Merge(Handler):
    """Its evidence are the memories to merge, the one that stays last."""

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the one that is left, and those that are archived as merged."""
        group = [self._library.memories.get(id) for id in proposal.evidence]
        merged, archived = merge_memories(group, self._context.now(), keep=proposal.evidence[-1])
        return (self.with_edits(proposal, merged), *archived)

    def subject(self, proposal: Proposal) -> Memory:
        return self.becoming(proposal)[0]

    def turn_down(self, proposal: Proposal, reason: str, at: datetime) -> tuple[object, ...]:
        """Return it, and that its memories are kept apart, as their texts are now: asked again when one changes."""
        del reason
        found = (self._library.memories.find(id) for id in proposal.evidence)
        texts = tuple("" if memory is None else text_mark(memory.content) for memory in found)
        decided = self.rejected(replace(proposal, texts=texts), at)
        return (decided, *pairs_kept_by(decided, self._context.actor))
