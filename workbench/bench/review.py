"""Review: candidates and other proposals wait here for a person's decision."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from workbench.bench.context import Context, apply_changes
from workbench.bench.retriever import Retriever
from workbench.core import lifecycle
from workbench.core.change import Change, diff
from workbench.core.errors import InvalidRecord, UnknownRecord, WorkbenchError
from workbench.core.lifecycle import Tombstone
from workbench.core.memory import MAX_CONTENT, Memory
from workbench.core.merge import merge_memories
from workbench.core.playbook import Bullet
from workbench.core.proposal import Proposal
from workbench.core.record import to_doc
from workbench.core.text import clean_for_store

LATER_DAYS = 7
"""How many days "later" puts a decision off."""

NO_EVIDENCE = "no evidence"


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation: the id as written, and the memory it means (`None` when it is not in the store)."""

    id: str
    memory: Memory | None

    @property
    def gone(self) -> str:
        """Why the citation no longer supports anything, or an empty text."""
        if self.memory is None:
            return "not in this store"
        return self.memory.archived_reason or "archived" if self.memory.status == "archived" else ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a decision rests on.

    `near` are the most similar other memories and `near_bullets` the most similar bullets, with their
    cosine; both are empty, and `searched` false, while the model is still loading.
    """

    cited: tuple[Cited, ...]
    near: tuple[tuple[Memory, float], ...] = ()
    near_bullets: tuple[tuple[Bullet, float], ...] = ()
    tombstone: Tombstone | None = None
    searched: bool = False


class Review:
    """The queue of proposals and the ways to decide on one."""

    def __init__(self, context: Context, retriever: Retriever) -> None:
        self._context = context
        self._library = context.library
        self._retriever = retriever

    def queue(self) -> tuple[Proposal, ...]:
        """Return what waits: flagged first, then by importance, then the oldest; put-off ones at the end."""
        now = self._context.now()
        open_ones = [self._of_candidate(m) for m in self._library.memories.all() if m.status == "candidate"]
        open_ones += [p for p in self._library.proposals.all() if p.state == "open"]
        open_ones.sort(key=lambda p: (_put_off(p, now), not p.flags, -p.importance, p.created_at, p.id))
        return tuple(open_ones)

    def waiting(self) -> int:
        """Return how many proposals wait and are not put off."""
        now = self._context.now()
        return sum(not _put_off(p, now) for p in self.queue())

    def get(self, id: str) -> Proposal:
        """Return an open proposal; raises `UnknownRecord`."""
        found = next((p for p in self.queue() if p.id == id), None)
        if found is None:
            raise UnknownRecord(f"No proposal {id} waits for review.")
        return found

    def memory(self, proposal: Proposal) -> Memory:
        """Return the memory a proposal is about: the candidate, or the newer one of a merge."""
        id = proposal.id if proposal.kind == "reflection" else proposal.evidence[0]
        return self._library.memories.get(id)

    def evidence(self, proposal: Proposal, k: int = 3) -> Evidence:
        """Gather what supports a proposal and what resembles it."""
        memory = self.memory(proposal)
        cited = tuple(Cited(id, self._library.memories.find(id)) for id in proposal.evidence)
        if not self._retriever.ready:
            return Evidence(cited)
        near = self._retriever.nearest_memories(memory.content, exclude=(memory.id, *memory.citations))
        bullets = self._retriever.nearest_bullets(memory.content, k)
        tombstone = lifecycle.resembles_rejection(memory, near, self._retriever.thresholds().review)
        living = tuple((m, s) for m, s in near if m.status != "archived")[:k]
        return Evidence(cited, living, bullets, tombstone, searched=True)

    def approve(self, ids: Sequence[str]) -> None:
        """Accept proposals: a candidate is confirmed, a merge is carried out."""
        with self._library.transaction(self._context.actor, f"approve {_named(ids)}") as tx:
            for id in ids:
                proposal = self.get(id)
                apply_changes(tx, self._library, self._changes(proposal))
                if proposal.kind != "reflection":
                    tx.put(replace(proposal, state="accepted", changes=()))

    def edit_and_approve(self, id: str, content: str) -> None:
        """Confirm a candidate with another text."""
        memory = self._candidate(id)
        text = clean_for_store(content).strip("\n")
        if not text.strip():
            raise InvalidRecord("An empty candidate cannot be approved.", "Reject it instead; nothing was changed.")
        if len(text) > MAX_CONTENT:
            raise InvalidRecord(f"The text is longer than {MAX_CONTENT:,} characters.", "Nothing was changed.")
        summary = memory.summary if text == memory.content else ""
        with self._library.transaction(self._context.actor, f"edit and approve {id}") as tx:
            tx.put(replace(lifecycle.approve(self._candidate(id)), content=text, summary=summary))

    def reject(self, ids: Sequence[str], reason: str = "") -> None:
        """Turn proposals down: a candidate leaves a tombstone, both sides of a merge are kept."""
        with self._library.transaction(self._context.actor, f"reject {_named(ids)}") as tx:
            for id in ids:
                proposal = self.get(id)
                if proposal.kind == "reflection":
                    rejected = lifecycle.reject(self._candidate(id))
                    metadata = {**rejected.metadata, "rejected_because": reason} if reason else rejected.metadata
                    tx.put(replace(rejected, metadata=metadata))
                else:
                    tx.put(replace(proposal, state="rejected"))

    def later(self, ids: Sequence[str]) -> None:
        """Put decisions off; the proposals go to the end of the queue for a week."""
        until = self._context.now() + timedelta(days=LATER_DAYS)
        with self._library.transaction(self._context.actor, f"later {_named(ids)}") as tx:
            for id in ids:
                proposal = self.get(id)
                if proposal.kind == "reflection":
                    tx.put(lifecycle.later(self._candidate(id), until))
                else:
                    tx.put(replace(proposal, review_after=until))

    def merge_into(self, id: str, other: str) -> None:
        """Merge a candidate into an existing memory, whose id is kept; the candidate becomes an alias of it."""
        pair = (self._candidate(id), self._library.memories.get(other))
        with self._library.transaction(self._context.actor, f"merge {id} into {other}") as tx:
            merged, archived = merge_memories(pair, self._context.now(), keep=other)
            for memory in (merged, *archived):
                tx.put(memory)

    def _candidate(self, id: str) -> Memory:
        memory = self._library.memories.get(id)
        if memory.status != "candidate":
            raise WorkbenchError(f"{id} is no candidate any more ({memory.status}).", "Nothing was changed.")
        return memory

    def _of_candidate(self, memory: Memory) -> Proposal:
        proposal = Proposal(
            id=memory.id,
            kind="reflection",
            actor=str(memory.metadata.get("reflector", memory.source.hook or "reflection")),
            title=memory.line,
            created_at=memory.created_at,
            evidence=memory.citations,
            flags=self._flags(memory),
            importance=memory.importance_score,
            review_after=memory.review_after,
        )
        return replace(proposal, changes=self._changes(proposal))

    def _flags(self, memory: Memory) -> tuple[str, ...]:
        now = self._context.now()
        cited = [Cited(id, self._library.memories.find(id)) for id in memory.citations]
        flags = [] if any(c.memory for c in cited) else [NO_EVIDENCE]
        if any(c.gone for c in cited):
            flags.append("cites what is gone")
        finding = lifecycle.age_finding(replace(memory, review_after=None), now, self._context.settings.lifecycle)
        if finding is not None:
            flags.append("waits long")
        return tuple(flags)

    def _changes(self, proposal: Proposal) -> tuple[Change, ...]:
        """Return what accepting would write, from the records as they are now."""
        if proposal.kind == "merge":
            pair = [self._library.memories.get(id) for id in proposal.evidence]
            merged, archived = merge_memories(pair, self._context.now(), keep=proposal.evidence[-1])
            after = (merged, *archived)
        elif proposal.kind == "reflection":
            after = (lifecycle.approve(self._candidate(proposal.id)),)
        else:
            return proposal.changes
        before = {m.id: self._library.memories.get(m.id) for m in after}
        return tuple(diff("memories", m.id, to_doc(before[m.id]), to_doc(m)) for m in after)


def _put_off(proposal: Proposal, now: datetime) -> bool:
    return proposal.review_after is not None and proposal.review_after > now


def _named(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{len(ids)} proposals"
