"""What the Stream lists: the memories that a filter lets through, and below a line those near its words by meaning.

A candidate near the words stands where it would be ranked; it has no score, for no agent is given it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.core.stream.memory import Memory
from workbench.core.text import printable
from workbench.tui.widgets.bars import factor_bar
from workbench.tui.widgets.content import MUTED, fitted
from workbench.tui.widgets.lists.row import Cell

if TYPE_CHECKING:
    from workbench.services.stream.semantic import SemanticMatches

_BAR, WAITS = 8, "waits"
_WITH_BAR = 60
"""Columns from which a row has room for its score's bar."""


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

    def line(self, width: int) -> Content:
        """Return the line, exactly `width` cells."""
        text = f"── {self.text}{f', ranked under {printable(self.used)}' if self.used else ''} "
        return fitted(Content.styled(text + "─" * max(0, width - len(text)), MUTED), width)


Row = Memory | Ruled


def key_of(row: Row) -> str:
    """Name a row, so that the cursor stays on it; the line has no name."""
    return row.id if isinstance(row, Memory) else ""


def ruled_at(rows: Sequence[Row]) -> int | None:
    """Return where the line stands; `None` where there is none."""
    return next((at for at, row in enumerate(rows) if isinstance(row, Ruled)), None)


class SemanticRows:
    """What is near by meaning, and how the relevance of each memory looks in its row."""

    def __init__(self, found: "SemanticMatches") -> None:
        self.found = found
        self._scored = {scored.memory.id: scored for scored in found.rows}
        self._waiting = frozenset(waiting.memory.id for waiting in found.waiting)
        self._figures = max(4 if found.rows else 0, len(WAITS) if found.waiting else 0)
        self._order = list(self._scored)
        for waiting in reversed(found.waiting):  # above the first that it is better than
            self._order.insert(waiting.above, waiting.memory.id)

    def rows(self, literal: Sequence[Memory], find: Callable[[str], Memory | None]) -> Sequence[Row]:
        """Return what holds the words, and below the line what is only near them, as `find` returns it now."""
        holding = {memory.id for memory in literal}
        near = [memory for id in self._order if id not in holding and (memory := find(id)) is not None]
        waiting = sum(memory.id in self._waiting for memory in near)
        return [*literal, Ruled(len(near), waiting, self.found.used), *near] if near else literal

    def cells(self, memory: Memory, width: int) -> list[Cell] | None:
        """Return the cells at the end of a memory's row: its relevance, with the bar of its score where there is room.

        One that waits says so instead. `None` for one that holds the words.
        """
        bar, scored = Cell("", _BAR), self._scored.get(memory.id)
        if scored is not None:
            share = self.found.relevances[memory.id]
            full = sum(scored.weighted.values()) / share if share > 0 else 1.0
            bar = Cell(factor_bar(scored.weighted, _BAR, full), _BAR)
        elif memory.id not in self._waiting:
            return None
        text = WAITS if scored is None else f"{share:.2f}"
        return [*([bar] if width >= _WITH_BAR else []), Cell(text, self._figures, MUTED, "right")]
