"""Review: candidates and other proposals wait here for a person's decision."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from workbench.bench.context import Context, apply_changes
from workbench.bench.review_queue import NO_EVIDENCE, Cited, ReviewQueue, is_put_off
from workbench.core import lifecycle
from workbench.core.change import Change, diff
from workbench.core.errors import Conflict, InvalidRecord, UnknownRecord, WorkbenchError
from workbench.core.filter import parse_filter
from workbench.core.lifecycle import Tombstone
from workbench.core.memory import MAX_CONTENT, Memory
from workbench.core.merge import merge_memories
from workbench.core.playbook import Bullet
from workbench.core.proposal import Proposal
from workbench.core.record import iso, parse_time, to_doc
from workbench.core.text import clean_for_store
from workbench.store.library import Tx

if TYPE_CHECKING:
    from workbench.bench.retriever import Retriever

__all__ = ["NO_EVIDENCE", "Cited", "Evidence", "Rejection", "Review", "is_put_off", "rejection_of"]

LATER_DAYS = 7
"""How many days "later" puts a decision off."""

REJECTED_AT, REJECTED_BECAUSE = "rejected_at", "rejected_because"
"""Metadata keys of a rejected memory."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """When a memory was rejected and why, as far as that is known."""

    at: datetime | None = None
    reason: str = ""


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

    def __init__(self, context: Context, retriever: "Callable[[], Retriever]") -> None:
        self._context = context
        self._library = context.library
        self._retriever_of = retriever
        self._queue = ReviewQueue(context)

    @property
    def _retriever(self) -> "Retriever":
        return self._retriever_of()

    def queue(self) -> tuple[Proposal, ...]:
        """Return what waits: flagged first, then by importance, then the oldest; put-off ones at the end.

        The proposals of candidates come without their `changes`; `get` adds them.
        """
        return self._queue.all()

    def waiting(self) -> int:
        """Return how many proposals wait and are not put off."""
        return self._queue.waiting()

    def get(self, id: str) -> Proposal:
        """Return an open proposal with what accepting it would change; raises `UnknownRecord`."""
        found = self._open(id)
        return replace(found, changes=self._changes(found))

    def memory(self, proposal: Proposal) -> Memory | None:
        """Return the memory a proposal is about: the candidate, or the newer one of a merge; `None` when gone."""
        id = proposal.id if proposal.kind == "reflection" else next(iter(proposal.evidence), "")
        return self._library.memories.find(id)

    def cited(self, proposal: Proposal) -> tuple[Cited, ...]:
        """Return what a proposal rests on."""
        return self._queue.cited(proposal.evidence)

    def matching(self, queue: Sequence[Proposal], text: str) -> tuple[Proposal, ...]:
        """Return the proposals that a filter lets through, in their order.

        The clauses of the filter look at the memory; every free word must occur in its text or tags,
        or in the proposal's title or flags. Raises `InvalidQuery`.
        """
        if not text.strip():
            return tuple(queue)
        chosen = parse_filter(text, self._context.now())
        wanted, words = chosen.predicate(), [word.casefold() for word in chosen.words]
        kept = []
        for proposal in queue:
            memory = self.memory(proposal)
            if memory is not None and wanted(memory):
                found = "\n".join((memory.content, memory.summary, *memory.tags, *proposal.flags, proposal.title))
                if all(word in found.casefold() for word in words):
                    kept.append(proposal)
        return tuple(kept)

    def evidence(self, proposal: Proposal, k: int = 3) -> Evidence:
        """Gather what supports a proposal and what resembles it; safe on any thread."""
        cited, memory = self.cited(proposal), self.memory(proposal)
        if memory is None or not self._retriever.ready:
            return Evidence(cited, searched=memory is None)
        exclude = (memory.id, *memory.citations, *proposal.evidence)
        near = self._retriever.nearest_memories(memory.content, exclude=exclude)
        bullets = self._retriever.nearest_bullets(memory.content, k)
        tombstone = lifecycle.resembles_rejection(memory, near, self._retriever.thresholds().review)
        living = tuple((m, s) for m, s in near if m.status != "archived")[:k]
        return Evidence(cited, living, bullets, tombstone, searched=True)

    def merged(self, proposal: Proposal, other: str = "") -> Memory:
        """Return what a merge would leave: of a merge proposal's memories, or of a candidate with `other`.

        Raises `WorkbenchError` when they cannot be merged.
        """
        ids = (proposal.id, other) if other else proposal.evidence
        pair = [self._library.memories.get(id) for id in ids]
        return merge_memories(pair, self._context.now(), keep=ids[-1])[0]

    def approve(self, ids: Sequence[str]) -> None:
        """Accept proposals: a candidate is confirmed, a merge is carried out. All of them, or none."""
        with self._library.transaction(self._context.actor, f"approve {_named(ids)}") as tx:
            proposals = [self.get(id) for id in ids]
            _require_apart(proposals)
            for proposal in proposals:
                self._accept(tx, proposal)

    def edit_and_approve(self, id: str, content: str, expected: str | None = None) -> None:
        """Confirm a candidate with another text, or carry out a merge with it.

        Raises `Conflict` when the text of its memory no longer is the `expected` one.
        """
        text = clean_for_store(content).strip("\n")
        if not text.strip():
            raise InvalidRecord("An empty text cannot be approved.", "Reject it instead; nothing was changed.")
        if len(text) > MAX_CONTENT:
            raise InvalidRecord(f"The text is longer than {MAX_CONTENT:,} characters.", "Nothing was changed.")
        with self._library.transaction(self._context.actor, f"edit and approve {id}") as tx:
            proposal = self.get(id)
            memory = self.memory(proposal)
            if expected is not None and memory is not None and memory.content != expected:
                raise Conflict(f"{id} was changed by someone else meanwhile.", "Nothing was written.")
            self._accept(tx, replace(proposal, changes=self._changes(proposal, text)))

    def reject(self, ids: Sequence[str], reason: str = "") -> str:
        """Turn proposals down: a candidate leaves a tombstone, both sides of a merge are kept.

        Return the name of this action, with which `explain` may add the reason later.
        """
        group = f"reject-{uuid.uuid4().hex[:12]}"
        with self._library.transaction(self._context.actor, _rejecting(ids, reason), group=group) as tx:
            at = iso(self._context.now())
            for id in ids:
                proposal = self._open(id)
                if proposal.kind == "reflection":
                    rejected = lifecycle.reject(self._candidate(id))
                    tx.put(_noted(rejected, {REJECTED_AT: at, **({REJECTED_BECAUSE: reason} if reason else {})}))
                else:
                    tx.put(replace(proposal, state="rejected"))
        return group

    def explain(self, group: str, ids: Sequence[str], reason: str) -> None:
        """Record why candidates were rejected, as part of the rejection: undo takes both back."""
        with self._library.transaction(self._context.actor, _rejecting(ids, reason), group=group, part=2) as tx:
            for id in ids:
                memory = self._library.memories.find(id)
                if memory is not None and memory.archived_reason == "rejected":
                    tx.put(_noted(memory, {REJECTED_BECAUSE: reason}))

    def later(self, ids: Sequence[str]) -> None:
        """Put decisions off; the proposals go to the end of the queue for a week."""
        until = self._context.now() + timedelta(days=LATER_DAYS)
        with self._library.transaction(self._context.actor, f"later {_named(ids)}") as tx:
            for id in ids:
                proposal = self._open(id)
                if proposal.kind == "reflection":
                    tx.put(lifecycle.later(self._candidate(id), until))
                else:
                    tx.put(replace(proposal, review_after=until))

    def merge_into(self, id: str, other: str) -> None:
        """Merge a candidate into an existing memory, whose id is kept; the candidate becomes an alias of it."""
        with self._library.transaction(self._context.actor, f"merge {id} into {other}") as tx:
            pair = (self._candidate(id), self._library.memories.get(other))
            merged, archived = merge_memories(pair, self._context.now(), keep=other)
            for memory in (merged, *archived):
                tx.put(memory)

    def _open(self, id: str) -> Proposal:
        found = self._queue.find(id)
        if found is None:
            raise UnknownRecord(f"No proposal {id} waits for review.", "It may have been decided elsewhere.")
        return found

    def _accept(self, tx: Tx, proposal: Proposal) -> None:
        apply_changes(tx, self._library, proposal.changes)
        if proposal.kind != "reflection":
            # Those of a merge were computed from the records; only changes that came with a proposal stay on it.
            kept = () if proposal.kind == "merge" else proposal.changes
            tx.put(replace(proposal, state="accepted", changes=kept))

    def _candidate(self, id: str) -> Memory:
        memory = self._library.memories.get(id)
        if memory.status != "candidate":
            raise WorkbenchError(f"{id} is no candidate any more ({memory.status}).", "Nothing was changed.")
        return memory

    def _changes(self, proposal: Proposal, content: str | None = None) -> tuple[Change, ...]:
        """Return what accepting would write, from the records as they are now; `content` is the person's text."""
        after: tuple[Memory, ...]
        if proposal.kind == "merge":
            pair = [self._library.memories.get(id) for id in proposal.evidence]
            merged, archived = merge_memories(pair, self._context.now(), keep=proposal.evidence[-1], content=content)
            after = (merged, *archived)
        elif proposal.kind == "reflection":
            limits = self._context.settings.lifecycle
            approved = lifecycle.approve(self._candidate(proposal.id), self._context.now(), limits)
            after = (approved if content in (None, approved.content) else _reworded(approved, content or ""),)
        elif content is not None:
            raise WorkbenchError("This proposal has no text to edit.", "Approve or reject it; nothing was changed.")
        else:
            return proposal.changes
        before = {m.id: self._library.memories.get(m.id) for m in after}
        return tuple(diff("memories", m.id, to_doc(before[m.id]), to_doc(m)) for m in after)


