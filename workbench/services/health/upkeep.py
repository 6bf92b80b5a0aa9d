"""Lifecycle upkeep: what the rules of the lifecycle suggest, as proposals. Nothing is archived here
by itself.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from workbench.core.duplicates.dedup import differing, opposites, parted
from workbench.core.duplicates.groups import text_mark
from workbench.core.record import UnreadableFile, minute
from workbench.core.review import lifecycle as rules
from workbench.core.review.contradiction import Contradiction, contradictions
from workbench.core.review.kinds import IMPORTANT_FROM, order_of
from workbench.core.review.lifecycle import CONTRADICTED, UPKEEP_KINDS, Contradicted, UpkeepFinding
from workbench.core.review.proposal import Proposal
from workbench.core.stream.confidence import imported
from workbench.core.stream.memory import Memory, is_served
from workbench.core.text import counted
from workbench.services.context import Context
from workbench.services.duplicates.plan import WORKBENCH
from workbench.services.review.kinds import handler_of
from workbench.services.safety.masking import served_name
from workbench.services.safety.safety import Safety
from workbench.services.tuning.retriever import Comparing, Retriever

# Memories that a newer one contradicts, as far as cheap rules see it. Reads only.


TRUSTED = ("confirmed", "promoted")
"""Statuses of memories that a person stands for, and that lose by being contradicted."""

SETTLES = frozenset(
    (
        "instruction",
        "convention",
        "decision",
        "architectural_decision",
        "gotcha",
        "discovery",
        "configuration_change",
    )
)
"""What a memory is of that says how things are: of two that contradict each other one holds. Events
all happened.
"""


def contradicted_memories(retriever: Retriever, now: datetime) -> dict[str, Contradicted]:
    """Return for each memory the newest one that contradicts it, of those alike enough to be
    flagged.

    Only what an agent is served counts, and of what nobody stands for only what `SETTLES`
    something. Raises `UnreadableFile` when there is no model.
    """
    ranker = retriever.load()
    memories = ranker.pool.memories
    settled = (
        m.status in TRUSTED or (m.status == "signal" and m.observation_type in SETTLES)
        for m in memories
    )
    rows = [row for row, settles in enumerate(settled) if settles]
    limits = retriever.thresholds()
    least = (
        limits.flag + limits.review
    ) / 2  # what settles the same thing may say it in other words
    near = retriever.near_memories(retriever.comparable_memories(rows), least)
    found = {}
    for row, others in zip(rows, near, strict=True):
        memory = memories[row]
        alike = (
            o for o, cosine in others if cosine >= limits.flag or o.observation_type in SETTLES
        )
        newer = [o for o in alike if o.created_at > memory.created_at and is_served(o, now)]
        newer.sort(key=lambda o: (o.created_at, o.id), reverse=True)
        if (contradicted := contradicted_by(memory, newer)) is not None:
            found[memory.id] = contradicted
    return found


def contradicted_by(memory: Memory, newer: Sequence[Memory]) -> Contradicted | None:
    """Return the first of some newer memories that says the opposite of `memory`, if any does."""
    for other in newer:
        for found in contradictions(memory.content, [(other.id, other.content)]):
            replaces = _is_replaced(memory, other, found)
            if replaces or memory.status in TRUSTED:
                mark = text_mark(f"{memory.content}\0{other.content}")
                return Contradicted(other.id, mark, found.reason, replaces)
    return None


def disputes(context: Context, memories: Sequence[Memory]) -> dict[str, str]:
    """Return what is said of memories that are contradicted, or contradict one that a person stands
    for, by their ids.

    Of two that contradict each other the one with less standing says so, of two with the same the
    older one.
    """
    library = context.library
    waiting = (p.evidence[:2] for p in library.waiting(Proposal, "open") if p.kind == "replaces")
    pairs = ([m for m in library.memories.among(ids) if m.status != "archived"] for ids in waiting)
    found = [pair for pair in pairs if len(pair) == 2]
    settling = sorted(
        (m for m in memories if m.observation_type in SETTLES), key=lambda m: (m.created_at, m.id)
    )
    apart = library.kept_apart() if len(settling) > 1 else None
    for older, newer in combinations(settling, 2):
        said = contradicted_by(older, [newer])
        if said is not None and said.replaces and apart is not None and not apart(older, newer):
            found.append([older, newer])
    told, look = {}, Safety(context).findings
    for older, newer in found:
        if newer.status in TRUSTED or older.status not in TRUSTED:
            told[older.id] = f"contradicted on {minute(newer.created_at)[:10]}"
        else:
            told[newer.id] = f"contradicts {served_name(older.id, look)} ({older.status})"
    return told


def _is_replaced(older: Memory, newer: Memory, found: Contradiction) -> bool:
    """Tell whether two memories that contradict each other settle the same thing: only one names
    another subject.
    """
    if not SETTLES.issuperset((older.observation_type, newer.observation_type)) or parted(
        older, newer
    ):
        return False
    opposed = {word for pair in opposites(found.mine, found.theirs) for word in pair}
    mine, theirs = (set(words) - opposed for words in differing(found.mine, found.theirs))
    return not (mine and theirs)


class UpkeepPlan(NamedTuple):
    """What upkeep does, or did: new proposals, and open ones that no longer hold and are withdrawn.

    `waiting` are the candidates that Review flags for their age, `open` counts the proposals of
    upkeep that wait already, by kind. `searched` tells whether contradictions were looked for;
    `remark` says why not.
    """

    at: datetime
    proposals: tuple[Proposal, ...]
    withdrawn: tuple[Proposal, ...] = ()
    waiting: tuple[str, ...] = ()
    open: tuple[Proposal, ...] = ()
    searched: bool = True
    remark: str = ""

    def of(self, kind: str) -> tuple[Proposal, ...]:
        return tuple(p for p in self.proposals if p.kind == kind)

    @property
    def counts(self) -> dict[str, int]:
        """The number of new proposals by kind, every kind of upkeep named."""
        found = Counter(p.kind for p in self.proposals)
        return {kind: found[kind] for kind in UPKEEP_KINDS}

    @property
    def is_empty(self) -> bool:
        """Whether carrying it out changes nothing."""
        return not self.proposals and not self.withdrawn


class Upkeep(Comparing):
    """Looks after the lifecycle of a store's memories."""

    def plan(self, *, search: bool = True) -> UpkeepPlan:
        """Return exactly what `carry_out` would do now; nothing is written.

        `search` loads the model to look for contradictions; without a model they are left out, and
        `remark` says so.
        """
        return self._plan(*self._contradicted(search))

    def carry_out(self, *, search: bool = True) -> UpkeepPlan:
        """Put what the rules suggest into Review, as one transaction of the workbench; return what
        was done.
        """
        # The search can take a second, and others must not wait for it at the write lock.
        contradicted, remark = self._contradicted(search)
        with self._context.transaction("upkeep") as tx:
            plan = self._plan(contradicted, remark)
            for proposal in plan.withdrawn:
                tx.delete(proposal)
            for proposal in plan.proposals:
                tx.put(proposal)
        return plan

    def prunable(self, plan: UpkeepPlan) -> tuple[Proposal, ...]:
        """Return the prunes that a person can accept at once, the least important first; no
        important ones.
        """
        prunes = (*(p for p in plan.open if p.kind == "prune"), *plan.of("prune"))
        return tuple(
            sorted((p for p in prunes if p.importance < IMPORTANT_FROM), key=lambda p: p.importance)
        )

    def prune(self, proposals: Sequence[Proposal]) -> int:
        """Accept prunes, as one change of the person that can be undone; return how many memories
        it archived.

        What was touched, pinned, confirmed or decided on since is left alone.
        """
        now, done = self._context.now(), 0
        what = counted(len(proposals), "memory", "memories")
        with self._context.transaction(f"prune {what}") as tx:
            prunes, limits = handler_of(self._context, "prune"), self._context.settings.lifecycle
            decided, needed = _answered(self._library.proposals.all()), self._needed()
            for proposal in proposals:
                memory = self._library.memories.find(proposal.evidence[0])
                known = self._library.proposals.find(proposal.id)
                if memory is None or (known is not None and known.state != "open"):
                    continue
                cited = not needed.isdisjoint((memory.id, *memory.aliases))
                found = rules.finding(
                    memory, now, limits, decided=decided.get(memory.id),
                    needed=cited or self._has_source(memory),
                )  # fmt: skip
                if found is not None and found.name == proposal.id:
                    prunes.accept(tx, proposal, prunes.becoming(proposal))
                    done += 1
        return done

    def _contradicted(self, search: bool) -> tuple[Mapping[str, Contradicted] | None, str]:
        """Return what contradicts trusted memories, by id; `None` with the reason when nobody
        looked.
        """
        if not search:
            return None, "Contradictions were not checked."
        try:
            return contradicted_memories(self._retriever(), self._context.now()), ""
        except UnreadableFile as error:
            return None, f"Contradictions were not checked: {error}"

    def _plan(self, contradicted: Mapping[str, Contradicted] | None, remark: str) -> UpkeepPlan:
        now, limits = self._context.now(), self._context.settings.lifecycle
        memories = [
            m
            for m in self._library.memories.all()
            if m.status != "archived" and m.created_at <= now
        ]
        stored = self._library.proposals.all()
        names = {p.id for p in stored}
        open_ones = [p for p in stored if p.state == "open"]
        disputed = {id for p in open_ones if p.kind != "skill" for id in p.evidence}
        decided, needed = _answered(stored), self._needed()
        found: dict[str, UpkeepFinding] = {}
        for memory in memories:
            one = rules.finding(
                memory, now, limits,
                decided=decided.get(memory.id),
                contradicted=None if contradicted is None else contradicted.get(memory.id),
                resolved=bool(memory.related) and self._resolved(memory, memory.id in disputed),
                needed=not needed.isdisjoint((memory.id, *memory.aliases)),
            )  # fmt: skip
            if one is not None and not (one.kind == "prune" and self._has_source(memory)):
                found[one.name] = one
        mine = [p for p in open_ones if p.actor == WORKBENCH and p.kind in UPKEEP_KINDS]
        # What rests on a contradiction stays as long as nobody looked for those.
        unknown = CONTRADICTED if contradicted is None else ""
        stays = {p.id for p in mine if p.id in found or unknown in p.flags}
        withdrawn = tuple(p for p in mine if p.id not in stays)
        still = tuple(p for p in mine if p.id in stays)
        asked = {(p.kind, p.evidence[0]) for p in still}
        new = [f for f in found.values() if f.name not in names and (f.kind, f.id) not in asked]
        return UpkeepPlan(
            now,
            tuple(
                sorted(
                    (self._proposal(f, now) for f in new),
                    key=lambda p: (UPKEEP_KINDS.index(p.kind), order_of(p), p.id),
                )
            ),
            withdrawn,
            tuple(m.id for m in memories if rules.waits_long(m, now, limits)),
            still,
            contradicted is not None,
            remark,
        )

    def _has_source(self, memory: Memory) -> bool:
        """Tell whether the file that brought a memory still is there: as long as it is, the memory
        is no noise.
        """
        path = imported(memory.metadata).get("path")
        return isinstance(path, str) and Path(path).exists()

    def _needed(self) -> frozenset[str]:
        """Return the ids of what another memory cites, or a person judged relevant to a query."""
        living = (m for m in self._library.memories.all() if m.status != "archived")
        judged = (j.memory for j in self._library.judgments.all() if j.grade > 0)
        return frozenset((*judged, *(id for memory in living for id in memory.citations)))

    def _resolved(self, memory: Memory, disputed: bool) -> bool:
        related = [self._library.memories.find(id) for id in memory.related]
        here = [m for m in related if m is not None and m.status != "archived"]
        enough = len(here) >= self._context.settings.lifecycle.references
        return enough and rules.is_resolved(memory, related, disputed)

    def _proposal(self, found: UpkeepFinding, now: datetime) -> Proposal:
        memory = self._library.memories.get(found.id)
        related = memory.related if found.kind == "skill" else ()
        return proposal_of(
            found, memory, now, tuple(id for id in related if id in self._library.memories)
        )


def proposal_of(
    found: UpkeepFinding, memory: Memory, now: datetime, related: tuple[str, ...] = ()
) -> Proposal:
    """Return a finding about `memory` as a proposal; `related` is further evidence."""
    return Proposal(
        id=found.name,
        kind=found.kind,
        actor=WORKBENCH,
        title=memory.line,
        created_at=now,
        evidence=(memory.id, *found.evidence, *related),
        flags=found.flags,
        importance=memory.importance_score,
        reasons=found.reasons,
    )


def _answered(proposals: Iterable[Proposal]) -> dict[str, dict[str, datetime]]:
    """Return when a person last answered a question of each kind, by the memory it was about."""
    found: dict[str, dict[str, datetime]] = {}
    for proposal in proposals:
        if proposal.state != "open" and proposal.kind in UPKEEP_KINDS and proposal.evidence:
            at = proposal.decided_at or proposal.created_at
            kinds = found.setdefault(proposal.evidence[0], {})
            kinds[proposal.kind] = max(at, kinds.get(proposal.kind, at))
    return found
