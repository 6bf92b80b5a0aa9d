"""The score of a memory as a stacked bar of its weighted parts."""

from collections.abc import Mapping

from textual.content import Content

from workbench.core.tuning.factors import FACTORS, RELEVANCE, Factor
from workbench.tui.widgets.content import assemble, fitted
from workbench.tui.widgets.figures import shares


def fill_of(factor: Factor) -> tuple[str, str]:
    """Return the fill of a factor's part and its style; the fills differ, so the bar needs no colour."""
    return factor.glyph, "$accent" if factor.id == RELEVANCE else "$text-muted"


def factor_bar(parts: Mapping[str, float], width: int, full: float = 1.0) -> Content:
    """Return the weighted parts, by factor, as a bar of exactly `width` cells.

    A total of `full` fills the width. The parts are rounded by largest remainder, so that they add up.
    """
    return fitted(assemble(bar_pieces(parts, width, full)), width)


def bar_pieces(parts: Mapping[str, float], width: int, full: float) -> list[tuple[str, str]]:
    """Return the same as pieces of text with their styles, for a longer line."""
    values = [parts.get(factor.id, 0.0) for factor in FACTORS]
    total = sum(p for p in values if p > 0)
    cells = min(width, round(total / full * width)) if full > 0 else 0
    counts = shares(values, cells)
    pieces = [(factor.glyph * n, fill_of(factor)[1]) for factor, n in zip(FACTORS, counts, strict=True)]
    return [*pieces, (" " * (width - sum(counts)), "")]
