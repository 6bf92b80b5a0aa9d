"""The list of every screen: a line view whose rows can be marked, one by one, as a range, or all."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Literal, TypeVar

from rich.cells import cell_len
from textual import events
from textual.content import Content, Span
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from workbench.core.runtime import implementation
from workbench.tui.actions import LIST, MARKS
from workbench.tui.app.actions import bindings
from workbench.tui.widgets.content import BLANK, fitted, line


@dataclass(frozen=True, slots=True)
class Cell:
    """One column of one row.

    `text` may be stored text (it is made safe) or finished `Content`. `width` is in terminal cells;
    0 shares what the fixed columns leave. `style` is a Textual style, such as "$text-muted". `name`
    heads the column, in a list with a title.
    """

    text: str | Content
    width: int = 0
    style: str = ""
    align: Literal["left", "right"] = "left"
    name: str = ""


def lay_out(cells: Sequence[Cell], width: int, gap: int = 2, gutter: str = "") -> Content:
    """Return the cells side by side as exactly `width` cells, `gap` spaces between them.

    `gutter` is finished text that stands before them.
    """
    text, spans = gutter, list[Span]()
    room = max(0, width - cell_len(gutter))
    widths = _widths(cells, room - gap * max(0, len(cells) - 1))
    for number, (cell, wide) in enumerate(zip(cells, widths, strict=True)):
        if number:
            text += " " * gap
        at, drawn = len(text), _draw(cell, wide)
        text += drawn.plain
        spans += [Span(start + at, end + at, style) for start, end, style in drawn.spans]
    cells_taken = sum(widths) + gap * max(0, len(cells) - 1) + cell_len(gutter)
    return fitted(Content(text, spans, cells_taken, strip_control_codes=False), width)


def _widths(cells: Sequence[Cell], room: int) -> list[int]:
    flexible = sum(1 for cell in cells if not cell.width)
    left = max(0, room - sum(cell.width for cell in cells))
    each, extra = divmod(left, flexible) if flexible else (0, 0)
    widths = []
    for cell in cells:
        widths.append(cell.width or each + (extra > 0))
        extra -= not cell.width
    return widths


def _draw(cell: Cell, width: int) -> Content:
    if isinstance(cell.text, str):
        return line(cell.text, width, cell.style, cell.align)
    styled = cell.text.stylize_before(cell.style) if cell.style else cell.text
    return fitted(styled, width, cell.align)


# Rows of one line each with a cursor: draws only the lines in sight, whatever their number.


T = TypeVar("T")

CURSOR, RESTING = "▸", "▹"
"""Drawn before the row under the cursor, so that it needs no colour: where the keys are, and
elsewhere.
"""

FAR = 1 << 30
"""Lines that lead to the first or the last one."""

_LOOKED_THROUGH = 20
"""Rows in which columns are looked for that have names, where the one under the cursor has none."""

FIND_WIDTH = 200
"""Cells of a row in which words are looked for."""

CHOOSE, CHOICE = (f"workbench.tui.widgets.dialog:{name}" for name in ("Choose", "Choice"))
"""What asks for a row; it has a list itself."""


class FromWidget(Message):
    """A message that handlers tell apart by the widget it comes from."""

    def __init__(self, sender: Widget) -> None:
        super().__init__()
        self.sender = sender

    @property
    def control(self) -> Widget:
        return self.sender


class ListKeys(Widget):
    """The keys that move in a list (`LIST`), for what `move_by` moves or scrolls by lines."""

    def move_by(self, lines: int) -> None:
        """Move so many lines down, or up, as far as there are any."""
        raise NotImplementedError

    def action_up(self) -> None:
        self.move_by(-1)

    def action_down(self) -> None:
        self.move_by(1)

    def action_half_up(self) -> None:
        self.move_by(-max(1, self.size.height // 2))

    def action_half_down(self) -> None:
        self.move_by(max(1, self.size.height // 2))

    def action_page_up(self) -> None:
        self.move_by(-max(1, self.size.height - 1))

    def action_page_down(self) -> None:
        self.move_by(max(1, self.size.height - 1))

    def action_first(self) -> None:
        self.move_by(-FAR)

    def action_last(self) -> None:
        self.move_by(FAR)


class LineView(ScrollView, ListKeys, Generic[T], can_focus=True, inherit_bindings=False):
    """A list of rows of one line each, with a cursor and headings.

    `draw(row, width)` makes the cells (or one finished line) of a row; it is called for lines in
    sight only. `key(row)` names a row, so that the cursor stays on it when the rows are replaced. A
    heading can hold the cursor. The rows stay the caller's: change the sequence, then say so with
    `set_rows` or `refresh_row`. A list with a `title` is a pane: the columns are named above it, or
    else the title is.
    """

    class Highlighted(FromWidget):
        """The cursor came to rest on another row, or on none."""

    class Opened(FromWidget):
        """Enter or a double click on a row."""

    ALLOW_SELECT = False
    ALLOW_MAXIMIZE = False
    BINDINGS = bindings(LIST)
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "line--cursor",
        "line--marked",
        "line--heading",
        "line--empty",
    }
    DEFAULT_CSS = """
    LineView {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .line--heading { text-style: bold; }
        & > .line--marked { text-style: bold; }
        & > .line--empty { color: $text-muted; }
        & > .line--cursor {
            background: $block-cursor-blurred-background;
            color: $block-cursor-blurred-foreground;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .line--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: $block-cursor-text-style;
        }
    }
    """

    cursor = reactive(0, init=False, repaint=False)
    """Index of the row under the cursor; 0 when there are no rows."""

    def __init__(
        self,
        draw: Callable[[T, int], Sequence[Cell] | Content],
        key: Callable[[T], Hashable],
        *,
        is_heading: Callable[[T], bool] | None = None,
        empty: Content | None = None,
        title: str = "",
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._draw = draw
        self._key = key
        self._is_heading = is_heading or _never
        self._empty = empty or BLANK
        self._rows: Sequence[T] = ()
        self._announced: tuple[Hashable] | None = None
        self._headed: object = None
        self.leads = False
        """Whether the keys of another widget move the cursor, such as those of a line one types in."""
        if title:
            self.add_class("pane")
            self.border_title = Content(f" {title} ")

    # The rows

    @property
    def rows(self) -> Sequence[T]:
        return self._rows

    @property
    def current(self) -> T | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if self._rows else None

    def set_rows(self, rows: Sequence[T], *, cursor: int | None = None) -> None:
        """Replace the rows.

        The cursor goes to `cursor`, or stays on the row with the same key, or else on the same
        line.
        """
        key = self._announced[0] if self._announced and self._rows else None
        self._rows = rows
        self.virtual_size = Size(0, len(rows))
        target = self.cursor if cursor is None else cursor
        if cursor is None and key is not None:
            found = self.index_of(key)
            target = self.cursor if found is None else found
        self.cursor = target
        self._show_cursor()
        self._announce()
        self._name_columns()
        self.refresh()

    def refresh_row(self, index: int) -> None:
        """Draw one row anew, and no other line."""
        self.refresh_line(index)

    def set_empty(self, text: Content) -> None:
        """Change what is shown when there are no rows."""
        self._empty = text
        self.refresh()

    def index_of(self, key: Hashable) -> int | None:
        """Return where the row with this key stands, looking at the cursor first."""
        at = min(self.cursor, len(self._rows) - 1)
        if at >= 0 and self._key(self._rows[at]) == key:
            return at
        return next((i for i, row in enumerate(self._rows) if self._key(row) == key), None)

    # Drawing

    def _name_columns(self) -> None:
        """Name the columns of the row under the cursor above them, or else those of the first rows."""
        if not self.has_class("pane") or not self._rows or not self._width:
            return
        gutter = " " * len(self._gutter(cursor=False, marked=False))
        for row in (self._rows[self.cursor], *self._rows[:_LOOKED_THROUGH]):
            cells = self._draw(row, self._width - len(gutter))
            if isinstance(cells, Content) or not any(cell.name for cell in cells):
                continue
            names = [replace(cell, text=cell.name, style="") for cell in cells]
            if self._headed != (self._width, names):
                self._headed = self._width, names
                # A title begins one cell from the left.
                self.border_title = lay_out(names, self._width, gutter=gutter)[1:]
            return

    def render_line(self, y: int) -> Strip:
        """Return one line in sight; Textual calls this for lines that must be repainted."""
        width, index = self._width, y + self.scroll_offset.y
        if not self._rows:
            return self._empty_line(y, width)
        if index >= len(self._rows):
            return Strip.blank(width, self.visual_style.rich_style)
        return self._line(index, width, index == self.cursor, self._is_marked(index))

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def _line(self, index: int, width: int, cursor: bool, marked: bool) -> Strip:
        row = self._rows[index]
        gutter = self._gutter(cursor, marked)
        drawn = self._draw(row, max(0, width - len(gutter)))
        line = (
            Content(gutter) + drawn
            if isinstance(drawn, Content)
            else lay_out(drawn, width, gutter=gutter)
        )
        states = (("heading", self._is_heading(row)), ("marked", marked), ("cursor", cursor))
        names = [f"line--{name}" for name, holds in states if holds]
        return self._strip(line, width, names)

    def _gutter(self, cursor: bool, marked: bool) -> str:  # noqa: ARG002 - for lists with marks
        """What stands before a row; a list with marks has room for one."""
        return f"{self._pointer if cursor else ' '} "

    @property
    def _pointer(self) -> str:
        return CURSOR if self.has_focus or self.leads else RESTING

    def _is_marked(self, index: int) -> bool:  # noqa: ARG002 - for lists with marks
        """Whether a row is marked; a list without marks has none."""
        return False

    def _empty_line(self, y: int, width: int) -> Strip:
        lines = [
            BLANK,
            *(Content("  ") + line for line in self._empty.wrap(max(1, width - 4))),
        ]
        return self._strip(lines[y] if y < len(lines) else BLANK, width, ["line--empty"])

    def _strip(self, line: Content, width: int, names: Sequence[str]) -> Strip:
        style = self.get_visual_style(*names) if names else self.visual_style
        exact = line if line.cell_length == width else fitted(line, width)
        return Strip(exact.render_segments(style), width)

    # The cursor

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor on a row."""
        return max(0, min(cursor, len(self._rows) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Repaint the two lines concerned, keep the cursor in sight and tell the screen."""
        self.refresh_line(old)
        self.refresh_line(new)
        self._show_cursor()
        self._announce()
        self._name_columns()

    def _show_cursor(self) -> None:
        height = self.scrollable_content_region.height
        top = self.scroll_offset.y
        if height and self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif height and self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)

    def show_below(self, count: int) -> None:
        """Bring so many rows below the cursor into sight, as far as there is room; the cursor stays
        in sight.
        """
        height = self.scrollable_content_region.height
        last = min(self.cursor + count, len(self._rows) - 1)
        if height and last >= self.scroll_offset.y + height:
            self.scroll_to(y=min(self.cursor, last - height + 1), animate=False, force=True)

    def _announce(self) -> None:
        now = (self._key(self._rows[self.cursor]),) if self._rows else None
        if now != self._announced:
            self._announced = now
            self.post_message(self.Highlighted(self))

    def move_by(self, lines: int) -> None:
        self.cursor += lines

    def action_open(self) -> None:
        """Open the row under the cursor."""
        if self._rows:
            self.post_message(self.Opened(self))

    def find(self) -> None:
        """Choose a row by its words; the cursor goes there."""
        choices = [
            implementation(CHOICE)(str(at), self._words(row)) for at, row in enumerate(self._rows)
        ]

        def go(chosen: str | None) -> None:
            if chosen is not None:
                self.cursor = int(chosen)

        self.app.push_screen(implementation(CHOOSE)("Find a row", choices, str(self.cursor)), go)

    def _words(self, row: T) -> str:
        drawn = self._draw(row, FIND_WIDTH)
        text = (
            drawn.plain
            if isinstance(drawn, Content)
            else " ".join(str(cell.text) for cell in drawn)
        )
        return " ".join(text.split())

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        index = self.scroll_offset.y + offset.y if offset else len(self._rows)
        if event.button != 1 or index >= len(self._rows):
            return
        event.stop()
        self._clicked(index, event)

    def _clicked(self, index: int, event: events.Click) -> None:
        self.cursor = index
        if event.chain == 2:
            self.action_open()

    def on_resize(self) -> None:
        self._show_cursor()
        self._name_columns()


def find_row(screen: Screen[Any]) -> None:
    """Choose a row of the list that has the focus, or else of the first one."""
    lists = sorted(screen.query(LineView), key=lambda rows: not rows.has_focus)
    if lists:
        lists[0].find()


def _never(_row: object) -> bool:
    return False


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


MARKED = "*"
"""Drawn before a marked row, so that the mark needs no colour."""


class LineList(LineView[T], inherit_bindings=False):
    """A `LineView` with marks: t one row, v a range (v ends it, esc drops it), T all or none.

    With the mouse, ctrl+click marks a row and shift+click everything from the cursor to it.
    Headings are never marked. Marks follow their keys; those of rows that are no longer listed are
    dropped, so nothing unseen stays marked.
    """

    class MarksChanged(FromWidget):
        """Other rows are marked than before."""

    BINDINGS = bindings((*LIST, *MARKS))

    marked_first = 0
    """How many rows `T` marks before it marks all: those at the top, where the others are of
    another kind.
    """

    _marks = Marks()

    @property
    def marked_rows(self) -> list[T]:
        """The marked rows in the order of the list, with those of a range being drawn."""
        if not self._marks:
            return []
        return [row for index, row in enumerate(self.rows) if self._is_marked(index)]

    @property
    def mark_count(self) -> int:
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
            self.post_message(self.MarksChanged(self))

    def watch_cursor(self, old: int, new: int) -> None:
        """Repaint what the moving end of a range passes, besides the two lines of the cursor."""
        super().watch_cursor(old, new)
        if self._marks.anchor is not None:
            self.refresh_lines(min(old, new), abs(old - new) + 1)
            self.post_message(self.MarksChanged(self))

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
        """Mark every listed row, or none when all are marked; those at the top first that are of a
        kind.
        """
        every = frozenset(self._key(row) for row in self.rows if not self._is_heading(row))
        first = frozenset(self._key(row) for row in self.rows[: self.marked_first])
        if not first <= self._marks.keys:
            self._mark(Marks(first))
        else:
            self._mark(Marks() if every <= self._marks.keys else Marks(every))

    def _mark(self, marks: Marks) -> None:
        self._marks = marks
        self.refresh()
        self.post_message(self.MarksChanged(self))

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
        return f"{self._pointer if cursor else ' '}{MARKED if marked else ' '} "

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

    async def on_key(self, event: events.Key) -> None:
        if event.key == "escape" and self._marks.anchor is not None:
            event.stop()
            event.prevent_default()
            self._mark(self._marks.ended())
