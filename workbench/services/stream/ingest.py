"""Taking in observations (source 000, algorithm 4): dedup in two tiers, then the reflection gauge."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal, NamedTuple

import numpy as np

from workbench.core.agents.actors import require_person, stands_by
from workbench.core.duplicates.dedup import (
    RECENT,
    Identity,
    PairVerdict,
    identity_of,
)
from workbench.core.limits import DedupThresholds
from workbench.core.record import as_list, iso
from workbench.core.reflection.trigger import record_observation
from workbench.core.review import lifecycle
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import UNWANTED, Memory
from workbench.retrieval.arrays import Vectors
from workbench.retrieval.fulltext.fuzzy import order_similarity
from workbench.safety.secrets import mask as mask_secrets
from workbench.services.context import Context
from workbench.services.duplicates.comparing import MEMORIES, Judge
from workbench.services.duplicates.plan import WORKBENCH, merge_proposal, pair_group
from workbench.services.health.upkeep import contradicted_by, proposal_of
from workbench.services.reflection.gauge import state_of
from workbench.services.safety.provenance import is_own
from workbench.services.stream.observation import MASKED, Observation, cleaned, memory_of, said_in
from workbench.services.stream.returned import Archived, Purged, archived_at, question
from workbench.services.tuning.retriever import Retriever
from workbench.store.library import Library, Tx

NEAREST = 5
"""How many of the most similar memories are looked at."""

Similar = tuple[Memory, float]
"""A memory and the cosine of its text with another one."""


def most_similar(library: Library, found: Iterable[tuple[str, float]]) -> list[Similar]:
    """Return the most similar memories as the open transaction has them."""
    best = sorted(found, key=lambda pair: -pair[1])[:NEAREST]
    now = ((library.memories.find(id), cosine) for id, cosine in best)
    return [(memory, cosine) for memory, cosine in now if memory is not None]


class Near(NamedTuple):
    """A memory that resembles a text, the cosine, and what speaks for and against their being the
    same.
    """

    memory: Memory
    cosine: float
    verdict: PairVerdict

    @property
    def is_same(self) -> bool:
        """Whether nothing but the form differs."""
        return self.verdict.action == "absorb"


class Resemblance:
    """Judges by the rules of the batch deduplication, so that both propose the same; one for each
    batch.
    """

    def __init__(self, context: Context, limits: DedupThresholds) -> None:
        self._context = context
        self._limits = limits
        self._judge = Judge(MEMORIES, limits)

    def nearest(
        self, text: str, memory_type: str, about: Identity, similar: Iterable[Similar]
    ) -> Near | None:
        """Return the living memory of a type that most surely says what a text does, of some that
        are `similar`.

        What is about somebody or something else is none, however alike it is.
        """
        living = [(memory, cosine) for memory, cosine in similar if memory.status != "archived"]
        return self._nearest(text, memory_type, about, living)

    def forgotten(
        self, text: str, memory_type: str, about: Identity, similar: Iterable[Similar]
    ) -> Memory | None:
        """Return the memory that says what a text does and that a person did not want, if there is
        one.
        """
        gone = [
            (memory, cosine) for memory, cosine in similar if memory.archived_reason in UNWANTED
        ]
        near = self._nearest(text, memory_type, about, gone)
        return None if near is None or near.verdict.conflicts else near.memory

    def _nearest(
        self, text: str, memory_type: str, about: Identity, similar: Sequence[Similar]
    ) -> Near | None:
        pairs = [
            (memory, cosine, order_similarity(text, memory.content))
            for memory, cosine in similar
            if memory.memory_type == memory_type and not identity_of(memory).parted(about)
        ]
        # Judging takes a hundred times as long as comparing the order, without which nothing is
        # absorbed.
        for memory, cosine, order in pairs:
            if order >= self._limits.order and (near := self._judged(text, memory, cosine)).is_same:
                return near
        parted = None
        for memory, cosine, _ in pairs:
            if self._judge.much_alike(text, memory.content):
                near = self._judged(text, memory, cosine)
                if not near.verdict.conflicts:
                    return near
                parted = parted or near
        return parted

    def asked(self, memory: Memory, near: Near, actor: str = WORKBENCH) -> Proposal | None:
        """Return what a person is to decide about a memory and one that it resembles, if anything:
        to merge them, as the batch deduplication asks, or whether one of them still holds.
        """
        if near.verdict.conflicts:
            return self.question(memory, near.memory)
        pair = pair_group(memory, near.memory, near.cosine, near.verdict)
        return merge_proposal(pair, self._context.now(), actor)

    def question(self, memory: Memory, other: Memory) -> Proposal | None:
        """Return the question whether a memory still is true, or which of two holds, as upkeep asks
        it; mostly none.
        """
        found = contradicted_by(other, [memory])
        kind = "replaces" if found is not None and found.replaces else "reconfirm"
        if found is None or any(p.kind == kind and p.evidence[0] == other.id for p in self._open()):
            return None
        now = self._context.now()
        finding = lifecycle.finding(
            other, now, self._context.settings.lifecycle, contradicted=found
        )
        return None if finding is None else proposal_of(finding, other, now)

    def _judged(self, text: str, memory: Memory, cosine: float) -> Near:
        return Near(memory, cosine, self._judge.read(memory.content, text))

    def _open(self) -> Iterator[Proposal]:
        proposals = self._context.library.proposals.all()
        return (p for p in proposals if p.state == "open" and p.actor == WORKBENCH)


Keep = Callable[[str], None]
"""Is told the memory whose secrets stay as a person typed them."""

Outcome = Literal[
    "created", "skipped", "absorbed", "proposed", "contradicts", "forgotten", "seen", "restored", "purged"
]  # fmt: skip


_AGAIN = "bring back what was forgotten or purged"


class Ingested(NamedTuple):
    """What became of an observation: the memory it is now in, and why.

    `skipped`: one of the last ten already says it; `absorbed`: counted on a duplicate; `proposed`:
    stored, and a merge with `other` waits in Review; `contradicts`: stored, and whether the trusted
    `other` still is true waits there. `created` with an `other`: they only look alike, and
    `verdict` says what parts them.

    Of a text that was archived or purged before, `at` says when. `forgotten`: a person did not want
    it, and it is not stored; `seen`: nor is it for an agent, whose sighting is counted; `restored`:
    it had been pruned; `purged`: it had been erased for good, and is not stored. `unwanted` is a
    forgotten memory that what was stored resembles.
    """

    outcome: Outcome
    memory: Memory
    other: Memory | None = None
    verdict: PairVerdict | None = None
    at: datetime | None = None
    unwanted: Memory | None = None


class Ingest:
    """The way in for observations, one or many at a time; `mask` takes out what must not be
    written.
    """

    def __init__(
        self, context: Context, retriever: Retriever, mask: Callable[[str], str] = mask_secrets
    ) -> None:
        self._context = context
        self._library = context.library
        self._retriever = retriever
        self._mask = mask

    def add(
        self, observation: Observation, keep: Keep | None = None, *, again: bool = False
    ) -> Ingested:
        """Store an observation unless it repeats what is there; raises `InvalidRecord` for empty or
        too long text.
        """
        return self.add_many((observation,), keep, again=again)[0]

    def add_many(
        self, observations: Sequence[Observation], keep: Keep | None = None, *, again: bool = False
    ) -> list[Ingested]:
        """Store observations as one transaction, each compared with what is there and with those
        before it.

        With `keep` nothing is masked, and it is told each memory that holds such a text. With
        `again` a person wants what was forgotten or purged, too. Raises `InvalidRecord` for empty
        or too long text; nothing is written then.
        """
        if again:
            require_person(self._context.actor, _AGAIN)
        mask, usual = self._mask if keep is None else str, self._context.settings.importance
        rated = [one._replace(rated_by=one.rated_by or usual) for one in observations]
        seen = [cleaned(observation, mask) for observation in rated]
        if not seen:
            return []
        # Loading and embedding can take a while, and others must not wait for it at the write lock.
        self._retriever.load()
        vectors = self._retriever.comparable([one.content for one in seen])
        what = seen[0].observation_type if len(seen) == 1 else f"{len(seen)} observations"
        with self._context.transaction(f"ingest {what}") as tx:
            returns = None if again else Returns(self._context)
            batch = _Batch(self._context, self._retriever, seen, vectors, returns)
            done = [batch.take(tx, place) for place in range(len(seen))]
            if len(done) == 1 and done[0].outcome in ("created", "proposed"):
                tx.relabel(f"ingest {what} {done[0].memory.id}")
            batch.count(tx)
            if keep is not None:
                for one in done:
                    if one.outcome not in ("skipped", "forgotten", "purged"):
                        keep(one.memory.id)
        return done

    def append(
        self,
        observation: Observation,
        keep: Keep | None = None,
        *,
        again: bool = False,
        uid: str = "",
    ) -> Ingested:
        """Store an observation, compared with the latest memories and with what was archived, as a
        hook's are.

        With `keep` it is stored as it is typed; for `uid` see `Library.transaction`.
        """
        seen = cleaned(observation, self._mask if keep is None else str)
        label, by_person = f"ingest {seen.observation_type}", _AGAIN if again else ""
        with self._context.transaction(label, by_person=by_person, uid=uid) as tx:
            latest = [m for m in self._library.memories.latest(RECENT) if m.status != "archived"]
            if (said := said_in(seen.content, latest)) is not None:
                return Ingested("skipped", said)
            returned = None if again else Returns(self._context).take(tx, seen)
            if returned is not None:
                return returned
            now = self._context.now()
            memory = memory_of(seen, tx.new_memory_id(now), now)
            tx.put(memory)
            tx.put(record_observation(state_of(self._context), memory.importance_score, now))
            tx.relabel(f"{label} {memory.id}")
            if keep is not None:
                keep(memory.id)
        return Ingested("created", memory)


class _Batch:
    """Observations on their way in, under the write lock."""

    def __init__(
        self,
        context: Context,
        retriever: Retriever,
        seen: Sequence[Observation],
        vectors: Vectors,
        returns: "Returns | None",
    ) -> None:
        self._context = context
        self._library = context.library
        self._returns = returns
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
        observation = self._seen[place]
        mine = self._identity(observation)
        recent = [
            m for m in self._recent if m.status != "archived" and not identity_of(m).parted(mine)
        ]
        if (said := said_in(observation.content, recent)) is not None:
            return Ingested("skipped", said)
        resembles = self._resemblance
        similar = self._similar(place)
        near = resembles.nearest(observation.content, observation.memory_type, mine, similar)
        if near is not None and near.is_same:
            counted = seen_again(self._context, observation, near.memory, near.cosine)
            tx.put(counted)
            return Ingested("absorbed", counted, near.memory, near.verdict)
        returned = None if self._returns is None else self._returns.take(tx, observation)
        if returned is not None:
            return returned
        done = self._compared(tx, self._create(tx, place), near)
        unwanted = resembles.forgotten(observation.content, observation.memory_type, mine, similar)
        at = None if unwanted is None else archived_at(self._library, unwanted)
        return done._replace(unwanted=unwanted, at=at)

    def _compared(self, tx: Tx, memory: Memory, near: Near | None) -> Ingested:
        """Put up for a decision what a new memory may be one with, or contradict."""
        resembles = self._resemblance
        if near is None:
            return Ingested("created", memory)
        question = resembles.asked(memory, near, self._context.actor)
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
        return most_similar(self._library, pairs)

    def _create(self, tx: Tx, place: int) -> Memory:
        now = self._context.now()
        memory = memory_of(self._seen[place], tx.new_memory_id(now), now)
        tx.put(memory)
        self._created[place] = memory.id
        self._recent = [*self._recent[1 - RECENT :], memory]
        self._state = record_observation(self._state, memory.importance_score, now)
        return memory


class Returns:
    """Takes what comes in again after it was archived or purged, by the reason of that."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library
        self._purged = Purged(context.library)
        self._archived = Archived(context.library)

    def take(self, tx: Tx, observation: Observation) -> Ingested | None:
        """Return what became of an observation that was archived or purged; `None` for any other,
        which is stored.
        """
        memory = memory_of(observation, "", self._context.now())
        purged = self._purged.find(observation.content)
        if purged is not None:
            return Ingested("purged", replace(memory, id=purged.id.partition("/")[2]), at=purged.at)
        old = self._archived.find(memory)
        if old is None or old.archived_reason == "done":
            return None
        if old.status != "archived":
            return self._counted(tx, observation, old, "absorbed")
        if old.archived_reason == "pruned":
            back = replace(lifecycle.restore(old), last_accessed_at=self._context.now())
            return self._counted(tx, observation, back, "restored")
        if old.archived_reason not in UNWANTED:
            return None
        at = archived_at(self._library, old)
        if stands_by(self._context.actor):
            return Ingested("forgotten", old, at=at)
        done = self._counted(tx, observation, old, "seen")
        asked = question(self._context, done.memory, at)
        if asked is not None:
            tx.put(asked)
        return done._replace(at=at)

    def _counted(
        self, tx: Tx, observation: Observation, memory: Memory, outcome: Outcome
    ) -> Ingested:
        counted = seen_again(self._context, observation, memory, 1.0)
        tx.put(counted)
        return Ingested(outcome, counted, memory)


def seen_again(context: Context, observation: Observation, memory: Memory, cosine: float) -> Memory:
    """Return a memory on which an observation is counted that says the same, with its text."""
    note = {
        "text": observation.content,
        "at": iso(context.now()),
        "similarity": round(cosine, 4),
        "session": observation.session_id,
        **({MASKED: list(observation.masked)} if observation.masked else {}),
    }
    absorbed = [*as_list(memory.metadata.get("absorbed")), note]
    # An agent that repeats itself is no second source.
    step = 0 if is_own(context, memory) else 1
    return replace(
        memory,
        helpful_absorbed=memory.helpful_absorbed + step,
        metadata={**memory.metadata, "absorbed": absorbed},
    )
