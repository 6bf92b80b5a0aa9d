"""Taking in observations (source 000, algorithm 4): dedup in two tiers, then the reflection gauge."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from workbench.bench.context import Context
from workbench.bench.duplicates.resemblance import NEAREST, Near, Resemblance, Similar
from workbench.bench.reflection.gauge import state_of
from workbench.bench.safety.provenance import is_own
from workbench.bench.stream.observation import MASKED, Observation, cleaned, memory_of
from workbench.bench.tuning.retriever import Retriever
from workbench.core.duplicates.dedup import RECENT, PairVerdict, contained_in_recent
from workbench.core.duplicates.identity import Identity, identity_of
from workbench.core.record import iso
from workbench.core.reflection.trigger import record_observation
from workbench.core.stream.memory import Memory
from workbench.retrieval.arrays import Vectors
from workbench.safety.secrets.secrets import mask as mask_secrets
from workbench.store.library import Tx

Keep = Callable[[str], None]
"""Is told the memory whose secrets stay as a person typed them."""

Outcome = Literal["created", "skipped", "absorbed", "proposed", "contradicts"]


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of an observation: the memory it is now in, and why.

    `skipped`: one of the last ten already says it; `absorbed`: counted on a duplicate; `proposed`: stored, and a
    merge with `other` waits in Review; `contradicts`: stored, and whether the trusted `other` still is true waits
    there. `created` with an `other`: they only look alike, and `verdict` says what parts them.
    """

    outcome: Outcome
    memory: Memory
    other: Memory | None = None
    verdict: PairVerdict | None = None


class Ingest:
    """The way in for observations, one or many at a time; `mask` takes out what must not be written."""

    def __init__(self, context: Context, retriever: Retriever, mask: Callable[[str], str] = mask_secrets) -> None:
        self._context = context
        self._library = context.library
        self._retriever = retriever
        self._mask = mask

    def add(self, observation: Observation, keep: Keep | None = None) -> Ingested:
        """Store an observation unless it repeats what is there; raises `InvalidRecord` for empty or too long text."""
        return self.add_many((observation,), keep)[0]

    def add_many(self, observations: Sequence[Observation], keep: Keep | None = None) -> list[Ingested]:
        """Store observations as one transaction, each compared with what is there and with those before it.

        With `keep` nothing is masked, and it is told each memory that holds such a text. Raises `InvalidRecord` for
        empty or too long text; nothing is written then.
        """
        mask = self._mask if keep is None else str
        seen = [cleaned(self._rated(observation), mask) for observation in observations]
        if not seen:
            return []
        # Loading and embedding can take a while, and others must not wait for it at the write lock.
        self._retriever.load()
        vectors = self._retriever.vectors([one.content for one in seen])
        what = seen[0].observation_type if len(seen) == 1 else f"{len(seen)} observations"
        with self._library.transaction(self._context.actor, f"ingest {what}") as tx:
            batch = _Batch(self._context, self._retriever, seen, vectors)
            done = [batch.take(tx, place) for place in range(len(seen))]
            if len(done) == 1 and done[0].outcome in ("created", "proposed"):
                tx.relabel(f"ingest {what} {done[0].memory.id}")
            batch.count(tx)
            if keep is not None:
                for one in done:
                    if one.outcome != "skipped":
                        keep(one.memory.id)
        return done

    def append(self, observation: Observation, keep: Keep) -> Ingested:
        """Store an observation as it is typed, compared with the latest memories only, as a hook's are."""
        seen = cleaned(observation, str)
        with self._library.transaction(self._context.actor, f"ingest {seen.observation_type}") as tx:
            latest = self._library.memories.latest(RECENT)
            said = next((m for m in reversed(latest) if contained_in_recent(seen.content, [m.content])), None)
            if said is not None:
                return Ingested("skipped", said)
            now = self._context.now()
            memory = memory_of(seen, tx.new_memory_id(now), now)
            tx.put(memory)
            tx.put(record_observation(state_of(self._context), memory.importance_score, now))
            tx.relabel(f"ingest {seen.observation_type} {memory.id}")
            keep(memory.id)
        return Ingested("created", memory)

    def _rated(self, observation: Observation) -> Observation:
        return observation._replace(rated_by=observation.rated_by or self._context.settings.importance)


