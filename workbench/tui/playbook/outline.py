"""The sections of a playbook beside the list, on wide screens: where one is, and a click goes there."""

from collections.abc import Sequence

from workbench.core.text import printable
from workbench.tui.playbook.rows import Row, title_of
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.row import Cell


class Outline(LineView[Row]):
    """The headings with their numbers of bullets and tokens; the keyboard stays in the list."""

    def __init__(self, id: str) -> None:
        super().__init__(_draw, lambda row: row.section.id, id=id)
        self.can_focus = False

    def follow(self, rows: Sequence[Row], section: str) -> None:
        """Show the headings of these rows, the cursor on one section, without a message."""
        headings = [row for row in rows if row.bullet is None and row.cut is None]
        place = next((i for i, row in enumerate(headings) if row.section.id == section), 0)
        with self.prevent(LineView.Highlighted):
            if headings != self.rows:
                self.set_rows(headings, cursor=place)
            else:
                self.cursor = place


def _draw(row: Row, width: int) -> list[Cell]:
    tokens = f"≈{number(row.tokens)}"
    return [
        Cell(printable(title_of(row.section)[: 4 * width])),
        Cell(str(row.count), 4, "", "right"),
        Cell(tokens, max(7, len(tokens)), MUTED, "right"),
    ]
