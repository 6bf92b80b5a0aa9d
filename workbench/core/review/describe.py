"""What a proposal asks, in words: its question, what yes and no mean, and what speaks for and against it."""

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.core.review.proposal import Proposal, ProposalKind


@dataclass(frozen=True, slots=True)
class Wording:
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


@dataclass(frozen=True, slots=True)
class _Words:
    label: str
    question: str
    yes: str
    no: str


_KINDS: Mapping[ProposalKind, _Words] = {
    "reflection": _Words(
        "candidate", "Is this worth knowing?", "it is confirmed and served to agents", "it leaves a tombstone"
    ),
    "merge": _Words(
        "merge", "Do these say the same?",
        "they become one; the newest text wins, votes add up, the ids of the others live on",
        "all stay; asked again only when a text changes",
    ),
    "prune": _Words(
        "prune", "Is this only noise?", "it is archived as pruned", "it stays; asked again after another period"
    ),
    "confirm": _Words(
        "confirm", "Has this earned to be confirmed?", "it is confirmed", "it stays; asked again when it was seen more"
    ),
    "reconfirm": _Words(
        "still true?", "Is this still true?", "it counts as confirmed anew",
        "it loses a point of confidence, and a proposal to forget it follows",
    ),
    "skill": _Words(
        "skill", "Should this become a skill?", "it is tagged “skill”", "it stays as it is"
    ),
    "forget": _Words("forget", "Should this be forgotten?", "it is archived as forgotten", "it stays"),
    "pattern": _Words("pattern", "Does this pattern hold?", "it is taken over", "it is dropped"),
    "curator": _Words("curator", "Should the playbook change like this?", "it is changed", "it stays as it is"),
}  # fmt: skip


def describe(proposal: Proposal) -> Wording:
    """Return a proposal in words.

    A contradiction is named in the label; a merge of more than two says how many.
    """
    words = _KINDS[proposal.kind]
    label, question = words.label, words.question
    if proposal.kind == "reconfirm" and "contradicted" in proposal.flags:
        label = "contradicted"
        question = "A newer memory says otherwise. Is this still true?"
    if proposal.kind == "merge" and len(proposal.evidence) > 2:
        label = f"merge of {len(proposal.evidence)}"
        question = f"Do these {len(proposal.evidence)} say the same?"
    return Wording(label, proposal.title, question, words.yes, words.no, proposal.reasons, proposal.flags)
