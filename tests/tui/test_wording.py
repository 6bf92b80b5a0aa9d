"""What the app says in small: plurals, marks, what is left out."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tui.review_host import memory, put, store
from tests.tui.support import app_over, open_bench
from tests.tui.waiting import until_drawn
from workbench.tui.safety import NO_FLAGS
from workbench.tui.stream.memory_view import detail
from workbench.tui.stream.screen import StreamScreen


def test_a_line_that_begins_its_text_is_not_said_twice(tmp_path: Path) -> None:
    bench, text = (
        open_bench(tmp_path),
        memory("m1", "First line.\nSecond line.", summary="First line."),
    )
    put(bench, text, replace(text, id="m2", summary="In short."))
    shown = detail(bench, bench.stream.get("m1"), NO_FLAGS, 60).plain
    assert shown.count("First line.") == 1
    assert "Second line." in shown
    assert detail(bench, bench.stream.get("m2"), NO_FLAGS, 60).plain.startswith(
        "In short.\n\nFirst line."
    )


@pytest.mark.slow
async def test_undo_in_the_stream_leads_to_the_row_that_came_back(tmp_path: Path) -> None:
    app = app_over(store(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, StreamScreen)
        await pilot.press("j", "j")
        gone = screen.memory
        assert gone is not None
        app.bench.stream.forget([gone.id])
        await until_drawn(pilot, lambda: screen.rows.index_of(gone.id) is None)
        await pilot.press("g", "u")
        await until_drawn(pilot, lambda: screen.rows.index_of(gone.id) is not None)
        assert screen.memory is not None
        assert screen.memory.id == gone.id
