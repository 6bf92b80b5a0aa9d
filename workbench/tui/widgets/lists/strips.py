"""Drawn lines that are light: what a line remembers of itself comes with the first time somebody asks for that.

The library makes seven caches for every line it draws, of which most are never used. They were half of all that the
collector walks through in the app, and a twentieth of what a paint takes.
"""

from collections.abc import Iterable
from types import MemberDescriptorType
from typing import Any

from rich.segment import Segment
from textual.cache import FIFOCache
from textual.strip import Strip

_CACHES = {
    "_divide_cache": 4,
    "_crop_cache": 16,
    "_style_cache": 16,
    "_filter_cache": 4,
    "_line_length_cache": 4,
    "_crop_extend_cache": 4,
    "_offsets_cache": 4,
}
"""The caches of a line with their sizes, as the library makes them."""

_OTHERS = frozenset(("_segments", "_cell_length", "_render_cache", "_link_ids", "_cell_count"))


def lighten() -> None:
    """Let lines make their caches when they are used; in a library whose lines are made otherwise nothing changes."""
    slots = {name: getattr(Strip, name, None) for name in Strip.__slots__}
    if _CACHES.keys() | _OTHERS != slots.keys():
        return
    kept = {name: slot for name in _CACHES if isinstance(slot := slots[name], MemberDescriptorType)}
    if len(kept) == len(_CACHES):  # not done before
        for name, slot in kept.items():
            setattr(Strip, name, _OnDemand(slot, _CACHES[name]))
        Strip.__init__ = _begin  # type: ignore[method-assign]


class _OnDemand:
    """A cache of a line that is made when somebody asks for it."""

    def __init__(self, slot: MemberDescriptorType, size: int) -> None:
        self._slot = slot
        self._size = size

    def __get__(self, strip: Strip, owner: type[Strip]) -> FIFOCache[Any, Any]:
        try:
            found: FIFOCache[Any, Any] = self._slot.__get__(strip, owner)
        except AttributeError:
            found = FIFOCache(self._size)
            self._slot.__set__(strip, found)
        return found

    def __set__(self, strip: Strip, cache: FIFOCache[Any, Any]) -> None:
        self._slot.__set__(strip, cache)


def _begin(self: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
    self._segments = list(segments)
    self._cell_length = cell_length
    self._render_cache = None
    self._link_ids = None
    self._cell_count = None
