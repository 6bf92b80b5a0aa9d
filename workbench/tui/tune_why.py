"""The pane that explains the row under the cursor: its figures, its ways into the top, its decay curve."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.bench.question import Way
from workbench.tui.content import MUTED
from workbench.tui.tune_curve import DecayCurve
from workbench.tui.tune_desk import Desk
from workbench.tui.tune_explain import Setting, explained
from workbench.tui.tune_rows import Heading, Line


class WhyPane(VerticalScroll):
    """Text and curve side by side, or one above the other where there is height instead of width."""

    DEFAULT_CSS = """
    WhyPane {
        layout: horizontal;
        scrollbar-size-vertical: 1;
        padding: 0 1;
        & .why--text { width: 1fr; height: auto; }
        & DecayCurve { width: 40; margin-left: 2; }
        &.-tall { layout: vertical; }
        &.-tall .why--text { width: 100%; }
        &.-tall DecayCurve { width: 100%; margin: 1 0 0 0; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._id = ""
        self._ways: tuple[Way, ...] | None = None

    def compose(self) -> ComposeResult:
        """Build the text and the curve."""
        yield Static(classes="why--text")
        yield DecayCurve()

    def show(self, desk: Desk, line: Line | None) -> None:
        """Explain a line of the ranking; ways that were found for the same memory stay until others are."""
        curve = self.query_one(DecayCurve)
        found = None if line is None or isinstance(line, Heading) else desk.explain(line.standing.memory.id)
        if found is None:
            self._write(Content.styled("" if line is None else "Ranked, but not served: k is smaller.", MUTED))
            curve.clear()
            return
        if found.standing.memory.id != self._id:
            self._id, self._ways = found.standing.memory.id, None
            self.scroll_home(animate=False)
        setting = Setting(desk.profile, desk.saved.name, self.query_one(Static).size.width)
        self._write(explained(found, self._ways, setting))
        curve.show(found, desk.profile)

    def show_ways(self, desk: Desk, line: Line | None) -> None:
        """Find what would bring the memory into the top; takes longer than a frame in a large store."""
        if line is None or isinstance(line, Heading):
            return
        ways = desk.ways(line.standing.memory.id)
        if ways != self._ways:
            self._ways = ways
            self.show(desk, line)

    def _write(self, content: Content) -> None:
        self.query_one(Static).update(content)
