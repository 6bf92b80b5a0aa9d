"""Two rankings of one query side by side: another profile's, and the one that the sliders make."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.bench.question import Standing
from workbench.core.profile import Profile
from workbench.tui.actions import bindings
from workbench.tui.areas import COMPARE
from workbench.tui.content import MUTED, assemble, line
from workbench.tui.tune_desk import Desk
from workbench.tui.tune_rows import BEYOND, movement
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.row import Cell, lay_out


@dataclass(frozen=True, slots=True)
class Beside:
    """One place of both rankings; a heading has neither."""

    place: int
    left: Standing | None
    right: Standing | None


class CompareDialog(Dialog[bool]):
    """Place by place; arrows say where each memory stands in the other one. The result: another profile is wanted."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(COMPARE)
    DEFAULT_CSS = """
    CompareDialog {
        & > .dialog { width: 96%; max-width: 170; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #compare-state { height: 1; margin-bottom: 1; }
        & #compare-head { height: 1; padding-left: 2; }
        & LineView { background: $surface; }
    }
    """

    def __init__(self, desk: Desk, other: Profile) -> None:
        super().__init__("Compare two rankings", COMPARE)
        self._desk = desk
        self._other = other
        self._k = max(desk.profile.k, other.k)
        self._rows, self._state = _beside(desk, other)

    def contents(self) -> Iterable[Widget]:
        """Return what they have in common, both names, and the places."""
        yield Static(Content(self._state), id="compare-state")
        yield Static(Content(""), id="compare-head")
        yield LineView(self._draw, lambda row: row.place, empty=Content("Neither of them serves anything."))

    def on_mount(self) -> None:
        """Show the places."""
        rows = self.query_one(LineView)
        rows.set_rows(self._rows, cursor=0)
        rows.focus()

    def on_resize(self) -> None:
        """Lay the names out as the rows are."""
        self.call_after_refresh(self._head)

    def _head(self) -> None:
        width = self.query_one(LineView).scrollable_content_region.width - 2
        changed = " • changed" if self._desk.changed else ""
        cells = [Cell("", 3), Cell(self._other.name, 0, "bold"), Cell(f"{self._desk.profile.name}{changed}", 0, "bold")]
        self.query_one("#compare-head", Static).update(lay_out(cells, width, gap=1))

    def _draw(self, row: Beside, width: int) -> Content:
        style = "" if row.place <= self._k else MUTED
        cells = [Cell(str(row.place), 3, style, "right"), Cell(_side(row.left, width, self._went), 0, style)]
        return lay_out([*cells, Cell(_side(row.right, width, self._came), 0, style)], width, gap=1)

    def _went(self, standing: Standing) -> str:
        """Say where a memory of the left ranking stands in the right one."""
        place, there = standing.place, standing.before
        if there is None or (place is not None and place <= self._k < there):
            return "out"
        return f"→{there}"

    def _came(self, standing: Standing) -> str:
        return movement(standing, self._k)

    def action_other(self) -> None:
        """Choose another profile."""
        self.dismiss(True)

    def action_cancel(self) -> None:
        """Close."""
        self.dismiss(False)


def _beside(desk: Desk, other: Profile) -> tuple[Sequence[Beside], str]:
    question = desk.question
    if question is None:
        return (), ""
    count = max(desk.profile.k, other.k) + BEYOND
    mine, theirs = (question.rank(p, desk.now, count) for p in (desk.profile, other))
    left = question.standings(theirs, question.baseline(desk.profile, desk.now))
    right = question.standings(mine, question.baseline(other, desk.now))
    rows = [
        Beside(i + 1, left[i] if i < len(left) else None, right[i] if i < len(right) else None)
        for i in range(max(len(left), len(right)))
    ]
    one, two = set(theirs.ids[: other.k]), set(mine.ids[: desk.profile.k])
    same = sum(a.memory.id == b.memory.id for a, b in zip(left, right, strict=False) if a.place and a.place <= other.k)
    state = f"{len(one & two)} of the best {other.k} are in both, {same} of them at the same place"
    return rows, f"{state} · {len(two - one)} new, {len(one - two)} out"


def _side(standing: Standing | None, width: int, mark_of: Callable[[Standing], str]) -> Content:
    if standing is None:
        return Content("")
    move = mark_of(standing)
    up = move.startswith("▲") or move in ("new", "+")
    down = move.startswith("▼") or move == "out"
    mark = assemble([(f"{move:<4} ", "bold $text-success" if up else "bold $text-warning" if down else MUTED)])
    return mark + line(standing.memory.line, max(0, width // 2)).rstrip()
