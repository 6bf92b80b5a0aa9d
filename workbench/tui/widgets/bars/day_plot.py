"""Numbers of days as a small plot: drawn by plotext in whole blocks, so that it needs no colour."""

from collections.abc import Sequence
from datetime import date

from textual.content import Content

from workbench.tui.widgets.figures import number

LINES = 7
"""Lines of a plot, the axis with the dates included."""

LEAST = 24
"""Cells below which there is no room for a plot."""

MOST = 120
_APART = 14
"""Cells between two dates of the axis."""

_BLOCK = "sd"
"""What plotext calls a whole block."""


def day_plot(days: Sequence[date], values: Sequence[int], cells: int) -> Content:
    """Return the plot of a number for each day in so many cells; nothing where there is no room, or all is 0."""
    width = min(cells, MOST)
    if width < LEAST or not any(values):
        return Content("")
    from rich.text import Text  # neither is needed before something is drawn
    from textual_plotext.plot import Plot

    plot, top = Plot(), max(values)
    plot.theme("clear")
    plot.plotsize(width, LINES)
    plot.frame(False)
    places = [float(place) for place in range(len(values))]
    plot.bar(places, list(values), width=0.6, marker=_BLOCK)
    marks = [0, top] if top < 4 else [0, top // 2, top]
    plot.yticks([float(mark) for mark in marks], [number(mark) for mark in marks])
    step = max(1, -(-len(days) * _APART // width))
    plot.xticks(places[::step], [f"{day.day} {day:%b}" for day in days[::step]])
    lines = Text.from_ansi(plot.build()).plain.splitlines()
    return Content("\n".join(line.rstrip() for line in lines).rstrip())
