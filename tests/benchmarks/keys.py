"""How long the app's thread is busy after each key, over stores of texts that were made to be slow.

Each text is a store: a hundred memories, some with a megabyte as their summary, candidates that cite them, and a
playbook with a bullet of a megabyte. Prose of the same size goes first, so that what is loaded once is its own.
"""

import asyncio
import selectors
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from threading import get_ident
from time import perf_counter, thread_time
from typing import Any
from unittest.mock import patch

from textual import events
from textual.app import App, ComposeResult
from textual.screen import ModalScreen
from textual.widgets import Static

from tests.bench.conftest import ungated
from tests.safety.hostile import MEGABYTE, NAMES, hostile, prose
from tests.tui.support import NOW, app_over
from workbench.bench.agents.reads import keep, new_id
from workbench.bench.open import Workbench, open_workbench
from workbench.core.agents.read import AgentRead
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.stream.memory import Memory
from workbench.tui.app.area import AreaScreen

BAR_MS = 100.0
SIZE = (140, 45)
MEMORIES, PIECE, HUGE, READINGS = 100, 9_900, 6, 30
QUIET_S, STILL_MS = 0.06, 1.5
"""The app rests once no stretch of work was longer than `STILL_MS` for `QUIET_S` seconds."""
PATIENCE_S = 4.0
PROSE = "prose"

