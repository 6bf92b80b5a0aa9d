"""How far a memory moved is a value; its mark and style are made from it."""

import pytest

from tests.retrieval.samples import memory
from workbench.services.tuning.session import Standing
from workbench.tui.tuning.parameters import Move, movement
from workbench.tui.widgets.content import MUTED

UP, DOWN = "bold $text-success", "bold $text-warning"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "before", "move", "text", "style"),
    [
        (2, 4, Move("up", 2), "▲2", UP), (4, 3, Move("down", 1), "▼1", DOWN), (3, 3, Move("same"), "", MUTED),
        (5, 6, Move("new"), "new", UP), (1, None, Move("new"), "new", UP), (7, None, Move("joined"), "+", UP),
        (6, 5, Move("out"), "out", DOWN), (None, 9, Move("out"), "out", DOWN), (None, None, Move("hidden"), "", MUTED),
    ],
)  # fmt: skip
def test_each_way_to_move_has_its_mark(
    place: int | None, before: int | None, move: Move, text: str, style: str
) -> None:
    found = movement(Standing(memory(1), place, before, None), k=5)
    assert (found, found.text, found.style) == (move, text, style)


def test_a_place_in_another_ranking_is_named() -> None:
    assert (Move("to", 12).text, Move("to", 12).style) == ("→12", MUTED)
