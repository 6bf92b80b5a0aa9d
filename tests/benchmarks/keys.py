"""How long the app's thread is busy after each key, over stores of texts that were made to be slow.

Each text is a store: a hundred memories, some with a megabyte as their summary, candidates that
cite them, and a playbook with a bullet of a megabyte. Each has a process of its own, as a person
has who opens one, prose of the same size as well: a first visit loads what it needs with either.

A key has three times: how long it was until something was painted, how long the thread was busy
without a rest in between (another key would have waited so long), and all that the thread did until
it had nothing to do.
"""

import asyncio
import json
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import get_ident
from time import perf_counter, thread_time
from typing import Any, NamedTuple
from unittest.mock import patch

from textual import events
from textual.app import App, ComposeResult
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from tests.safety.hostile import MEGABYTE, NAMES, hostile, prose
from tests.services.conftest import ungated
from tests.tui.support import NOW, app_over
from workbench.core.agents.read import AgentRead
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.stream.memory import Memory
from workbench.services.agents.reading_log import keep, new_id
from workbench.services.open import Workbench, open_workbench
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.run import ALONE, TURN

BAR_MS = 100.0
SIZE = (140, 45)
MEMORIES, PIECE, HUGE, READINGS = 100, 9_900, 6, 30
HUGE_ROWS = (0, 1, 2, 3)
"""Of each so many, what is a megabyte long: the rows on which the keys are pressed that open a form
are among them.
"""
QUIET_S, STILL_MS = 0.06, 1.5
"""The app rests once no stretch of work was longer than `STILL_MS` for `QUIET_S` seconds."""
PATIENCE_S = 4.0
PROSE = "prose"

MOVES = ("j", "k", "down", "up", "pagedown", "pageup", "G", "g", "ctrl+d", "ctrl+u")
STREAM = (
    *MOVES, "j", "o", "enter", "escape", "j", "e", "x", "ctrl+s", "ctrl+s", "escape", "escape", "h", "j", "enter",
    "escape", "escape", "plus", "minus", "p", "u", "U", "t", "escape", "escape", "slash", "a", "b",
    "escape", "escape", "f", "escape", "exclamation_mark", "escape", "P", "escape", "d", "escape", "y", "H", "j",
    "escape", "question_mark", "escape", "ctrl+p", "escape", "F", "escape", "R", "escape", "ctrl+o", "escape",
)  # fmt: skip
REVIEW = (
    *MOVES, "J", "K", "o", "enter", "escape", "e", "x", "escape", "escape", "j", "e", "x", "ctrl+s", "ctrl+s",
    "escape", "escape", "S", "escape", "m", "escape", "r", "escape", "i", "escape", "P", "escape", "h", "escape",
    "slash", "a", "escape", "escape", "a", "u", "x", "1", "u", "space", "u", "y", "question_mark", "escape",
)  # fmt: skip
PLAYBOOK = (
    *MOVES, "enter", "escape", "j", "e", "x", "ctrl+s", "ctrl+s", "escape", "escape", "o", "x", "escape", "escape",
    "plus", "u", "equals_sign", "j", "escape", "escape", "B", "right", "escape", "X", "ctrl+o", "escape", "ctrl+n",
    "ctrl+t", "ctrl+g", "escape", "V", "c", "escape", "I", "escape", "D", "escape", "M", "escape", "O", "escape",
    "right_curly_bracket", "left_curly_bracket", "p", "u", "h", "escape", "b", "escape", "slash", "a", "escape",
    "escape", "d", "escape", "y", "question_mark", "escape",
)  # fmt: skip
TUNE = (
    "tab", "j", "k", "tab", "shift+tab", "shift+tab", "right", "left", "slash", *"agent", "enter", "f", "escape",
    "m", "escape", "w", "escape", "o", "escape", "C", "escape", "c", "escape", "s", "escape", "l", "escape", "v",
    "escape", "B", "escape", "D", "escape", "n", "escape", "N", "escape", "Q", "escape", "X", "escape", "I",
    "escape", "A", "escape", "question_mark", "escape",
)  # fmt: skip
AGENTS = (
    "j", "k", "tab", "j", "k", "down", "G", "g", "enter", "escape", "tab", "j", "o", "escape", "shift+tab", "plus", "u",
    "minus", "u", "p", "u", "h", "escape", "e", "x", "ctrl+s", "escape", "escape", "P", "escape", "d", "escape",
    "y", "f", "escape", "c", "right", "left", "j", "y", "slash", "a", "escape", "escape", "escape",
    "question_mark", "escape",
)  # fmt: skip
HEALTH = (
    "j", "k", "tab", "j", "tab", "j", "tab", "tab", "shift+tab", "J", "K", "o", "r", "enter", "escape", "A",
    "escape", "a", "escape",
)  # fmt: skip
WAYS = {"1": STREAM, "2": REVIEW, "3": PLAYBOOK, "4": TUNE, "5": AGENTS, "6": HEALTH}
"""The keys that are pressed in each area, by its own key."""

