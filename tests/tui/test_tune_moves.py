"""Taking back what a hand did to the sliders, before anything that is stored."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.support import demo_app
from tests.tui.tune_host import WIDE, keys, opened, slider, tune
from workbench.core.tuning.profile import WORKBENCH
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.tuning.moves import Moves, Settings


def said(app: WorkbenchApp) -> str:
    return [str(notification.message) for notification in app._notifications][-1]


@given(st.lists(st.tuples(st.sampled_from(("recency", "now", "")), st.integers(0, 5)), max_size=12))
def test_every_move_can_be_taken_back_to_the_first_and_made_again_to_the_last(steps: list[tuple[str, int]]) -> None:
    moves, here = Moves(), Settings(WORKBENCH)
    first = here
    for name, days in steps:
        there = Settings(WORKBENCH, float(days))
        moves.note(name, here, there)
        here = there
    last = here
    while (move := moves.back()) is not None:
        assert move.after == here
        here = move.before
    assert here == first
    while (move := moves.again()) is not None:
        assert move.before == here
        here = move.after
    assert here == last


async def test_undo_takes_sliders_back_first_then_what_was_stored(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        bench = app.bench
        start = WORKBENCH.recency
        rev = bench.library.journal.rev
        await keys(pilot, "right", "right", "right", "down", "right")
        await keys(pilot, "u")
        assert slider(app, "importance").value == WORKBENCH.importance
        assert slider(app, "recency").value == pytest.approx(start + 0.15)
        await keys(pilot, "u")
        assert slider(app, "recency").value == start
        assert said(app) == f"recency back to {start:.2f}"
        await keys(pilot, "U")
        assert slider(app, "recency").value == pytest.approx(start + 0.15)
        assert tune(app)._desk.profile.recency == pytest.approx(start + 0.15)
        assert bench.library.journal.rev == rev
        await keys(pilot, "r", "u")
        assert slider(app, "recency").value == pytest.approx(start + 0.15)
        assert said(app) == "the sliders back to where they stood"


async def test_what_was_stored_after_the_last_move_is_undone_first(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "slash", "ctrl+u", *"redis", "enter", "right")
        moved = slider(app, "recency").value
        await keys(pilot, "S")
        assert app.bench.judging.find("redis") is not None
        await keys(pilot, "u")
        assert app.bench.judging.find("redis") is None
        assert slider(app, "recency").value == moved
        assert said(app).startswith("Undone")
