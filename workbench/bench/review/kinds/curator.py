"""What a Curator or a Reflector suggests for a playbook."""

from functools import cached_property
from typing import TYPE_CHECKING

from workbench.bench.review.kinds.handler import Handler
from workbench.core.change import Change
from workbench.core.review.proposal import Proposal
from workbench.store.library import Tx

if TYPE_CHECKING:
    from workbench.bench.playbook.curation import Curating


class Curator(Handler):
    """Its operation says what becomes of bullets, as the playbook is when it is accepted."""

    @cached_property
    def _curating(self) -> "Curating":
        from workbench.bench.playbook.curation import Curating
        from workbench.bench.playbook.playbook import Playbooks

        return Curating(self._context, Playbooks(self._context))

    def changes(self, proposal: Proposal) -> tuple[Change, ...]:
        """Return what it would do to bullets."""
        return self._curating.changes(proposal)

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Do it."""
        self._curating.accept(tx, proposal)
