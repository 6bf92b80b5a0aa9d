"""How long the app's thread is busy after each key, in an app without a terminal.

A key has three times: how long it was until something was painted, how long the thread was busy
without a rest in between (another key would have waited so long), and all that the thread did until
it had nothing to do.
"""

import asyncio
import selectors
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import timedelta
from random import Random
from threading import get_ident
from time import perf_counter, thread_time
from typing import Any, NamedTuple
from unittest.mock import patch

from textual import events
from textual.app import App
from textual.keys import key_to_character
from textual.screen import Screen

from tests.benchmarks.stores import START, demo_sentences, memory
from tests.services.conftest import ungated
from tests.tui.support import app_over
from workbench.core.agents.read import AgentRead
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.stream.memory import Memory
from workbench.services.agents.reading_log import keep, new_id
from workbench.services.open import Workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.run import ALONE, TURN

QUIET_S, STILL_MS = 0.06, 1.5
"""The app rests once no stretch of work was longer than `STILL_MS` for `QUIET_S` seconds."""
PATIENCE_S = 4.0

MOVES = "j k down up pagedown pageup G g ctrl+d ctrl+u"
WAYS = {
    "1": (
        f"{MOVES} j o enter escape j e x ctrl+s ctrl+s escape escape h j enter escape escape plus minus p "
        "u U t escape escape slash a b escape escape f escape exclamation_mark escape P escape d "
        "escape y H j escape question_mark escape ctrl+p escape F escape R escape ctrl+o escape"
    ),
    "2": (
        f"{MOVES} J K o enter escape e x escape escape j e x ctrl+s ctrl+s escape escape S escape m escape "
        "r escape i escape P escape h escape slash a escape escape a u x 1 u space u y "
        "question_mark escape"
    ),
    "3": (
        f"{MOVES} enter escape j e x ctrl+s ctrl+s escape escape o x escape escape plus u equals_sign j "
        "escape escape B right escape X ctrl+o escape ctrl+n ctrl+t ctrl+g escape V c escape I "
        "escape D escape M escape O escape right_curly_bracket left_curly_bracket p u h escape b "
        "escape slash a escape escape d escape y question_mark escape"
    ),
    "4": (
        "tab j k tab shift+tab shift+tab right left slash a g e n t enter f escape m escape w "
        "escape o escape C escape c escape s escape l escape v escape B escape D escape n escape "
        "N escape Q escape X escape I escape A escape question_mark escape"
    ),
    "5": (
        "j k tab j k down G g enter escape tab j o escape shift+tab plus u minus u p u h escape e "
        "x ctrl+s escape escape P escape d escape y f escape c right left j y slash a escape "
        "escape escape question_mark escape"
    ),
    "6": ("j k tab j tab j tab tab shift+tab J K o r enter escape A escape a escape"),
}
"""The keys that are pressed in each area, by its own key."""


class Times(NamedTuple):
    """The milliseconds of a key until something was painted, of the longest stretch of work, and of
    all the work.
    """

    painted: float
    stretch: float
    busy: float


