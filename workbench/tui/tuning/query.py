"""The line above the ranking: the query, whether it is saved, and which of several equal ones is meant."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from workbench.core.tuning.judgment import SavedQuery
from workbench.tui.app.surviving import survives
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.figures import absolute, number
from workbench.tui.widgets.texts.safe_input import SafeInput

if TYPE_CHECKING:
    from workbench.tui.app.app import WorkbenchApp


_WITH_TIME = 90
"""Cells from which on there is room for the time of day."""


@survives
class QueryLine(Horizontal):
    """The box for a query, and on the right what the store knows about that query."""

    DEFAULT_CSS = """
    QueryLine {
        height: 1;
        padding: 0 1;
        & #query-label { width: 6; color: $text-muted; }
        & #query { width: 1fr; background: $background; }
        & #query-state { width: auto; }
    }
    """

    def __init__(self) -> None:
        super().__init__(id="query-line")
        self._grades: int | None = None
        self._now: datetime | None = None
        self._state = ""

    def compose(self) -> ComposeResult:
        """Build label, box and state."""
        yield Static(Content("query "), id="query-label")
        yield SafeInput(placeholder="/ what an agent might ask", id="query")
        yield Static(id="query-state")

    def on_resize(self) -> None:
        """Say as much about the query as leaves room for it."""
        self._draw()

    def show(self, grades: int | None, now: datetime | None) -> None:
        """Show how many grades a saved query has (`None`: it is not saved), and the moment it is asked at."""
        self._grades, self._now = grades, now
        self._draw()

    def _draw(self) -> None:
        state = ""
        if self._grades is not None:
            state = f"  saved · {number(self._grades)} judged" if self._grades else "  saved · not judged"
        if self._now is not None:
            at = absolute(self._now)
            state += f" · as of {at if self.size.width >= _WITH_TIME else at.split()[0]}"
        if state != self._state:
            self._state = state
            self.query_one("#query-state", Static).update(Content.styled(state, MUTED))


async def choose_moment(
    app: "WorkbenchApp", same: Sequence[SavedQuery], current: SavedQuery | None
) -> SavedQuery | None:
    """Ask which of several saved queries with the same words is meant; they differ in when they are asked."""
    found = [Choice(q.id, moment(q), app.bench.safety.masked(", ".join(q.tags))) for q in same]
    title = f"{len(same)} saved queries have these words"
    chosen = await app.push_screen_wait(Choose(title, found, current.id if current else ""))
    return next((q for q in same if q.id == chosen), None)


def moment(query: SavedQuery) -> str:
    """Return when a saved query is asked."""
    return "asked now" if query.now is None else f"asked at {absolute(query.now)}"
