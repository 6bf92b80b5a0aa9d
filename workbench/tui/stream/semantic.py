"""What is near by meaning, as the Stream lists it: loaded with the first ranking, for which no first screen waits.

A candidate near the words stands where it would be ranked; it has no score, for no agent is given it.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from workbench.core.stream.memory import Memory
from workbench.core.tuning.scoring import Scored
from workbench.services.stream.semantic import SemanticMatches
from workbench.tui.stream.rows import Row, Ruled
from workbench.tui.widgets.bars import factor_bar
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.lists.row import Cell

_BAR, WAITS = 8, "waits"
_WITH_BAR = 60
"""Columns from which a row has room for its score's bar."""


class SemanticRows:
    """What is near by meaning, and how the relevance of each memory looks in its row.

    `apart` are memories that nothing of it is among: those that held the words when it was ranked. Beside the same
    ones none has to be looked for, who may be the whole store.
    """

    def __init__(self, found: SemanticMatches, apart: Sequence[Memory] = ()) -> None:
        self.found = found
        self._apart = apart
        figures = [f"{found.relevances[scored.memory.id]:.2f}" for scored in found.rows]
        self._scored: Mapping[str, tuple[Scored, str]] = {
            scored.memory.id: (scored, text) for scored, text in zip(found.rows, figures, strict=True)
        }
        self._waiting = frozenset(waiting.memory.id for waiting in found.waiting)
        self._order = _order(found)
        self._figures = max([*map(len, figures), len(WAITS) if found.waiting else 0], default=0)

    @property
    def most(self) -> int:
        """How many rows there are below the line at most."""
        return len(self._order)

    def rows(self, literal: Sequence[Memory], find: Callable[[str], Memory | None]) -> Sequence[Row]:
        """Return all rows of the list: what holds the words, and below the line what is only near them.

        `find` returns a memory as it is now.
        """
        holding = frozenset(self._order).intersection(map(attrgetter("id"), literal)) if literal != self._apart else ()
        near = [memory for id in self._order if id not in holding and (memory := find(id)) is not None]
        return (
            [*literal, Ruled(len(near), sum(m.id in self._waiting for m in near), self.found.used), *near]
            if near
            else literal
        )

    def cells(self, memory: Memory, width: int) -> list[Cell] | None:
        """Return the cells at the end of a memory's row: its relevance, with the bar of its score where there is room.

        One that waits says so instead. `None` for one that holds the words.
        """
        if memory.id in self._waiting:
            return [*([Cell("", _BAR)] if width >= _WITH_BAR else []), Cell(WAITS, self._figures, MUTED, "right")]
        if memory.id not in self._scored:
            return None
        scored, text = self._scored[memory.id]
        score = Cell(text, self._figures, MUTED, "right")
        share = self.found.relevances[memory.id]
        full = sum(scored.weighted.values()) / share if share > 0 else 1.0
        bar = factor_bar(scored.weighted, _BAR, full)
        return [Cell(bar, _BAR), score] if width >= _WITH_BAR else [score]


def _order(found: SemanticMatches) -> tuple[str, ...]:
    """Return the ids of what is near: what is ranked, and each that waits above the first that it is better than."""
    ids = [scored.memory.id for scored in found.rows]
    for waiting in reversed(found.waiting):
        ids.insert(waiting.above, waiting.memory.id)
    return tuple(ids)
