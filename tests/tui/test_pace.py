"""What keys may cost: only what is in sight is wrapped and drawn, and what takes long happens on
another thread.
"""

from pathlib import Path

import pytest
from textual.content import Content

from tests.safety.hostile import hostile
from tests.tui.support import NOW, open_bench
from workbench.core.stream.memory import Memory
from workbench.services.health.history import Event, FieldEvent
from workbench.tui.stream.history_dialog import event_text
from workbench.tui.stream.memory_view import row

pytestmark = pytest.mark.usefixtures("every_paint")

ID = "mem-20260320-0000900"


def test_of_a_transaction_of_many_lines_the_first_ones_are_shown(tmp_path: Path) -> None:
    lines = hostile("line ends", 9_900)
    fields = tuple(FieldEvent("memories", f"m{n}", "content", None, lines) for n in range(30))
    event = Event(1, "2026-03-20T12:00:00Z", "human", "fill", "edit", "", 0, fields)
    text = event_text(open_bench(tmp_path), event, (), keys=True, opens="z").plain
    assert text.count("\n") <= 20_000
    assert text.endswith("… and more")


def test_of_a_line_with_many_matches_only_what_has_room_is_marked() -> None:
    memory = Memory(ID, "a " * 200, NOW, NOW)
    spans = [(at, at + 1) for at in range(0, 400, 2)]
    cells = [
        cell for width in (40, 100) for cell in row(memory, width, NOW, unread=False, spans=spans)
    ]
    assert [len(cell.text.spans) for cell in cells if isinstance(cell.text, Content)] == [21, 51]
