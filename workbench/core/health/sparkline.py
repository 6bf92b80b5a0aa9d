"""Numbers in a row as a line of blocks, one cell each."""

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
NOTHING = "·"
"""Stands for a 0: the lowest block is for what is more than that."""


def sparkline(values: Sequence[int]) -> str:
    """Return a line that is as high as the highest of the values; none of them is below 0."""
    top = max(values, default=0)
    return "".join(BLOCKS[-(-value * len(BLOCKS) // top) - 1] if value > 0 else NOTHING for value in values)
