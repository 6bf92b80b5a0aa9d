"""Patterns: one that recurs in episodes is taken over, several that say the same become one."""

from collections.abc import Mapping

from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.agents.patterns.reasons import MERGED
from workbench.core.agents.patterns.statistics import approved
from workbench.core.record import WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.services.agents.patterns.patterns import Patterns
from workbench.services.review.finders.instructions import marks_of
from workbench.services.review.kinds.lifecycle import Handler
from workbench.services.safety.secret_filter import SecretFilter
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
            Patterns(self._context, SecretFilter()).put(tx, doc)


class PatternMerge(Handler):
    """Its operation names the patterns, the one whose words stay first; its `texts` are marks of what they said.

    What becomes of them is in use where that one is.
    """

    def about(self, proposal: Proposal) -> str:
        """Return nothing: it is about patterns."""
        del proposal
        return ""

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Make one pattern of them. Raises `WorkbenchError` when one changed since, or went out of use."""
        patterns = Patterns(self._context, SecretFilter())
        named = proposal.operation.get("patterns")
        ids = [str(id) for id in named] if isinstance(named, list | tuple) else []
        found = [one for one in map(self._library.table(Pattern).find, ids) if one is not None]
        standing = [one for one in found if one.status != "deprecated"]
        if len(standing) < len(ids) or marks_of(standing) != proposal.texts:
            raise WorkbenchError(
                "These patterns changed since the question was asked.", "Reject it; nothing was changed."
            )
        merged = patterns.put_merged(tx, ids)
        if standing[0].status == "validated" and merged.status == "candidate":
            # Its words were in use, and a person stands by that the others say no more.
            tx.put(approved(merged, MERGED))


def _pattern(proposal: Proposal) -> Mapping[str, object] | None:
    doc = proposal.operation.get("pattern")
    return doc if isinstance(doc, Mapping) else None
