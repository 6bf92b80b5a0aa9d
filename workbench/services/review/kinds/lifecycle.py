"""What the lifecycle asks of a memory: its outcome is computed from the memory as it is when it is accepted."""

from datetime import datetime
from typing import cast

from workbench.core.named import implementation
from workbench.core.review.proposal import Proposal
from workbench.core.review.upkeep import Outcome, Refused
from workbench.core.stream.memory import Memory
from workbench.services.review.kinds.handler import Handler


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