Ways = Mapping[str, Sequence[str]]


class Times(NamedTuple):
    """The milliseconds of a key until something was painted, of the longest stretch of work, and of
    all the work.
    """

    painted: float
    stretch: float
    busy: float


Pressed = list[tuple[str, Times]]
"""What each key took, by where it was pressed; in the order they were pressed."""


def run(small: bool, names: Sequence[str] = NAMES) -> dict[str, object]:
    """Press every key of `WAYS` over every text; return what took longest by each measure, and what
    is over the bar.
    """
    size, names = (50_000, names[:2]) if small else (MEGABYTE, names)
    ways = {"1": MOVES} if small else WAYS
    found = {name: in_process(name, size, ways) for name in (PROSE, *names)}
    slowest = {
        measure: {
            name: _told(max(pressed, key=lambda one: one[1][at]), at)
            for name, pressed in found.items()
        }
        for at, measure in enumerate(Times._fields)
    }
    over = {
        f"{name}: {key}": [round(each, 1) for each in times]
        for name, pressed in found.items()
        for key, times in pressed
        if max(times.painted, times.stretch) > BAR_MS
    }
    return {
        "bar_ms": BAR_MS,
        "texts": len(found),
        "characters": size,
        "keys": len(found[PROSE]),
        "empty_dialog_ms": asyncio.run(_empty()),
        "p95_ms": {name: _quantiles(pressed) for name, pressed in found.items()},
        "slowest": slowest,
        "painted_or_busy_at_a_stretch_over_the_bar": over,
    }


def _told(one: tuple[str, Times], at: int) -> str:
    return f"{one[1][at]:.0f} ms ({one[0]})"


def _quantiles(pressed: Pressed) -> list[float]:
    """Return the 95th percentile of each measure."""
    columns = (sorted(column) for column in zip(*(times for _, times in pressed), strict=True))
    return [round(each[int(len(each) * 0.95)], 1) for each in columns]


