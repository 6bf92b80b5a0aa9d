"""Replacing words across the store: every place first, then the chosen ones as one action; nothing
else changes.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from workbench.core.agents.actors import require_person
from workbench.core.playbook.book import Bullet, Section, section_key
from workbench.core.record import Conflict, InvalidQuery, InvalidRecord
from workbench.core.stream.memory import Memory, room_for
from workbench.core.text import clean_for_store, named
from workbench.services.context import Context
from workbench.services.promotion.copies import Copies, CopyPlan, Record
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.safety.texts import texts_of
from workbench.store.records import place_of

UNCHANGED = "Nothing was changed."

Misfit = Literal["", "long", "empty", "taken"]
"""Why a text cannot be stored with the replacement: it gets too long, nothing is left of it, or a
section of the same playbook has that title already.
"""

NameKind = Literal["tag", "category", "section", "query", "view", "pattern"]
"""What a name stands in besides the texts of memories and bullets: a memory's tag or category, the
title of a playbook's section, a saved query, a saved view, or an agent's pattern.
"""

Replaceable = Record | Section
"""The records that words are replaced in; of a section its title."""

LINES = ("title", "tags", "category")
"""The fields whose texts are single lines."""


class Elsewhere(NamedTuple):
    """In how many of a kind it stands, too, where nothing is replaced."""

    kind: NameKind
    number: int


class Wanted(NamedTuple):
    """What is replaced by what: whole words only with `word`, whatever their case with
    `ignore_case`.

    With `names` also in the tags and categories of memories, and in the titles of sections.
    """

    find: str
    replacement: str
    word: bool = False
    ignore_case: bool = False
    names: bool = False

    def pattern(self) -> re.Pattern[str]:
        """Return what finds it; raises `InvalidQuery` for nothing to find."""
        if not self.find.strip():
            raise InvalidQuery("The search text is empty.", UNCHANGED)
        edges = (r"(?<!\w)", r"(?!\w)") if self.word else ("", "")
        return re.compile(
            edges[0] + re.escape(self.find) + edges[1], re.IGNORECASE if self.ignore_case else 0
        )


@dataclass(frozen=True, slots=True)
class Place:
    """A record that holds it `count` times, as it is and as it would be stored; one with a `misfit`
    cannot be.
    """

    before: Replaceable
    after: Replaceable
    count: int
    misfit: Misfit = ""

    @property
    def name(self) -> str:
        """The id of a memory, or `BOOK/ID`; of a section `section BOOK/ID`."""
        name = place_of(self.before)[1]
        return f"section {name}" if isinstance(self.before, Section) else name

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """What differs, as it is and as it would be: title, text, tags and category, each where it
        does.
        """
        pairs = (
            (_shown(self.before, name), _shown(self.after, name)) for name in _fields(self.before)
        )
        return tuple((old, new) for old, new in pairs if old != new)


class Replacing:
    """Finds words in memories and bullets, and replaces them where a person says so."""

    def __init__(self, context: Context, gate: SecretFilter, copies: Copies) -> None:
        self._context = context
        self._library = context.library
        self._gate = gate
        self._copies = copies

    def places(self, wanted: Wanted, among: Iterable[Memory] | None = None) -> tuple[Place, ...]:
        """Return where it stands: in memories that are not archived, the newest first, in bullets,
        and in titles.

        `among` are the memories that are looked through, and no playbook then. Raises
        `InvalidQuery`.
        """
        pattern, new = wanted.pattern(), clean_for_store(wanted.replacement)
        memories = self._library.memories.all() if among is None else among
        listed = sorted(_living(memories), key=lambda m: (m.created_at, m.id), reverse=True)
        bullets = self._library.bullets.all() if among is None else ()
        by_place = sorted(bullets, key=lambda b: (b.book, b.section, b.order, b.id))
        sections = self._library.sections.all() if among is None and wanted.names else ()
        titled = sorted(sections, key=lambda s: (s.book, s.order, s.id))
        return tuple(self._found((*listed, *by_place, *titled), pattern, new, names=wanted.names))

    def elsewhere(self, wanted: Wanted) -> tuple[Elsewhere, ...]:
        """Return where it stands in this store and in the person's views, and stays. Raises
        `InvalidQuery`.
        """
        holds, library = wanted.pattern().search, self._library
        counts = Counter[NameKind]()
        if not wanted.names:
            living = tuple(_living(library.memories.all()))
            counts["tag"] = len({tag for memory in living for tag in memory.tags if holds(tag)})
            counts["category"] = len(
                {memory.category for memory in living if holds(memory.category)}
            )
            counts["section"] = sum(
                holds(section.title) is not None for section in library.sections.all()
            )
        counts["query"] = sum(holds(query.text) is not None for query in library.queries.all())
        views = self._context.settings.views
        counts["view"] = sum(any(map(holds, (view.name, view.filter))) for view in views)
        counts["pattern"] = sum(
            any(map(holds, texts_of(one))) for one in library.table_named("patterns").all()
        )
        return tuple(Elsewhere(kind, count) for kind, count in counts.items() if count)

    def copies(self, chosen: Sequence[Place]) -> CopyPlan:
        """Return the files that hold the old words of chosen records; other records are places of
        their own.
        """
        return self._copies.of(_corrections(chosen), files_only=True)

    def carry_out(
        self, wanted: Wanted, chosen: Sequence[Place], copies: CopyPlan | None = None
    ) -> None:
        """Replace in the chosen records, and in their `copies`, as one action; nothing else
        changes.

        Raises `Conflict` when a record or a copy was changed since, `NotTrusted`, and
        `WorkbenchError` for an agent; nothing is written then.
        """
        require_person(self._context.actor, "replace words across the store")
        if misfit := next((place for place in chosen if place.misfit), None):
            raise InvalidRecord(f"{misfit.name} cannot be stored so.", UNCHANGED)
        if not chosen:
            return
        what = named([place.name for place in chosen], "records")
        label = f"replace “{wanted.find}” with “{wanted.replacement}” in {what}"
        if copies is not None:
            self._copies.carry_out(copies, lambda: self._write(chosen), label, files_only=True)
            return
        with self._context.transaction(label):
            self._write(chosen)

    def _write(self, chosen: Sequence[Place]) -> None:
        with self._context.transaction("replace") as tx:
            for place in chosen:
                table, key = place_of(place.before)
                if self._library.table_named(table).find(key) != place.before:
                    raise Conflict(
                        f"{place.name} was changed meanwhile.", f"{UNCHANGED} Search again."
                    )
                tx.put(place.after)

    def _found(
        self, records: Iterable[Replaceable], pattern: re.Pattern[str], new: str, *, names: bool
    ) -> Iterator[Place]:
        taken = (
            {(section.book, section.key) for section in self._library.sections.all()}
            if names
            else set()
        )
        for record in records:
            values = [
                value for name in _fields(record, names=names) for value in _values(record, name)
            ]
            count = sum(len(pattern.findall(value)) for value in values)
            if count:
                after = self._replaced(record, pattern, new, names=names)
                if after != record:
                    yield Place(record, after, count, _misfit(record, after, taken))
                if isinstance(after, Section):
                    taken.add((after.book, after.key))  # two titles may come to say the same

    def _replaced(
        self, record: Replaceable, pattern: re.Pattern[str], new: str, *, names: bool
    ) -> Replaceable:
        def stored(text: str, name: str) -> str:
            wanted = self._gate.preview(pattern.sub(lambda _: new, text), text)
            return " ".join(wanted.split()) if name in LINES and wanted != text else wanted

        changed: dict[str, Any] = {}
        for name in _fields(record, names=names):
            now = dict.fromkeys(stored(value, name) for value in _values(record, name))
            changed[name] = tuple(filter(None, now)) if name == "tags" else next(iter(now))
        if all(getattr(record, name) == value for name, value in changed.items()):
            return record
        if isinstance(record, Section):
            return replace(record, key=section_key(changed["title"]), **changed)
        return (
            replace(record, raw=None, **changed)
            if isinstance(record, Bullet)
            else replace(record, **changed)
        )


def _living(memories: Iterable[Memory]) -> Iterator[Memory]:
    return (memory for memory in memories if memory.status != "archived")


def _corrections(chosen: Iterable[Place]) -> list[tuple[Record, Record]]:
    """Return the records of places that have copies: a section has none of its own."""
    pairs = ((place.before, place.after) for place in chosen)
    return [
        (old, new)
        for old, new in pairs
        if not isinstance(old, Section) and not isinstance(new, Section)
    ]


def _fields(record: Replaceable, *, names: bool = True) -> tuple[str, ...]:
    """Return the names of the fields that are looked through."""
    if isinstance(record, Section):
        return ("title",)
    if isinstance(record, Bullet):
        return ("content",)
    return ("summary", "content", "tags", "category") if names else ("summary", "content")


def _values(record: Replaceable, name: str) -> tuple[str, ...]:
    """Return the texts of a field: each tag, without the sign that it is shown with."""
    value = getattr(record, name)
    return value if isinstance(value, tuple) else (value,)


def _shown(record: Replaceable, name: str) -> str:
    return " ".join(f"#{tag}" if name == "tags" else tag for tag in _values(record, name))


def _misfit(before: Replaceable, after: Replaceable, taken: Container[tuple[str, str]]) -> Misfit:
    if isinstance(before, Section) or isinstance(after, Section):
        if not (isinstance(before, Section) and isinstance(after, Section) and after.key):
            return "empty"
        return "taken" if after.key != before.key and (after.book, after.key) in taken else ""
    if not after.content.strip():
        return "empty"
    return "long" if len(after.content) > room_for(before.content) else ""
