"""Replacing words across the store: every place first, then the chosen ones as one action; nothing else changes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.bench.context import Context
from workbench.bench.promotion.copies import Copies, CopyPlan, Record
from workbench.bench.safety.gate import Gate
from workbench.bench.safety.texts import place_of
from workbench.core.agents.actors import require_person
from workbench.core.errors import Conflict, InvalidQuery, InvalidRecord
from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import Memory, room_for
from workbench.core.text import clean_for_store

UNCHANGED = "Nothing was changed."

Misfit = Literal["", "long", "empty"]
"""Why a text cannot be stored with the replacement: it gets too long, or nothing is left of it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is replaced by what: whole words only with `word`, whatever their case with `ignore_case`."""

    find: str
    replacement: str
    word: bool = False
    ignore_case: bool = False

    def pattern(self) -> re.Pattern[str]:
        """Return what finds it; raises `InvalidQuery` for nothing to find."""
        if not self.find.strip():
            raise InvalidQuery("There is nothing to find.", UNCHANGED)
        edges = (r"(?<!\w)", r"(?!\w)") if self.word else ("", "")
        return re.compile(edges[0] + re.escape(self.find) + edges[1], re.IGNORECASE if self.ignore_case else 0)


@dataclass(frozen=True, slots=True)
class Place:
    """A record that holds it `count` times, as it is and as it would be stored; one with a `misfit` cannot be."""

    before: Record
    after: Record
    count: int
    misfit: Misfit = ""

    @property
    def name(self) -> str:
        """The id of a memory, or `BOOK/ID`."""
        return place_of(self.before)[1]


class Replacing:
    """Finds words in memories and bullets, and replaces them where a person says so."""

    def __init__(self, context: Context, gate: Gate, copies: Copies) -> None:
        self._context = context
        self._library = context.library
        self._gate = gate
        self._copies = copies

    def places(self, wanted: Wanted, among: Iterable[Memory] | None = None) -> tuple[Place, ...]:
        """Return where it stands: in memories that are not archived, the newest first, and in bullets.

        `among` are the memories that are looked through, and no bullets then. Raises `InvalidQuery`.
        """
        pattern, new = wanted.pattern(), clean_for_store(wanted.replacement)
        memories = self._library.memories.all() if among is None else among
        living = (memory for memory in memories if memory.status != "archived")
        listed = sorted(living, key=lambda m: (m.created_at, m.id), reverse=True)
        bullets = self._library.bullets.all() if among is None else ()
        by_place = sorted(bullets, key=lambda b: (b.book, b.section, b.order, b.id))
        return tuple(self._found((*listed, *by_place), pattern, new))

    def copies(self, chosen: Sequence[Place]) -> CopyPlan:
        """Return the files that hold the old words of chosen records; other records are places of their own."""
        return self._copies.of([(place.before, place.after) for place in chosen], files_only=True)

    def carry_out(self, wanted: Wanted, chosen: Sequence[Place], copies: CopyPlan | None = None) -> None:
        """Replace in the chosen records, and in their `copies`, as one action; nothing else changes.

        Raises `Conflict` when a record or a copy was changed since, `NotTrusted`, and `WorkbenchError` for an agent;
        nothing is written then.
        """
        require_person(self._context.actor, "replace words across the store")
        if misfit := next((place for place in chosen if place.misfit), None):
            raise InvalidRecord(f"{misfit.name} cannot be stored so.", UNCHANGED)
        if not chosen:
            return
        what = chosen[0].name if len(chosen) == 1 else f"{len(chosen)} records"
        label = f"replace “{wanted.find}” with “{wanted.replacement}” in {what}"
        plan = copies or CopyPlan(tuple((place.before, place.after) for place in chosen))
        if copies is not None:
            self._copies.carry_out(plan, lambda: self._write(chosen), label, files_only=True)
            return
        with self._library.transaction(self._context.actor, label):
            self._write(chosen)

    def _write(self, chosen: Sequence[Place]) -> None:
        with self._library.transaction(self._context.actor, "replace") as tx:
            for place in chosen:
                table = self._library.memories if isinstance(place.before, Memory) else self._library.bullets
                if table.find(place.name) != place.before:
                    raise Conflict(f"{place.name} was changed meanwhile.", f"{UNCHANGED} Look again.")
                tx.put(place.after)

    def _found(self, records: Iterable[Record], pattern: re.Pattern[str], new: str) -> Iterator[Place]:
        for record in records:
            texts = [record.content, *([record.summary] if isinstance(record, Memory) and record.summary else [])]
            counts = [len(pattern.findall(text)) for text in texts]
            if any(counts):
                after = self._replaced(record, pattern, new)
                if after != record:
                    yield Place(record, after, sum(counts), _misfit(record, after))

    def _replaced(self, record: Record, pattern: re.Pattern[str], new: str) -> Record:
        def stored(text: str) -> str:
            return self._gate.preview(pattern.sub(lambda _: new, text), text)

        if isinstance(record, Bullet):
            text = stored(record.content)
            return record if text == record.content else replace(record, content=text, raw=None)
        return replace(record, content=stored(record.content), summary=stored(record.summary))


def _misfit(before: Record, after: Record) -> Misfit:
    if not after.content.strip():
        return "empty"
    return "long" if len(after.content) > room_for(before.content) else ""
