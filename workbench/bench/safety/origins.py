"""Where texts come from, as far as it was found out already: the journal is not read again for what did not change."""

import threading
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from workbench.store.library import Library, Touched

if TYPE_CHECKING:
    from workbench.core.agents.provenance import Provenance

Place = tuple[str, str]
"""Table and key of a record."""


class Origins:
    """What is known of one store. What a transaction touches is forgotten, whoever made it. Any thread may ask."""

    def __init__(self) -> None:
        self._known: dict[Place, Provenance] = {}
        self._lock = threading.Lock()
        self._touches = 0
        self._library: Library | None = None

    def known(self, library: Library, table: str, keys: Collection[str]) -> "tuple[dict[str, Provenance], int]":
        """Return what is known of some records, and a moment to give to `learn` with what is found out of others."""
        self._follow(library)
        with self._lock:
            return {key: self._known[table, key] for key in keys if (table, key) in self._known}, self._touches

    def learn(self, table: str, found: "Mapping[str, Provenance]", moment: int) -> None:
        """Keep what was found out, unless something was changed since that moment."""
        with self._lock:
            if moment == self._touches:
                self._known.update(((table, key), one) for key, one in found.items())

    def _follow(self, library: Library) -> None:
        with self._lock:
            if self._library is library:
                return
            self._library, self._known = library, {}
        library.listen(self._forget)

    def _forget(self, touched: Touched) -> None:
        if touched.kind == "access":
            return  # a reading changes no text, and approves of none
        with self._lock:
            self._touches += 1
            for place in touched.keys:
                self._known.pop(place, None)