class _Batch:
    """Observations on their way in, under the write lock."""

    def __init__(self, context: Context, retriever: Retriever, seen: Sequence[Observation], vectors: Vectors) -> None:
        self._context = context
        self._library = context.library
        self._seen = seen
        self._recent = context.library.memories.latest(RECENT)
        self._state = state_of(context)
        self._created: dict[int, str] = {}
        limits = retriever.limits()
        self._resemblance = Resemblance(context, limits)
        self._flag = limits.flag
        self._near = retriever.near_memories(vectors, limits.flag)
        self._alike = np.clip(vectors @ vectors.T, -1.0, 1.0)

    def take(self, tx: Tx, place: int) -> Ingested:
        """Take in one observation."""
        observation = self._seen[place]
        mine = self._identity(observation)
        recent = [m for m in self._recent if not identity_of(m).parted(mine)]
        if contained_in_recent(observation.content, [m.content for m in recent]):
            said = next(m for m in reversed(recent) if contained_in_recent(observation.content, [m.content]))
            return Ingested("skipped", said)
        resembles = self._resemblance
        near = resembles.nearest(observation.content, observation.memory_type, mine, self._similar(place))
        if near is not None and near.is_same:
            return self._absorb(tx, observation, near)
        memory = self._create(tx, place)
        if near is None:
            return Ingested("created", memory)
        if near.verdict.conflicts:
            question = resembles.question(memory, near.memory)
        else:
            question = resembles.merge(memory, near).proposal(self._context.now(), self._context.actor)
        if question is None:
            return Ingested("created", memory, near.memory, near.verdict)
        tx.put(question)
        outcome: Outcome = "contradicts" if near.verdict.conflicts else "proposed"
        return Ingested(outcome, memory, near.memory, near.verdict)

    def count(self, tx: Tx) -> None:
        """Let the reflection gauge know what was created."""
        if self._created:
            tx.put(self._state)

    def _identity(self, observation: Observation) -> Identity:
        """Return what the memory that an observation may become is about."""
        return identity_of(memory_of(observation, "", self._context.now()))

    def _similar(self, place: int) -> list[Similar]:
        """Return the most similar memories as they are now, those made in this batch included."""
        pairs = [(memory.id, cosine) for memory, cosine in self._near[place]]
        before = self._alike[place, :place]
        alike = np.flatnonzero(before >= self._flag).tolist()
        pairs += [(self._created[at], float(before[at])) for at in alike if at in self._created]
        best = sorted(pairs, key=lambda pair: -pair[1])[:NEAREST]
        now = ((self._library.memories.find(id), cosine) for id, cosine in best)
        return [(memory, cosine) for memory, cosine in now if memory is not None]

    def _absorb(self, tx: Tx, observation: Observation, near: Near) -> Ingested:
        """Count a duplicate on the memory it repeats, and keep its text there."""
        memory = near.memory
        note = {
            "text": observation.content,
            "at": iso(self._context.now()),
            "similarity": round(near.cosine, 4),
            "session": observation.session_id,
            **({MASKED: list(observation.masked)} if observation.masked else {}),
        }
        known = memory.metadata.get("absorbed", [])
        absorbed = [*(known if isinstance(known, list) else []), note]
        # An agent that repeats itself is no second source.
        step = 0 if is_own(self._context, memory) else 1
        counted = replace(
            memory, helpful_absorbed=memory.helpful_absorbed + step, metadata={**memory.metadata, "absorbed": absorbed}
        )
        tx.put(counted)
        return Ingested("absorbed", counted, memory, near.verdict)

    def _create(self, tx: Tx, place: int) -> Memory:
        now = self._context.now()
        memory = memory_of(self._seen[place], tx.new_memory_id(now), now)
        tx.put(memory)
        self._created[place] = memory.id
        self._recent = [*self._recent[1 - RECENT :], memory]
        self._state = record_observation(self._state, memory.importance_score, now)
        return memory
