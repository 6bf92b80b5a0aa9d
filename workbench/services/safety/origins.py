"""Where texts come from, as far as it was found out already: the journal is not read again for what did not change."""

import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.store.library import Library, Touched

if TYPE_CHECKING:
    from workbench.core.agents.provenance import Provenance
    from workbench.services.safety.kept_origins import KeptOrigins

Place = tuple[str, str]
"""Table and key of a record."""


class Origins:
    """What is known of one store. What a transaction touches is forgotten, whoever made it. Any thread may ask.

    In the cache `folder` it is kept for the next process (`None`: nowhere).
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._known: dict[Place, Provenance] = {}
        self._lock = threading.Lock()
        self._touches = 0
        self._heard = -1
        """The last transaction that was heard of."""
        self._library: Library | None = None
        self._is_new = False

    def known(self, library: Library, table: str, keys: Collection[str]) -> "tuple[dict[str, Provenance], int]":
        """Return what is known of some records, and a moment to give to `learn` with what is found out of others."""
        self._follow(library)
        with self._lock:
            found, moment = self._among(table, keys), self._touches
        rest = [key for key in keys if key not in found]
        if rest and (kept := self._kept()) is not None and (read := kept.read(table, rest)):
            with self._lock:
                if moment == self._touches:
                    self._known.update(((table, key), one) for key, one in read.items())
                return self._among(table, keys), self._touches
        return found, moment

    def learn(self, table: str, found: "Mapping[str, Provenance]", moment: int) -> None:
        """Keep what was found out, unless something was changed since that moment."""
        with self._lock:
            if moment == self._touches:
                self._known.update(((table, key), one) for key, one in found.items())
                self._is_new = self._is_new or bool(found)

    def keep(self) -> None:
        """Keep for the next process what was found out in this one; nothing fails for it."""
        kept = self._kept() if self._is_new else None
        if kept is None:
            return
        now = kept.now()
        with self._lock:
            known, is_whole = dict(self._known), self._heard == now.rev
        # What was taken in and not heard of yet may have touched what is known.
        if is_whole:
            kept.write(known, now)
            self._is_new = False

    def _among(self, table: str, keys: Collection[str]) -> "dict[str, Provenance]":
        return {key: self._known[table, key] for key in keys if (table, key) in self._known}

    def _kept(self) -> "KeptOrigins | None":
        """Return what lies in the store's cache."""
        if self._folder is None or self._library is None:
            return None
        from workbench.services.safety.kept_origins import KeptOrigins

        return KeptOrigins(self._library, self._folder)

    def _follow(self, library: Library) -> None:
        with self._lock:
            if self._library is library:
                return
            self._library, self._known = library, {}
            self._heard = library.revision
        library.listen(self._forget)

    def _forget(self, touched: Touched) -> None:
        with self._lock:
            self._heard = touched.rev
            if touched.kind == "access":
                return  # a reading changes no text, and approves of none
            self._touches += 1
            for place in touched.keys:
                self._known.pop(place, None)
