"""An interval of a share as a bar in text: where the share may lie, and its middle."""

import math
from collections.abc import Sequence
from datetime import date

from textual.content import Content

from workbench.core.reflection.trigger import Gauge
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.figures import number

# Numbers of days as a small plot: drawn by plotext in whole blocks, so that it needs no colour.


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


# A small gauge in text: how far something is on its way to a limit.


def gauge(value: float, limit: float, label: str, cells: int = 4) -> Content:
    """Return "▓▓▓░ 112/150 importance"; the bar is full only when the limit is reached."""
    share = 1.0 if limit <= 0 else min(1.0, max(0.0, value / limit))
    filled = math.floor(share * cells)
    reached = value >= limit
    figures = f" {value:.0f}/{limit:.0f} {label}"
    if not reached and f"{value:.0f}" == f"{limit:.0f}":
        figures = f" {value:.1f}/{limit:.0f} {label}"
    style = "bold $text-accent" if reached else ""
    return assemble([("▓" * filled, "$accent"), ("░" * (cells - filled), "$text-muted"), (figures, style)])


def behind(found: Gauge) -> Content:
    """Return " · 38/100 observations · 2/24 hours": the conditions of a reflection that do not lead."""
    others = [c for c in found.conditions if c.name != found.leading.name]
    return Content.styled("".join(f" · {c.value:.0f}/{c.limit:.0f} {c.name}" for c in others), MUTED)


BAND, MIDDLE, REST = "━", "●", "·"


def interval_pieces(
    low: float, middle: float, high: float, cells: int, style: str = "$accent"
) -> list[tuple[str, str]]:
    """Return a bar from 0 to 1 of exactly `cells` cells as pieces of text: the band, and a dot in its middle."""
    if cells <= 0:
        return []
    first, at, last = (min(cells - 1, max(0, int(share * cells))) for share in (low, middle, high))
    return [
        (REST * first, MUTED),
        (BAND * (at - first), style),
        (MIDDLE, f"bold {style}"),
        (BAND * (last - at), style),
        (REST * (cells - 1 - last), MUTED),
    ]


def interval_bar(low: float, middle: float, high: float, cells: int, style: str = "$accent") -> Content:
    """Return the same as finished text."""
    return assemble(interval_pieces(low, middle, high, cells, style))


def empty_bar(cells: int) -> Content:
    """Return the bar of a share nothing is known about."""
    return Content.styled(REST * max(0, cells), MUTED)