def in_process(name: str, size: int, ways: Ways) -> Pressed:
    """Return the times of every key over a text, pressed in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.keys", name, str(size), json.dumps(ways)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return [(key, Times(*times)) for key, times in json.loads(done.stdout)]


def pressed_over(name: str, size: int, ways: Ways) -> Pressed:
    """Press the keys over the text `name` in this process, and return their times."""
    sys.setswitchinterval(TURN)
    found: Pressed = []
    with tempfile.TemporaryDirectory() as folder:
        bench = open_bench(Path(folder))
        fill(bench, prose(size) if name == PROSE else hostile(name, size))
        asyncio.run(_press(bench, found, ways))
        bench.close()
    return found


def open_bench(folder: Path) -> Workbench:
    """Open a store in a folder, its caches beside it."""
    return open_workbench(
        folder / "store", profiles=folder / "profiles", cache=folder / "cache", clock=lambda: NOW
    )


def fill(bench: Workbench, text: str) -> None:
    """Store memories, candidates and bullets that are made of a text."""
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)] or [text]
    with ungated(bench), bench.library.transaction("benchmark", "fill") as tx:
        for n in range(MEMORIES):
            at, piece = NOW - timedelta(hours=n), pieces[n % len(pieces)]
            piece = piece if piece.strip() else f"x{piece}"
            more: dict[str, Any] = {"summary": text} if n % (MEMORIES // HUGE) in HUGE_ROWS else {}
            if n % 3 == 0:
                cited = tuple(f"mem-{other:05}" for other in range(n + 1, n + 5))
                more |= {"status": "candidate", "is_synthetic": True, "citations": cited}
            tx.put(Memory(f"mem-{n:05}", piece, at, at, session_id=f"s-{n // 10}", **more))
        tx.put(Book("main"))
        tx.put(Section("rules", "Rules", "main"))
        for n in range(12):
            content = text if n % 6 in HUGE_ROWS else pieces[n % len(pieces)]
            tx.put(
                Bullet(
                    f"r-{n:05}",
                    "rules",
                    content if content.strip() else f"x{content}",
                    order=float(n),
                )
            )
    for n in range(READINGS):
        given = tuple(f"mem-{other:05}" for other in range(n, n + 8))
        scores = tuple(1 - place / 10 for place in range(len(given)))
        at, asked = NOW - timedelta(minutes=n), pieces[n % len(pieces)][:400] or "x"
        read = AgentRead(
            new_id(), "claude", at, asked, f"s-{n // 10}", "mcp", "workbench", given, scores
        )
        keep(replace(bench.context, actor="agent:claude"), [read])


class Busy:
    """Counts how long the thread of the event loop works, and how long at a stretch."""

    def __init__(self) -> None:
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

    def paints(self) -> None:
        """Note that something is on the screen; only the first time counts."""
        self.painted = self.painted or perf_counter()

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
            self.paints()

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


async def _press(bench: Workbench, found: Pressed, ways: Ways) -> None:
    app = app_over(bench)
    app.options = replace(app.options, alone=ALONE)
    busy = Busy()

    def at_work() -> bool:
        return any(worker.is_running for worker in app.workers if worker._thread_worker)

    with busy.watching():
        async with app.run_test(size=SIZE):
            await _rested(busy, at_work)
            for area, keys in ways.items():
                found.append((f"to area {area}", await _to(app, area, busy)))
                for key in keys:
                    where = type(app.screen).__name__
                    found.append((f"{where} {key}", await _timed(app, key, busy, at_work)))
                await _home(app, busy)


async def _rested(busy: Busy, at_work: Callable[[], bool]) -> None:
    """Wait until all is loaded."""
    await busy.until_quiet(at_work)


async def _to(app: App[Any], area: str, busy: Busy) -> Times:
    times = await _timed(app, area, busy, lambda: False)
    for _ in range(100):
        await busy.until_quiet()
        if isinstance(app.screen, AreaScreen) and app.screen.area.key == area:
            return times
    raise TimeoutError(f"area {area} never came")


async def _home(app: App[Any], busy: Busy) -> None:
    for _ in range(8):
        if isinstance(app.screen, AreaScreen):
            return
        _send(app, "escape")
        await busy.until_quiet()


def _send(app: App[Any], key: str) -> None:
    event = events.Key(key, key if len(key) == 1 else None)
    event.set_sender(app)
    assert app._driver is not None
    app._driver.send_message(event)


async def _timed(app: App[Any], key: str, busy: Busy, at_work: Callable[[], bool]) -> Times:
    """Press a key; the work is all that the thread does until it rests, the stretch also what comes
    in later.
    """
    busy.total = busy.longest = busy.painted = 0.0
    begun = perf_counter()
    _send(app, key)
    await busy.until_quiet()
    taken, painted = busy.total, busy.painted - begun if busy.painted else 0.0
    await busy.until_quiet(at_work)
    return Times(painted * 1000, busy.longest * 1000, taken * 1000)


class _Plain(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("text")

    async def on_key(self) -> None:
        await self.push_screen(_Nothing())


class _Nothing(ModalScreen[None]):
    def compose(self) -> ComposeResult:
        yield Static("nothing")


async def _empty() -> list[float]:
    """Return what the first and the second opening of a dialog take that holds one word, in an app
    without rules.
    """
    busy, times = Busy(), []
    with busy.watching():
        async with (app := _Plain()).run_test(size=SIZE):
            await busy.until_quiet()
            for _ in range(2):
                times.append(round((await _timed(app, "a", busy, lambda: False)).busy, 1))
    return times


if __name__ == "__main__":
    print(json.dumps(pressed_over(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))))
