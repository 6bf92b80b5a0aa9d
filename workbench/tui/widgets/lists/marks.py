"""Which rows are marked, as a value: single keys, and a range that is still being drawn."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Marks:
    """Marked keys; `anchor` is the index where a range began, which ends at the cursor."""

    keys: frozenset[Hashable] = frozenset()
    anchor: int | None = None

    def __bool__(self) -> bool:
        return bool(self.keys) or self.anchor is not None

    def span(self, cursor: int) -> range:
        """Return the indices of the range being drawn."""
        if self.anchor is None:
            return range(0)
        return range(min(self.anchor, cursor), max(self.anchor, cursor) + 1)

    def toggled(self, key: Hashable) -> "Marks":
        """Mark a key, or unmark it."""
        return replace(self, keys=self.keys ^ {key})

    def started(self, anchor: int) -> "Marks":
        """Begin a range at an index."""
        return replace(self, anchor=anchor)

    def ended(self, keys: Iterable[Hashable] = ()) -> "Marks":
        """End the range, adding the keys it held."""
        return Marks(self.keys | frozenset(keys))

    def only(self, listed: Iterable[Hashable]) -> "Marks":
        """Drop the marks of keys that are no longer listed."""
        return Marks(self.keys & frozenset(listed)) if self.keys else Marks()
