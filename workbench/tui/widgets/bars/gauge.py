"""A small gauge in text: how far something is on its way to a limit."""

import math

from textual.content import Content

from workbench.core.reflection.trigger import Gauge
from workbench.tui.widgets.content import MUTED, assemble


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
