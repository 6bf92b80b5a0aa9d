"""An interval of a share as a bar in text: where the share may lie, and its middle."""

from textual.content import Content

from workbench.tui.widgets.content import MUTED, assemble

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
