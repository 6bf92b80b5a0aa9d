"""Saving what stands in the form of a proposal; it waits on."""

from collections.abc import Callable

from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.context import Context
from workbench.services.forms.memory_lines import edit_of, fields_of, values_of
from workbench.services.forms.values import Field, Values, require_unchanged
from workbench.services.review.review import Review
from workbench.services.stream.fields import FieldEdit


class ProposalForms:
    """Proposals as forms of the memory that accepting them writes; see `MemoryForms` for `values` and `expected`.

    Everything raises `WorkbenchError` for a proposal that has no text to edit, or that waits no more.
    """

    def __init__(self, context: Context, review: Callable[[], Review]) -> None:
        self._context = context
        self._library = context.library
        self._review = review

    def subject(self, proposal: Proposal) -> Memory:
        """Return the memory that the form is of."""
        return self._review().subject(proposal)

    def fields(self, proposal: Proposal) -> tuple[Field, ...]:
        """Return the fields of the memory but its text."""
        return fields_of((self.subject(proposal),))

    def values(self, proposal: Proposal) -> dict[str, str]:
        """Return what the form holds now."""
        return values_of(self.subject(proposal))

    def edit(self, proposal: Proposal, values: Values) -> FieldEdit:
        """Return values as an edit of the memory."""
        return edit_of(values, (self.subject(proposal),), self._library.memories)

    def save(self, proposal: Proposal, values: Values, expected: Values) -> None:
        """Give a proposal other values."""
        with self._library.transaction(self._context.actor, f"edit {proposal.id}"):
            require_unchanged(proposal.id, self.values(proposal), expected)
            self._review().edit(proposal.id, self.edit(proposal, values))