MOVES = ("j", "k", "down", "up", "pagedown", "pageup", "G", "g", "ctrl+d", "ctrl+u")
STREAM = (
    *MOVES, "j", "o", "enter", "escape", "j", "e", "x", "ctrl+s", "ctrl+s", "escape", "escape", "h", "j", "enter",
    "escape", "escape", "plus", "minus", "p", "u", "U", "t", "semicolon", "escape", "escape", "slash", "a", "b",
    "escape", "escape", "f", "escape", "exclamation_mark", "escape", "P", "escape", "d", "escape", "y", "H", "j",
    "escape", "question_mark", "escape", "ctrl+p", "escape", "F", "escape", "R", "escape", "ctrl+o", "escape",
)  # fmt: skip
REVIEW = (
    *MOVES, "J", "K", "o", "enter", "escape", "j", "e", "x", "ctrl+s", "ctrl+s", "escape", "escape", "S", "escape",
    "m", "escape", "r", "escape", "i", "escape", "P", "escape", "h", "escape", "slash", "a", "escape", "escape",
    "a", "u", "x", "1", "u", "space", "u", "y", "question_mark", "escape",
)  # fmt: skip
PLAYBOOK = (
    *MOVES, "enter", "escape", "j", "e", "x", "ctrl+s", "ctrl+s", "escape", "escape", "o", "x", "escape", "escape",
    "plus", "u", "equals_sign", "j", "escape", "escape", "B", "right", "escape", "X", "ctrl+o", "escape", "ctrl+n",
    "ctrl+t", "ctrl+g", "escape", "V", "c", "escape", "I", "escape", "D", "escape", "M", "escape", "O", "escape",
    "J", "K", "p", "u", "h", "escape", "b", "escape", "slash", "a", "escape", "escape", "d", "escape", "y",
    "question_mark", "escape",
)  # fmt: skip
TUNE = (
    "tab", "j", "k", "tab", "shift+tab", "shift+tab", "right", "left", "slash", *"agent", "enter", "f", "escape",
    "m", "escape", "w", "escape", "o", "escape", "C", "escape", "c", "escape", "s", "escape", "l", "escape", "J",
    "escape", "B", "escape", "D", "escape", "n", "escape", "N", "escape", "S", "escape", "X", "escape", "I",
    "escape", "A", "escape", "question_mark", "escape",
)  # fmt: skip
AGENTS = (
    "j", "k", "tab", "j", "k", "down", "G", "g", "enter", "escape", "tab", "j", "o", "shift+tab", "plus", "u",
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


@dataclass
class Worst:
    """The milliseconds of one key in one place: with prose, and the longest of all with the text it was."""

    prose: float = 0.0
    worst: float = 0.0
    text: str = PROSE
    stretch: float = 0.0
    times: list[float] = field(default_factory=list)

    def add(self, text: str, busy: float, stretch: float) -> None:
        """Take a key's time in."""
        self.times.append(busy)
        self.stretch = max(self.stretch, stretch)
        if text == PROSE:
            self.prose = max(self.prose, busy)
        if busy > self.worst:
            self.worst, self.text = busy, text


def run(small: bool, names: Sequence[str] = NAMES) -> dict[str, object]:
    """Press every key of `WAYS` over every text, and print what kept the app's thread longest."""
    size, names = (50_000, names[:2]) if small else (MEGABYTE, names)
    empty = asyncio.run(_empty())
    found: dict[str, Worst] = {}
    for name in (PROSE, *names):
        text = prose(size) if name == PROSE else hostile(name, size)
        with tempfile.TemporaryDirectory() as folder:
            bench = open_bench(Path(folder))
            fill(bench, text)
            asyncio.run(_press(bench, name, found, {"1": MOVES} if small else WAYS))
            bench.close()
    over = {key: worst for key, worst in found.items() if worst.worst > BAR_MS or worst.stretch > BAR_MS}
    slowest = max(found, key=lambda key: found[key].worst)
    return {
        "bar_ms": BAR_MS,
        "texts": 1 + len(names),
        "characters": size,
        "keys": len(found),
        "empty_dialog_ms": empty,
        "worst_ms": round(found[slowest].worst, 1),
        "worst_key": slowest,
        "over_the_bar": {key: _told(one) for key, one in sorted(over.items(), key=lambda each: -each[1].worst)},
        "all": {key: _told(one) for key, one in sorted(found.items(), key=lambda each: -each[1].worst)[:40]},
    }


def _told(one: Worst) -> str:
    return f"{one.worst:.0f} ms ({one.text}); prose {one.prose:.0f}; longest stretch {one.stretch:.0f}"


def open_bench(folder: Path) -> Workbench:
    """Open a store in a folder, its verdicts remembered in another one beside it."""
    return open_workbench(folder / "store", profiles=folder / "profiles", cache=folder / "cache", clock=lambda: NOW)


def fill(bench: Workbench, text: str) -> None:
    """Store memories, candidates and bullets that are made of a text."""
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)] or [text]
    with ungated(bench), bench.library.transaction("benchmark", "fill") as tx:
        for n in range(MEMORIES):
            at, piece = NOW - timedelta(hours=n), pieces[n % len(pieces)]
            piece = piece if piece.strip() else f"x{piece}"
            more: dict[str, Any] = {"summary": text} if n % (MEMORIES // HUGE) == 3 else {}
            if n % 3 == 0:
                cited = tuple(f"mem-{other:05}" for other in range(n + 1, n + 5))
                more |= {"status": "candidate", "is_synthetic": True, "citations": cited}
            tx.put(Memory(f"mem-{n:05}", piece, at, at, session_id=f"s-{n // 10}", **more))
        tx.put(Book("main"))
        tx.put(Section("rules", "Rules", "main"))
        for n in range(12):
            content = text if n % 6 == 1 else pieces[n % len(pieces)]
            tx.put(Bullet(f"r-{n:05}", "rules", content if content.strip() else f"x{content}", order=float(n)))
    for n in range(READINGS):
        given = tuple(f"mem-{other:05}" for other in range(n, n + 8))
        scores = tuple(1 - place / 10 for place in range(len(given)))
        at, asked = NOW - timedelta(minutes=n), pieces[n % len(pieces)][:400] or "x"
        read = AgentRead(new_id(), "claude", at, asked, f"s-{n // 10}", "mcp", "workbench", given, scores)
        keep(replace(bench.context, actor="agent:claude"), [read])


class Busy:
    """Counts how long the thread of the event loop works, and how long at a stretch."""

    def __init__(self) -> None:
        self.total = self.longest = 0.0
        self.rested = perf_counter()
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

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the event loop of this thread."""
        real = selectors.EpollSelector.select

        def select(selector: selectors.EpollSelector, timeout: float | None = None) -> Any:
            if get_ident() != self._thread:
                return real(selector, timeout)
            self.sleeps(timeout)
            try:
                return real(selector, timeout)
            finally:
                self.wakes()

        with patch.object(selectors.EpollSelector, "select", select):
            yield

    async def until_quiet(self, at_work: Callable[[], bool] = lambda: False) -> None:
        """Wait until the app rests and nothing is `at_work` for it."""
        begun = self.rested = perf_counter()
        while (now := perf_counter()) - begun < PATIENCE_S:
            if now - self.rested > QUIET_S and not at_work():
                return
            await asyncio.sleep(QUIET_S / 5)


async def _press(bench: Workbench, text: str, found: dict[str, Worst], ways: Ways) -> None:
    app = app_over(bench)
    busy = Busy()

    def at_work() -> bool:
        return bool(bench.context.verdicts._waiting) or any(
            worker.is_running for worker in app.workers if worker._thread_worker
        )

    with busy.watching():
        async with app.run_test(size=SIZE):
            await busy.until_quiet(at_work)
            for area, keys in ways.items():
                await _to(app, area, busy, text, found)
                for key in keys:
                    where = type(app.screen).__name__
                    await _timed(app, key, busy, at_work, text, found.setdefault(f"{where} {key}", Worst()))
                await _home(app, busy)


async def _to(app: App[Any], area: str, busy: Busy, text: str, found: dict[str, Worst]) -> None:
    await _timed(app, area, busy, lambda: False, text, found.setdefault(f"to area {area}", Worst()))
    for _ in range(100):
        await busy.until_quiet()
        if isinstance(app.screen, AreaScreen) and app.screen.area.key == area:
            return
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


async def _timed(app: App[Any], key: str, busy: Busy, at_work: Callable[[], bool], text: str, worst: Worst) -> None:
    """Press a key; its time is all that the thread does until it rests, the stretch also what comes in later."""
    busy.total = busy.longest = 0.0
    _send(app, key)
    await busy.until_quiet()
    taken = busy.total * 1000
    await busy.until_quiet(at_work)
    worst.add(text, taken, busy.longest * 1000)


class _Plain(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("text")

    async def on_key(self) -> None:
        await self.push_screen(_Nothing())


class _Nothing(ModalScreen[None]):
    def compose(self) -> ComposeResult:
        yield Static("nothing")


async def _empty() -> list[float]:
    """Return what the first and the second opening of a dialog take that holds one word, in an app without rules."""
    busy, times = Busy(), []
    with busy.watching():
        async with (app := _Plain()).run_test(size=SIZE):
            await busy.until_quiet()
            for _ in range(2):
                worst = Worst()
                await _timed(app, "a", busy, lambda: False, PROSE, worst)
                times.append(round(worst.worst, 1))
    return times
