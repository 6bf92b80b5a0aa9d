"""One guard for every handler of the app, and what stays of an error that nobody foresaw."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.message_pump import MessagePump
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from tests.tui.support import app_over, messages, open_bench, opens
from tests.tui.waiting import until
from workbench.core.record import UnknownRecord
from workbench.tui.app import areas
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.private_names import Guarded

pytestmark = pytest.mark.usefixtures("every_paint")

SECRET = "a text from a memory"


def kinds(of: type[MessagePump]) -> Iterator[type[MessagePump]]:
    for cls in of.__subclasses__():
        yield cls
        yield from kinds(cls)


def test_the_app_and_all_screens_and_dialogs_are_guarded() -> None:
    areas.import_all()
    found = {cls for of in (App, Screen) for cls in kinds(of)}
    ours = {cls for cls in found if cls.__module__.startswith("workbench.")}
    assert len(ours) > 30
    assert [cls.__name__ for cls in ours if not issubclass(cls, Guarded)] == []


@pytest.mark.slow
@pytest.mark.parametrize("way", ["action", "worker", "timer", "callback", "message"])
async def test_an_error_a_person_can_act_on_is_said_and_the_app_goes_on(
    tmp_path: Path, way: str
) -> None:
    app = app_over(open_bench(tmp_path))

    def fail() -> None:
        raise UnknownRecord("There is no memory m1 in this store.")

    async def work() -> None:
        fail()

    async with app.run_test(size=(80, 24)) as pilot:
        screen = app.screen
        await pilot.pause()
        match way:
            case "action":
                screen.action_search = fail  # type: ignore[attr-defined]
                await pilot.press("slash")
            case "worker":
                screen.run_worker(work())
            case "timer":
                screen.set_timer(0.001, fail)
            case "callback":
                screen.call_after_refresh(fail)
            case "message":
                screen.call_later(fail)
        await until(pilot, lambda: messages(app))
        assert messages(app) == ["There is no memory m1 in this store."]
        await pilot.press("2", "1")
        assert app.is_running
    assert app.return_code in (0, None)


class Unbuildable(Guarded, ModalScreen[None]):
    """A dialog whose record is gone before it is built, in one of the places where that shows."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self.place = place

    def compose(self) -> ComposeResult:
        self.miss("compose")
        yield Static("a dialog")

    def on_mount(self) -> None:
        self.miss("mount")

    def on_screen_resume(self) -> None:
        self.miss("resume")

    def miss(self, place: str) -> None:
        if self.place == place:
            raise UnknownRecord("There is no memory m1 in this store.")


@pytest.mark.slow
@pytest.mark.parametrize("place", ["compose", "mount", "resume"])
async def test_a_dialog_that_cannot_be_built_is_closed_and_the_app_goes_on(
    tmp_path: Path, place: str
) -> None:
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.push_screen(Unbuildable(place))
        await until(
            pilot,
            lambda: messages(app) and (place == "resume" or len(app.screen_stack) == 1),
        )
        assert messages(app) == ["There is no memory m1 in this store."]
        if place == "resume":
            app.pop_screen()
        await pilot.pause()
        assert len(app.screen_stack) == 1
        await pilot.press("2", "1")
        assert app.is_running
    assert app.return_code in (0, None)


async def test_a_crash_is_reported_in_a_file_without_what_was_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_over(open_bench(tmp_path))

    def fail(self: WorkbenchApp) -> None:
        held = SECRET
        raise ValueError(len(held))

    monkeypatch.setattr(WorkbenchApp, "action_help", fail)
    with pytest.raises(ValueError, match="20"):
        async with app.run_test() as pilot:
            await pilot.press("question_mark")
    report = next(Path(os.environ["XDG_STATE_HOME"]).rglob("crashes/*.txt"))
    assert str(report) in app.last_words
    assert report.stat().st_mode & 0o777 == 0o600
    text = report.read_text()
    assert "ValueError" in text
    assert "in fail" in text
    assert SECRET not in text + app.last_words
    assert app.return_code == 1


class _GivenUp(Static):
    """A widget whose task is cancelled as it goes."""

    async def _message_loop_exit(self) -> None:
        await super()._message_loop_exit()
        raise asyncio.CancelledError


class _WithOne(ModalScreen[None]):
    def compose(self) -> ComposeResult:
        yield _GivenUp("soon gone")


async def test_the_app_goes_on_when_a_part_of_a_dialog_is_given_up_as_it_closes(
    tmp_path: Path,
) -> None:
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(_WithOne())
        await pilot.pause()
        app.screen.dismiss(None)
        await until(pilot, lambda: not isinstance(app.screen, _WithOne))
        await pilot.pause()
        assert app.is_running
        await pilot.press("2")
        await opens(pilot, AreaScreen, lambda s: s.area.key == "2")
