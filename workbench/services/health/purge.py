"""Erasing for good: records, with everything that was said about them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from workbench.core.agents.actors import require_person
from workbench.core.health import Unfinished
from workbench.core.record import ABSENT, UnknownRecord
from workbench.services import caches
from workbench.services.context import Context
from workbench.services.files.replaced import Replaced
from workbench.services.health.history import History, Place
from workbench.store.maintenance.purge import Purged, finder, purge
from workbench.store.records import RECORDS, RecordType, key_of

_PLACEMENTS = "placements"
"""The table of the notes of what was written to which files."""


class PurgePlan(NamedTuple):
    """What erasing some records takes along: the records asked for, and what speaks of them, by its
    kind.
    """

    asked: tuple[Place, ...]
    about: Mapping[RecordType, tuple[Place, ...]]

    @property
    def places(self) -> tuple[Place, ...]:
        """Everything, each once."""
        about = (place for places in self.about.values() for place in places)
        return tuple(dict.fromkeys((*self.asked, *about)))

    @property
    def placements(self) -> tuple[Place, ...]:
        """What notes where the records were promoted to."""
        return tuple(place for place in self.places if place[0] == _PLACEMENTS)


class PurgeResult(NamedTuple):
    """What was erased where.

    `files` are those a promotion had written it to and that no longer hold it, `copies` those of
    replaced files that held it and are gone. Two may still hold the text: copies of the store in
    the folders `elsewhere`, and files that somebody `edited` since, each with the line.
    """

    plan: PurgePlan
    done: Purged
    elsewhere: tuple[Path, ...]
    files: tuple[str, ...] = ()
    copies: tuple[Path, ...] = ()
    edited: tuple[str, ...] = ()


class Purge:
    """Erases records of a store; there is no way back."""

    def __init__(self, context: Context, history: History, replaced: Replaced) -> None:
        self._context = context
        self._library = context.library
        self._history = history
        self._replaced = replaced
        self._speaking = tuple(kind for kind in RECORDS if kind.refs)

    def plan(self, names: Sequence[str]) -> PurgePlan:
        """Find the records and what speaks of them; writes nothing.

        Raises `UnknownRecord` for a name that is not and was not in the store, or `InvalidRecord`
        for an unclear one.
        """
        asked = tuple(dict.fromkeys(self._place(name) for name in names))
        about: dict[RecordType, dict[Place, None]] = {kind: {} for kind in self._speaking}
        for _, key in asked:
            for kind, name in self._speaking_of(key):
                about[kind][kind.table, name] = None
        return PurgePlan(asked, {kind: tuple(places) for kind, places in about.items()})

    def plan_rest(self, broken: Unfinished) -> PurgePlan:
        """Return the plan of a purge that was broken off; writes nothing."""
        about = {
            kind: tuple(p for p in broken.records if p[0] == kind.table) for kind in self._speaking
        }
        speaking = {kind.table for kind in self._speaking}
        return PurgePlan(
            tuple(place for place in broken.records if place[0] not in speaking), about
        )

    def carry_out(self, plan: PurgePlan) -> PurgeResult:
        """Erase what a plan names, from every file of the store and where it was promoted to.

        Raises `StoreProblem`, or `WorkbenchError` for such a file; it can be run again then. So it
        does for an agent.
        """
        require_person(self._context.actor, "erase anything", "Nothing was erased")
        files, edited = self._out_of_files(plan)
        copies = self._replaced.without(self._library.maintain(finder, plan.places))
        done = self._library.maintain(
            purge,
            plan.places,
            self._context.actor,
            partial(caches.remove, self._context.caches, self._library.folder),
        )
        return PurgeResult(
            plan, done, self._library.surroundings.recovered(), files, copies, edited
        )

    def _out_of_files(self, plan: PurgePlan) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Take what was promoted out of the files; return those changed, and what may still hold
        the text.
        """
        if not plan.placements:
            return (), ()
        from workbench.services.promotion.placements import Placing

        return Placing(self._library).take_out(
            [id for _, id in plan.placements], [key for _, key in plan.asked]
        )

    def _speaking_of(self, key: str) -> Iterator[tuple[RecordType, str]]:
        """Yield the votes, judgments, proposals, permissions and the like that are or were about a
        record.
        """
        kinds = {kind.table: kind for kind in self._speaking}
        for kind in self._speaking:
            for _, name, doc in self._library.every_field(kind.table):
                if _speaks(kind, doc, key):
                    yield kind, name
        for entry in self._library.changes_back(key.rpartition("/")[2].encode()):
            for change in entry.changes:
                sides = {
                    name: after if before is ABSENT else before
                    for name, (before, after) in change.fields.items()
                }
                one = kinds.get(change.table)
                if one is not None and "id" in sides and _speaks(one, sides, key):
                    yield one, key_of(one.table, sides) or sides["id"]

    def _place(self, name: str) -> Place:
        try:
            return self._history.place_of(name)
        except UnknownRecord as error:
            raise UnknownRecord(error.message, "Nothing was erased.") from error


def _speaks(kind: RecordType, doc: Mapping[str, Any], key: str) -> bool:
    """Tell whether a stored vote, judgment, proposal or the like is about the record."""
    if kind.table == _PLACEMENTS and "memory" not in doc:
        # Erased before; the id still names what was promoted, and where to.
        return str(doc.get("id", "")).startswith(f"{key}:")
    if kind.table == "kept_pairs":
        book = f"{doc['book']}/" if doc.get("book") else ""
        return key in (f"{book}{doc.get('left')}", f"{book}{doc.get('right')}")
    if kind.table != "proposals":
        return any(
            key == named or (isinstance(named, list) and key in named)
            for named in map(doc.get, kind.refs)
        )
    names = (key, key.rpartition("/")[2])
    return any(
        name in names
        for name in (*doc.get("evidence", ()), *(c.get("id") for c in doc.get("changes", ())))
    )
