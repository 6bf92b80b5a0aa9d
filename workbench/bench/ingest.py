"""Taking in observations (source 000, algorithm 4): dedup in two tiers, then the reflection gauge."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from workbench.bench.context import Context
from workbench.bench.reflecting import state_of
from workbench.bench.retriever import Retriever
from workbench.core.dedup import DedupThresholds, PairVerdict, contained_in_recent, judge_pair
from workbench.core.errors import InvalidRecord
from workbench.core.importance import base_importance
from workbench.core.memory import MAX_CONTENT, NO_SOURCE, Memory, MemoryType, Source
from workbench.core.proposal import Proposal
from workbench.core.record import iso
from workbench.core.text import clean_for_store
from workbench.core.trigger import record_observation
from workbench.retrieval.fuzzy import order_similarity
from workbench.store.library import Tx

RECENT = 10
"""How many of the latest memories tier 1 compares with (source 001, section 3.3)."""

NEAREST = 5
"""How many of the most similar memories tier 2 looks at."""

Outcome = Literal["created", "skipped", "absorbed", "proposed"]


@dataclass(frozen=True, slots=True)
class Observation:
    """Something an agent or a person noticed, before it becomes a memory."""

    content: str
    observation_type: str = "general"
    memory_type: MemoryType = "episodic"
    session_id: str = ""
    tags: tuple[str, ...] = ()
    source: Source = NO_SOURCE


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of an observation: the memory it is now in, and why.

    `skipped`: one of the last ten already says it; `absorbed`: counted on a duplicate;
    `proposed`: stored, and a merge with `other` waits in Review.
    """

    outcome: Outcome
    memory: Memory
    other: Memory | None = None
    verdict: PairVerdict | None = None


class Ingest:
    """The way in for single observations."""

    def __init__(self, context: Context, retriever: Retriever, mask: Callable[[str], str] = clean_for_store) -> None:
        self._context = context
        self._library = context.library
        self._retriever = retriever
        self._mask = mask

    def add(self, observation: Observation) -> Ingested:
        """Store an observation unless it repeats what is there; raises `InvalidRecord` for empty or too long text."""
        text = self._mask(observation.content).strip()
        if not text:
            raise InvalidRecord("There is no text to remember.", "Nothing was written.")
        if len(text) > MAX_CONTENT:
            message = f"The text is {len(text):,} characters long, at most {MAX_CONTENT:,} fit."
            raise InvalidRecord(message, "Nothing was written.")
        # Loading can take a while, and others must not wait for it at the write lock.
        self._retriever.load()
        with self._library.transaction(self._context.actor, f"ingest {observation.observation_type}") as tx:
            return self._add(tx, replace(observation, content=text))

    def _add(self, tx: Tx, observation: Observation) -> Ingested:
        recent = self._recent()
        said = next((m for m in reversed(recent) if contained_in_recent(observation.content, [m.content])), None)
        if said is not None:
            return Ingested("skipped", said)
        near = self._nearest(observation)
        if near is not None and near[1].action == "absorb":
            return self._absorb(tx, observation, *near)
        memory = self._create(tx, observation)
        if near is None or near[1].action == "distinct":
            return Ingested("created", memory)
        tx.put(self._proposal(memory, near))
        return Ingested("proposed", memory, near[0], near[1])

    def _recent(self) -> list[Memory]:
        """Return the memories stored last, oldest first."""
        return self._library.memories.all()[-RECENT:]

    def _nearest(self, observation: Observation) -> tuple[Memory, PairVerdict, float] | None:
        """Return the living memory of the same type that is most surely the same, with the verdict and the cosine."""
        own = self._retriever.thresholds()
        limits = DedupThresholds(own.flag, own.review, self._context.settings.thresholds.order)
        found = []
        for memory, cosine in self._retriever.nearest_memories(observation.content, NEAREST):
            if memory.memory_type != observation.memory_type or memory.status == "archived":
                continue
            similarity = order_similarity(observation.content, memory.content)
            verdict = judge_pair(observation.content, memory.content, cosine, similarity, limits)
            found.append((memory, verdict, cosine))
        rank = {"absorb": 0, "propose": 1, "distinct": 2}
        return min(found, key=lambda f: (rank[f[1].action], -f[2]), default=None)

    def _absorb(
        self, tx: Tx, observation: Observation, memory: Memory, verdict: PairVerdict, cosine: float
    ) -> Ingested:
        """Count a duplicate on the memory it repeats, and keep its text there."""
        note = {
            "text": observation.content,
            "at": iso(self._context.now()),
            "similarity": round(cosine, 4),
            "session": observation.session_id,
        }
        known = memory.metadata.get("absorbed", [])
        absorbed = [*(known if isinstance(known, list) else []), note]
        counted = replace(
            memory, helpful_absorbed=memory.helpful_absorbed + 1, metadata={**memory.metadata, "absorbed": absorbed}
        )
        tx.put(counted)
        return Ingested("absorbed", counted, memory, verdict)

    def _create(self, tx: Tx, observation: Observation) -> Memory:
        now = self._context.now()
        importance = base_importance(observation.observation_type, observation.content)
        memory = Memory(
            id=tx.new_memory_id(now),
            content=observation.content,
            created_at=now,
            last_accessed_at=now,
            session_id=observation.session_id,
            memory_type=observation.memory_type,
            observation_type=observation.observation_type,
            tags=observation.tags,
            importance_score=importance,
            helpful_created=1,
            source=observation.source,
        )
        tx.put(memory)
        tx.put(record_observation(state_of(self._context), importance, now))
        return memory

    def _proposal(self, memory: Memory, near: tuple[Memory, PairVerdict, float]) -> Proposal:
        other, verdict, cosine = near
        return Proposal(
            id=f"merge-{memory.id}",
            kind="merge",
            actor=self._context.actor,
            title=f"Same as {other.id}?",
            created_at=self._context.now(),
            evidence=(memory.id, other.id),
            flags=verdict.reasons_against,
            similarity=cosine,
            importance=max(memory.importance_score, other.importance_score),
        )
