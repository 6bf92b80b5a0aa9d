"""The list of every screen: a line view whose rows can be marked, one by one, as a range, or all."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from workbench.tui.app.actions import bindings
from workbench.tui.widgets.actions import LIST, MARKS
from workbench.tui.widgets.lists.line_view import CURSOR, LineView


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


T = TypeVar("T")

MARKED = "*"
"""Drawn before a marked row, so that the mark needs no colour."""


class LineList(LineView[T], inherit_bindings=False):
    """A `LineView` with marks: t one row, v a range (v ends it, esc drops it), T all or none.

    With the mouse, ctrl+click marks a row and shift+click everything from the cursor to it.
    Headings are never marked. Marks follow their keys; those of rows that are no longer listed are
    dropped, so nothing unseen stays marked.
    """

    class MarksChanged(Message):
        """Other rows are marked than before; `count` of them, with those of a range being drawn."""

        def __init__(self, line_list: "LineList[Any]", count: int) -> None:
            super().__init__()
            self.line_list = line_list
            self.count = count

        @property
        def control(self) -> "LineList[Any]":
            """The list that sent the message."""
            return self.line_list

    BINDINGS: ClassVar[list[BindingType]] = bindings((*LIST, *MARKS))

    marked_first = 0
    """How many rows `T` marks before it marks all: those at the top, where the others are of another kind."""

    _marks = Marks()

    @property
    def marked_rows(self) -> list[T]:
        """The marked rows in the order of the list, with those of a range being drawn."""
        if not self._marks:
            return []
        return [row for index, row in enumerate(self.rows) if self._is_marked(index)]

    @property
    def mark_count(self) -> int:
        """How many rows are marked."""
        return len(self._marks.keys | self._span_keys())

    def clear_marks(self) -> None:
        """Unmark everything."""
        if self._marks:
            self._mark(Marks())

    def set_rows(self, rows: Sequence[T], *, cursor: int | None = None) -> None:
        """Replace the rows as `LineView.set_rows` does, and drop marks of rows no longer listed."""
        before = self.mark_count
        marks = self._marks.ended(self._span_keys())
        self._marks = marks.only(self._key(row) for row in rows) if marks.keys else Marks()
        super().set_rows(rows, cursor=cursor)
        if self.mark_count != before:
            self.post_message(self.MarksChanged(self, self.mark_count))

    def watch_cursor(self, old: int, new: int) -> None:
        """Repaint what the moving end of a range passes, besides the two lines of the cursor."""
        super().watch_cursor(old, new)
        if self._marks.anchor is not None:
            self.refresh_lines(min(old, new), abs(old - new) + 1)
            self.post_message(self.MarksChanged(self, self.mark_count))

    def action_mark_one(self) -> None:
        """Mark or unmark the row under the cursor and go to the next; ends a range."""
        if self._marks.anchor is not None:
            self.action_mark_range()
        elif (row := self.current) is not None and not self._is_heading(row):
            self._mark(self._marks.toggled(self._key(row)))
            self.cursor += 1

    def action_mark_range(self) -> None:
        """Begin a range at the cursor, or end the one begun."""
        if self._marks.anchor is not None:
            self._mark(self._marks.ended(self._span_keys()))
        elif self.rows:
            self._mark(self._marks.started(self.cursor))

    def action_mark_all(self) -> None:
        """Mark every listed row, or none when all are marked; those at the top first that are of a kind."""
        every = frozenset(self._key(row) for row in self.rows if not self._is_heading(row))
        first = frozenset(self._key(row) for row in self.rows[: self.marked_first])
        if not first <= self._marks.keys:
            self._mark(Marks(first))
        else:
            self._mark(Marks() if every <= self._marks.keys else Marks(every))

    def _mark(self, marks: Marks) -> None:
        self._marks = marks
        self.refresh()
        self.post_message(self.MarksChanged(self, self.mark_count))

    def _span_keys(self) -> frozenset[object]:
        rows = (self.rows[i] for i in self._marks.span(self.cursor) if i < len(self.rows))
        return frozenset(self._key(row) for row in rows if not self._is_heading(row))

    def _is_marked(self, index: int) -> bool:
        if not self._marks:
            return False
        row = self.rows[index]
        in_span = index in self._marks.span(self.cursor) and not self._is_heading(row)
        return in_span or self._key(row) in self._marks.keys

    def _gutter(self, cursor: bool, marked: bool) -> str:
        return f"{CURSOR if cursor else ' '}{MARKED if marked else ' '} "

    def _clicked(self, index: int, event: events.Click) -> None:
        if event.shift:
            start, self.cursor = self.cursor, index
            self._mark(self._marks.started(start))
            self._mark(self._marks.ended(self._span_keys()))
        elif event.ctrl or event.meta:
            self.cursor = index
            row = self.rows[index]
            if not self._is_heading(row):
                self._mark(self._marks.toggled(self._key(row)))
        else:
            super()._clicked(index, event)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "escape" and self._marks.anchor is not None:
            event.stop()
            event.prevent_default()
            self._mark(self._marks.ended())
