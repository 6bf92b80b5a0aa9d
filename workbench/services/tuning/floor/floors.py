"""The floor of the store as it is now: known, not computed yet, or none. Computing it takes a moment and is kept."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.core.runtime import Cancelled
from workbench.core.tuning.floor import NONE, OFF, UNKNOWN, Floor, Standard, floor_for
from workbench.retrieval.arrays import Mask
from workbench.retrieval.floor.floor import FloorFile, Kept, Texts, floors_of, texts_of
from workbench.retrieval.ranking.pool import Token
from workbench.retrieval.ranking.ranker import Ranker
from workbench.retrieval.text_keys import Keys
from workbench.services.context import Context
from workbench.services.tuning.retriever import Retriever


@dataclass(frozen=True, eq=False)
class _Served:
    """What may be served at a moment: its rows, and what they are known by."""

    keys: Keys
    layout: Token
    rows: Mask

    def is_like(self, other: "_Served | None") -> bool:
        """Tell whether these are the rows and the texts of another moment."""
        return (
            other is not None
            and (self.keys is other.keys and self.layout is other.layout)
            and bool(np.array_equal(self.rows, other.rows))
        )

    @cached_property
    def texts(self) -> Texts:
        return texts_of(self.keys, self.rows)


class Floors:
    """Tells what a query is held against; safe to share between threads."""

    def __init__(self, context: Context, retriever: Retriever) -> None:
        self._context = context
        self._retriever = retriever
        self._lock = threading.Lock()
        self._kept: Kept | None = None
        self._served: _Served | None = None
        self._found: Standard | Mapping[str, Floor] = UNKNOWN

    def known(self, query: str = "", ranker: Ranker | None = None) -> Standard:
        """Return what a query is held against under a ranker (else the present one), if it is known.

        Computes nothing.
        """
        if not self._context.settings.floor:
            return OFF
        with self._lock:
            self._look(ranker or self._retriever.ranker())
            return _standard(query, self._found)

    def settled(self, query: str = "", cancelled: Cancelled | None = None) -> Standard:
        """Return what a query is held against, computed now when it is not known.

        It is the floor of all that may be served at this moment, whatever the profile. May wait for the model.
        Raises `WorkStopped`.
        """
        if not self._context.settings.floor:
            return OFF
        with self._lock:
            ranker = self._retriever.ranker()
            served, found = self._look(ranker), self._found
        if found == UNKNOWN:
            found = floors_of(ranker, served.rows, cancelled)
            with self._lock:
                self._kept = Kept(found, served.texts)
                self._file.write(self._kept)
                if self._served is served:
                    self._found = found
        return _standard(query, found)

    def _look(self, ranker: Ranker) -> _Served:
        """Find out what is known of what may be served now."""
        pool = ranker.pool
        now = _Served(pool.text_keys, pool.layout_token, pool.served(self._context.now()))
        if self._served is not None and now.is_like(self._served):
            return self._served
        self._served, self._found = now, NONE
        if now.rows.any():
            if self._kept is None or not self._kept.fits(now.texts):
                # Another process may have computed it for the store as it is.
                self._kept = self._file.read()
            fits = self._kept is not None and self._kept.fits(now.texts)
            self._found = self._kept.floors if self._kept is not None and fits else UNKNOWN
        return now

    @property
    def _file(self) -> FloorFile:
        return FloorFile(self._context.caches / "floor", self._retriever.embedder.fingerprint)


def _standard(query: str, found: Standard | Mapping[str, Floor]) -> Standard:
    return found if isinstance(found, Standard) else Standard(floor_for(query, found))
