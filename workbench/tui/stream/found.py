"""What the Stream lists: the memories that a filter lets through, and below a line those near its words by meaning."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.core.stream.memory import Memory
from workbench.core.tuning.factors import RECIPE, Factor
from workbench.core.tuning.scoring import Scored
from workbench.tui.widgets.bars.factor_bar import factor_bar
from workbench.tui.widgets.content import MUTED, fitted
from workbench.tui.widgets.figures import scores
from workbench.tui.widgets.lists.row import Cell

if TYPE_CHECKING:
    from workbench.bench.stream.near_by import NearBy

_BAR = 8
_WITH_BAR = 60
"""Columns from which a row has room for its score's bar."""


@dataclass(frozen=True, slots=True)
class Ruled:
    """The line between what holds the words and what is near them: how many are."""

    count: int

    @property
    def text(self) -> str:
        """What it says."""
        return f"{self.count} by meaning"


Found = Memory | Ruled


def memory_of(row: Found | None) -> Memory | None:
    """Return the memory of a row; the line has none."""
    return row if isinstance(row, Memory) else None


def ruled_at(rows: Sequence[Found]) -> int | None:
    """Return where the line stands; `None` where there is none."""
    return next((at for at in range(len(rows) - 1, -1, -1) if isinstance(rows[at], Ruled)), None)


def key_of(row: Found) -> str:
    """Name a row, so that the cursor stays on it."""
    return row.id if isinstance(row, Memory) else ""


def is_ruled(row: Found) -> bool:
    """Tell whether a row is the line."""
    return isinstance(row, Ruled)


def ruled_line(row: Ruled, width: int) -> Content:
    """Return the line, exactly `width` cells."""
    text = f"── {row.text} "
    return fitted(Content.styled(text + "─" * max(0, width - len(text)), MUTED), width)


class Nearby:
    """What is near by meaning, and how the score of each memory looks in its row."""

    def __init__(self, found: "NearBy", factors: Sequence[Factor] = RECIPE.factors) -> None:
        self.found = found
        self._factors = factors
        totals = scores([scored.total for scored in found.rows])
        self._scored: Mapping[str, tuple[Scored, str]] = {
            scored.memory.id: (scored, text) for scored, text in zip(found.rows, totals, strict=True)
        }

    def rows(self, literal: Sequence[Memory], find: Callable[[str], Memory | None]) -> Sequence[Found]:
        """Return all rows of the list: what holds the words, and below the line what is only near them.

        `find` returns a memory as it is now.
        """
        holding = {memory.id for memory in literal} if self._scored else set()
        near = [memory for id in self._scored if id not in holding and (memory := find(id)) is not None]
        return [*literal, Ruled(len(near)), *near] if near else literal

    def cells(self, memory: Memory, width: int) -> list[Cell] | None:
        """Return the cells at the end of a memory's row: its score, with a bar where there is room.

        `None` for one that holds the words.
        """
        if memory.id not in self._scored:
            return None
        scored, text = self._scored[memory.id]
        score = Cell(text, len(text), MUTED, "right")
        share = scored.total / self.found.full if self.found.full > 0 else 0.0
        full = sum(scored.weighted.values()) / share if share else 1.0
        bar = factor_bar(scored.weighted, _BAR, full, self._factors)
        return [Cell(bar, _BAR), score] if width >= _WITH_BAR else [score]
