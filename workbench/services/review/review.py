"""Review: candidates and other proposals wait here for a person's decision.

What only a decision needs is imported by it: the first screen counts what waits, and is not to wait
for more.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from workbench.core.document import from_doc, to_doc
from workbench.core.record import Conflict, UnknownRecord, WorkbenchError
from workbench.core.review.kinds import group_of, kind_of, order_of
from workbench.core.review.lifecycle import restore
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.text import named
from workbench.services.agents.capture.memories import told_by
from workbench.services.context import Context
from workbench.services.review.kinds import Handler, candidate_in, handler_of, noted
from workbench.services.review.queue import (
    NO_EVIDENCE,
    Branch,
    Citations,
    Cited,
    Evidence,
    ReviewQueue,
    is_put_off,
    looked_up,
)
from workbench.services.safety.secret_filter import IMPORT
from workbench.store.library import Library

if TYPE_CHECKING:
    from workbench.core.stream.filter import Filter, Predicate
    from workbench.services.stream.fields import Authors, FieldEdit
    from workbench.services.tuning.retriever import Retriever


# Proposals that were worked out and are stored nowhere: they are decided like those that are.


class Suggestions:
    """What finders found last, as far as it still stands; callable from any thread.

    One stands as long as the memories that it rests on are as they were, and no proposal of its
    name is stored: who decides on it stores it, and an undo brings it back.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._found: dict[str, dict[str, tuple[Proposal, tuple[Memory | None, ...]]]] = {}
        self._lately: dict[str, frozenset[str]] = {}
        self._standing: dict[str, Proposal] = {}
        self._at = -1
        self._lock = threading.Lock()

    def take(self, finder: str, proposals: Iterable[Proposal]) -> None:
        """Take what a finder found in place of what it found before; what was decided since may be
        taken back.
        """
        found = {one.id: (one, self._memories(one)) for one in proposals}
        with self._lock:
            known = self._found.get(finder, {})
            decided = {
                id: one for id, one in known.items() if id not in found and self._is_stored(id)
            }
            self._lately[finder], self._found[finder] = frozenset(found), found | decided
            self._at = -1

    def standing(self) -> Mapping[str, Proposal]:
        """Return what still stands: flagged first, then by importance (`kinds.order_of`), then by
        name.
        """
        with self._lock:
            if self._at != (revision := self._library.revision):
                every = (pair for found in self._found.values() for pair in found.values())
                left = [
                    one
                    for one, rests in every
                    if not self._is_stored(one.id) and self._memories(one) == rests
                ]
                left.sort(key=lambda one: (not one.flags, order_of(one), one.id))
                self._standing, self._at = {one.id: one for one in left}, revision
            return self._standing

    def holds(self, id: str) -> bool:
        """Tell whether the finders found it last, whatever became of it since."""
        return any(id in found for found in list(self._lately.values()))

    def _is_stored(self, id: str) -> bool:
        return self._library.proposals.find(id) is not None

    def _memories(self, proposal: Proposal) -> tuple[Memory | None, ...]:
        return tuple(self._library.memories.find(id) for id in proposal.evidence)


__all__ = ["NO_EVIDENCE", "Branch", "Cited", "Review", "is_put_off"]

LATER_DAYS = 7
"""How many days "later" puts a decision off."""

_DECIDE = "decide on a proposal"

Keep = Callable[[str], object]
"""Told a text, in the transaction that writes it, whose secrets stay as a person typed them."""


