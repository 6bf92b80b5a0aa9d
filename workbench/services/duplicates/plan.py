"""Groups of memories that say the same: what is proposed, and which of it was decided on already."""

from collections.abc import Iterable
from datetime import datetime
from itertools import combinations
from typing import NamedTuple

from workbench.core.duplicates.dedup import PairVerdict
from workbench.core.duplicates.groups import KeptApart, by_age, kept_first, text_mark
from workbench.core.review.lifecycle import LADDER
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.duplicates.comparing import Group, Pair
from workbench.store.library import Library

WORKBENCH = "workbench"
"""Who proposes what nobody asked for."""

UNCONFIRMED_TEXT = "the newest text was never confirmed"
"""The flag of a group in which a raw signal would give a confirmed memory its text."""

_NAMED = 8
"""Pairs of one group whose reasons a proposal names at most."""


def pair_group(
    one: Memory, other: Memory, similarity: float, verdict: PairVerdict
) -> Group[Memory]:
    """Return two memories as a group that was judged already."""
    older, newer = by_age((one, other))
    pair = Pair(older, newer, similarity, lambda *_: verdict)
    return Group("near", kept_first((one, other)), (pair,))


def evidence_of(group: Group[Memory]) -> tuple[Memory, ...]:
    """Return the members in the order of a merge, the one that stays last."""
    kept, *others = group.members
    return (*others, kept)


def is_unconfirmed(group: Group[Memory]) -> bool:
    """Tell whether a raw signal would give a confirmed memory its text."""
    ranks = [LADDER.index(m.status) for m in group.members if m.status in LADDER]
    newest = max(group.members, key=lambda m: (m.created_at, m.id))
    return group.kind != "exact" and newest.status == "signal" and max(ranks, default=0) > 0


def flags_of(group: Group[Memory]) -> tuple[str, ...]:
    """Return what speaks against it, in short: what differs in meaning, then what is only said
    otherwise.
    """
    found = group.conflicts
    if len(group.members) == 2 and not found:
        found = group.pairs[0].verdict.reasons_against
    if is_unconfirmed(group):
        found = (*found, UNCONFIRMED_TEXT)
    return tuple(dict.fromkeys(map(str, found)))


def kept_pairs(group: Group[Memory]) -> tuple[Pair[Memory], ...]:
    """Return each of the others with the one that a merge keeps."""
    return group.pairs[: len(group.members) - 1]


def reasons_of(group: Group[Memory]) -> tuple[str, ...]:
    """Return what speaks for it; with more than two members, pair by pair and with what speaks
    against.
    """
    if len(group.members) == 2:
        return group.pairs[0].verdict.reasons_for
    return tuple(_told(pair) for pair in kept_pairs(group)[:_NAMED])


def _told(pair: Pair[Memory]) -> str:
    verdict = pair.verdict
    against = f"; but {', '.join(verdict.reasons_against)}" if verdict.reasons_against else ""
    reasons = ", ".join(verdict.reasons_for) or "alike"
    return f"{pair.left.id} and {pair.right.id}: {pair.similarity:.3f}, {reasons}{against}"


def merge_proposal(group: Group[Memory], now: datetime, actor: str = WORKBENCH) -> Proposal:
    """Return the proposal to merge a group; last in its evidence is the one that stays."""
    evidence, kept, count = evidence_of(group), group.ids[0], len(group.members) - 1
    return Proposal(
        id=group.name,
        kind="merge",
        actor=actor,
        title=f"Same as {kept}?" if count == 1 else f"{count} more say the same as {kept}?",
        created_at=now,
        evidence=tuple(m.id for m in evidence),
        flags=flags_of(group),
        similarity=group.similarity,
        importance=max(m.importance_score for m in evidence),
        reasons=reasons_of(group),
        texts=tuple(text_mark(m.content) for m in evidence),
    )


class DedupPlan(NamedTuple):
    """What a comparison found: `groups` to merge, exact ones first, and pairs that are alike but
    say something else.

    `compared` memories were compared at `threshold`; `floor` is above it when there were too many
    pairs to judge them all. `waiting` groups are proposals already, `kept` pairs were kept apart by
    a person.
    """

    threshold: float
    floor: float
    compared: int
    groups: tuple[Group[Memory], ...] = ()
    apart: tuple[Group[Memory], ...] = ()
    waiting: int = 0
    kept: int = 0

    @property
    def exact(self) -> int:
        """How many of the groups have one and the same text."""
        return sum(group.kind == "exact" for group in self.groups)

    @property
    def surplus(self) -> int:
        """How many memories fewer there would be after merging every group."""
        return sum(len(group.members) - 1 for group in self.groups)


class Settled:
    """Which memories wait in a merge proposal, and which pairs of texts a person keeps apart."""

    def __init__(self, proposals: Iterable[Proposal], kept: KeptApart) -> None:
        merges = [p for p in proposals if p.kind == "merge" and p.state == "open"]
        self.open = len(merges)
        self.waiting = frozenset(id for proposal in merges for id in proposal.evidence)
        self.keeps_apart = kept
        """Tells of two memories whether a person said that these two texts both stay."""

    @classmethod
    def of(cls, library: Library) -> "Settled":
        """Return what is settled in a store now."""
        return cls(library.proposals.all(), library.kept_apart())

    def is_open(self, members: Iterable[Memory]) -> bool:
        """Tell whether nobody has decided on any two of some, and none of them waits in a
        proposal.
        """
        some = tuple(members)
        if any(m.id in self.waiting for m in some):
            return False
        return not any(self.keeps_apart(a, b) for a, b in combinations(some, 2))
