"""What a proposal asks, in words: its question, what yes and no mean, and what speaks for and
against it.
"""

from typing import NamedTuple

from workbench.core.playbook.operations import said_then
from workbench.core.review.kinds import kind_of
from workbench.core.review.proposal import Proposal


class Wording(NamedTuple):
    """A proposal in words. `title` may hold stored text; the rest is ours, ids aside.

    `yes` and `no` say what approving and rejecting do; `pro` and `contra` are reasons.
    """

    label: str
    title: str
    question: str
    yes: str
    no: str
    pro: tuple[str, ...] = ()
    contra: tuple[str, ...] = ()


def describe(proposal: Proposal) -> Wording:
    kind, count = kind_of(proposal.kind), len(proposal.evidence)
    label, question = kind.label, kind.question
    if count > 2 and any(kind.many):
        label, question = (text.format(count=count) for text in kind.many)
    for flag, other, asked in kind.flagged:
        if flag in proposal.flags:
            label, question = other, asked
    said = tuple(f"{id} says: {text}" for id, text in said_then(proposal.operation).items())
    return Wording(
        label,
        proposal.title,
        question,
        kind.yes,
        kind.no,
        (*proposal.reasons, *said),
        proposal.flags,
    )
