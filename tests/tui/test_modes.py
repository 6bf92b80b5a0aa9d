"""Every area has a screen, and all of them can be imported ahead."""

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from textual.binding import Binding
from textual.pilot import Pilot

from tests.tui.support import demo, demo_app, messages
from tests.tui.waiting import until_drawn
from workbench.core.record import StoreProblem
from workbench.services.tuning.tuning import Tuning
from workbench.tui.actions import CANCEL
from workbench.tui.app import areas
from workbench.tui.app.actions import Table
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import AREAS, Area
from workbench.tui.tuning.screen import TuneScreen


@pytest.mark.parametrize("area", AREAS.every, ids=lambda area: area.id)
def test_every_area_opens_its_own_screen(area: Area) -> None:
    screen = area.screen_class
    assert issubclass(screen, AreaScreen)
    assert area.id == screen.AREA


def test_what_every_area_needs_is_imported_ahead() -> None:
    areas.import_all()
    assert {area.screen.partition(":")[0] for area in AREAS} <= sys.modules.keys()
    assert {table.place for table in AREAS.dialogs} <= sys.modules.keys()


@pytest.mark.slow
@pytest.mark.parametrize("table", AREAS.dialogs, ids=lambda table: table.title)
def test_a_dialog_lies_where_its_keys_say(table: Table) -> None:
    classes = [cls for cls in vars(import_module(table.place)).values() if inspect.isclass(cls)]
    held = [
        {b.id for b in vars(cls).get("BINDINGS", ()) if isinstance(b, Binding)} for cls in classes
    ]
    # What lies in an area is closed by the area.
    own = {action.id for action in table} - {CANCEL.id}
    assert any(own <= ids for ids in held)


async def test_what_is_loaded_when_the_app_has_ended_is_told_to_nobody(tmp_path: Path) -> None:
    async with demo(tmp_path) as (app, pilot):
        await pilot.pause()
    assert not app.screen_stack
    app.note_loading(1, 2)
    app.note_loaded("")


async def test_an_error_at_the_first_visit_leaves_the_area_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = demo_app(tmp_path)
    real, calls = type(app.bench.tuning).queries, list[int]()

    def queries(tuning: Tuning) -> object:
        calls.append(1)
        if len(calls) == 1:
            raise StoreProblem("The store is gone for a moment.")
        return real(tuning)

    async with app.run_test(size=(140, 45)) as pilot:
        await until_drawn(pilot, lambda: app.bench.tuning.ready)
        monkeypatch.setattr(type(app.bench.tuning), "queries", queries)
        await pilot.press("4")
        await until_there(app, pilot, TuneScreen)
        assert messages(app) == ["The store is gone for a moment."]


S = TypeVar("S", bound=AreaScreen)


async def until_there(app: WorkbenchApp, pilot: Pilot[Any], kind: type[S]) -> S:
    """Wait until an area is in front."""
    await until_drawn(pilot, lambda: isinstance(app.screen, kind))
    return cast(S, app.screen)
