"""A row of a list as a value: cells with a width, a style and an alignment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from textual.content import Content

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


def lay_out(cells: Sequence[Cell], width: int, gap: int = 2) -> Content:
    """Return the cells side by side as exactly `width` cells, `gap` spaces between them."""
    between = Content(" " * gap)
    widths = _widths(cells, width - gap * max(0, len(cells) - 1))
    return fitted(between.join([_draw(cell, w) for cell, w in zip(cells, widths, strict=True)]), width)


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
    if isinstance(cell.text, Content):
        styled = cell.text.stylize_before(cell.style) if cell.style else cell.text
        return fitted(styled, width, cell.align)
    return line(cell.text, width, cell.style, cell.align)
