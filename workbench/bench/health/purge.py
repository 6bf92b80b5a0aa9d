"""Erasing for good: records, with everything that was said about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.bench import caches
from workbench.bench.context import Context
from workbench.bench.files.replaced import Replaced
from workbench.bench.health.history import History, Place
from workbench.core.errors import UnknownRecord
from workbench.store.entry import ABSENT
from workbench.store.maintenance.purge import Purged, Unfinished

if TYPE_CHECKING:
    from workbench.bench.promotion.placement_leftovers import Left

_SPEAKS = {
    "votes": "target", "judgments": "memory", "proposals": "evidence", "overrides": "target", "placements": "memory",
    "kept_pairs": "left",
}  # fmt: skip
"""The tables whose records are about others, and the field that says about which."""


@dataclass(frozen=True, slots=True)
class ErasePlan:
    """What erasing some records takes along: the records asked for, and what speaks of them."""

    asked: tuple[Place, ...]
    votes: tuple[Place, ...]
    judgments: tuple[Place, ...]
    proposals: tuple[Place, ...]
    overrides: tuple[Place, ...] = ()
    placements: tuple[Place, ...] = ()
    kept_pairs: tuple[Place, ...] = ()

    @property
    def places(self) -> tuple[Place, ...]:
        """Everything, each once."""
        about = (*self.votes, *self.judgments, *self.proposals, *self.overrides, *self.placements, *self.kept_pairs)
        return tuple(dict.fromkeys((*self.asked, *about)))


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased where.

    `files` are those a promotion had written it to and that no longer hold it, `copies` those of replaced files that
    held it and are gone. Two may still hold the text: copies
    of the store in the folders `elsewhere`, and files that somebody `edited` since, each with the line.
    """

    plan: ErasePlan
    done: Purged
    elsewhere: tuple[Path, ...]
    files: tuple[str, ...] = ()
    copies: tuple[Path, ...] = ()
    edited: "tuple[Left, ...]" = ()


class Eraser:
    """Erases records of a store; there is no way back."""

    def __init__(self, context: Context, history: History, replaced: Replaced) -> None:
        self._context = context
        self._library = context.library
        self._history = history
        self._replaced = replaced

    def plan(self, names: Sequence[str]) -> ErasePlan:
        """Find the records and what speaks of them; writes nothing.

        Raises `UnknownRecord` for a name that is not and was not in the store, or `InvalidRecord` for an unclear one.
        """
        asked = tuple(dict.fromkeys(self._place(name) for name in names))
        about: dict[str, dict[str, None]] = {table: {} for table in _SPEAKS}
        for _, key in asked:
            for table, name in self._speaking_of(key):
                about[table][name] = None
        return ErasePlan(asked, **{table: tuple((table, name) for name in about[table]) for table in _SPEAKS})

    def plan_rest(self, broken: Unfinished) -> ErasePlan:
        """Return the plan of a purge that was broken off; writes nothing."""
        about = {table: tuple(place for place in broken.records if place[0] == table) for table in _SPEAKS}
        return ErasePlan(tuple(place for place in broken.records if place[0] not in _SPEAKS), **about)

    def carry_out(self, plan: ErasePlan) -> Erased:
        """Erase what a plan names, from every file of the store and where it was promoted to.

        Raises `StoreProblem`, or `WorkbenchError` for such a file; it can be run again then.
        """
        files, edited = self._out_of_files(plan)
        copies = self._replaced.without(self._library.maintenance.finder(plan.places))
        done = self._library.maintenance.purge(plan.places, self._context.actor, self._without_caches)
        folder = self._library.folder
        others = sorted(folder.parent.glob(f"{folder.name}.recovered-*"))
        return Erased(plan, done, tuple(others), files, copies, edited)

    def _out_of_files(self, plan: ErasePlan) -> "tuple[tuple[str, ...], tuple[Left, ...]]":
        """Take what was promoted out of the files; return those changed, and what may still hold the text."""
        if not plan.placements:
            return (), ()
        from workbench.bench.promotion.placements import Placing

        return Placing(self._library).take_out([id for _, id in plan.placements], [key for _, key in plan.asked])

    def _without_caches(self) -> tuple[str, ...]:
        """Remove what was computed from the texts; it is made again from what is left."""
        return caches.remove(self._context.caches)

    def _speaking_of(self, key: str) -> Iterator[Place]:
        """Yield the votes, judgments, proposals, permissions and the like that are or were about a record."""
        for table in _SPEAKS:
            for doc in self._library.documents.get(table, {}).values():
                if _speaks(table, doc, key):
                    yield table, doc["id"]
        for entry in self._library.changes_back(key.rpartition("/")[2].encode()):
            for change in entry.changes:
                sides = {name: after if before is ABSENT else before for name, (before, after) in change.fields.items()}
                if change.table in _SPEAKS and "id" in sides and _speaks(change.table, sides, key):
                    yield change.table, sides["id"]

    def _place(self, name: str) -> Place:
        try:
            return self._history.place_of(name)
        except UnknownRecord as error:
            raise UnknownRecord(error.message, "Nothing was erased.") from error


def _speaks(table: str, doc: Mapping[str, Any], key: str) -> bool:
    """Tell whether a stored vote, judgment or proposal is about the record."""
    if table == "placements" and "memory" not in doc:
        # Erased before; the id still names what was promoted, and where to.
        return str(doc.get("id", "")).startswith(f"{key}:")
    if table == "kept_pairs":
        book = f"{doc['book']}/" if doc.get("book") else ""
        return key in (f"{book}{doc.get('left')}", f"{book}{doc.get('right')}")
    if table != "proposals":
        return bool(doc.get(_SPEAKS[table]) == key)
    names = (key, key.rpartition("/")[2])
    return any(name in names for name in (*doc.get("evidence", ()), *(c.get("id") for c in doc.get("changes", ()))))
