"""The usual keys on a row of the ranking: they act on its memory, and on a slider they change
nothing.
"""

from pathlib import Path

import pytest

from tests.tui.support import tells
from tests.tui.tune_host import tune, tuning
from workbench.tui.tuning.ranking import Row
from workbench.tui.widgets.bars import Slider


@pytest.mark.slow
async def test_on_a_slider_votes_do_nothing_and_the_others_say_where_to_go(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        screen = tune(app)
        assert isinstance(app.focused, Slider)
        row = screen.rows.current
        assert isinstance(row, Row)
        id = row.standing.memory.id
        before, value = screen.bench.stream.get(id), screen.session.profile
        await pilot.press("plus", "minus", "p", "P", "e", "d")
        assert not app.screen.is_modal
        assert (screen.bench.stream.get(id), screen.session.profile) == (before, value)
        assert screen.bench.stream.live_vote(id) == ""
        assert tells(app, "press tab to go there")
