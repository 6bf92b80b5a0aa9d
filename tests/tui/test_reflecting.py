"""R: what would be read and sent, a reflection in the making, what came of it."""

import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from tests.demo import SERVED
from tests.reflect.server import NO_RETRY, MessagesServer, Reply, error_reply, reply_of
from tests.tui.review_host import Ticking
from tests.tui.support import Driver, app_over, demo_app, follow, open_bench, screen_text
from workbench.services.open import Workbench
from workbench.services.stream.observation import Observation
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.reflection import ReflectDialog, ResultDialog, RunDialog, SentDialog
from workbench.tui.review.screen import ReviewScreen
from workbench.tui.stream.screen import StreamScreen
from workbench.tui.widgets.dialog import SafeInput, TextDialog
from workbench.tui.widgets.editor import InertTextArea, TextEditor
from workbench.tui.widgets.header import TopBar

SIZE = (120, 40)
NARROW = (80, 24)


class Reflecting(Driver):
    """The app at a reflection."""

    async def shows(self, kind: type[object]) -> None:
        """Wait until a screen of that kind is in sight."""
        await self.until(lambda: isinstance(self.app.screen, kind))

    async def planned(self) -> ReflectDialog:
        """Press R and wait until it is gathered what would be read."""
        await self.pilot.press("R")
        await self.shows(ReflectDialog)
        await self.gathered()
        assert isinstance(self.app.screen, ReflectDialog)
        return self.app.screen

    async def gathered(self) -> None:
        """Wait until the dialog says what would be read."""
        await self.until(lambda: "Gathering" not in self.text(".dialog--state"))

    async def reflected(self) -> None:
        """Reflect as it is, and wait for what comes of it."""
        await self.planned()
        await self.pilot.press("enter")
        await self.shows(ResultDialog)
        await self.pilot.pause()

    def text(self, selector: str) -> str:
        """What a text in sight says."""
        return str(self.app.screen.query_one(selector, Static).content)

    @property
    def result(self) -> str:
        """What came of it, as far as it is in sight."""
        return self.app.screen.pane.plain if isinstance(self.app.screen, TextDialog) else ""

    @property
    def waiting(self) -> int:
        """How much waits in Review."""
        return self.app.bench.review.waiting()

    @property
    def is_due(self) -> bool:
        """Whether the tab of Health says that a reflection is due."""
        return "health" in self.app.screen.query_one(TopBar).due


@asynccontextmanager
async def driving(app: WorkbenchApp, size: tuple[int, int] = SIZE) -> AsyncIterator[Reflecting]:
    """Run an app until the Stream is in sight."""
    async with app.run_test(size=size) as pilot:
        driver = Reflecting(app, pilot)
        await driver.shows(StreamScreen)
        yield driver
        await driver.until(
            lambda: not any(w.group == "reflect" and w.is_running for w in app.workers)
        )


# On this machine


@pytest.mark.slow
async def test_from_r_to_review(tmp_path: Path) -> None:
    async with driving(demo_app(tmp_path), (80, 24)) as driver:
        assert driver.is_due
        await driver.planned()
        plan = driver.text(".dialog--state")
        assert f"{SERVED} memories of the last 42 days, among them 1 reflection" in plan
        assert "due (hours)" in plan
        assert "Nothing leaves this machine." in plan
        await driver.pilot.press("enter")
        await driver.shows(ResultDialog)
        await driver.until(lambda: "candidates wait in Review." in driver.result)
        assert "esc close" in screen_text(driver.app), "the keys are in sight"
        assert driver.waiting > 14
        await driver.pilot.press("enter")
        await driver.shows(ReviewScreen)
        assert not driver.is_due


async def test_the_focus_is_written_and_decides(tmp_path: Path) -> None:
    async with driving(demo_app(tmp_path)) as driver:
        await driver.planned()
        await driver.pilot.press("f", *"vec", "enter")
        assert driver.app.screen.query_one(SafeInput).value == "vec", "v and c are letters there"
        await driver.gathered()
        dialog = driver.app.screen
        assert isinstance(dialog, ReflectDialog)
        assert dialog.plan is not None
        assert dialog.plan.request.focus == "vec"
        await driver.pilot.press("f", "escape")
        assert driver.app.screen is dialog, "esc only ends the writing"
        await driver.gathered()
        await driver.pilot.press("enter")
        await driver.shows(ResultDialog)
        assert "Nothing new recurs" in driver.result


async def test_without_a_key_claude_says_what_to_do(tmp_path: Path) -> None:
    async with driving(demo_app(tmp_path)) as driver:
        await driver.planned()
        await driver.pilot.press("c")
        await driver.until(lambda: "No API key for Claude." in driver.text(".dialog--state"))
        await driver.pilot.press("enter", "v", "c")
        await driver.until(lambda: "extractive" in driver.text(".dialog--state"))
        await driver.gathered()
        assert isinstance(driver.app.screen, ReflectDialog), "nothing began by itself"


# Due


def almost_due(folder: Path, clock: Ticking) -> Workbench:
    """Return a store whose gauge stands a little below its limit."""
    bench = open_bench(folder, clock)
    settings = bench.context.settings._replace(
        reflection=bench.context.settings.reflection._replace(observations=2)
    )
    bench = Workbench(replace(bench.context, settings=settings), folder / "profiles")
    bench.ingest.add(Observation("The first thing that was ever noticed"))
    return bench


