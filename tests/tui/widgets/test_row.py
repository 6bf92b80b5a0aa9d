"""Rows laid out in one go are those that Textual's own pieces, put side by side, make."""

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from textual.content import Content
from textual.style import Style

from workbench.core.text import one_line
from workbench.tui.widgets.content import assemble, fitted
from workbench.tui.widgets.line_list import Cell, lay_out

TEXT = st.text("ab  .\t\n−\u00a0e\u0301猫★\x1b", max_size=24) | st.text(max_size=40)
STYLES = st.sampled_from(("", "bold", "red on blue"))
FINISHED = st.lists(st.tuples(st.text("ab 猫★", max_size=9), STYLES), max_size=4).map(assemble)
CELLS = st.lists(
    st.builds(
        Cell, TEXT | FINISHED, st.integers(0, 20), STYLES, st.sampled_from(("left", "right"))
    ),
    max_size=6,
)


def plain(cells: list[Cell], width: int, gutter: str) -> Content:
    """Lay cells out with what Textual has for it."""
    room = max(0, width - len(gutter))
    widths = [cell.width for cell in cells]
    left = max(0, room - 2 * max(0, len(cells) - 1) - sum(widths))
    flexible = [at for at, wide in enumerate(widths) if not wide]
    for at in flexible:
        widths[at] = left // len(flexible) + (flexible.index(at) < left % len(flexible))
    return fitted(Content(gutter) + Content("  ").join(map(drawn, cells, widths)), width)


def drawn(cell: Cell, width: int) -> Content:
    if isinstance(cell.text, str):
        text = one_line(cell.text, 10_000) if width > 0 else ""
        return fitted(Content.styled(text, cell.style), width, cell.align)
    return fitted(
        cell.text.stylize_before(cell.style) if cell.style else cell.text, width, cell.align
    )


@given(CELLS, st.integers(0, 60), st.sampled_from(("", "▸* ")))
def test_any_cells_are_laid_out_as_their_pieces_side_by_side(
    cells: list[Cell], width: int, gutter: str
) -> None:
    row, expected = lay_out(cells, width, gutter=gutter), plain(cells, width, gutter)
    assert row.cell_length == Content(row.plain).cell_length == width
    assert segments(row) == segments(expected)


def segments(line: Content) -> list[Segment]:
    return list(Segment.simplify(line.render_segments(Style())))