class Review:
    """The queue of proposals and the ways to decide on one, which are a person's: they raise for an
    agent.
    """

    def __init__(self, context: Context, retriever: "Callable[[], Retriever]") -> None:
        self._context = context
        self._library = context.library
        self._retriever = retriever
        self._citations = Citations(context.library)
        self._queue = ReviewQueue(context, self._citations)
        self._found = Suggestions(context.library)
        self._authors: Authors | None = None

    def _handler(self, proposal: Proposal) -> Handler:
        return handler_of(self._context, proposal.kind)

    def queue(self) -> tuple[Proposal, ...]:
        """Return what waits: flagged first, then by importance (`kinds.order_of`), then the oldest;
        put-off ones last.

        The proposals of candidates come without their `changes`; `get` adds them.
        """
        return self._queue.all()

    def waiting(self) -> int:
        """Return how many proposals wait and are not put off, without what may be noise."""
        return self._queue.waiting()

    def waiting_in(self, group: str) -> int:
        """Return how many proposals of a group wait and are not put off, those that nobody stored
        among them.
        """
        now = self._context.now()
        every = (*self._queue.all(), *self.found())
        return sum(group_of(one) == group and not is_put_off(one, now) for one in every)

    def waiting_candidates(self) -> int:
        """Return how many candidates wait for a decision, put off or not: no agent is served one."""
        return len(self._library.waiting(Memory, "candidate"))

    def found(self) -> tuple[Proposal, ...]:
        """Return what was worked out (`WorkingOut`) and is stored nowhere, as far as it still
        stands.
        """
        return tuple(self._found.standing().values())

    def take_found(self, finder: str, proposals: Iterable[Proposal]) -> None:
        """Take what a finder found in place of what it found before; it can be decided on from now
        on.
        """
        self._found.take(finder, proposals)

    def settle(self, id: str) -> None:
        """Note of a proposal that was put off and is not found any more that it is done: it was
        decided elsewhere.
        """
        stored = self._library.proposals.find(id)
        if stored is not None and stored.state == "open" and not self._found.holds(id):
            with self._context.transaction(f"approve {id}") as tx:
                tx.put(replace(stored, state="accepted", decided_at=self._context.now()))

    def get(self, id: str) -> Proposal:
        """Return an open proposal with what accepting it would change; raises `UnknownRecord`."""
        found = self.open_one(id)
        return replace(found, changes=self._handler(found).changes(found))

    def memory(self, proposal: Proposal) -> Memory | None:
        """Return the memory a proposal is about: the candidate, or the newer one of a merge; `None`
        when gone.
        """
        return self._library.memories.find(self._handler(proposal).about(proposal))

    def cited(self, proposal: Proposal) -> tuple[Cited, ...]:
        return self._queue.cited(proposal)

    def known(self, proposal: Proposal) -> Evidence:
        """Return what a proposal rests on as far as that needs no search: citations, and what they
        cite in turn.
        """
        memory = self.memory(proposal)
        tree = self._citations.tree(memory.citations, memory.id) if memory is not None else ()
        messages = 0 if memory is None else len(told_by(memory))
        return Evidence(self.cited(proposal), tree, searched=memory is None, messages=messages)

    def matching(self, queue: Sequence[Proposal], text: str) -> tuple[Proposal, ...]:
        """Return the proposals that a filter lets through, in their order.

        The clauses of the filter look at the memory; every free word must occur in its text or
        tags, or in the proposal's title or flags. Raises `InvalidQuery`.
        """
        if not text.strip():
            return tuple(queue)
        from workbench.core.stream.filter import parse_filter

        chosen = parse_filter(text, self._context.now())
        tests, words = self._tests(chosen), [word.casefold() for word in chosen.words]
        plain = not (chosen.clauses or chosen.phrases or chosen.excluded)
        kept = []
        for proposal in queue:
            memory = self.memory(proposal)
            if memory is not None and kind_of(proposal.kind).of_archived:
                memory = restore(memory)  # a filter hides what is archived
            if plain if memory is None else all(test(memory) for test in tests):
                said = (*_texts(memory), proposal.kind, *proposal.flags, proposal.title)
                found = "\n".join(said).casefold()
                if all(word in found for word in words):
                    kept.append(proposal)
        return tuple(kept)

    def _tests(self, chosen: "Filter") -> "list[Predicate]":
        if not chosen.actors:
            return chosen.tests()
        from workbench.services.stream.fields import Authors

        self._authors = self._authors or Authors(self._context)
        return [*chosen.without_actors().tests(), *self._authors.tests(chosen)]

    def evidence(self, proposal: Proposal, k: int = 3) -> Evidence:
        """Gather what supports a proposal, what resembles and what contradicts it; safe on any
        thread.
        """
        known, memory = self.known(proposal), self.memory(proposal)
        if memory is None or not self._retriever().ready:
            return known
        exclude = (
            memory.id,
            *memory.citations,
            *proposal.evidence,
            *(c.memory.id for c in known.cited if c.memory),
        )
        asked = replace(memory, content=self._handler(proposal).text(proposal, memory))
        return looked_up(known, asked, self._retriever(), exclude, k)

    def merged(self, proposal: Proposal, other: str = "", content: str | None = None) -> Memory:
        """Return what a merge would leave: of a merge proposal's memories, or of a candidate with
        `other`.

        `content` is the text to leave in place of theirs. Raises `WorkbenchError` when they cannot
        be merged.
        """
        if other:
            return self._absorbed(proposal.id, other, content)[0]
        from workbench.core.duplicates.groups import merge_memories

        pair = [self._library.memories.get(id) for id in proposal.evidence]
        return merge_memories(
            pair, self._context.now(), keep=proposal.evidence[-1], content=content
        )[0]

    def outcome(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the memories that accepting would write, as they would be; the one it is about
        comes first.
        """
        open_one = self.open_one(proposal.id)
        handler = self._handler(open_one)
        after = handler.becoming(open_one)
        if after is not None:
            return after
        found = []
        for id, change in ((c.id, c) for c in handler.changes(open_one) if c.table == "memories"):
            before = self._library.memories.find(id)
            doc = {} if before is None else to_doc(before)
            doc |= {name: field.after for name, field in change.fields.items()}
            found.append(
                from_doc(Memory, {name: value for name, value in doc.items() if value is not None})
            )
        return tuple(found)

    def approve(self, ids: Sequence[str]) -> None:
        """Accept proposals: a candidate is confirmed, a merge is carried out. All of them, or none."""
        label, group = f"approve {named(ids, 'proposals')}", self.origin(ids)
        with self._context.transaction(label, by_person=_DECIDE, group=group) as tx:
            proposals = [self.open_one(id) for id in ids]
            outcomes = [self._handler(proposal).becoming(proposal) for proposal in proposals]
            if len(ids) > 1:
                _require_apart(
                    [self._places(*both) for both in zip(proposals, outcomes, strict=True)]
                )
            for proposal, after in zip(proposals, outcomes, strict=True):
                self._handler(proposal).accept(tx, proposal, after)

    def origin(self, ids: Sequence[str]) -> str:
        """Return the group that a transaction which accepts these must have: text of a file is no
        person's word.

        Raises `WorkbenchError` where only some of them bring text of a file.
        """
        known = (self._known(id) for id in ids)
        brought = {
            self._handler(proposal).brings_text for proposal in known if proposal is not None
        }
        if len(brought) > 1:
            raise WorkbenchError(
                "Approve changed files separately from other proposals.", "Nothing was decided."
            )
        if True not in brought:
            return ""
        import uuid

        return f"{IMPORT}{uuid.uuid4().hex[:12]}"

    def subject(self, proposal: Proposal) -> Memory:
        """Return the memory that a person may edit before accepting; one to be stored has no id
        yet.

        Raises `WorkbenchError` for a proposal without a text to edit, or when accepting is
        impossible.
        """
        open_one = self.open_one(proposal.id)
        return self._handler(open_one).subject(open_one)

    def edit(self, id: str, wanted: "FieldEdit") -> None:
        """Edit the subject of a proposal, which waits on. Raises `InvalidRecord` for what cannot be
        stored.
        """
        from workbench.services.stream.fields import MemoryFields

        with self._context.transaction(f"edit {id}", by_person="edit a proposal") as tx:
            proposal = self.open_one(id)
            handler = self._handler(proposal)
            before = handler.subject(proposal)
            after = MemoryFields(self._context).edited(before, wanted)
            if after != before:
                tx.put(handler.edited(proposal, before, after))

    def reject(self, ids: Sequence[str], reason: str = "", keep: Keep | None = None) -> str:
        """Turn proposals down: a candidate leaves a tombstone, both sides of a merge are kept.

        Return the name of this action, with which `explain` may add the reason later. `keep` is
        told the reason, in the same transaction, when it stays as a person typed it.
        """
        import uuid

        group = f"reject-{uuid.uuid4().hex[:12]}"
        with self._context.transaction(
            _rejecting(ids, reason), by_person=_DECIDE, group=group
        ) as tx:
            if keep is not None:
                keep(reason)
            at = self._context.now()
            for id in ids:
                proposal = self.open_one(id)
                for record in self._handler(proposal).turn_down(proposal, reason, at):
                    tx.put(record)
        return group

    def keep_old(self, ids: Sequence[str]) -> None:
        """Keep the older one of two memories of which the newer contradicts it, and archive that."""
        with self._context.transaction(
            f"keep the old of {named(ids, 'proposals')}", by_person=_DECIDE
        ) as tx:
            for id in ids:
                proposal = self.open_one(id)
                handler = self._handler(proposal)
                for record in (
                    *handler.keeping_old(proposal),
                    handler.rejected(proposal, self._context.now()),
                ):
                    tx.put(record)

    def explain(
        self, group: str, ids: Sequence[str], reason: str, keep: Keep | None = None
    ) -> None:
        """Record why candidates were rejected, as part of the rejection: undo takes both back.
        `keep`: see `reject`.
        """
        from workbench.services.review.rewriting import REJECTED_BECAUSE

        with self._context.transaction(
            _rejecting(ids, reason), by_person=_DECIDE, group=group, part=2
        ) as tx:
            if keep is not None:
                keep(reason)
            for id in ids:
                memory = self._library.memories.find(id)
                if memory is not None and memory.archived_reason == "rejected":
                    tx.put(noted(memory, {REJECTED_BECAUSE: reason}))

    def later(self, ids: Sequence[str]) -> None:
        """Put decisions off; the proposals go to the end of the queue for a week."""
        until = self._context.now() + timedelta(days=LATER_DAYS)
        with self._context.transaction(f"later {named(ids, 'proposals')}", by_person=_DECIDE) as tx:
            for id in ids:
                proposal = self.open_one(id)
                tx.put(self._handler(proposal).put_off(proposal, until))

    def merge_into(
        self, id: str, other: str, content: str | None = None, expected: str | None = None
    ) -> None:
        """Merge a candidate into an existing memory, which stays what it is; the candidate becomes
        an alias of it.

        The memory keeps its text too, unless a person chose another `content`. Raises
        `InvalidRecord` for an empty or too long one, and `Conflict` when the memory's text no
        longer is the `expected` one.
        """
        with self._context.transaction(f"merge {id} into {other}", by_person=_DECIDE) as tx:
            _require_text(self._library.memories.get(other), expected)
            for memory in self._absorbed(id, other, content):
                tx.put(memory)

    def _absorbed(self, id: str, other: str, content: str | None) -> tuple[Memory, ...]:
        from workbench.core.duplicates.groups import absorb
        from workbench.services.stream.fields import with_text

        target = self._library.memories.get(other)
        text = None if content is None else with_text(target, content).content
        merged, archived = absorb(
            target, candidate_in(self._library, id), self._context.now(), text
        )
        return merged, *archived

    def split(self, id: str, parts: Sequence[str], expected: str | None = None) -> tuple[str, ...]:
        """Make several candidates of one, each with all its citations; return their ids.

        The original is archived as superseded. Raises `InvalidRecord` for fewer than two parts, or
        equal or too long ones, and `Conflict` when the text no longer is the `expected` one.
        """
        from workbench.services.review.rewriting import check_parts, part_of, split_up

        check_parts(parts)
        with self._context.transaction(f"split {id} into {len(parts)}", by_person=_DECIDE) as tx:
            memory = candidate_in(self._library, id)
            _require_text(memory, expected)
            new = [part_of(memory, tx.new_memory_id(self._context.now()), text) for text in parts]
            for record in (*new, split_up(memory, [m.id for m in new])):
                tx.put(record)
        return tuple(m.id for m in new)

    def refine(
        self, id: str, rounds: Sequence[str], chosen: str, expected: str | None = None
    ) -> None:
        """Let a candidate say `chosen`, one of its rounds of words; the others are kept with it.

        Raises `InvalidRecord` for an empty or too long text, `Conflict` when the text no longer is
        `expected`.
        """
        from workbench.services.review.rewriting import with_rounds

        with self._context.transaction(f"refine {id}") as tx:
            memory = candidate_in(self._library, id)
            _require_text(memory, expected)
            tx.put(with_rounds(memory, rounds, chosen))

    def open_one(self, id: str) -> Proposal:
        """Return an open proposal as it was made, whether or not it can still be accepted; raises
        `UnknownRecord`.
        """
        if (found := self._known(id)) is None:
            raise UnknownRecord(f"No open proposal {id}.", "It may have been decided elsewhere.")
        return found

    def _known(self, id: str) -> Proposal | None:
        return self._queue.find(id) or self._found.standing().get(id)

    def _places(
        self, proposal: Proposal, after: tuple[Memory, ...] | None
    ) -> frozenset[tuple[str, str]]:
        """Return table and key of what accepting an open proposal writes to."""
        if after is None:
            return frozenset(
                (change.table, change.id) for change in self._handler(proposal).changes(proposal)
            )
        return frozenset(("memories", memory.id) for memory in after)


def _texts(memory: Memory | None) -> Iterable[str]:
    return () if memory is None else (memory.content, memory.summary, *memory.tags)


def _require_text(memory: Memory, expected: str | None) -> None:
    if expected is not None and memory.content != expected:
        raise Conflict(f"{memory.id} was changed elsewhere meanwhile.", "Nothing was written.")


def _require_apart(every: Iterable[frozenset[tuple[str, str]]]) -> None:
    """Refuse proposals that would overwrite each other's changes: those that write to one place."""
    seen: frozenset[tuple[str, str]] = frozenset()
    for places in every:
        both = sorted(id for _, id in places & seen)
        if both:
            raise WorkbenchError(
                f"Two of these proposals change {both[0]}.", "Approve them one by one; none was."
            )
        seen |= places


def _rejecting(ids: Sequence[str], reason: str) -> str:
    return f"reject {named(ids, 'proposals')}" + (f": {reason}" if reason else "")
