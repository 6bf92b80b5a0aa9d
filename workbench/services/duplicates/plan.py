"""What a batch deduplication found, as values, and which of it was decided on already."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from workbench.core.duplicates.groups import KeptApart, Pair, group_mark, in_merge_order, text_mark
from workbench.core.review.lifecycle import LADDER
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.store.library import Library

WORKBENCH = "workbench"
"""Who proposes what nobody asked for."""

UNCONFIRMED_TEXT = "the newest text was never confirmed"
"""The flag of a group in which a raw signal would give a confirmed memory its text."""

_NAMED = 8
"""Pairs of one group whose reasons a proposal names at most."""


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that say the same, the newest first and last the one whose id a merge keeps.

    `pairs` hold each of the others with the kept one; `similarity` is the lowest cosine in the
    group. `exact` says that the texts are the same.
    """

    members: tuple[Memory, ...]
    pairs: tuple[Pair, ...]
    similarity: float
    exact: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        """The members' ids in the order of a merge."""
        return tuple(m.id for m in self.members)

    @property
    def name(self) -> str:
        """The id of its proposal: the same as long as the members and their texts are."""
        return f"merge-{group_mark(self.members)}"

    def between(self, one: str, other: str) -> float:
        """Return the cosine of two members, as far as it was kept: else the lowest in the group."""
        pair = next((p for p in self.pairs if {p.older, p.newer} == {one, other}), None)
        return self.similarity if pair is None else pair.similarity

    @property
    def flags(self) -> tuple[str, ...]:
        """What speaks against it, in short: what differs in meaning, then what is only said
        otherwise.
        """
        found = [flag for pair in self.pairs for flag in pair.verdict.conflicts]
        if len(self.members) == 2 and not found:
            found += self.pairs[0].verdict.reasons_against
        if self.is_unconfirmed:
            found.append(UNCONFIRMED_TEXT)
        return tuple(dict.fromkeys(map(str, found)))

    @property
    def is_unconfirmed(self) -> bool:
        """Whether a raw signal would give a confirmed memory its text."""
        ranks = [LADDER.index(m.status) for m in self.members if m.status in LADDER]
        newest = max(self.members, key=lambda m: (m.created_at, m.id))
        return not self.exact and newest.status == "signal" and max(ranks, default=0) > 0

    @property
    def reasons(self) -> tuple[str, ...]:
        """What speaks for it; with more than two members, pair by pair and with what speaks
        against.
        """
        if len(self.members) == 2:
            return self.pairs[0].verdict.reasons_for
        return tuple(_told(pair) for pair in self.pairs[:_NAMED])

    def proposal(self, now: datetime, actor: str = WORKBENCH) -> Proposal:
        others = len(self.members) - 1
        kept = self.members[-1]
        return Proposal(
            id=self.name,
            kind="merge",
            actor=actor,
            title=f"Same as {kept.id}?"
            if others == 1
            else f"{others} more say the same as {kept.id}?",
            created_at=now,
            evidence=self.ids,
            flags=self.flags,
            similarity=self.similarity,
            importance=max(m.importance_score for m in self.members),
            reasons=self.reasons,
            texts=tuple(text_mark(m.content) for m in self.members),
        )


@dataclass(frozen=True, slots=True)
class DedupPlan:
    """What a comparison found: `groups` to merge, exact ones first, and pairs that are alike but
    say something else.

    `compared` memories were compared at `threshold`; `floor` is above it when there were too many
    pairs to judge them all. `waiting` groups are proposals already, `kept` pairs were kept apart by
    a person.
    """

    threshold: float
    floor: float
    compared: int
    groups: tuple[Group, ...] = ()
    apart: tuple[Group, ...] = ()
    waiting: int = 0
    kept: int = 0

    @property
    def exact(self) -> int:
        """How many of the groups have one and the same text."""
        return sum(group.exact for group in self.groups)

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

    def is_open(self, group: Group) -> bool:
        """Tell whether nobody has decided on any two of a group, and none of them waits in a
        proposal.
        """
        if any(m.id in self.waiting for m in group.members):
            return False
        return not any(self.keeps_apart(a, b) for a, b in combinations(group.members, 2))


def group_of(
    members: Iterable[Memory], pairs: Iterable[Pair], similarity: float, exact: bool = False
) -> Group:
    """Return a group in merge order, with the pairs of the kept one first to last."""
    ordered = in_merge_order(members)
    kept = ordered[-1].id
    place = {m.id: n for n, m in enumerate(ordered)}
    mine = [p for p in pairs if kept in (p.older, p.newer)]
    mine.sort(key=lambda p: min(place[p.older], place[p.newer]))
    return Group(ordered, tuple(mine), similarity, exact)


def _told(pair: Pair) -> str:
    verdict = pair.verdict
    against = f"; but {', '.join(verdict.reasons_against)}" if verdict.reasons_against else ""
    return f"{pair.older} and {pair.newer}: {pair.similarity:.3f}, {', '.join(verdict.reasons_for) or 'alike'}{against}"
