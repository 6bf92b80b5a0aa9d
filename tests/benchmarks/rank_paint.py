"""How long a slider step or a new query takes to be on the screen: the real app over a real store,
key to paint.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import perf_counter, thread_time

import numpy as np
from rich.console import RenderableType
from textual import events
from textual._compositor import CompositorUpdate
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.screen import Screen

from tests.benchmarks.open import ROOT, build, demo_sentences
from workbench.core.runtime import share_memory
from workbench.services.open import Workbench, open_workbench
from workbench.tui.app import app as app_module
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.host import AppOptions
from workbench.tui.app.themes import load_themes
from workbench.tui.tuning.screen import TuneScreen
from workbench.tui.widgets.bars import Slider

SIZES = ((120, 40), (180, 50))
SLIDERS = ("recency", "relevance", "half-life-episodic", "blend")
JUDGED = 12
RESTED_S = 0.4
"""Long enough that hints and the verdict of a step are worked out while nobody waits."""
HELD_S = 1 / 30
"""A key that is held down comes about thirty times a second."""
PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Taken:
    """How long a step took, and for how long of it the thread of the screen was at work."""

    seconds: float
    busy: float


class PaintedApp(WorkbenchApp):
    """The app without a terminal that yet renders every byte the terminal would be sent, and notes
    when.

    `shown` returns what is waited for, `None` from a screen that does not show it.
    """

    CSS_PATH = str(Path(app_module.__file__).with_name("app.tcss"))

    def __init__(self, bench: Workbench, shown: Callable[[Screen[object]], object]) -> None:
        share_memory()
        super().__init__(
            bench, AppOptions("bench", "workbench-dark", load_themes((ROOT / "themes",)).themes)
        )
        self.shown = shown
        self.painted = asyncio.Event()
        self.before: object = None
        self.at = self.busy = 0.0

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        if isinstance(renderable, CompositorUpdate):
            renderable.render_segments(self.console)
        super()._display(screen, renderable)
        now = self.shown(screen)
        if now is not None and now is not self.before and not self.painted.is_set():
            self.at, self.busy = perf_counter(), thread_time()
            self.painted.set()


def ranking_on(screen: Screen[object]) -> object:
    """Return the ranking that a screen shows."""
    return screen.session.ranking if isinstance(screen, TuneScreen) else None


def painted(rows: int, steps: int, folder: Path | None = None) -> dict[str, object]:
    """Return ms from a key to its paint, by the size of the terminal; `steps` per slider and way of
    pressing.

    `folder` may hold the store already; without one it is made for the occasion.
    """
    place = Path(tempfile.mkdtemp(prefix="bench-paint-")) if folder is None else folder
    try:
        if not (place / "store").exists():
            build(place / "store", rows)
        with _opened_bench(place) as bench:
            bench.retriever.load()
            _judge(bench, rows)
        found: dict[str, object] = {}
        for width, height in SIZES:
            # The app loads what it ranks by itself, as it does for a person.
            with _opened_bench(place) as bench:
                found[f"{width}x{height}"] = asyncio.run(_measured(bench, (width, height), steps))
        return found
    finally:
        if folder is None:
            shutil.rmtree(place)


def _opened_bench(place: Path) -> closing[Workbench]:
    return closing(open_workbench(place / "store", profiles=place / "profiles"))


def _judge(bench: Workbench, rows: int) -> None:
    """Judge some queries, so that a step has a verdict to be measured too."""
    random = Random(rows)
    memories = bench.retriever.ranker().pool.memories
    for row in random.sample(range(rows), JUDGED):
        query = " ".join(memories[row].content.split()[:6])
        bench.judging.judge(query, None, memories[row].id, 3)


async def _measured(bench: Workbench, size: tuple[int, int], steps: int) -> dict[str, object]:
    app = PaintedApp(bench, ranking_on)
    found: dict[str, list[Taken]] = {"rested": [], "held": []}
    async with app.run_test(size=size) as pilot:
        await pilot.press("4")
        screen = await _opened(pilot)
        for name in SLIDERS:
            slider = screen.query_one(f"#slider-{name}", Slider)
            slider.focus()
            # To and fro, and first away from the nearer end of the scale, so that no step is lost
            # at an end.
            forth, back = (
                ("right", "left")
                if slider.scale.fraction(slider.value or 0.0) < 0.5
                else ("left", "right")
            )
            for way, rest in (("rested", RESTED_S), ("held", HELD_S)):
                await pilot.pause(1.0)
                for number in range(steps):
                    taken = await step(app, screen, back if number // 5 % 2 else forth)
                    found[way].append(taken)
                    await asyncio.sleep(max(0.0, rest - taken.seconds))
        found["asked"] = await _asked(app, pilot, screen, 2 * steps)
    return {way: figures(times) for way, times in found.items()}


async def _asked(
    app: PaintedApp, pilot: Pilot[Path | None], screen: TuneScreen, queries: int
) -> list[Taken]:
    """Write new queries of five to nine words; return what the last letter of each took until its
    ranking was there.
    """
    random, sentences, taken = Random(queries), demo_sentences(), list[Taken]()
    screen.box.focus()
    for _ in range(queries):
        query = " ".join(random.choice(sentences).split()[: random.randint(5, 9)])
        screen.box.value = query[:-1]
        await pilot.pause(RESTED_S)
        taken.append(await step(app, screen, query[-1]))
        await pilot.pause(RESTED_S)
    return taken


async def _opened(pilot: Pilot[Path | None]) -> TuneScreen:
    begun = perf_counter()
    while perf_counter() - begun < 60:
        screen = pilot.app.screen
        if isinstance(screen, TuneScreen) and screen.session.ranking is not None:
            return screen
        await pilot.pause(0.05)
    raise TimeoutError("the ranking never came")


async def step(app: PaintedApp, screen: Screen[object], key: str) -> Taken:
    """Press a key as the terminal would send it; return what it took until something else was
    painted.
    """
    app.before = app.shown(screen)
    app.painted.clear()
    character = key if len(key) == 1 else None
    event = events.Key(key if character is None else _character_to_key(key), character)
    event.set_sender(app)
    assert app._driver is not None
    begun, busy = perf_counter(), thread_time()
    app._driver.send_message(event)
    await asyncio.wait_for(app.painted.wait(), PATIENCE_S)
    return Taken(app.at - begun, app.busy - busy)


def figures(times: list[Taken]) -> dict[str, float]:
    """Return ms of the clock and of the screen's own thread."""
    ms = np.array([taken.seconds for taken in times]) * 1000
    busy = np.array([taken.busy for taken in times]) * 1000
    return {
        "cpu_median_ms": round(float(np.median(busy)), 1),
        "cpu_p95_ms": round(float(np.quantile(busy, 0.95)), 1),
        "median_ms": round(float(np.median(ms)), 1),
        "p95_ms": round(float(np.quantile(ms, 0.95)), 1),
        "max_ms": round(float(ms.max()), 1),
    }
