"""How recency fades, with the memory's place on the curve: drawn by plotext in quadrant blocks."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.color import Color
from textual.containers import Vertical
from textual.content import Content

from workbench.core.tuning.profile import Profile
from workbench.core.tuning.recency import rank_recency, recency
from workbench.services.tuning.question import Explanation
from workbench.tui.app.surviving import survives
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.figures import days
from workbench.tui.widgets.lists.fixed_text import FixedText

if TYPE_CHECKING:
    from textual_plotext import PlotextPlot

HERE = "●"
APART = 2
"""Cells between two labels of the axis: of closer ones the library drops some, and not always the same."""
AXIS = 5
"""Cells that the other axis takes: its labels and the frame."""
_POINTS = 120


@dataclass(frozen=True, slots=True)
class Curve:
    """A falling curve from `x` 0 to `end`; the memory stands at `here`. `unit` follows a number on the axis."""

    end: float
    half: float
    here: float
    value: float
    by_rank: float | None
    unit: str

    def at(self, x: float) -> float:
        """Return the recency at `x` days, or at place `x` where recency goes by rank."""
        return recency(x * 24, self.half) if self.by_rank is None else self.by_rank**x

    def ticks(self, width: int) -> list[tuple[float, str]]:
        """Return places of an axis of so many cells with their labels: half-lives, or every so many places.

        There are four at most, and fewer where their labels would not stand apart.
        """
        found: list[tuple[float, str]] = []
        for most in (4, 3, 2, 1):
            unit = self.half or max(1.0, round(self.end / most))
            step = unit * math.ceil(self.end / unit / most)
            places = [i * step for i in range(most) if i * step <= self.end * 0.95]
            found = [(x, f"{x:.3g}{self.unit if x == places[-1] else ''}") for x in places]
            if self._stand_apart(found, width):
                break
        return found

    def _stand_apart(self, ticks: list[tuple[float, str]], width: int) -> bool:
        """Tell whether labels that are centred on their places leave `APART` cells between them."""
        spans = [(x / self.end * (width - 1), (len(label) - 1) / 2) for x, label in ticks]
        return all(right - b - (left + a) > APART for (left, a), (right, b) in pairwise(spans))


def curve_of(found: Explanation, profile: Profile) -> Curve | None:
    """Return the curve of a memory, or `None` where recency does not fade."""
    if profile.mode == "off" or found.standing.scored is None:
        return None
    value = found.standing.scored.raw["recency"]
    if profile.mode == "rank":
        return None if profile.rank_decay == 1 or not value else _by_rank(found, profile.rank_decay, value)
    if found.half_life is None:
        return None
    here = found.hours / 24
    # Four half-lives show the whole fall; an older memory lengthens the axis, up to the point where nothing is left.
    end = max(4 * found.half_life, min(here * 1.15, 12 * found.half_life))
    return Curve(end, found.half_life, min(here, end), value, None, " d")


def _by_rank(found: Explanation, decay: float, value: float) -> Curve:
    here = next((x for x in range(found.pool) if rank_recency(x, decay) <= value), found.pool)
    return Curve(float(max(found.pool, 2)), 0.0, float(here), value, decay, "")


def heading(found: Explanation, profile: Profile) -> Content:
    """Return one line that says how recency goes for this memory."""
    if profile.mode == "off":
        return Content.styled("recency is off: 1 for every memory", MUTED)
    if profile.mode == "rank":
        order = "newest" if profile.rank_order == "newest" else "oldest"
        return Content.styled(f"recency by rank, {order} first:\n{profile.rank_decay:g} per place", MUTED)
    event = "made" if found.terms or profile.mode == "days" else "read"
    since = f"{event} {days(found.hours / 24)} ago" if found.hours >= 1 else f"{event} within the hour"
    if found.half_life is None:
        kept = found.standing.memory.pinned and profile.pinned == "fresh"
        why = "pinned" if kept else found.standing.memory.memory_type
        return assemble([("recency does not fade", ""), (f" ({why})\n{since}", MUTED)])
    return assemble([(f"half-life {days(found.half_life)}", ""), (f"\n{since}", MUTED)])


@survives
class DecayCurve(Vertical):
    """The decay curve and the line above it; plotext is imported when there is something to draw."""

    DEFAULT_CSS = """
    DecayCurve {
        height: 13;
        & .curve--head { height: 2; }
        & PlotextPlot { height: 1fr; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._plot: PlotextPlot | None = None
        self._curve: Curve | None = None

    def compose(self) -> ComposeResult:
        """Start with the line alone."""
        yield FixedText(classes="curve--head")

    def on_resize(self) -> None:
        """Draw as many labels as there is room for."""
        self._draw()

    def on_mount(self) -> None:
        """Draw in the colours of another theme when it changes."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._draw())

    def clear(self) -> None:
        """Show nothing."""
        self._show(Content(""), None)

    def show(self, found: Explanation, profile: Profile) -> None:
        """Show how recency fades for one memory; draws only what is another curve than before."""
        if found.standing.scored is None:
            self.clear()
        else:
            self._show(heading(found, profile), curve_of(found, profile))

    def _show(self, head: Content, curve: Curve | None) -> None:
        self.query_one(FixedText).write(head)
        if curve == self._curve:
            return
        self._curve = curve
        if curve is not None and self._plot is None:
            from textual_plotext import PlotextPlot

            self._plot = PlotextPlot()
            # The terminal's own colours: those of the theme are around the curve already.
            self._plot.theme = "clear"
            self.mount(self._plot)
        self._draw()

    def _draw(self) -> None:
        if self._plot is None:
            return
        self._plot.display = self._curve is not None
        if self._curve is None:
            return
        curve, plt = self._curve, self._plot.plt
        plt.clear_figure()
        xs = [i * curve.end / _POINTS for i in range(_POINTS + 1)]
        plt.plot(xs, [curve.at(x) for x in xs], marker="hd", color=self._colour("accent"))
        plt.scatter([curve.here], [curve.value], marker=HERE, color=self._colour("foreground"))
        plt.xlim(0, curve.end)
        plt.ylim(0, 1)
        plt.yticks([0, 0.5, 1], ["0", "0.5", "1"])
        ticks = curve.ticks(self.size.width - AXIS)
        plt.xticks([x for x, _ in ticks], [label for _, label in ticks])
        self._plot.refresh()

    def _colour(self, name: str) -> tuple[int, int, int]:
        return Color.parse(self.app.theme_variables[name]).rgb
