"""Every area has a screen, and all of them can be imported ahead."""

import inspect
import sys
from importlib import import_module
from pathlib import Path

import pytest
from textual.binding import Binding

from tests.tui.support import demo_app
from workbench.tui.app import modes
from workbench.tui.app.actions import Table
from workbench.tui.app.app import RetrieverLoaded, RetrieverLoading
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import AREAS, Area
from workbench.tui.review.actions import REASONS


@pytest.mark.parametrize("area", AREAS.every, ids=lambda area: area.id)
def test_every_area_opens_its_own_screen(area: Area) -> None:
    screen = area.screen_class
    assert issubclass(screen, AreaScreen)
    assert area.id == screen.AREA


def test_what_every_area_needs_is_imported_ahead() -> None:
    modes.import_all()
    assert {area.screen.partition(":")[0] for area in AREAS} <= sys.modules.keys()
    assert {table.place for table in AREAS.dialogs if table.place} <= sys.modules.keys()


@pytest.mark.slow
@pytest.mark.parametrize("table", AREAS.dialogs, ids=lambda table: table.title)
def test_a_dialog_lies_where_its_keys_say(table: Table) -> None:
    """The reasons of Review are keys of its screen; no dialog has them."""
    if not table.place:
        assert table is REASONS
        return
    classes = [cls for cls in vars(import_module(table.place)).values() if inspect.isclass(cls)]
    held = [{b.id for b in vars(cls).get("BINDINGS", ()) if isinstance(b, Binding)} for cls in classes]
    assert any({action.id for action in table} <= ids for ids in held)


@pytest.mark.slow
@pytest.mark.parametrize("area", [area.id for area in AREAS if area.id != "stream"])
async def test_an_area_that_was_just_opened_is_not_asked_for_its_status(tmp_path: Path, area: str) -> None:
    app = demo_app(tmp_path)
    async with app.run_test() as pilot:
        app.action_area(area)
        app._say_notices()
        app.on_retriever_loading(RetrieverLoading(1, 2))
        await pilot.pause()
        assert isinstance(app.screen, AreaScreen)
        assert area == app.screen.AREA


async def test_what_is_loaded_when_the_app_has_ended_is_told_to_nobody(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
    assert not app.screen_stack
    app.on_retriever_loading(RetrieverLoading(1, 2))
    app.on_retriever_loaded(RetrieverLoaded(""))
    app._tell_news()
