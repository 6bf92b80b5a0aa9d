"""What waits here and is decided where it can be seen whole: a store and documents that came from elsewhere."""

from workbench.core.errors import WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.services.review.kinds.handler import Handler
from workbench.store.library import Tx


class Store(Handler):
    """Trusting a store shows what came, and who wrote it."""

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Refuse. Raises `WorkbenchError`, which says where it is decided."""
        del tx, proposal
        raise WorkbenchError("What came is shown first.", "`workbench trust` shows it and asks; nothing was changed.")


class DocumentsChanged(Handler):
    """Trusting documents shows each of them."""

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Refuse. Raises `WorkbenchError`, which says where it is decided."""
        del tx
        hint = f"`workbench documents {proposal.operation.get('path', 'DIR')} --trust` shows them and asks."
        raise WorkbenchError("The documents are shown first.", f"{hint} Nothing was changed.")
