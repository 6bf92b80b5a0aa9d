"""The live ranking: what was ranked and when, the rows, and what their marks mean."""

from datetime import datetime

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from workbench.tui.content import MUTED, assemble
from workbench.tui.figures import absolute, number
from workbench.tui.tune_desk import Desk
from workbench.tui.tune_parameters import day_offset
from workbench.tui.tune_rows import Line, draw, is_heading, key_of, legend
from workbench.tui.widgets.line_view import LineView

_APART = 3600
"""Seconds from which on the moment that is ranked at is not the present any more."""


class RankingPane(Vertical):
    """The list of a ranking between its title and its legend."""

    DEFAULT_CSS = """
    RankingPane {
        & .ranking--title, & .ranking--legend { height: 1; padding: 0 1; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._against = ""

    def compose(self) -> ComposeResult:
        """Build title, list and legend."""
        yield Static(classes="ranking--title")
        yield LineView(draw, key_of, is_heading=is_heading, id="list")
        yield Static(classes="ranking--legend")

    @property
    def rows(self) -> LineView[Line]:
        """The list."""
        return self.query_one("#list", LineView)

    def show(self, desk: Desk, obstacle: str, present: datetime) -> None:
        """Show a ranking, or the obstacle in its place."""
        self.rows.set_empty(Content(obstacle))
        self.rows.set_rows(desk.lines())
        pieces = [("ranking", "bold")]
        if desk.ranking is not None:
            pieces.append((f" · {number(len(desk.ranking.candidates))} served", MUTED))
        if desk.days:
            pieces += [(" · now ", MUTED), (day_offset(desk.days), "bold $text-warning")]
        if abs((desk.now - present).total_seconds()) > _APART:
            pieces.append((f" · as of {absolute(desk.now)}", MUTED))
        self.query_one(".ranking--title", Static).update(assemble(pieces), layout=False)
        self._against = desk.saved.name
        self._show_legend()

    def on_resize(self) -> None:
        """Draw the legend for the width there is."""
        self._show_legend()

    def _show_legend(self) -> None:
        bar = self.query_one(".ranking--legend", Static)
        bar.update(legend(max(0, self.size.width - 2), self._against), layout=False)
