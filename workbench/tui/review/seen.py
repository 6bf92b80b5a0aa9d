"""Which items of Review stood on the screen, and which of those that are unsafe to look at were unfolded."""

from collections.abc import Iterable

from workbench.core.review.kinds import kind_of
from workbench.core.review.proposal import Proposal
from workbench.services.open import Workbench
from workbench.services.safety.flagging import FLAGS
from workbench.services.safety.suspicion import suspicions

_UNSAFE = frozenset(FLAGS.values())


class Seen:
    """Remembers of every item the text that stood on the screen; when that changes, the item counts as unseen."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._read: dict[str, str] = {}
        self._unfolded: dict[str, str] = {}

    def holds(self, proposal: Proposal) -> bool:
        """Tell whether an item, as its text is now, stood on the screen, and unfolded."""
        return self._read.get(proposal.id) == self.text_of(proposal) and not self.is_folded(proposal)

    def note(self, proposal: Proposal) -> None:
        """Note that an item stands on the screen; a folded one stays folded."""
        self._read[proposal.id] = self.text_of(proposal)

    def unfold(self, proposals: Iterable[Proposal]) -> None:
        """Note that these were seen in full, whatever is in them."""
        for proposal in proposals:
            self._read[proposal.id] = self._unfolded[proposal.id] = self.text_of(proposal)

    def was_unfolded(self, proposal: Proposal) -> bool:
        """Tell whether somebody wanted to see all of an item, secrets too."""
        return proposal.id in self._unfolded

    def is_folded(self, proposal: Proposal) -> bool:
        """Tell whether the item's text is folded away as unsafe to look at."""
        if kind_of(proposal.kind).is_candidate and not _UNSAFE.intersection(proposal.flags):
            return False  # candidates carry what was found in them as flags
        memory = self._bench.review.memory(proposal)
        if memory is None or self._unfolded.get(proposal.id) == memory.content:
            return False
        return bool(suspicions(memory, self._bench.safety.sorts))

    def text_of(self, proposal: Proposal) -> str:
        """Return the words that an item is about."""
        memory = self._bench.review.memory(proposal)
        return proposal.title if memory is None else memory.content