class Busy:
    """Counts how long the thread of the event loop works, and how long at a stretch."""

    def __init__(self) -> None:
        self.shows: Callable[[Screen[Any]], bool] = lambda _: True
        self.total = self.longest = 0.0
        self.rested = self.painted = perf_counter()
        self._thread, self._since = get_ident(), thread_time()
        self._stretch = 0.0

    def sleeps(self, timeout: float | None) -> None:
        """Note that the loop has nothing to do, or looks for input in between (`timeout` of 0)."""
        spent = thread_time() - self._since
        self.total += spent
        self._stretch += spent
        self.longest = max(self.longest, self._stretch)
        if self._stretch * 1000 > STILL_MS:
            self.rested = perf_counter()
        if timeout is None or timeout > 0:
            self._stretch = 0.0

    def wakes(self) -> None:
        """Note that the loop goes on."""
        self._since = thread_time()

    def paints(self, screen: Screen[Any]) -> None:
        """Note that a screen is painted; the first time that it shows what is waited for counts."""
        self.painted = self.painted or (perf_counter() if self.shows(screen) else 0.0)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the event loop of this thread, and what the app paints."""
        real, display = selectors.EpollSelector.select, App._display

        def select(selector: selectors.EpollSelector, timeout: float | None = None) -> Any:
            if get_ident() != self._thread:
                return real(selector, timeout)
            self.sleeps(timeout)
            try:
                return real(selector, timeout)
            finally:
                self.wakes()

        def displayed(app: App[Any], screen: Screen[Any], what: Any) -> None:
            display(app, screen, what)
            if hasattr(what, "render_segments"):  # what a terminal would be sent
                what.render_segments(app.console)
            self.paints(screen)

        with (
            patch.object(selectors.EpollSelector, "select", select),
            patch.object(App, "_display", displayed),
        ):
            yield

    async def until_quiet(self, at_work: Callable[[], bool] = lambda: False) -> None:
        """Wait until the app rests and nothing is `at_work` for it."""
        begun = self.rested = perf_counter()
        while (now := perf_counter()) - begun < PATIENCE_S:
            if now - self.rested > QUIET_S and not at_work():
                return
            await asyncio.sleep(QUIET_S / 5)


def fill(bench: Workbench, size: int) -> None:
    """Store memories, candidates that cite them, a playbook, and what an agent read."""
    random, sentences = Random(size), demo_sentences()
    with ungated(bench), bench.library.transaction("benchmark", "fill") as tx:
        for number in range(size):
            tx.put(memory(number, sentences, random))
        for number in range(30):
            at = START + timedelta(hours=number)
            cited = tuple(memory(n, sentences, random).id for n in range(number, number + 4))
            tx.put(
                Memory(
                    f"c-{number}", random.choice(sentences), at, at, status="candidate",
                    is_synthetic=True, citations=cited,
                )
            )  # fmt: skip
        tx.put(Book("main"))
        tx.put(Section("rules", "Rules", "main"))
        for number in range(12):
            tx.put(Bullet(f"r-{number:05}", "rules", random.choice(sentences), order=float(number)))
    given = tuple(one.id for one in bench.library.memories.all()[:8])
    scores = tuple(1 - place / 10 for place in range(len(given)))
    agent = replace(bench.context, actor="agent:claude")
    for number in range(30):
        asked = random.choice(sentences)
        read = AgentRead(
            new_id(), "claude", bench.context.now() - timedelta(minutes=number), asked,
            f"s-{number // 10}", "mcp", "workbench", given, scores,
        )  # fmt: skip
        keep(agent, [read])


async def press(bench: Workbench, ways: Mapping[str, str]) -> list[tuple[str, Times]]:
    """Press the keys of each area; return what each took, by where it was pressed."""
    found = []
    async with watched(bench) as (app, busy):
        for area, keys in ways.items():
            await go_to(app, area, busy)
            for key in keys.split():
                where = type(app.screen).__name__
                found.append((f"{where} {key}", await timed(app, key, busy)))
            while not isinstance(app.screen, AreaScreen):
                await timed(app, "escape", busy)
    return found


@asynccontextmanager
async def watched(bench: Workbench) -> AsyncIterator[tuple[WorkbenchApp, Busy]]:
    """Run the app as it runs in a terminal, and yield it once all is loaded."""
    sys.setswitchinterval(TURN)
    app, busy = app_over(bench), Busy()
    app.options = replace(app.options, alone=ALONE)
    with busy.watching():
        async with app.run_test(size=(140, 45)):
            await busy.until_quiet(lambda: at_work(app))
            yield app, busy


def at_work(app: WorkbenchApp) -> bool:
    """Tell whether something is worked out beside the screen."""
    return any(worker.is_running for worker in app.workers)


async def go_to(app: WorkbenchApp, area: str, busy: Busy) -> None:
    """Go to an area by its key."""
    await timed(app, area, busy)
    while not (isinstance(app.screen, AreaScreen) and app.screen.area.key == area):
        await busy.until_quiet()


async def timed(app: WorkbenchApp, key: str, busy: Busy) -> Times:
    """Press a key; the work is all that the thread does until it rests, the stretch also what comes
    in later.
    """
    busy.total = busy.longest = busy.painted = 0.0
    begun = perf_counter()
    app.post_message(events.Key(key, key_to_character(key)))
    await busy.until_quiet()
    taken, painted = busy.total, busy.painted - begun if busy.painted else 0.0
    await busy.until_quiet(lambda: at_work(app))
    return Times(painted * 1000, busy.longest * 1000, taken * 1000)


async def held(app: WorkbenchApp, key: str, busy: Busy) -> float:
    """Press a key as one that is held down, thirty times a second; return the ms until what is
    waited for is painted, none when it never comes.
    """
    busy.painted, begun = 0.0, perf_counter()
    app.post_message(events.Key(key, key_to_character(key)))
    while not busy.painted and perf_counter() - begun < PATIENCE_S:
        await asyncio.sleep(0.002)
    await asyncio.sleep(max(0.0, begun + 1 / 30 - perf_counter()))
    return 1000 * (busy.painted - begun) if busy.painted else 0.0
