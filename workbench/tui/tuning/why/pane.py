"""The pane that explains the row under the cursor: its figures, its ways into the top, its decay curve."""

from collections.abc import Callable
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.services.safety.masking import masked
from workbench.services.tuning.question import Explanation
from workbench.services.tuning.session import TuningSession
from workbench.tui.app.actions import bindings
from workbench.tui.app.surviving import survives
from workbench.tui.tuning.hints import WayIn, other_ways, ways
from workbench.tui.tuning.rows import Heading, Line
from workbench.tui.tuning.why.curve import DecayCurve
from workbench.tui.tuning.why.explain import Setting, explained
from workbench.tui.widgets.actions import LIST
from workbench.tui.widgets.content import MUTED

_TEXT, _CURVE = 51, 24
"""Cells that the text, with its margin, and the curve need at least to stand side by side."""


@survives
class WhyPane(VerticalScroll, inherit_bindings=False):
    """Text and curve side by side, or one above the other where there is height instead of width."""

    class Tried(Message):
        """Every parameter was tried for a memory."""

        def __init__(self, memory: str, ways: tuple[WayIn, ...]) -> None:
            super().__init__()
            self.memory = memory
            self.ways = ways

    # Not those of a scroll view, which would keep ← and → from the slider.
    BINDINGS: ClassVar[list[BindingType]] = bindings([a for a in LIST if a.id != "list.open"])
    DEFAULT_CSS = """
    WhyPane {
        layout: horizontal;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        padding: 0 1;
        & .why--text { width: 1fr; height: auto; }
        & DecayCurve { margin-left: 2; }
        &.-tall { layout: vertical; }
        &.-tall DecayCurve { margin: 1 0 0 0; }
    }
    """

    def __init__(self, mask: Callable[[str], str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._mask = mask
        self._session: TuningSession | None = None
        self._line: Line | None = None
        self._memory = ""
        self._ways: tuple[WayIn, ...] | None = None
        self._every = self._bounds = False
        self._found: Explanation | None = None
        self._drawn = ""
        self._shape = ("", 0, 0)

    def compose(self) -> ComposeResult:
        """Build the text and the curve."""
        yield Static(classes="why--text")
        yield DecayCurve()

    def on_resize(self) -> None:
        """Give the table what it needs and the curve the rest, below the text where that is too little."""
        curve = self.query_one(DecayCurve)
        self.set_class(self._beside == 0, "-tall")
        curve.styles.width = self._beside or "100%"
        self._draw()

    @property
    def _beside(self) -> int:
        """The cells of the curve beside the text; 0 where it stands below."""
        width, height = self.scrollable_content_region.size
        rest = width - _TEXT
        return 0 if rest < _CURVE or height > width // 2 else min(rest, 2 * _CURVE)

    def show(self, session: TuningSession, line: Line | None) -> None:
        """Explain a line of the ranking; ways that were found for the same memory stay until others are."""
        self._session, self._line = session, line
        memory = "" if line is None or isinstance(line, Heading) else line.standing.memory.id
        if memory != self._memory:
            self._memory, self._ways, self._every = memory, None, False
            self.scroll_home(animate=False)
        self._draw()

    def turn_bounds(self) -> None:
        """Show what set the ends of each factor's scale, or leave it out again."""
        self._bounds = not self._bounds
        self._draw()

    def _draw(self) -> None:
        curve = self.query_one(DecayCurve)
        found = self._session.explain(self._memory) if self._session and self._memory else None
        if self._session is None or found is None:
            about = Content.styled(self._line.about if isinstance(self._line, Heading) else "", MUTED)
            lines = about.wrap(max(20, self.scrollable_content_region.width - self._beside))
            self._write(Content("\n").join(line.rstrip() for line in lines))
            self._found, self._drawn = None, ""
            curve.clear()
            return
        width = self.scrollable_content_region.width - (self._beside + 2 if self._beside else 0)
        profile, name = self._session.profile, self._session.saved.name
        setting = Setting(profile, name, width, self._every, self._session.against, self._bounds)
        self._write(explained(masked(found, self._mask), self._ways, setting))
        self._found = found
        if self._drawn != self._memory:
            self.show_curve()

    def show_curve(self) -> None:
        """Draw how recency fades for the memory: at once for another one, else when the hand rests."""
        if self._found is not None and self._session is not None:
            self._drawn = self._memory
            self.query_one(DecayCurve).show(self._found, self._session.profile)

    def action_up(self) -> None:
        """One line up."""
        self.scroll_up(animate=False)

    def action_down(self) -> None:
        """One line down."""
        self.scroll_down(animate=False)

    def action_half_up(self) -> None:
        """Half a page up."""
        self.scroll_relative(y=-max(1, self.size.height // 2), animate=False)

    def action_half_down(self) -> None:
        """Half a page down."""
        self.scroll_relative(y=max(1, self.size.height // 2), animate=False)

    def action_page_up(self) -> None:
        """One page up."""
        self.scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        """One page down."""
        self.scroll_page_down(animate=False)

    def action_first(self) -> None:
        """To the first line."""
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        """To the last line."""
        self.scroll_end(animate=False)

    @property
    def memory(self) -> str:
        """The memory that is explained; empty when none is."""
        return self._memory

    def show_ways(self, memory: str, ways: tuple[WayIn, ...]) -> None:
        """Show what would bring the memory into the top; for one that was asked for, try every parameter too."""
        self._show_ways(memory, ways, every=False)
        session = self._session
        place = session.ranking.place_of(memory) if session and session.ranking and memory == session.watched else None
        if session and place is not None and place > session.profile.k:
            self._try_all(session.copy(), memory)

    @work(thread=True, exclusive=True, group="ways", description="ways")
    def _try_all(self, session: TuningSession, memory: str) -> None:
        worker = get_current_worker()
        found = (*ways(session, memory), *other_ways(session, memory, lambda: worker.is_cancelled))
        if not worker.is_cancelled:
            self.post_message(self.Tried(memory, found))

    @on(Tried)
    def _tried(self, event: Tried) -> None:
        self._show_ways(event.memory, event.ways, every=True)

    def _show_ways(self, memory: str, ways: tuple[WayIn, ...], *, every: bool) -> None:
        if memory == self._memory and (ways, every) != (self._ways, self._every):
            self._ways, self._every = ways, every
            self._draw()

    def _write(self, content: Content) -> None:
        """Show a text; the screen is laid out anew only when it may be higher or lower than before."""
        shape = (self._memory, self.size.width, content.plain.count("\n"))
        self.query_one(Static).update(content, layout=shape != self._shape)
        self._shape = shape
