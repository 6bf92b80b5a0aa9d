"""The memory stream: find, vote, pin, edit, forget."""

import re
from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from workbench.bench.context import Context
from workbench.bench.safety.shown import shown_texts
from workbench.bench.safety.texts import kept_edges, kept_summary
from workbench.bench.stream import votes
from workbench.core.errors import Conflict, InvalidRecord
from workbench.core.review import lifecycle
from workbench.core.stream.filter import Filter, Predicate, parse_filter
from workbench.core.stream.memory import MAX_CONTENT, Memory
from workbench.core.stream.vote import Verdict, vote_id
from workbench.core.text import clean_for_store

_FLAGGED = re.compile(r"(?<!\S)(-?)is:flagged(?!\S)", re.IGNORECASE)

MAX_FUZZY = 2000
"""How many memories a free-word search lists at most."""

FIRST = 200
"""How many of the newest memories are shown before those of a large store were read."""

MAX_SEARCHED = 10_000
"""Characters of a memory's line, and of the rest, that free words are looked for in."""


@dataclass(frozen=True, slots=True)
class StreamView:
    """What the stream shows: the filter, the memories in order, and how many there are in all.

    `spans` gives, for memories found by free words, which characters of their line matched. `wanted` is the test
    that memories passed: the filter's, and that of `is:flagged`.
    """

    filter: Filter
    memories: tuple[Memory, ...]
    total: int
    spans: dict[str, tuple[tuple[int, int], ...]]
    wanted: Predicate = field(compare=False)


