"""The live ranking: what was ranked and when, the rows, and what their marks mean."""

from collections.abc import Iterator, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from workbench.core.text import printable
from workbench.core.words import only_stop_words
from workbench.services.safety.safety import Safety
from workbench.services.tuning.session import TuningSession
from workbench.tui.app.surviving import survives
from workbench.tui.tuning.floor import missing
from workbench.tui.tuning.parameters import day_offset, scope_texts
from workbench.tui.tuning.rows import Line, draw, is_heading, key_of, legend, lines_of
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.figures import absolute, number
from workbench.tui.widgets.lists.fixed_text import FixedText
from workbench.tui.widgets.lists.line_view import LineView

Piece = tuple[Content, ...]
"""One thing to say, in several wordings, the longest first."""

_WARNING = "bold $text-warning"


@survives
class RankingPane(Vertical):
    """The list of a ranking between its title and its legend."""

    DEFAULT_CSS = """
    RankingPane {
        & .ranking--title, & .ranking--legend { height: 1; padding: 0 1; }
    }
    """

    def __init__(self, safety: Safety, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._safety = safety
        self._against = ""
        self._pieces: tuple[Piece, ...] = ()

    def compose(self) -> ComposeResult:
        """Build title, list and legend."""
        yield FixedText(classes="ranking--title")
        yield LineView(self._row, key_of, is_heading=is_heading, id="list")
        yield FixedText(classes="ranking--legend")

    @property
    def rows(self) -> LineView[Line]:
        """The list."""
        return self.query_one("#list", LineView)

    def show(self, session: TuningSession, obstacle: str) -> None:
        """Show a ranking, or the obstacle in its place."""
        self.rows.set_empty(Content(obstacle))
        self.rows.set_rows(lines(session))
        self._pieces = tuple(title(session))
        self._against = session.saved.name
        self._show_frame()

    def _row(self, line: Line, width: int) -> Content:
        return draw(line, width, self._safety)

    def on_resize(self) -> None:
        """Draw title and legend for the width there is."""
        self._show_frame()

    def _show_frame(self) -> None:
        width = max(0, self.size.width - 2)
        self.query_one(".ranking--title", FixedText).write(as_many(self._pieces, width))
        self.query_one(".ranking--legend", FixedText).write(legend(width, self._against))


def lines(session: TuningSession) -> list[Line]:
    """Return the rows of a ranking, with the memory that somebody asked about."""
    standings, watched = session.standings(), session.watched_standing()
    return lines_of(standings, session.profile.k, watched, session.against) if standings or watched else []


def title(session: TuningSession) -> Iterator[Piece]:
    """Yield what stands above a ranking: how many, at which moved moment, by whose bounds, and what is odd."""
    if session.ranking is None or not len(session.ranking.pool):
        yield (Content.styled("ranking", "bold"),)
        return
    count, k = len(session.ranking.candidates), session.profile.k
    yield (Content.styled(f"best {k} of {number(count)}" if k < count else f"all {number(count)}, k is {k}", "bold"),)
    if session.profile.candidates:
        only = printable(session.profile.candidates)
        yield (assemble([("only ", ""), (only, _WARNING)]), Content.styled("filtered", _WARNING))
    if session.days:
        moved = day_offset(session.days)
        yield (
            assemble([(f"as of {absolute(session.now)} ", ""), (f"({moved})", _WARNING)]),
            assemble([("now ", ""), (moved, _WARNING)]),
        )
    if session.profile.scope != "pool" and session.profile.scorer == "factors":
        yield tuple(Content.styled(text, MUTED) for text in scope_texts(session.profile))
    if session.question is not None and only_stop_words(session.question.text):
        texts = ("only common words: full text finds nothing", "only common words")
        yield tuple(Content.styled(text, _WARNING) for text in texts)
    if session.question is not None and (why := missing(session.question.standard)):
        yield tuple(Content.styled(text, MUTED) for text in why)
    yield (Content.styled("number: relevance", MUTED),)


def as_many(pieces: Sequence[Piece], width: int) -> Content:
    """Return the pieces side by side, each in its longest wording that there is room for; the others are left out."""
    shown = Content("")
    for piece in pieces:
        joined = [shown + Content.styled(" · ", MUTED) + text if shown.plain else text for text in piece]
        shown = next((line for line in joined if line.cell_length <= width), shown)
    return shown