def rejection_of(memory: Memory) -> Rejection:
    """Return when and why a rejected memory was rejected."""
    at, reason = memory.metadata.get(REJECTED_AT), memory.metadata.get(REJECTED_BECAUSE)
    try:
        when = parse_time(at) if isinstance(at, str) else None
    except ValueError:
        when = None
    return Rejection(when, reason if isinstance(reason, str) else "")


def _require_apart(proposals: Sequence[Proposal]) -> None:
    """Refuse proposals that would overwrite each other's changes."""
    seen: set[tuple[str, str]] = set()
    for proposal in proposals:
        places = {(change.table, change.id) for change in proposal.changes}
        both = sorted(id for _, id in places & seen)
        if both:
            raise WorkbenchError(f"Two of these proposals change {both[0]}.", "Approve them one by one; none was.")
        seen |= places


def _reworded(memory: Memory, content: str) -> Memory:
    """Give a memory another text; a summary of the old text goes."""
    return replace(memory, content=content, summary="")


def _noted(memory: Memory, notes: dict[str, str]) -> Memory:
    return replace(memory, metadata={**memory.metadata, **notes})


def _rejecting(ids: Sequence[str], reason: str) -> str:
    return f"reject {_named(ids)}" + (f": {reason}" if reason else "")


def _named(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{len(ids)} proposals"
