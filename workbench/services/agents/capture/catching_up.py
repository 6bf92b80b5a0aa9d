"""Comparing what hooks captured with what was there: a hook adds at once, and nobody waits for the
model in it.

It goes on where it was left: a note in the user's cache folder says through which revision all was
compared. Without the note everything that says of itself that a hook captured it is compared again,
which finds nothing twice; what agents added in other ways is left as it is then, for a person has
lived with it.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from workbench.core.duplicates.dedup import identity_of
from workbench.core.duplicates.groups import MEMORY_COUNTS, absorb
from workbench.core.review.lifecycle import LADDER
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory
from workbench.services import caches
from workbench.services.agents.capture.memories import CAPTURED
from workbench.services.duplicates.plan import WORKBENCH, Settled
from workbench.services.safety.provenance import provenances
from workbench.services.stream.ingest import (
    Near,
    Resemblance,
    most_similar,
)
from workbench.services.tuning.retriever import Comparing
from workbench.store.library import Tx

FILE = "compared.json"
AT_ONCE = 100
"""Memories that are compared in one turn, between which others may write."""


class Arrived(NamedTuple):
    """A memory that an agent's hook brought, who acted then, and with which revision it came."""

    memory: Memory
    actor: str
    rev: int


class CaughtUp(NamedTuple):
    """How many captured memories were compared, counted on another one, and put up for a decision."""

    compared: int = 0
    counted: int = 0
    proposed: int = 0


class CatchUp(Comparing):
    """Takes what was captured through the second tier of deduplication, once; by nobody, so that no
    undo means it.
    """

    def run(self, stop: Cancelled = lambda: False) -> CaughtUp:
        """Compare what came since the last time, until `stop` says so; of a store that is not
        trusted nothing.

        Raises `StoreProblem` when others hold the store, and `UnreadableFile` when there is no
        model; the next run goes on there.
        """
        if not self._library.standing.trusted:
            return CaughtUp()
        self._library.refresh()
        through, done = self._library.revision, CaughtUp()
        left = self._arrived(self._compared())
        while left and not stop():
            turn, left = left[:AT_ONCE], left[AT_ONCE:]
            counted, proposed = self._turn(turn, {one.memory.id for one in left})
            done = CaughtUp(
                done.compared + len(turn), done.counted + counted, done.proposed + proposed
            )
            self._note(left[0].rev - 1 if left else through)
        if not left:
            self._note(through)
        return done

    def _arrived(self, after: int | None) -> list[Arrived]:
        """Return what was captured after a revision and nobody put away since, in the order in
        which it came.
        """
        found = []
        for arrival in self._library.arrivals(after or 0):
            if arrival.kind == "edit" and arrival.added:
                came = self._library.memories.at(arrival.added)
                by_agent = after is not None and arrival.actor.startswith("agent:")
                found += [
                    Arrived(m, arrival.actor, arrival.rev)
                    for m in came
                    if _is_captured(m, by_agent=by_agent)
                ]
        return found

    def _turn(self, turn: Sequence[Arrived], later: Collection[str]) -> tuple[int, int]:
        """Compare some with all that came before them; return how many were counted elsewhere, and
        put up.
        """
        retriever = self._retriever()
        # Loading and embedding can take a while, and others must not wait for it at the write lock.
        retriever.load()
        vectors = retriever.comparable([one.memory.content for one in turn])
        limits = retriever.limits()
        resembles = Resemblance(self._context, limits)
        counted = proposed = 0
        with self._library.transaction(WORKBENCH, f"deduplicate {len(turn)} captured") as tx:
            near = retriever.near_memories(vectors, limits.flag)
            settled = Settled.of(self._library)
            unseen = {*later, *(one.memory.id for one in turn)}
            for one, similar in zip(turn, near, strict=True):
                unseen.discard(one.memory.id)
                memory = self._library.memories.find(one.memory.id)
                if (
                    memory is None
                    or memory.status == "archived"
                    or memory.content != one.memory.content
                ):
                    continue
                others = most_similar(
                    self._library,
                    ((m.id, c) for m, c in similar if m.id not in unseen and m.id != memory.id),
                )
                found = resembles.nearest(
                    memory.content, memory.memory_type, identity_of(memory), others
                )
                if found is None or not settled.is_open((memory, found.memory)):
                    continue
                if found.is_same and _may_go(memory, found.memory):
                    self._count(tx, one.actor, memory, found)
                    counted += 1
                elif (question := resembles.asked(memory, found)) is not None:
                    tx.put(question)
                    proposed += 1
        return counted, proposed

    def _count(self, tx: Tx, actor: str, memory: Memory, near: Near) -> None:
        """Put a memory away and count it on the one that it repeats, whose text and standing stay."""
        target = near.memory
        merged, away = absorb(target, memory, self._context.now())
        known = provenances(self._context, [target])[target.id]
        # An agent that repeats itself is no second source.
        step = 0 if (known.kind, f"agent:{known.name}") == ("agent", actor) else 1
        counts = {name: getattr(target, name) for name in MEMORY_COUNTS}
        tx.put(replace(merged, **{**counts, "helpful_absorbed": target.helpful_absorbed + step}))
        for one in away:
            tx.put(one)

    def _compared(self) -> int | None:
        """Return the revision through which all was compared; `None` where that is not known of
        this store.
        """
        try:
            doc = json.loads((self._context.caches / FILE).read_bytes())
            store, rev = doc["store"], doc["rev"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        known, revision, _ = self._library.named_state
        return rev if store == known and type(rev) is int and 0 <= rev <= revision else None

    def _note(self, rev: int) -> None:
        note = {"store": self._library.named_state[0], "rev": rev}
        caches.keep(self._context.caches / FILE, json.dumps(note).encode("ascii"))


def _is_captured(memory: Memory, *, by_agent: bool) -> bool:
    """Tell whether a memory came by a hook or from a transcript, or an agent added it: by which
    way, nobody knows.
    """
    return memory.status != "archived" and (CAPTURED in memory.metadata or by_agent)


def _may_go(memory: Memory, target: Memory) -> bool:
    """Tell whether nobody cared for a memory yet, and the one that it repeats stands at least as
    high.
    """
    votes = memory.helpful_votes or memory.harmful_votes
    return not (memory.pinned or votes) and LADDER.index(memory.status) <= LADDER.index(
        target.status
    )
