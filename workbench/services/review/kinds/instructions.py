"""Records made of an instruction file: they are archived, for the file says it all."""

from workbench.core.record import WorkbenchError
from workbench.core.review.lifecycle import archive
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.review.finders.instructions import may_go
from workbench.services.review.kinds.lifecycle import Handler, noted


class Instructions(Handler):
    """Its evidence are the records that go, its operation names the file."""

    def about(self, proposal: Proposal) -> str:
        """Return nothing: it is about all of them."""
        del proposal
        return ""

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return them archived as superseded, but for those that somebody stands by since."""
        known = (self._library.memories.find(id) for id in proposal.evidence)
        going = [one for one in known if one is not None and one.status != "archived" and may_go(one)]
        if not going:
            raise WorkbenchError("None of these records would be archived now.", "Reject it; nothing was changed.")
        file = str(proposal.operation.get("file", ""))
        return tuple(noted(archive(memory, "superseded"), {"superseded_by": file}) for memory in going)
