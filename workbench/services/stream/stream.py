"""The memory stream: find, vote, pin, edit, forget.

What only a change needs is imported by it: the first screen looks, and is not to wait for more.
"""

import re
import threading
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.core.agents.actors import require_person
from workbench.core.record import Conflict, WorkbenchError
from workbench.core.stream.filter import Filter, Predicate, parse_filter
from workbench.core.stream.memory import Memory, Verdict
from workbench.core.text import named
from workbench.services.context import Changed, Context
from workbench.services.safety.suspicion import shown_texts
from workbench.store.library import Library

if TYPE_CHECKING:
    from workbench.services.stream.fields import Authors
    from workbench.services.stream.memory_lines import MemoryLines
    from workbench.services.stream.votes import VoteResult


_MANY = 5_000
"""Changes at once from which everything is read anew."""

_FLAGGED = re.compile(r"(?<!\S)(-?)is:flagged(?!\S)", re.IGNORECASE)

FIRST = 200
"""How many of the newest memories are shown before those of a large store were read."""

SMALL = 5_000
"""Memories up to which free words can be looked for without getting ready for it."""


@dataclass(frozen=True, slots=True)
class StreamView:
    """What the stream shows: the filter, the memories in order, and how many there are in all.

    `tests` are what the memories passed: the filter's, and that of `is:flagged`. With `is_partial`
    only the newest were looked at, the others not being in memory yet.
    """

    filter: Filter
    memories: tuple[Memory, ...]
    total: int
    tests: Sequence[Predicate] = field(compare=False)
    is_partial: bool = False

    @property
    def question(self) -> str:
        """What is asked in words, phrases in quotes; empty for a filter of clauses only, which
        ranks nothing.
        """
        return " ".join((*self.filter.words, *(f'"{phrase}"' for phrase in self.filter.phrases)))

    def spans(self, memory: Memory) -> tuple[tuple[int, int], ...]:
        """Return which characters of a memory's line matched the free words, if there are any."""
        if not self.filter.words:
            return ()
        from workbench.retrieval.fulltext.fuzzy import spans_in

        return spans_in(memory.line, " ".join(self.filter.words))