class Stream:
    """What a person does with single memories."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library
        self._citations: tuple[int, dict[str, list[str]]] | None = None
        self._ranked: tuple[str, int, StreamView] | None = None

    def view(self, text: str = "") -> StreamView:
        """Return the memories a filter lets through, newest first (best match first when there are free words).

        Raises `InvalidQuery` for a filter that cannot be read.
        """
        if not text.strip() and not self._library.is_read:
            return self._first()
        rev = self._library.revision
        if self._ranked is not None and self._ranked[:2] == (text, rev):
            return self._ranked[2]
        view = self._view(text)
        # Words alone find the same until the store changes; with a condition the time counts, and what was flagged.
        if view.filter.words and ":" not in text:
            self._ranked = (text, rev, view)
        return view

    def _first(self) -> StreamView:
        """Return the newest memories of a large store that is not in memory yet."""
        newest = sorted(self._library.memories.newest(FIRST), key=_newest, reverse=True)[:FIRST]
        chosen, wanted = self._parsed("")
        return StreamView(chosen, tuple(newest), len(self._library.memories), {}, wanted)

    def _view(self, text: str) -> StreamView:
        chosen, wanted = self._parsed(text)
        every = self._library.memories.all()
        kept = sorted((m for m in every if wanted(m)), key=_newest, reverse=True)
        spans: dict[str, tuple[tuple[int, int], ...]] = {}
        if chosen.words:
            from workbench.retrieval.fulltext.fuzzy import fuzzy_rank  # numeric libraries: not before they are needed

            hits = fuzzy_rank(" ".join(chosen.words), [searched(m) for m in kept], MAX_FUZZY)
            ends = {hit.index: len(kept[hit.index].line) for hit in hits}
            # Of equally good matches, those that show in the line come first.
            hits.sort(key=lambda hit: (-hit.score, not any(start < ends[hit.index] for start, _ in hit.spans)))
            spans = {kept[hit.index].id: hit.spans for hit in hits}
            kept = [kept[hit.index] for hit in hits]
        return StreamView(chosen, tuple(kept), len(every), spans, wanted)

    def updated(self, view: StreamView, ids: Iterable[str], text: str) -> StreamView:
        """Return a view after the given memories changed: each is put, kept or left out where it belongs.

        `text` is the filter the view was made with. A view of free words is made anew, since its order may change.
        """
        if view.filter.words:
            return self.view(text)
        wanted = view.wanted
        changed = set(ids)
        kept = [m for m in view.memories if m.id not in changed]
        for id in changed:
            memory = self._library.memories.find(id)
            if memory is not None and wanted(memory):
                insort(kept, memory, key=_older)
        return StreamView(view.filter, tuple(kept), len(self._library.memories), view.spans, wanted)

    def get(self, id: str) -> Memory:
        """Return a memory, by its id or by one it was merged from; raises `UnknownRecord`."""
        found = self._library.memories.find(id)
        return found or next((m for m in self._library.memories.all() if id in m.aliases), None) or self._strict(id)

    def vote(self, ids: Sequence[str], verdict: Verdict) -> votes.VoteResult:
        """Vote on one memory, or on several; the same vote again on a single one takes it back."""
        if len(ids) == 1:
            return votes.toggle(self._context, self._strict(ids[0]), verdict)
        with self._library.transaction(self._context.actor, f"vote {verdict} on {len(ids)} memories"):
            results = [votes.cast(self._context, self._strict(id), verdict) for id in ids]
        return results[-1]

    def pin(self, ids: Sequence[str], pinned: bool | None = None) -> bool:
        """Pin or unpin; without `pinned` the first memory's state is turned over. Return the new state."""
        wanted = not self._strict(ids[0]).pinned if pinned is None else pinned
        self._change(ids, "pin" if wanted else "unpin", lambda m: replace(m, pinned=wanted))
        return wanted

    def edit(self, id: str, content: str, expected: str | None = None) -> bool:
        """Change the text of a memory; return whether it differs.

        Raises `Conflict` when its text no longer is the `expected` one, `InvalidRecord` for one that is too long.
        """
        memory = self._strict(id)
        text = kept_edges(clean_for_store(content), memory.content)
        if text == memory.content:
            return False
        if len(text) > MAX_CONTENT:
            over = len(text) - MAX_CONTENT
            message = f"The text is {over:,} characters too long (at most {MAX_CONTENT:,})."
            raise InvalidRecord(message, "Nothing was changed.")
        summary = kept_summary(memory.summary, memory.content)
        with self._library.transaction(self._context.actor, f"edit {id}"):
            if expected is not None and self._strict(id).content != expected:
                raise Conflict(f"{id} was changed by someone else meanwhile.", "Nothing was written.")
            self._change((id,), "edit", lambda m: replace(m, content=text, summary=summary))
        return True

    def forget(self, ids: Sequence[str]) -> None:
        """Archive memories as forgotten; undo brings them back."""
        self._change(ids, "forget", lifecycle.forget)

    def restore(self, ids: Sequence[str]) -> None:
        """Bring archived memories back into the stream."""
        self._change(ids, "restore", lifecycle.restore)

    def cited_by(self, id: str) -> tuple[Memory, ...]:
        """Return the reflections that rest on a memory."""
        return tuple(self._library.memories.get(key) for key in self._citing().get(id, ()))

    def cited(self, memory: Memory) -> tuple[tuple[str, Memory | None], ...]:
        """Return what a memory cites; `None` for an id that is not in the store."""
        return tuple((id, self._library.memories.find(id)) for id in memory.citations)

    def timeline(self, id: str, around: int = 5) -> tuple[Memory, ...]:
        """Return the memories of the same session before and after one, oldest first, itself included."""
        memory = self._strict(id)
        if not memory.session_id:
            return (memory,)
        session = [m for m in self._library.memories.all() if m.session_id == memory.session_id]
        session.sort(key=_newest)
        place = next(i for i, m in enumerate(session) if m.id == id)
        return tuple(session[max(0, place - around) : place + around + 1])

    def live_vote(self, id: str) -> str:
        """Return this actor's live vote on a memory, or an empty text."""
        vote = self._library.votes.find(vote_id("memories", id, self._context.voter))
        return vote.verdict if vote else ""

    def _parsed(self, text: str) -> tuple[Filter, Predicate]:
        """Read a filter and its `is:flagged`, which only a scan of the texts can answer."""
        asked = [found.group(1) for found in _FLAGGED.finditer(text)]
        chosen = parse_filter(_FLAGGED.sub("", text), self._context.now())
        passes = chosen.predicate()
        if not asked:
            return chosen, passes

        def wanted(memory: Memory) -> bool:
            return passes(memory) and all(self._flagged(memory) != (minus == "-") for minus in asked)

        return chosen, wanted

    def _flagged(self, memory: Memory) -> bool:
        return any(map(self._context.verdicts.sorts, shown_texts(memory)))

    def _citing(self) -> dict[str, list[str]]:
        """Return which memories cite each id; made anew when the store has changed."""
        rev = self._library.revision
        if self._citations is None or self._citations[0] != rev:
            index: dict[str, list[str]] = {}
            for memory in self._library.memories.all():
                for cited in memory.citations:
                    index.setdefault(cited, []).append(memory.id)
            self._citations = (rev, index)
        return self._citations[1]

    def _change(self, ids: Sequence[str], verb: str, step: Callable[[Memory], Memory]) -> None:
        """Change memories one way, as they stand under the write lock."""
        with self._library.transaction(self._context.actor, f"{verb} {_named(ids)}") as tx:
            for id in ids:
                tx.put(step(self._strict(id)))

    def _strict(self, id: str) -> Memory:
        return self._library.memories.get(id)


def searched(memory: Memory) -> str:
    """Return the text that free words are matched against: the line a person sees, then the rest."""
    line = memory.line[:MAX_SEARCHED]
    rest = "" if memory.content.startswith(line) and len(memory.content) <= len(line) else memory.content
    return "\n".join(part for part in (line, rest, " ".join(memory.tags)) if part)


def _newest(memory: Memory) -> tuple[datetime, str]:
    return (memory.created_at, memory.id)


def _older(memory: Memory) -> tuple[float, tuple[int, ...]]:
    """Return a key that orders the newest first, as `_newest` in reverse does; the 1 puts a prefix last."""
    return (-memory.created_at.timestamp(), (*(-ord(c) for c in memory.id), 1))


def _named(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{len(ids)} memories"
