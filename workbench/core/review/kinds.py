"""The kinds of proposals: what each asks, in words, and what carries out a decision about it.

One entry for each. Queue, doors and promotion read these entries; none of them knows a kind by its name. An entry
names what carries it out (`core.named`), which is imported when it is first used.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from workbench.core.review.proposal import Proposal


class Group(NamedTuple):
    """Kinds of proposals whose decisions have consequences of one sort; `about` says in a sentence which."""

    id: str
    title: str
    about: str


NOISE = Group("noise", "Suggested for archiving", "Approving archives what was not used; nothing is erased.")

IMPORTANT = Group("important", "Archiving: importance 8 or more", "These can only be archived one at a time.")
"""Those of the group before whose memory has an importance of `IMPORTANT_FROM` or more."""

IMPORTANT_FROM = 8.0

LATER = Group("later", "Left for later", "You postponed these; each shows when it is due again.")
"""What was put off, of whatever kind."""

GROUPS = (
    Group("trust", "Not yet trusted", "Agents are served none of this until you have reviewed it."),
    Group("known", "Proposed changes", "Approving replaces, archives or rewords what agents are served now."),
    Group("true", "Still true?", "Agents are served these; rejecting one lowers its confidence."),
    Group("new", "Candidates", "Approving confirms these, and agents are served them."),
    Group("files", "Changed on disk", "These files changed since they were imported; approving imports the changes."),
    Group("same", "Duplicates", "Approving merges them into one; votes, tags and ids are kept."),
    Group("places", "Misplaced", "Approving moves these to where they belong, or archives the copy."),
    NOISE,
    IMPORTANT,
    LATER,
)
"""In the order in which they are listed."""

_RULES = "workbench.core.review.upkeep"

OTHER = "known"
"""The group of a kind that names none."""


class ProposalKind(NamedTuple):
    """One kind of proposals.

    `yes` and `no` say what approving and rejecting do; a `sign` stands for the label where there is little room. A
    proposal with a flag of `flagged` has another label and question; one about more than two memories those of `many`,
    if there are any, with a place for the `{count}`.

    `handler` names what deciding does (in `services.review`, a `kinds.Handler`), `view` how Review draws it
    (in `tui.review.drawing`, a `View`). `outcome` names the rule for what accepting makes of its memory
    (`core.review.upkeep.Outcome`), `refused` the one for what follows from a rejection (`core.review.upkeep.Refused`);
    both empty where there is none. `is_candidate` says that it is a memory that waits, and no record of its own,
    `settled_by_promotion` that promoting its memory answers it, `of_archived` that its memory is an archived one.
    `group` is one of `GROUPS`. `finder` names what works out proposals of this kind that nobody stored
    (in `services.review`, a `finders.Finder`); their ids begin with the kind's and a hyphen.
    """

    id: str
    label: str
    question: str
    yes: str
    no: str
    sign: str = ""
    flagged: tuple[tuple[str, str, str], ...] = ()
    many: tuple[str, str] = ("", "")
    handler: str = "kinds:Handler"
    view: str = "CHANGES"
    outcome: str = ""
    refused: str = ""
    is_candidate: bool = False
    settled_by_promotion: bool = False
    of_archived: bool = False
    group: str = OTHER
    finder: str = ""


def _lifecycle(
    id: str, label: str, question: str, yes: str, no: str, outcome: str, *, refused: str = "",
    flagged: tuple[tuple[str, str, str], ...] = (), settled: bool = True, group: str = OTHER, found: bool = True,
) -> ProposalKind:  # fmt: skip
    """Return a kind whose outcome is computed from its memory as it is when it is accepted."""
    return ProposalKind(
        id, label, question, yes, no, flagged=flagged, handler="kinds:Lifecycle",
        outcome=f"{_RULES}:{outcome}", refused=refused and f"{_RULES}:{refused}", settled_by_promotion=settled,
        group=group, finder="finders:UPKEEP" if found else "",
    )  # fmt: skip


_UNKNOWN = ProposalKind(
    "", "", "This version does not know this kind of proposal.",
    "nothing, with this version", "it is discarded",
    handler="kinds:Unknown",
)  # fmt: skip

_KINDS = (
    ProposalKind(
        "reflection", "candidate", "Is this worth keeping?",
        "it is confirmed and served to agents", "it is archived as rejected",
        handler="kinds:Candidate", view="CANDIDATE", is_candidate=True, group="new",
    ),
    ProposalKind(
        "merge", "merge", "Are these duplicates?",
        "they are merged: the newest text wins, votes are added up, the other ids stay valid",
        "all are kept; asked again only when a text changes", "∪",
        many=("merge of {count}", "Are these {count} duplicates?"),
        handler="kinds:Merge", view="MERGE", group="same",
        finder="finders:COPIES",
    ),
    _lifecycle(
        "prune", "prune", "Should this be archived?",
        "it is archived as pruned", "it stays; asked again after the next review period", "pruned", settled=False,
        group="noise",
    ),
    _lifecycle(
        "confirm", "confirm", "Should this be confirmed?",
        "it is confirmed", "it stays; asked again when it has been seen more often", "confirmed",
        group="new",
    ),
    _lifecycle(
        "reconfirm", "still true?", "Is this still true?", "it is confirmed again",
        "its confidence drops by one, and archiving it is proposed", "reconfirmed", refused="doubted",
        flagged=(
            ("contradicted", "contradicted", "A newer memory contradicts this. Is it still true?"),
            ("doubtful", "doubtful", "This was marked harmful. Is it still true?"),
        ),
        group="true",
    ),
    ProposalKind(
        "pattern", "pattern", "Is this pattern correct?", "it is added to the patterns", "it is discarded", group="new",
        handler="found_patterns:MinedPattern", view="PATTERN", finder="found_patterns:MINING",
    ),
    ProposalKind(
        "curator", "curator", "Apply this change to the playbook?", "it is applied", "the playbook stays as it is",
        handler="kinds:CuratorProposals", view="CURATOR",
    ),
    _lifecycle(
        "forget", "forget", "Should this be archived?", "it is archived as forgotten", "it stays", "forgotten",
        settled=False, found=False,
    ),
    _lifecycle(
        "return", "came back", "This was archived and was seen again. Should it be restored?", "it is restored",
        "it stays archived; asked again after two more sessions report it", "restored", settled=False,
        found=False, group="new",
    )._replace(of_archived=True),
    ProposalKind(
        "supersede", "replace", "Should this replace what is stored?",
        "it is stored; what it replaces is archived as superseded", "nothing changes; this proposal is discarded",
        "↻",
        handler="kinds:Supersede", view="SUPERSEDE",
    ),
    ProposalKind(
        "replaces", "replaces", "A newer memory contradicts this one. Does it replace it?",
        "the newer one stays; this one is archived as superseded",
        "both stay; asked again only when a text changes; “keep old” archives the newer one instead",
        handler="kinds:Replaces", view="REPLACES", settled_by_promotion=False,
        finder="finders:UPKEEP",
    ),
    ProposalKind(
        "stale", "out of date", "It names something that is no longer in the working tree. Is it out of date?",
        "its names are updated; without a new name it is archived as forgotten",
        "it stays; asked again when its text changes or something else it names disappears", "≁",
        flagged=(
            ("renamed", "renamed", "Something it names was renamed. Use the new name?"),
            ("gone", "gone", "Something it names no longer exists. Should it be archived?"),
        ),
        handler="kinds:Stale", view="SUPERSEDE", group="true",
        finder="found_files:STALE",
    ),
    _lifecycle(
        "skill", "skill", "Should this become a skill?", "it is tagged “skill”", "it stays as it is", "as_skill",
        group="new",
    ),
    ProposalKind(
        "file", "changed on disk", "Import the changes in this file?",
        "the changes are imported; one undo reverts them",
        "the store stays as it is; asked again when the file changes again",
        handler="found_files:ChangedFile", view="FILE", group="files",
        finder="found_files:FILES",
    ),
    ProposalKind(
        "trust", "from elsewhere", "Trust the data that came into this store from elsewhere?",
        "you see what came in and who wrote it, then decide", "it stays readable here but is not served to agents",
        handler="kinds:Store", view="TRUST", group="trust",
        finder="found_files:STORE",
    ),
    ProposalKind(
        "documents", "documents", "Trust these documents as they are now?",
        "they are shown; t trusts them, after a confirmation",
        "they are not served to agents; asked again when they change",
        handler="kinds:DocumentsChanged", view="DOCUMENTS", group="trust",
        finder="found_files:DOCUMENTS",
    ),
    ProposalKind(
        "instructions", "from a document", "Archive these records of an instruction file?",
        "they are archived, the file is not changed; one undo restores them",
        "they stay; asked again only when the file is imported again",
        handler="found_files:Instructions", view="GOING", group="places",
        finder="found_files:INSTRUCTIONS",
    ),
    ProposalKind(
        "pattern-merge", "similar patterns", "Are these patterns duplicates?",
        "they are merged into the one with the highest confidence; applications are added up",
        "all are kept; asked again only when a text changes",
        handler="found_patterns:PatternMerge", view="PATTERNS", group="same",
        finder="found_patterns:PATTERNS",
    ),
    ProposalKind(
        "pattern-change", "pattern change", "Change these patterns?", "they are changed", "they stay as they are",
        handler="found_patterns:PatternChanges", view="PATTERNS",
    ),
)  # fmt: skip

KINDS: Mapping[str, ProposalKind] = {kind.id: kind for kind in _KINDS}
"""The kinds that are known, in the order in which they are named."""


def kind_of(id: str) -> ProposalKind:
    """Return a kind; one that nobody here knows can be looked at and turned down."""
    return KINDS.get(id) or _UNKNOWN._replace(id=id, label=id)


def is_noise(kind: str) -> bool:
    """Tell whether proposals of a kind only suggest what to archive: they are counted nowhere as waiting."""
    return kind_of(kind).group == NOISE.id


def group_of(proposal: "Proposal") -> str:
    """Return the id of the group that a proposal is listed in."""
    is_important = is_noise(proposal.kind) and proposal.importance >= IMPORTANT_FROM
    return IMPORTANT.id if is_important else kind_of(proposal.kind).group


def order_of(proposal: "Proposal") -> tuple[bool, float]:
    """Return what sorts the most important first, and what may be noise last, the least important of it first."""
    noise = is_noise(proposal.kind)
    return (noise, proposal.importance if noise else -proposal.importance)
