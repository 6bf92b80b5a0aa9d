"""The live ranking: what was ranked and when, the rows, and what their marks mean."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from workbench.tui.content import MUTED, assemble
from workbench.tui.figures import absolute, number
from workbench.tui.tune_desk import Desk, only_stop_words
from workbench.tui.tune_parameters import day_offset, scope_text
from workbench.tui.tune_rows import Line, draw, is_heading, key_of, legend
from workbench.tui.widgets.fixed_text import FixedText
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
        self._pieces: tuple[Content, ...] = ()

    def compose(self) -> ComposeResult:
        """Build title, list and legend."""
        yield FixedText(classes="ranking--title")
        yield LineView(draw, key_of, is_heading=is_heading, id="list")
        yield FixedText(classes="ranking--legend")

    @property
    def rows(self) -> LineView[Line]:
        """The list."""
        return self.query_one("#list", LineView)

    def show(self, desk: Desk, obstacle: str, present: datetime) -> None:
        """Show a ranking, or the obstacle in its place."""
        self.rows.set_empty(Content(obstacle))
        self.rows.set_rows(desk.lines())
        self._pieces = tuple(title(desk, present))
        self._against = desk.saved.name
        self._show_frame()

    def on_resize(self) -> None:
        """Draw title and legend for the width there is."""
        self._show_frame()

    def _show_frame(self) -> None:
        width = max(0, self.size.width - 2)
        self.query_one(".ranking--title", FixedText).write(as_many(self._pieces, width))
        self.query_one(".ranking--legend", FixedText).write(legend(width, self._against))


def title(desk: Desk, present: datetime) -> Iterator[Content]:
    """Yield what stands above a ranking, what must be known first: when it is, how many, and what is unusual."""
    if desk.ranking is None:
        yield Content.styled("ranking", "bold")
        return
    count, k = len(desk.ranking.candidates), desk.profile.k
    yield Content.styled(f"best {k} of {number(count)}" if k < count else f"all {number(count)}, k is {k}", "bold")
    moved = f" ({day_offset(desk.days)})" if desk.days else ""
    if abs((desk.now - present).total_seconds()) > _APART:
        yield assemble([(f"as of {absolute(desk.now)}", ""), (moved, "bold $text-warning")])
    elif moved:
        yield assemble([("now", ""), (moved, "bold $text-warning")])
    if desk.profile.scope != "pool":
        yield Content.styled(scope_text(desk.profile), MUTED)
    if desk.question is not None and only_stop_words(desk.question.text):
        yield Content.styled("only common words: full text finds nothing", "$text-warning")


def as_many(pieces: Sequence[Content], width: int) -> Content:
    """Return the pieces side by side, those left out whole that there is no room for."""
    shown = Content("")
    for piece in pieces:
        joined = shown + Content.styled(" · ", MUTED) + piece if shown.plain else piece
        if joined.cell_length <= width:
            shown = joined
    return shown if shown.plain or not pieces else pieces[0]
