"""What a decision about a stored proposal leaves behind, besides the changes it came with."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from workbench.core.duplicates.groups import text_mark
from workbench.core.duplicates.kept_pair import KeptPair, pairs_kept_by
from workbench.core.review.proposal import Proposal
from workbench.core.review.upkeep import refused
from workbench.core.stream.memory import Memory

Find = Callable[[str], Memory | None]


def turned_down(proposal: Proposal, find: Find, now: datetime, actor: str) -> tuple[Memory | Proposal | KeptPair, ...]:
    """Return what to store when `actor` rejects a proposal at `now`: itself, and what follows from the answer.

    The memories of a rejected merge are kept apart as their texts are now: it is asked again only when one changes.
    """
    texts = proposal.texts
    if proposal.kind == "merge":
        texts = tuple("" if (memory := find(id)) is None else text_mark(memory.content) for id in proposal.evidence)
    decided = replace(proposal, state="rejected", decided_at=now, texts=texts)
    memory = find(proposal.evidence[0]) if proposal.evidence else None
    return (decided, *pairs_kept_by(decided, actor), *(() if memory is None else refused(proposal, memory, now)))