class MemoryFinder:
    """Every memory of a store, newest first, and the lines that free words are looked for in.

    Both are made when they are first asked for, and follow the store from then on. Any thread may
    ask.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.RLock()
        self._changed = Changed(library, "memories")
        self._order: list[Memory] | None = None
        self._known: dict[str, Memory] = {}
        self._words: MemoryLines | None = None

    @property
    def is_prepared(self) -> bool:
        """Whether free words can be looked for at once."""
        return self._words is not None

    def prepare(self, *, words: bool = True) -> None:
        """Get ready for filters, those with free `words` too; others may ask meanwhile."""
        order = self.all()
        while words and self._words is None:
            lines = _lines_of(order)
            with self._lock:
                # What came meanwhile is not in those.
                self._words = lines if order is self.all() else self._words
                order = self.all()

    def all(self) -> list[Memory]:
        """Return every memory, newest first; whoever was given it goes on with what it was."""
        with self._lock:
            changed = self._changed.take()
            if self._order is None or len(changed) > _MANY:
                self._order = sorted(self._library.memories.all(), key=newest, reverse=True)
                self._known = {memory.id: memory for memory in self._order}
                self._words = None
            elif changed:
                self._order = self._followed(list(self._order), (id for _, id in changed))
            return self._order

    def matching(self, words: str, tests: Sequence[Predicate]) -> list[Memory]:
        """Return the memories that hold every one of some free words and pass tests, the best match
        first.

        Of equally good matches those that show in a memory's line come first, and then the newest.
        """
        with self._lock:
            order = self.all()
            if self._words is None:
                self._words = _lines_of(order)
            found = [order[place] for place in self._words.places(words, order).tolist()]
        return passed(found, tests)

    def _followed(self, order: list[Memory], ids: Iterable[str]) -> list[Memory]:
        """Return an order after memories came, went or changed."""
        table = self._library.memories
        for id in ids:
            doc_id = table.doc_id_of(id)
            before, now = (
                self._known.pop(id, None),
                next(iter(table.at(() if doc_id is None else (doc_id,))), None),
            )
            if before is not None:
                del order[bisect_left(order, older(before), key=older)]
            if now is not None:
                self._known[id] = now
                insort(order, now, key=older)
            if self._words is not None:
                self._words.follow(before, now)
        return order


def passed(memories: Sequence[Memory], tests: Sequence[Predicate]) -> list[Memory]:
    """Return those memories that pass every test: one test after the other, which takes half as
    long as all of each.
    """
    found = memories if isinstance(memories, list) else list(memories)
    for test in tests:
        found = list(filter(test, found))
    return found


def _lines_of(order: Sequence[Memory]) -> "MemoryLines":
    # Its numeric libraries are not imported before they are needed.
    from workbench.services.stream.memory_lines import MemoryLines

    return MemoryLines(order)


def newest(memory: Memory) -> tuple[datetime, str]:
    """Return a key that orders the newest last."""
    return (memory.created_at, memory.id)


def older(memory: Memory) -> tuple[float, tuple[int, ...]]:
    """Return a key that orders the newest first, as `newest` in reverse does; the 1 puts a prefix
    last.
    """
    return (-memory.created_at.timestamp(), (*(-ord(c) for c in memory.id), 1))


class Stream:
    """What a person does with single memories."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library
        self._finder = MemoryFinder(context.library)

    @cached_property
    def authors(self) -> "Authors":
        from workbench.services.stream.fields import Authors

        return Authors(self._context)

    def view(self, text: str = "", *, forgiving: bool = False) -> StreamView:
        """Return the memories a filter lets through, newest first (best match first when there are
        free words).

        Raises `InvalidQuery` for a filter that cannot be read; `forgiving` searches for a mistyped
        clause as a word.
        """
        chosen, tests = self._parsed(text, forgiving=forgiving)
        words = " ".join(chosen.words)
        found = self._finder.matching(words, tests) if words else passed(self._finder.all(), tests)
        return StreamView(chosen, tuple(found), len(self._library.memories), tests)

    def view_at_once(self, text: str = "") -> StreamView:
        """Return what `view` does; as long as all memories of a large store cannot be filtered at
        once, of its newest.

        A mistyped clause is a word here: a person sees at once what is shown. Raises `InvalidQuery`
        for a value that cannot be read.
        """
        chosen, tests = self._parsed(text, forgiving=True)
        total = len(self._library.memories)
        if self._library.is_read and (
            total <= SMALL or not chosen.words or self._finder.is_prepared
        ):
            return self.view(text, forgiving=True)
        found = sorted(self._library.memories.newest(FIRST), key=newest, reverse=True)[:FIRST]
        if chosen.words:
            found = [
                found[at] for at in _lines_of(found).places(" ".join(chosen.words), found).tolist()
            ]
        return StreamView(chosen, tuple(passed(found, tests)), total, tests, is_partial=True)

    def prepare(self, *, words: bool = True) -> None:
        """Get ready to filter at every key, which takes a moment of a large store; with `words`, by
        free words too.
        """
        self._finder.prepare(words=words)

    def updated(self, view: StreamView, ids: Iterable[str], text: str) -> StreamView:
        """Return a view after the given memories changed: each is put, kept or left out where it
        belongs.

        `text` is the filter the view was made with. A view of free words is made anew, since its
        order may change.
        """
        if view.is_partial or view.filter.words:
            return self.view_at_once(text) if view.is_partial else self.view(text, forgiving=True)
        changed = set(ids)
        kept = [m for m in view.memories if m.id not in changed]
        for id in changed:
            memory = self._library.memories.find(id)
            if memory is not None and all(test(memory) for test in view.tests):
                insort(kept, memory, key=older)
        return StreamView(view.filter, tuple(kept), len(self._library.memories), view.tests)

    def get(self, id: str) -> Memory:
        """Return a memory, by its id or by one it was merged from; raises `UnknownRecord`."""
        found = self._library.memories.find(id)
        return (
            found
            or next((m for m in self._library.memories.all() if id in m.aliases), None)
            or self._strict(id)
        )

    def vote(self, ids: Sequence[str], verdict: Verdict) -> "VoteResult":
        """Vote on one memory, or on several; the same vote again on a single one takes it back."""
        from workbench.services.stream.votes import vote_on

        return vote_on(self._context, [self._strict(id) for id in ids], verdict)

    def pin(self, ids: Sequence[str], pinned: bool | None = None) -> bool:
        """Pin or unpin; without `pinned` the first memory's state is turned over. Return the new
        state.
        """
        wanted = not self._strict(ids[0]).pinned if pinned is None else pinned
        self._change(ids, "pin" if wanted else "unpin", lambda m: replace(m, pinned=wanted))
        return wanted

    def edit(self, id: str, content: str, expected: str | None = None) -> bool:
        """Change the text of a memory; return whether it differs.

        Raises `Conflict` when its text no longer is the `expected` one, `InvalidRecord` for one
        that is too long.
        """
        from workbench.services.stream.fields import with_text

        memory = self._strict(id)
        if with_text(memory, content) == memory:
            return False
        with self._context.transaction(f"edit {id}"):
            if expected is not None and self._strict(id).content != expected:
                raise Conflict(
                    f"{id} was changed by someone else meanwhile.", "Nothing was written."
                )
            self._change((id,), "edit", lambda m: with_text(m, content))
        return True

    def confirm(self, ids: Sequence[str]) -> list[str]:
        """Confirm the signals among memories; return their ids.

        Raises `WorkbenchError` where there are none, and for an agent. Candidates are decided on in
        Review.
        """
        from workbench.core.review import lifecycle

        require_person(self._context.actor, "confirm anything")
        signals = [id for id in ids if self._strict(id).status == "signal"]
        if not signals:
            status = self._strict(ids[0]).status
            hint = "It is decided in Review." if status == "candidate" else "Nothing was changed."
            raise WorkbenchError(f"Only a signal is confirmed here; {ids[0]}: {status}.", hint)
        now, limits = self._context.now(), self._context.settings.lifecycle

        self._change(signals, "confirm", lambda memory: lifecycle.approve(memory, now, limits))
        return signals

    def forget(self, ids: Sequence[str]) -> None:
        """Archive memories as forgotten; undo brings them back."""
        from workbench.core.review import lifecycle

        self._change(ids, "forget", lifecycle.forget)

    def restore(self, ids: Sequence[str]) -> None:
        """Bring archived memories back into the stream."""
        from workbench.core.review import lifecycle

        self._change(ids, "restore", lifecycle.restore)

    def cited_by(self, id: str) -> tuple[Memory, ...]:
        """Return the reflections that rest on a memory."""
        return tuple(memory for memory in self._library.memories.all() if id in memory.citations)

    def cited(self, memory: Memory) -> tuple[tuple[str, Memory | None], ...]:
        """Return what a memory cites; `None` for an id that is not in the store."""
        return tuple((id, self._library.memories.find(id)) for id in memory.citations)

    def timeline(self, id: str, around: int = 5) -> tuple[Memory, ...]:
        """Return the memories of the same session before and after one, oldest first, itself
        included.
        """
        memory = self._strict(id)
        if not memory.session_id:
            return (memory,)
        session = [m for m in reversed(self._finder.all()) if m.session_id == memory.session_id]
        place = next(i for i, m in enumerate(session) if m.id == id)
        return tuple(session[max(0, place - around) : place + around + 1])

    def live_vote(self, id: str) -> str:
        """Return this actor's live vote on a memory, or an empty text."""
        return self._context.live_vote("memories", id)

    def _parsed(self, text: str, *, forgiving: bool) -> tuple[Filter, list[Predicate]]:
        """Read a filter, with its tests; what the memories themselves cannot answer is asked last.

        That is `actor:`, which the journal answers, and `is:flagged`, for which the texts are
        scanned.
        """
        chosen = parse_filter(_FLAGGED.sub("", text), self._context.now(), forgiving=forgiving)
        flagged = [self._is_flagged(not minus) for minus in _FLAGGED.findall(text)]
        actors = self.authors.tests(chosen) if chosen.actors else []
        chosen = chosen.without_actors() if actors else chosen
        return chosen, [*chosen.tests(), *actors, *flagged]

    def _is_flagged(self, wanted: bool) -> Predicate:
        sorts = self._context.verdicts.sorts
        return lambda memory: any(map(sorts, shown_texts(memory))) == wanted

    def _change(self, ids: Sequence[str], verb: str, step: Callable[[Memory], Memory]) -> None:
        """Change memories one way, as they stand under the write lock."""
        with self._context.transaction(f"{verb} {named(ids, 'memories')}") as tx:
            for id in ids:
                tx.put(step(self._strict(id)))

    def _strict(self, id: str) -> Memory:
        return self._library.memories.get(id)
