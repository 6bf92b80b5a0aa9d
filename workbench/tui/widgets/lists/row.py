"""A row of a list as a value: cells with a width, a style and an alignment."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rich.cells import cell_len
from textual.content import Content, Span

from workbench.tui.widgets.content import fitted, line


@dataclass(frozen=True, slots=True)
class Cell:
    """One column of one row.

    `text` may be stored text (it is made safe) or finished `Content`. `width` is in terminal cells;
    0 shares what the fixed columns leave. `style` is a Textual style, such as "$text-muted".
    """

    text: str | Content
    width: int = 0
    style: str = ""
    align: Literal["left", "right"] = "left"


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
        short = len(cell.text) <= _SHORT
        return (_remembered if short else line)(cell.text, width, cell.style, cell.align)
    styled = cell.text.stylize_before(cell.style) if cell.style else cell.text
    return fitted(styled, width, cell.align)


_SHORT = 16
"""Characters of a text that many rows are likely to have: an age, a type, votes, a status."""

_remembered = lru_cache(maxsize=2048)(line)
