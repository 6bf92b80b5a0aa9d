"""The usual keys on a row of the ranking: they act on its memory, and on a slider they change
nothing.
"""

from pathlib import Path

import pytest

from tests.tui.support import demo_app
from tests.tui.tune_host import WIDE, opened, settled, tune
from tests.tui.waiting import until, until_drawn
from workbench.core.stream.memory import Memory
from workbench.tui.forms import RecordForm
from workbench.tui.stream.history_dialog import HistoryDialog
from workbench.tui.tuning.ranking import memory_of
from workbench.tui.tuning.screen import TuneScreen
from workbench.tui.widgets.bars import Slider
from workbench.tui.widgets.editor import InertTextArea


def here(screen: TuneScreen) -> Memory:
    memory = memory_of(screen.rows.current)
    assert memory is not None
    return screen.bench.stream.get(memory.id)


@pytest.mark.slow
async def test_on_a_row_they_act_on_its_memory(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        screen = tune(app)
        screen.rows.focus()
        await pilot.press("j")
        memory = here(screen)
        await pilot.press("plus")
        await until(pilot, lambda: screen.bench.stream.live_vote(memory.id) == "helpful")
        await settled(pilot)
        assert here(screen).id == memory.id
        await pilot.press("p")
        await until(pilot, lambda: screen.bench.stream.get(memory.id).pinned != memory.pinned)
        await settled(pilot)
        await pilot.press("h")
        await until_drawn(pilot, lambda: isinstance(app.screen, HistoryDialog))
        await pilot.press("escape")
        await pilot.press("d")
        await until(pilot, lambda: screen.bench.stream.get(memory.id).status == "archived")
        await settled(pilot)
        await pilot.press("u")
        await until(pilot, lambda: screen.bench.stream.get(memory.id).status != "archived")
        assert screen.bench.stream.get(memory.id).status == memory.status


async def test_what_is_edited_there_is_ranked_anew(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        screen = tune(app)
        screen.rows.focus()
        memory = here(screen)
        await pilot.press("e")
        await until_drawn(pilot, lambda: isinstance(app.screen, RecordForm))
        app.screen.query_one(InertTextArea).load_text("Nothing that anybody asks for.")
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: not app.screen.is_modal)
        assert screen.bench.stream.get(memory.id).content == "Nothing that anybody asks for."
        await settled(pilot)


@pytest.mark.slow
async def test_on_a_slider_votes_do_nothing_and_the_others_say_where_to_go(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        screen = tune(app)
        assert isinstance(app.focused, Slider)
        before, value = here(screen), screen.session.profile
        await pilot.press("plus", "minus", "p", "P", "e", "d")
        await pilot.pause()
        assert not app.screen.is_modal
        assert (here(screen), screen.session.profile) == (before, value)
        assert screen.bench.stream.live_vote(before.id) == ""
        assert any("press tab to go there" in note.message for note in app._notifications)
