"""What a batch deduplication found, as values, and which of it was decided on already."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations

from workbench.core.duplicates.groups import Pair, group_mark, in_merge_order, text_mark
from workbench.core.review.lifecycle import LADDER
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory

WORKBENCH = "workbench"
"""Who proposes what nobody asked for."""

UNCONFIRMED_TEXT = "the newest text was never confirmed"
"""The flag of a group in which a raw signal would give a confirmed memory its text."""

_NAMED = 8
"""Pairs of one group whose reasons a proposal names at most."""


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that say the same, the newest first and last the one whose id a merge keeps.

    `pairs` hold each of the others with the kept one; `similarity` is the lowest cosine in the group.
    `exact` says that the texts are the same.
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

    @property
    def flags(self) -> tuple[str, ...]:
        """What speaks against it, in short: what differs in meaning, then what is only said otherwise."""
        found = [flag for pair in self.pairs for flag in pair.verdict.conflicts]
        if len(self.members) == 2 and not found:
            found += self.pairs[0].verdict.reasons_against
        ranks = [LADDER.index(m.status) for m in self.members if m.status in LADDER]
        newest = max(self.members, key=lambda m: (m.created_at, m.id))
        if not self.exact and newest.status == "signal" and max(ranks, default=0) > 0:
            found.append(UNCONFIRMED_TEXT)
        return tuple(dict.fromkeys(found))

    @property
    def reasons(self) -> tuple[str, ...]:
        """What speaks for it; with more than two members, pair by pair and with what speaks against."""
        if len(self.members) == 2:
            return self.pairs[0].verdict.reasons_for
        return tuple(_told(pair) for pair in self.pairs[:_NAMED])

    def proposal(self, now: datetime, actor: str = WORKBENCH) -> Proposal:
        """Return it as a proposal to merge."""
        others = len(self.members) - 1
        kept = self.members[-1]
        return Proposal(
            id=self.name,
            kind="merge",
            actor=actor,
            title=f"Same as {kept.id}?" if others == 1 else f"{others} more say the same as {kept.id}?",
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
    """What a comparison found: `groups` to merge, exact ones first, and pairs that are alike but say something else.

    `compared` memories were compared at `threshold`; `floor` is above it when there were too many pairs to judge
    them all. `waiting` groups are proposals already, `kept` pairs were kept apart by a person.
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

    def __init__(self, proposals: Iterable[Proposal]) -> None:
        self.names: set[str] = set()
        self.waiting: dict[str, str] = {}
        self.open = 0
        self._refused: dict[frozenset[str], set[frozenset[tuple[str, str]]] | None] = {}
        for proposal in proposals:
            if proposal.kind == "merge":
                self._learn(proposal)

    def _learn(self, proposal: Proposal) -> None:
        if proposal.state == "open":
            self.names.add(proposal.id)
            self.open += 1
            self.waiting.update(dict.fromkeys(proposal.evidence, proposal.id))
        elif proposal.state == "rejected":
            # An old one does not say what the texts were.
            known = len(proposal.texts) == len(proposal.evidence)
            marked = zip(proposal.evidence, proposal.texts if known else proposal.evidence, strict=True)
            for pair in combinations(marked, 2):
                self._refuse(frozenset(id for id, _ in pair), frozenset(pair) if known else None)

    def _refuse(self, ids: frozenset[str], marked: frozenset[tuple[str, str]] | None) -> None:
        before = self._refused.get(ids, set())
        self._refused[ids] = None if before is None or marked is None else before | {marked}

    def keeps_apart(self, one: Memory, other: Memory) -> bool:
        """Tell whether a person said that these two texts both stay."""
        ids = frozenset((one.id, other.id))
        if ids not in self._refused:
            return False
        said = self._refused[ids]
        marked = frozenset(((one.id, text_mark(one.content)), (other.id, text_mark(other.content))))
        return said is None or marked in said

    def is_open(self, group: Group) -> bool:
        """Tell whether nobody has decided on any two of a group, and none of them waits in a proposal."""
        if any(m.id in self.waiting for m in group.members):
            return False
        return not any(self.keeps_apart(a, b) for a, b in combinations(group.members, 2))


def group_of(members: Iterable[Memory], pairs: Iterable[Pair], similarity: float, exact: bool = False) -> Group:
    """Return a group in merge order, with the pairs of the kept one first to last."""
    ordered = in_merge_order(members)
    kept = ordered[-1].id
    place = {m.id: n for n, m in enumerate(ordered)}
    mine = [p for p in pairs if kept in (p.older, p.newer)]
    mine.sort(key=lambda p: min(place[p.older], place[p.newer]))
    return Group(ordered, tuple(mine), similarity, exact)


def decided(proposal: Proposal, state: str, now: datetime) -> Proposal:
    """Return a merge proposal as decided on at `now`."""
    return replace(proposal, state="accepted" if state == "accepted" else "rejected", decided_at=now)


def _told(pair: Pair) -> str:
    verdict = pair.verdict
    against = f"; but {', '.join(verdict.reasons_against)}" if verdict.reasons_against else ""
    return f"{pair.older} and {pair.newer}: {pair.similarity:.3f}, {', '.join(verdict.reasons_for) or 'alike'}{against}"
