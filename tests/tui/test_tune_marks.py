"""How far a memory moved, as its mark."""

import pytest

from tests.retrieval.samples import memory
from workbench.services.tuning.session import Standing
from workbench.tui.tuning.ranking import movement


@pytest.mark.parametrize(
    ("place", "before", "mark"),
    [
        (2, 4, "▲2"), (4, 3, "▼1"), (3, 3, ""), (5, 6, "new"), (1, None, "new"), (7, None, "+"), (6, 5, "out"),
        (None, 9, "out"), (None, None, ""),
    ],
)  # fmt: skip
def test_each_way_to_move_has_its_mark(place: int | None, before: int | None, mark: str) -> None:
    assert movement(Standing(memory(1), place, before, None), k=5)[0] == mark
