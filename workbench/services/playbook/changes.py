"""Who changed a bullet last: a short look back into the journal, remembered between looks."""

import threading
from dataclasses import dataclass
from datetime import datetime

from workbench.core.record import parse_time
from workbench.store.library import Library

LOOK_BACK = 2000
"""Transactions that are looked at when nothing is known yet; the history looks at all."""


@dataclass(frozen=True, slots=True)
class LastChange:
    """The latest transaction that touched a bullet."""

    at: datetime
    actor: str
    label: str


class LastChanges:
    """Finds the latest change of a bullet; every transaction is looked at once. Any thread may ask."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._seen = 0
        self._known: dict[str, LastChange] = {}
        self._guard = threading.Lock()

    @property
    def begun(self) -> bool:
        """Whether it has looked back already: from then on an answer takes no longer than what is new."""
        return self._seen > 0

    def of(self, book: str, id: str) -> LastChange | None:
        """Return a bullet's latest change, or `None` when it lies further back than this looks."""
        self.catch_up()
        doc = self._library.bullets.doc_id_of(f"{book}/{id}")
        return None if doc is None else self._known.get(doc)

    def catch_up(self) -> None:
        """Look at every transaction that is new."""
        with self._guard:
            self._catch_up()

    def _catch_up(self) -> None:
        rev = self._library.revision
        if rev == self._seen:
            return
        newer: dict[str, LastChange] = {}
        for looked_at, entry in enumerate(self._library.changes_back()):
            if entry.rev <= self._seen or looked_at == LOOK_BACK:
                break
            for change in entry.changes:
                if change.table == "bullets" and change.doc not in newer:
                    newer[change.doc] = LastChange(parse_time(entry.at), entry.actor, entry.label)
        self._known = self._known | newer
        self._seen = rev
