"""How good the settings are, query by query, with what each figure means."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.text import printable
from workbench.core.tuning.verdict import TIE
from workbench.services.tuning.evaluation import QueryResult
from workbench.services.tuning.live import LiveVerdict
from workbench.tui.app.actions import bindings
from workbench.tui.tuning.actions import METRICS
from workbench.tui.tuning.judging.verdict import verdict_text
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.keys import keyed
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.row import Cell, lay_out

_NARROW = 100
"""Cells below which the saved profile's column gives way to the query."""


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One query under the settings, and its nDCG under the saved profile."""

    index: int
    found: QueryResult
    before: float


class MetricsDialog(Dialog[QueryResult | None]):
    """A table of metrics at the k of the settings, worst queries first; means and verdict stand above it.

    The result is the query that is to be ranked; `mask` takes secrets out of what is shown.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(METRICS)
    DEFAULT_CSS = """
    MetricsDialog {
        & > .dialog { width: 94%; max-width: 130; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #metrics-verdict { height: auto; max-height: 3; margin-bottom: 1; }
        & #metrics-head { height: 2; padding-left: 2; }
        & LineView { background: $surface; }
        & #metrics-about { height: auto; max-height: 9; border-top: solid $panel; color: $text-muted; }
    }
    """

    def __init__(self, found: LiveVerdict, remarks: Sequence[str], mask: Callable[[str], str]) -> None:
        super().__init__(f"Metrics · {found.verdict.queries} judged queries, worst first", METRICS)
        self._found = found
        self._remarks = tuple(map(mask, remarks))
        self._mask = mask
        self._measures = found.measures
        pairs = zip(found.new.queries, found.base.values(self._measures[0]), strict=True)
        rows = [MetricRow(i, query, before) for i, (query, before) in enumerate(pairs)]
        self._rows = sorted(rows, key=lambda r: (r.found.values[self._measures[0].name], r.index))

    def contents(self) -> Iterable[Widget]:
        """Return the verdict, the means, the queries and the definitions."""
        yield Static(verdict_text(self._found), id="metrics-verdict")
        yield Static(Content(""), id="metrics-head")
        yield LineView(self._draw, lambda row: row.index)
        lines = [f"{m.title}: {m.about}" for m in self._measures]
        lines.append(f"unjudged: among the first {self._measures[0].k} without a grade; taken as grade 0")
        if self._found.new.unjudged:
            lines.append(
                keyed("{metrics.look} ranks the query under the cursor, and {tune.judge} there grades what is unjudged")
            )
        lines += [printable(remark) for remark in self._remarks]
        yield VerticalScroll(Static(Content("\n".join(lines))), id="metrics-about", can_focus=False)

    def on_mount(self) -> None:
        """Show the queries."""
        rows = self.query_one(LineView)
        rows.set_rows(self._rows, cursor=0)
        rows.focus()

    @on(LineView.Opened)
    def action_look(self) -> None:
        """Rank the query under the cursor."""
        row: MetricRow | None = self.query_one(LineView).current
        self.dismiss(None if row is None else row.found)

    def on_resize(self) -> None:
        """Lay the head out as the rows are."""
        self.call_after_refresh(self._head)

    def _head(self) -> None:
        width = self.query_one(LineView).scrollable_content_region.width - 2
        mean = self._found.new.mean
        titles = [Content.styled(m.title, MUTED) for m in self._measures]
        head = self._cells(Cell("query", 0, MUTED), titles, ("saved", "unjudged"), width, MUTED)
        means = [Content.styled(f"{mean[m.name]:.3f}", "bold") for m in self._measures]
        ends = (f"{self._found.means[0]:.3f}", str(self._found.new.unjudged))
        line = self._cells(Cell("mean", 0, "bold"), means, ends, width, "bold")
        text = Content("\n").join([lay_out(head, width, gap=2), lay_out(line, width, gap=2)])
        self.query_one("#metrics-head", Static).update(text)

    def _draw(self, row: MetricRow, width: int) -> Content:
        now = row.found.values[self._measures[0].name]
        move = "▲" if now - row.before > TIE else "▼" if row.before - now > TIE else " "
        style = "bold $text-success" if move == "▲" else "bold $text-warning"
        first = assemble([(move, style), (f" {now:.3f}", "")])
        others = [Content(f"{row.found.values[m.name]:.3f}") for m in self._measures[1:]]
        ends = (f"{row.before:.3f}", str(row.found.unjudged))
        return lay_out(
            self._cells(Cell(self._mask(row.found.query)), [first, *others], ends, width, MUTED), width, gap=2
        )

    def _cells(
        self, query: Cell, values: Sequence[Content], ends: tuple[str, str], width: int, style: str
    ) -> list[Cell]:
        """Return a row of the table: the query, the metrics, the saved profile's nDCG and how many are unjudged."""
        widths = [max(7, len(m.title)) for m in self._measures]
        cells = [query, *(Cell(value, w, "", "right") for value, w in zip(values, widths, strict=True))]
        if width >= _NARROW:
            cells.append(Cell(ends[0], 6, style, "right"))
        return [*cells, Cell(ends[1], 8, style, "right")]
