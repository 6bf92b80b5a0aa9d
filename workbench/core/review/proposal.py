"""One value for everything that waits for a person's decision."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from msgspec import field

from workbench.core.change import Change
from workbench.core.document import Record

ProposalState = Literal["open", "accepted", "rejected"]


class Proposal(Record, frozen=True):
    """A set of changes that somebody suggests and a person accepts or rejects.

    `kind` is one of `core.review.proposal`, `actor` who suggests it, `evidence` the ids of the
    records it rests on, `flags` short words for what a person should look at first (such as "no
    evidence"). Accepting applies `changes` as one transaction. `reasons` are sentences that speak
    for it. `texts` are marks of the evidence's texts as they were (`core.duplicates.text_mark`), in
    its order: a decision about them holds until one changes. `decided_at` is when it was accepted
    or rejected. `operation` is what a Curator or a Reflector suggests for a playbook, as JSON (see
    `core.operations`).
    """

    id: str
    kind: str
    actor: str
    title: str
    created_at: datetime
    evidence: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    flags: tuple[str, ...] = ()
    similarity: float | None = None
    importance: float = 5.0
    state: ProposalState = "open"
    review_after: datetime | None = None
    version: int = 1
    reasons: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    decided_at: datetime | None = None
    operation: Mapping[str, object] = field(default_factory=dict)
