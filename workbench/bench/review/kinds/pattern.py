"""Patterns: one that recurs in episodes is taken over, memories that are patterns are moved."""

from collections.abc import Mapping

from workbench.bench.agents.patterns.intake import PatternIntake
from workbench.bench.agents.patterns.patterns import Patterns
from workbench.bench.review.kinds.handler import Handler
from workbench.bench.safety.gate import Gate
from workbench.core.errors import WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.store.library import Tx


class MinedPattern(Handler):
    """Its operation has the pattern as JSON; it becomes a candidate with the episodes that speak for it."""

    def about(self, proposal: Proposal) -> str:
        """Return nothing: it is about episodes."""
        return "" if _pattern(proposal) is not None else super().about(proposal)

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Add the pattern, or what came with a proposal of another making."""
        doc = _pattern(proposal)
        if doc is None:
            super().apply(tx, proposal)
        else:
            Patterns(self._context, Gate(records=self._library.records)).put(tx, doc)


class Moved(Handler):
    """Its evidence are the memories, which say themselves what each becomes."""

    brings_text = True

    def about(self, proposal: Proposal) -> str:
        """Return nothing: it is about all of them."""
        del proposal
        return ""

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Move those that still can be. Raises `WorkbenchError` when none can."""
        intake = PatternIntake(self._context, Gate(records=self._library.records))
        wanted = frozenset(proposal.evidence)
        moves = [move for move in intake.movable() if move.memory.id in wanted]
        if not moves:
            raise WorkbenchError("None of these can become a pattern any more.", "Reject it; nothing was changed.")
        intake.put(tx, moves)


def _pattern(proposal: Proposal) -> Mapping[str, object] | None:
    doc = proposal.operation.get("pattern")
    return doc if isinstance(doc, Mapping) else None
