"""What the Stream lists: the memories that a filter lets through, and below a line those near its words by meaning."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from workbench.core.stream.memory import Memory
from workbench.core.text import printable
from workbench.tui.widgets.content import MUTED, fitted


@dataclass(frozen=True, slots=True)
class Ruled:
    """The line between what holds the words and what is near them: how many are, and how many of them wait.

    They are ranked under the profile that is `used`.
    """

    count: int
    waiting: int = 0
    used: str = ""

    @property
    def text(self) -> str:
        waits = f", {self.waiting} of them {'waits' if self.waiting == 1 else 'wait'} in Review"
        return f"{self.count} by meaning{waits if self.waiting else ''}"


Row = Memory | Ruled


def memory_of(row: Row | None) -> Memory | None:
    """Return the memory of a row; the line has none."""
    return row if isinstance(row, Memory) else None


def ruled_at(rows: Sequence[Row], most: int | None = None) -> int | None:
    """Return where the line stands; `None` where there is none. At most so many rows are below it."""
    last = len(rows) - 1
    first = -1 if most is None else max(-1, last - most - 1)
    return next((at for at in range(last, first, -1) if isinstance(rows[at], Ruled)), None)


def key_of(row: Row) -> str:
    """Name a row, so that the cursor stays on it."""
    return row.id if isinstance(row, Memory) else ""


def is_ruled(row: Row) -> bool:
    return isinstance(row, Ruled)


def ruled_line(row: Ruled, width: int) -> Content:
    """Return the line, exactly `width` cells."""
    text = f"── {row.text}, ranked under {printable(row.used)} " if row.used else f"── {row.text} "
    return fitted(Content.styled(text + "─" * max(0, width - len(text)), MUTED), width)
