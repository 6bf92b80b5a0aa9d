"""What a Curator or a Reflector suggests for a playbook."""

from functools import cached_property
from typing import TYPE_CHECKING

from workbench.core.change import Change
from workbench.core.review.proposal import Proposal
from workbench.services.review.kinds.lifecycle import Handler
from workbench.store.library import Tx

if TYPE_CHECKING:
    from workbench.services.playbook.curation import Curator


class CuratorProposals(Handler):
    """Its operation says what becomes of bullets, as the playbook is when it is accepted."""

    @cached_property
    def _curating(self) -> "Curator":
        from workbench.services.playbook.curation import Curator
        from workbench.services.playbook.playbook import Playbooks

        return Curator(self._context, Playbooks(self._context))

    def changes(self, proposal: Proposal) -> tuple[Change, ...]:
        return self._curating.changes(proposal)

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        self._curating.accept(tx, proposal)
