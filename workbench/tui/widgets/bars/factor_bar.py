"""The score of a memory as a stacked bar of its three weighted parts."""

from collections.abc import Sequence

from textual.content import Content

from workbench.tui.widgets.content import assemble, fitted
from workbench.tui.widgets.figures import shares

FILLS = (("recency", "▓", "$text-muted"), ("importance", "░", "$text-muted"), ("relevance", "█", "$accent"))
"""Name, fill and style of each part; the fills differ, so the bar needs no colour."""


def factor_bar(parts: Sequence[float], width: int, full: float = 1.0) -> Content:
    """Return the weighted recency, importance and relevance as a bar of exactly `width` cells.

    A total of `full` fills the width. The parts are rounded by largest remainder, so that they add up.
    """
    return fitted(assemble(bar_pieces(parts, width, full)), width)


def bar_pieces(parts: Sequence[float], width: int, full: float = 1.0) -> list[tuple[str, str]]:
    """Return the same as pieces of text with their styles, for a longer line."""
    total = sum(p for p in parts if p > 0)
    cells = min(width, round(total / full * width)) if full > 0 else 0
    counts = shares(parts, cells)
    pieces = [(fill * n, style) for (_, fill, style), n in zip(FILLS, counts, strict=True)]
    return [*pieces, (" " * (width - sum(counts)), "")]