@pytest.mark.slow
async def test_becoming_due_is_said_once(tmp_path: Path) -> None:
    clock = Ticking()
    bench = almost_due(tmp_path, clock)
    async with driving(app_over(bench)) as driver:
        assert not driver.is_due
        assert driver.said == []
        bench.ingest.add(Observation("A second and very different observation of lighthouses"))
        await driver.until(lambda: bool(driver.said))
        await driver.until(lambda: driver.is_due)
        for _ in range(3):
            follow(driver.app)
        assert driver.said == ["A reflection is due: many observations have come in. R reflects."]


# With Claude


async def test_the_preview_is_exactly_what_is_sent(
    tmp_path: Path, claude: MessagesServer, script: list[Reply]
) -> None:
    async with driving(demo_app(tmp_path)) as driver:
        dialog = await driver.planned()
        assert re.search(r"100 memories of the last \d+ days", driver.text(".dialog--state"))
        assert "0 of 1\u00a0000\u00a0000 this month" in driver.text(".dialog--state")
        assert "at 127.0.0.1" in driver.text(".dialog--state")
        assert dialog.plan is not None
        await driver.pilot.press("v")
        await driver.shows(SentDialog)
        shown = driver.result
        await driver.pilot.press("G", "g", "j", "k", "space", "pageup", "escape")
        await driver.shows(ReflectDialog)
        assert claude.requests == []
        script.append(error_reply(400, "invalid_request_error", "no", NO_RETRY))
        await driver.pilot.press("enter")
        await driver.until(lambda: bool(driver.said))
        assert shown.endswith(claude.requests[0].prompt)


async def test_it_streams_and_the_result_offers_what_could_not_be_read(
    tmp_path: Path, claude: MessagesServer, script: list[Reply]
) -> None:
    hold = threading.Event()
    script += [
        reply_of("questions.txt"),
        reply_of("insights.txt", hold=hold),
        reply_of("prose.txt"),
    ]
    script.append(Reply("1. Reviews find more when they are short (because of 412)"))
    async with driving(demo_app(tmp_path)) as driver:
        await driver.planned()
        await driver.pilot.press("enter")
        await driver.shows(RunDialog)
        await driver.until(lambda: "before they run?\n\n1. Always pi" in driver.text("#run-text"))
        assert "1/4 looking for insights" in driver.text(".dialog--state")
        hold.set()
        await driver.shows(ResultDialog)
        await driver.until(lambda: "candidates wait in Review." in driver.result)
        assert "480 tokens in, 160 out" in driver.result
        assert "no evidence" in driver.result
        assert "1 part of a reply is unreadable" in driver.result
        assert "The work shows a team that learns quickly." in driver.result
        # Edited into a candidate of its own.
        before = driver.waiting
        await driver.pilot.press("e")
        await driver.shows(TextEditor)
        area = driver.app.screen.query_one(InertTextArea)
        area.text = "- Most trouble comes from differences between machines (because of 1, 2)"
        await driver.pilot.press("ctrl+s")
        await driver.shows(ResultDialog)
        await driver.until(lambda: "The work shows" not in driver.result)
        await driver.until(lambda: "candidates wait" in driver.result)
        assert "could not be read" not in driver.result
        assert driver.waiting == before + 1
        assert "1 candidate waits in Review." in driver.said


@pytest.mark.slow
@pytest.mark.parametrize("leaves", [False, True])
async def test_esc_stops_and_keeps_what_was_found_also_where_nobody_waits_for_it(
    tmp_path: Path, claude: MessagesServer, script: list[Reply], leaves: bool
) -> None:
    hold = threading.Event()
    script += [
        reply_of("questions.txt"),
        reply_of("insights.txt"),
        Reply("1. Never seen", hold=hold),
    ]
    async with driving(demo_app(tmp_path)) as driver:
        await driver.planned()
        await driver.pilot.press("enter")
        await driver.shows(RunDialog)
        await driver.until(lambda: len(claude.requests) == 3)
        await driver.pilot.press("escape")
        if leaves:
            await driver.pilot.press("escape")
            await driver.shows(StreamScreen)
        hold.set()
        if not leaves:
            await driver.shows(ResultDialog)
            await driver.until(lambda: "You stopped it; " in driver.result)
            assert len(claude.requests) == 3
        await driver.until(lambda: driver.waiting > 14)


async def test_replies_of_before_can_be_asked_again_and_let_go(
    tmp_path: Path, claude: MessagesServer, script: list[Reply]
) -> None:
    script += [Reply("1. Why?\n2. Since when?"), reply_of("prose.txt"), Reply("Hard to say.")]
    async with driving(demo_app(tmp_path)) as driver:
        await driver.reflected()
        await driver.until(lambda: "No candidates yet" in driver.result)
        await driver.pilot.press("escape")
        await driver.shows(StreamScreen)
        await driver.planned()
        assert "2 earlier replies are unreadable: o" in driver.text(".dialog--state")
        await driver.pilot.press("o")
        await driver.shows(ResultDialog)
        assert "Why?" in driver.result
        script.append(Reply("1. Because nobody maps the secret (because of 1, 2)"))
        await driver.pilot.press("r")
        await driver.until(lambda: driver.waiting == 15)
        await driver.shows(ResultDialog)
        await driver.until(lambda: "Hard to say." in driver.result)
        await driver.pilot.press("x")
        await driver.until(lambda: driver.app.bench.reflecting.runs.waiting() == ())
