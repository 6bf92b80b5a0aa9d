"""The kinds of proposals: what each asks, in words.

What deciding does is in `services.review.kinds`, what works proposals out in
`services.review.finders`, how one is drawn in `tui.review.drawing`; each has a table by the names
of the kinds.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from workbench.core.review.proposal import Proposal


class Group(NamedTuple):
    """Kinds of proposals whose decisions have consequences of one sort; `about` says in a sentence
    which.
    """

    id: str
    title: str
    about: str


NOISE = Group(
    "noise", "Suggested for archiving", "Approving archives what was not used; nothing is erased."
)

IMPORTANT = Group(
    "important", "Archiving: importance 8 or more", "These can only be archived one at a time."
)
"""Those of the group before whose memory has an importance of `IMPORTANT_FROM` or more."""

IMPORTANT_FROM = 8.0

LATER = Group("later", "Left for later", "You postponed these; each shows when it is due again.")
"""What was put off, of whatever kind."""

GROUPS = (
    Group("trust", "Not yet trusted", "Agents are served none of this until you have reviewed it."),
    Group(
        "known",
        "Proposed changes",
        "Approving replaces, archives or rewords what agents are served now.",
    ),
    Group("true", "Still true?", "Agents are served these; rejecting one lowers its confidence."),
    Group("new", "Candidates", "Approving confirms these, and agents are served them."),
    Group(
        "files",
        "Changed on disk",
        "These files changed since they were imported; approving imports the changes.",
    ),
    Group("same", "Duplicates", "Approving merges them into one; votes, tags and ids are kept."),
    Group(
        "places", "Misplaced", "Approving moves these to where they belong, or archives the copy."
    ),
    NOISE,
    IMPORTANT,
    LATER,
)
"""In the order in which they are listed."""


OTHER = "known"
"""The group of a kind that names none."""


class ProposalKind(NamedTuple):
    """One kind of proposals.

    `yes` and `no` say what approving and rejecting do; a `sign` stands for the label where there is
    little room. A proposal with a flag of `flagged` has another label and question; one about more
    than two memories those of `many`, if there are any, with a place for the `{count}`.

    `is_candidate` says that it is a memory that waits, and no record of its own,
    `settled_by_promotion` that promoting its memory answers it, `of_archived` that its memory is an
    archived one. `group` is one of `GROUPS`.
    """

    id: str
    label: str
    question: str
    yes: str
    no: str
    sign: str = ""
    flagged: tuple[tuple[str, str, str], ...] = ()
    many: tuple[str, str] = ("", "")
    is_candidate: bool = False
    settled_by_promotion: bool = False
    of_archived: bool = False
    group: str = OTHER


_UNKNOWN = ProposalKind(
    "", "", "This version does not know this kind of proposal.",
    "nothing, with this version", "it is discarded",
)  # fmt: skip

_KINDS = (
    ProposalKind(
        "reflection", "candidate", "Is this worth keeping?",
        "it is confirmed and served to agents", "it is archived as rejected",
        is_candidate=True, group="new",
    ),
    ProposalKind(
        "merge", "merge", "Are these duplicates?",
        "they are merged: the newest text wins, votes are added up, the other ids stay valid",
        "all are kept; asked again only when a text changes", "∪",
        many=("merge of {count}", "Are these {count} duplicates?"),
        group="same",
    ),
    ProposalKind(
        "prune", "prune", "Should this be archived?",
        "it is archived as pruned", "it stays; asked again after the next review period",
        group="noise",
    ),
    ProposalKind(
        "confirm", "confirm", "Should this be confirmed?",
        "it is confirmed", "it stays; asked again when it has been seen more often",
        settled_by_promotion=True, group="new",
    ),
    ProposalKind(
        "reconfirm", "still true?", "Is this still true?", "it is confirmed again",
        "its confidence drops by one, and archiving it is proposed",
        flagged=(
            ("contradicted", "contradicted", "A newer memory contradicts this. Is it still true?"),
            ("doubtful", "doubtful", "This was marked harmful. Is it still true?"),
        ),
        settled_by_promotion=True, group="true",
    ),
    ProposalKind(
        "pattern", "pattern", "Is this pattern correct?", "it is added to the patterns", "it is discarded", group="new",
    ),
    ProposalKind(
        "curator", "curator", "Apply this change to the playbook?", "it is applied", "the playbook stays as it is",
    ),
    ProposalKind(
        "forget", "forget", "Should this be archived?", "it is archived as forgotten", "it stays",
    ),
    ProposalKind(
        "return", "came back", "This was archived and was seen again. Should it be restored?", "it is restored",
        "it stays archived; asked again after two more sessions report it",
        of_archived=True, group="new",
    ),
    ProposalKind(
        "supersede", "replace", "Should this replace what is stored?",
        "it is stored; what it replaces is archived as superseded", "nothing changes; this proposal is discarded",
        "↻",

    ),
    ProposalKind(
        "replaces", "replaces", "A newer memory contradicts this one. Does it replace it?",
        "the newer one stays; this one is archived as superseded",
        "both stay; asked again only when a text changes; “keep old” archives the newer one instead",
    ),
    ProposalKind(
        "stale", "out of date", "It names something that is no longer in the working tree. Is it out of date?",
        "its names are updated; without a new name it is archived as forgotten",
        "it stays; asked again when its text changes or something else it names disappears", "≁",
        flagged=(
            ("renamed", "renamed", "Something it names was renamed. Use the new name?"),
            ("gone", "gone", "Something it names no longer exists. Should it be archived?"),
        ),
        group="true",
    ),
    ProposalKind(
        "skill", "skill", "Should this become a skill?", "it is tagged “skill”", "it stays as it is",
        settled_by_promotion=True, group="new",
    ),
    ProposalKind(
        "file", "changed on disk", "Import the changes in this file?",
        "the changes are imported; one undo reverts them",
        "the store stays as it is; asked again when the file changes again",
        group="files",
    ),
    ProposalKind(
        "trust", "from elsewhere", "Trust the data that came into this store from elsewhere?",
        "you see what came in and who wrote it, then decide", "it stays readable here but is not served to agents",
        group="trust",
    ),
    ProposalKind(
        "documents", "documents", "Trust these documents as they are now?",
        "they are shown; t trusts them, after a confirmation",
        "they are not served to agents; asked again when they change",
        group="trust",
    ),
    ProposalKind(
        "instructions", "from a document", "Archive these records of an instruction file?",
        "they are archived, the file is not changed; one undo restores them",
        "they stay; asked again only when the file is imported again",
        group="places",
    ),
    ProposalKind(
        "pattern-merge", "similar patterns", "Are these patterns duplicates?",
        "they are merged into the one with the highest confidence; applications are added up",
        "all are kept; asked again only when a text changes",
        group="same",
    ),
    ProposalKind(
        "pattern-change", "pattern change", "Change these patterns?", "they are changed", "they stay as they are",

    ),
)  # fmt: skip

KINDS: Mapping[str, ProposalKind] = {kind.id: kind for kind in _KINDS}
"""The kinds that are known, in the order in which they are named."""


def kind_of(id: str) -> ProposalKind:
    """Return a kind; one that nobody here knows can be looked at and turned down."""
    return KINDS.get(id) or _UNKNOWN._replace(id=id, label=id)


def is_noise(kind: str) -> bool:
    """Tell whether proposals of a kind only suggest what to archive: they are counted nowhere as
    waiting.
    """
    return kind_of(kind).group == NOISE.id


def group_of(proposal: "Proposal") -> str:
    """Return the id of the group that a proposal is listed in."""
    is_important = is_noise(proposal.kind) and proposal.importance >= IMPORTANT_FROM
    return IMPORTANT.id if is_important else kind_of(proposal.kind).group


def order_of(proposal: "Proposal") -> tuple[bool, float]:
    """Return what sorts the most important first, and what may be noise last, the least important
    of it first.
    """
    noise = is_noise(proposal.kind)
    return (noise, proposal.importance if noise else -proposal.importance)
