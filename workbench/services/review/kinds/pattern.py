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
        standing = self._standing(proposal)
        merged = Patterns(self._context, SecretFilter()).put_merged(tx, [one.id for one in standing])
        if standing[0].status == "validated" and merged.status == "candidate":
            # Its words were in use, and a person stands by that the others say no more.
            tx.put(approved(merged, MERGED))

    def _standing(self, proposal: Proposal) -> list[Pattern]:
        """Return the patterns that a proposal names. Raises `WorkbenchError` when one is not as it was."""
        named = proposal.operation.get("patterns")
        ids = [str(id) for id in named] if isinstance(named, list | tuple) else []
        found = [one for one in map(self._library.table(Pattern).find, ids) if one is not None]
        standing = [one for one in found if one.status != "deprecated"]
        if len(standing) < len(ids) or marks_of(standing) != proposal.texts:
            raise WorkbenchError(
                "These patterns changed since the question was asked.", "Reject it; nothing was changed."
            )
        return standing


class PatternChanges(PatternMerge):
    """Its operation says which `change` of its patterns an agent asks for, and the `patch` of an update."""

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Make the change. Raises `WorkbenchError` when one changed since, or it is not possible."""
        patterns, ids = Patterns(self._context, SecretFilter()), [one.id for one in self._standing(proposal)]
        patch, reason = proposal.operation.get("patch"), "; ".join(proposal.reasons) or proposal.actor
        match proposal.operation.get("change"):
            case "update":
                patterns.update(ids[0], patch if isinstance(patch, Mapping) else {})
            case "supersede":
                patterns.supersede(ids[0], ids[1], reason)
            case "merge":
                patterns.put_merged(tx, ids)
            case "prune":
                patterns.prune(ids)
            case _:
                for id in ids:
                    patterns.deprecate(id, reason)


def _pattern(proposal: Proposal) -> Mapping[str, object] | None:
    doc = proposal.operation.get("pattern")
    return doc if isinstance(doc, Mapping) else None
