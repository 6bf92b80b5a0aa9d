"""Taking back what a hand did to the sliders, before anything that is stored."""

from pathlib import Path

import pytest

from tests.tui.support import messages
from tests.tui.tune_host import keys, slider, tune, tuning
from workbench.core.tuning.profile import WORKBENCH


async def test_undo_takes_sliders_back_first_then_what_was_stored(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        bench = app.bench
        start = WORKBENCH.recency
        rev = bench.library.journal.rev
        await keys(pilot, "right right right down right")
        await keys(pilot, "u")
        assert slider(app, "importance").value == WORKBENCH.importance
        assert slider(app, "recency").value == pytest.approx(start + 0.15)
        await keys(pilot, "u")
        assert slider(app, "recency").value == start
        assert messages(app)[-1] == f"recency back to {start:.2f}"
        await keys(pilot, "U")
        assert slider(app, "recency").value == pytest.approx(start + 0.15)
        assert tune(app).session.profile.recency == pytest.approx(start + 0.15)
        assert bench.library.journal.rev == rev
        await keys(pilot, "r u")
        assert slider(app, "recency").value == pytest.approx(start + 0.15)
        assert messages(app)[-1] == "the sliders back to where they stood"


@pytest.mark.slow
async def test_what_was_stored_after_the_last_move_is_undone_first(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        await keys(pilot, "slash ctrl+u", *"redis", "enter right")
        moved = slider(app, "recency").value
        await keys(pilot, "Q")
        assert app.bench.judging.find("redis") is not None
        await keys(pilot, "u")
        assert app.bench.judging.find("redis") is None
        assert slider(app, "recency").value == moved
        assert messages(app)[-1].startswith("Undone")
