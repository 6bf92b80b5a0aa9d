"""Erasing for good: records, with everything that was said about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.bench.context import Context
from workbench.bench.history import History, Place
from workbench.core.errors import UnknownRecord
from workbench.store import purge
from workbench.store.entry import ABSENT
from workbench.store.purge import Purged

_SPEAKS = {"votes": "target", "judgments": "memory", "proposals": "evidence"}
"""The tables whose records are about others, and the field that says about which."""


@dataclass(frozen=True, slots=True)
class ErasePlan:
    """What erasing some records takes along: the records asked for, and what speaks of them."""

    asked: tuple[Place, ...]
    votes: tuple[Place, ...]
    judgments: tuple[Place, ...]
    proposals: tuple[Place, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        """Everything, each once."""
        return tuple(dict.fromkeys((*self.asked, *self.votes, *self.judgments, *self.proposals)))


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased where. `elsewhere` names folders beside the store that may still hold the text."""

    plan: ErasePlan
    done: Purged
    elsewhere: tuple[Path, ...]


class Eraser:
    """Erases records of a store; there is no way back."""

    def __init__(self, context: Context, history: History) -> None:
        self._context = context
        self._library = context.library
        self._history = history

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

    def carry_out(self, plan: ErasePlan) -> Erased:
        """Erase what a plan names, from every file of the store. Raises `StoreProblem`; it can be run again then."""
        done = purge.purge(self._library.journal, plan.places, self._context.actor)
        folder = self._library.folder
        return Erased(plan, done, tuple(sorted(folder.parent.glob(f"{folder.name}.recovered-*"))))

    def _speaking_of(self, key: str) -> Iterator[Place]:
        """Yield the votes, judgments and proposals that are or were about a record."""
        journal = self._library.journal
        for table in _SPEAKS:
            for doc in journal.state.tables.get(table, {}).values():
                if _speaks(table, doc, key):
                    yield table, doc["id"]
        for entry in journal.entries_back(key.rpartition("/")[2].encode()):
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
    if table != "proposals":
        return bool(doc.get(_SPEAKS[table]) == key)
    names = (key, key.rpartition("/")[2])
    return any(name in names for name in (*doc.get("evidence", ()), *(c.get("id") for c in doc.get("changes", ()))))
