"""Every area has a screen, and all of them can be imported ahead."""

import inspect
import sys
from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast
from unittest.mock import patch

import pytest
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widget import Widget

from tests.tui.support import demo_app
from tests.tui.waiting import until, until_drawn
from workbench.core.record import StoreProblem
from workbench.services.tuning.tuning import Tuning
from workbench.tui.app import areas
from workbench.tui.app.actions import Table
from workbench.tui.app.app import NEXT_TURN, RetrieverLoaded, RetrieverLoading, WorkbenchApp
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import AREAS, Area
from workbench.tui.review.screen import ReviewScreen
from workbench.tui.tuning.screen import REST_SECONDS, TuneScreen
from workbench.tui.widgets.bars import Slider


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


# What is opened while nobody is at the keyboard


async def opened_ahead(app: WorkbenchApp, pilot: Pilot[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the app open its areas as soon as it may."""
    monkeypatch.setattr("workbench.tui.app.app.STILL", 0.01)
    app.options = replace(app.options, alone=0.01)
    await until(pilot, lambda: len(app._screen_stacks) == len(AREAS.every))
    await until(pilot, lambda: all(stack[0].is_mounted for stack in app._screen_stacks.values()))


def screens(app: WorkbenchApp) -> dict[str, AreaScreen]:
    return {name: cast(AreaScreen, stack[0]) for name, stack in app._screen_stacks.items()}


async def test_areas_are_opened_ahead_and_read_nothing_before_they_are_visited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        await opened_ahead(app, pilot, monkeypatch)
        held = screens(app)
        assert app.screen is held["stream"]
        assert not any(screen._visited for name, screen in held.items() if name != "stream")
        assert not cast(ReviewScreen, held["review"]).rows.rows
        assert cast(TuneScreen, held["tune"]).session.text == ""
        assert not [toast.message for toast in app._notifications]
        waiting = app.bench.overview.waiting()
        app.bench.stream.vote([app.bench.library.memories.all()[0].id], "helpful")
        await pilot.press("2")
        await until_drawn(pilot, lambda: len(cast(ReviewScreen, held["review"]).rows.rows) >= waiting)
        assert app.screen is held["review"]
        await pilot.press("4")
        await until_drawn(pilot, lambda: cast(TuneScreen, held["tune"]).session.ranking is not None)
        assert app.screen is held["tune"]


async def test_tune_starts_as_the_settings_are_when_it_is_visited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        await opened_ahead(app, pilot, monkeypatch)
        other = replace(app.bench.tuning.default(), k=3)
        monkeypatch.setattr(type(app.bench.tuning), "default", lambda _self: other)
        await pilot.press("4")
        tune = cast(TuneScreen, app.screen)
        await until_drawn(pilot, lambda: tune.session.saved == other)
        assert tune.session.profile == other
        assert not tune.unsaved
        assert tune.session.moves.back() is None


async def test_a_question_from_elsewhere_is_asked_in_place_of_the_saved_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        await opened_ahead(app, pilot, monkeypatch)
        await app.switch_mode("tune")
        tune = cast(TuneScreen, app.screen)
        tune.ask("what did the agent see")
        await until_drawn(pilot, lambda: tune._visited and tune.session.ranking is not None)
        assert tune.session.text == "what did the agent see"


async def test_nothing_is_opened_while_somebody_types_or_a_dialog_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
        opened = list[object]()
        monkeypatch.setattr(app._ahead_of_visits, "open_next", lambda: opened.append(app))
        monkeypatch.setattr("workbench.tui.app.app.STILL", 1e9)
        app._open_at_rest()
        assert not opened
        monkeypatch.setattr("workbench.tui.app.app.STILL", 0.001)
        await pilot.press("question_mark")
        await until(pilot, lambda: app.screen.is_modal and app._heap.rest > 0.001)
        app._open_at_rest()
        assert not opened


async def test_what_comes_into_sight_is_not_held_back(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
        with patch.object(type(app), "set_timer", autospec=True, side_effect=type(app).set_timer) as timers:
            await pilot.press("2", "1")
            held = [call.args[1] for call in timers.call_args_list if call.kwargs.get("name") == "delay_update"]
        assert held == [NEXT_TURN, NEXT_TURN]


async def test_tune_works_nothing_out_before_it_is_visited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        await opened_ahead(app, pilot, monkeypatch)
        tune = cast(TuneScreen, screens(app)["tune"])
        await pilot.pause(4 * REST_SECONDS)
        assert not [worker for worker in app.workers if tune in worker.node.ancestors_with_self]
        await pilot.press("4")
        await until_drawn(pilot, lambda: app.screen is tune and isinstance(tune.focused, Slider))


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
        assert [note.message for note in app._notifications] == ["The store is gone for a moment."]


async def test_an_area_that_could_not_be_opened_ahead_is_built_by_who_visits_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = demo_app(tmp_path)
    real, calls = ReviewScreen.contents, list[int]()

    def contents(screen: ReviewScreen) -> Iterable[Widget]:
        calls.append(1)
        if len(calls) == 1:
            raise StoreProblem("The store is gone for a moment.")
        return real(screen)

    monkeypatch.setattr(ReviewScreen, "contents", contents)
    monkeypatch.setattr("workbench.tui.app.app.STILL", 0.01)
    async with app.run_test(size=(140, 45)) as pilot:
        app.options = replace(app.options, alone=0.01)
        await until(pilot, lambda: len(app._screen_stacks) == len(AREAS.every) - 1 and calls)
        await until(pilot, lambda: "health" in app._screen_stacks)
        assert "review" not in app._screen_stacks
        await pilot.press("2")
        review = await until_there(app, pilot, ReviewScreen)
        await until_drawn(pilot, lambda: bool(review.rows.rows))
        assert len(calls) == 2


S = TypeVar("S", bound=AreaScreen)


async def until_there(app: WorkbenchApp, pilot: Pilot[Any], kind: type[S]) -> S:
    """Wait until an area is in front."""
    await until_drawn(pilot, lambda: isinstance(app.screen, kind))
    return cast(S, app.screen)
