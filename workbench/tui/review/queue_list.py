"""The list of Review's queue: a decision moves every row below it by a line, and none of them is drawn anew."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from textual.cache import LRUCache
from textual.content import Content
from textual.strip import Strip

from workbench.tui.widgets.lists.line_list import LineList

T = TypeVar("T")


class QueueList(LineList[T]):
    """A `LineList` that keeps the strips of what it drew by what it drew.

    Its rows are drawn to finished `Content` that stays the same object as long as the row looks the same.
    """

    def __init__(self, draw: Callable[[T, int], Content], key: Callable[[T], Hashable], *, id: str) -> None:
        self._kept: LRUCache[tuple[object, ...], Strip] = LRUCache(1024)
        super().__init__(draw, key, id=id)

    def notify_style_update(self) -> None:
        """Drop what was drawn when theme, focus or style change."""
        self._kept.clear()
        super().notify_style_update()

    def _strip(self, line: Content, width: int, names: Sequence[str]) -> Strip:
        key = (line.plain, tuple(line.spans), width, *names)
        strip = self._kept.get(key)
        if strip is None:
            strip = self._kept[key] = super()._strip(line, width, names)
        return strip
