"""How long a key in the Stream's filter takes: typed words, clauses and phrases over a large store,
key by key.

It is measured twice: the work up to the list of memories, in CPU time, and in the app, from the key
until what holds the words is painted, by the clock and by the time that the screen's thread was at
work.
"""

import asyncio
import statistics
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from textual.pilot import Pilot
from textual.screen import Screen

from tests.benchmarks.open import build
from tests.benchmarks.rank_paint import PATIENCE_S, PaintedApp, Taken, figures, step
from workbench.core.record import InvalidQuery
from workbench.services.open import Workbench, open_workbench
from workbench.tui.stream.screen import StreamScreen

TYPED = (
    "undo", "type:error", "since:7d votes", "deploy api", "type:error deplyo", '"exact phrase"', "authentication",
    "the stagin",
)  # fmt: skip
BARS = {"p95_ms": 50, "ranked_ms": 100}
GAP_S, RESTED_S = 0.12, 1.0
"""Seconds between two keys of somebody who types, and of a rest."""


def run(small: bool = False) -> dict[str, object]:
    """Return ms of CPU for each key by what is typed, their median and 95th percentile, and what
    getting ready took.
    """
    size = 5_001 if small else 100_000
    with tempfile.TemporaryDirectory(prefix="bench-filter-") as name:
        build(Path(name) / "store", size)
        bench = open_workbench(
            Path(name) / "store", profiles=Path(name) / "profiles", cache=Path(name) / "cache"
        )
        begun = process_time()
        bench.library.read()
        bench.stream.prepare()
        ready = process_time() - begun
        keys = {text: _typed(bench, text) for text in TYPED}
        bench.retriever.load()
        on_screen = asyncio.run(_painted(bench))
        bench.close()
    every = sorted(ms for each in keys.values() for ms in each)
    return {
        "memories": size,
        "ready_s": round(ready, 2),
        "median_ms": round(statistics.median(every), 1),
        "p95_ms": round(every[int(len(every) * 0.95)], 1),
        "worst_ms": round(every[-1], 1),
        "keys_ms": {text: [round(ms) for ms in each] for text, each in keys.items()},
        "painted": on_screen,
        "bars": BARS,
    }


def _shown(screen: Screen[object]) -> object:
    """Return what is typed, which the rows follow before anything is drawn."""
    return screen._text if isinstance(screen, StreamScreen) else None


def _near(screen: Screen[object]) -> object:
    """Return what is near by meaning."""
    return screen._nearby if isinstance(screen, StreamScreen) else None


async def _painted(bench: Workbench) -> dict[str, object]:
    """Type each text in the app; return the figures of all keys, and ms of the screen's thread for
    each key.

    `ranked_ms` is the time from the last key of a text until what is near by meaning is painted,
    too.
    """
    app, taken, ranked = PaintedApp(bench, _shown), dict[str, list[Taken]](), dict[str, float]()
    async with app.run_test(size=(140, 45)) as pilot:
        await _loaded(pilot)
        for text in TYPED:
            await pilot.press("slash")
            taken[text] = []
            for character in text[:-1]:
                taken[text].append(await step(app, app.screen, character))
                await pilot.pause(GAP_S)
            begun = perf_counter()
            taken[text].append(await step(app, app.screen, text[-1]))
            if bench.stream.view_at_once(text).filter.words:
                ranked[text] = 1000 * (await _near_painted(app) - begun)
            await pilot.pause(RESTED_S)
            await pilot.press("escape", "escape")
            await pilot.pause(RESTED_S)
    every = [each for keys in taken.values() for each in keys]
    return {
        **figures(every),
        "ranked_ms": {text: round(ms) for text, ms in ranked.items()},
        "keys_ms": {text: [round(1000 * t.busy) for t in keys] for text, keys in taken.items()},
    }


async def _near_painted(app: PaintedApp) -> float:
    """Return when what is near the words that were typed last was painted."""
    app.shown, app.before = _near, None
    app.painted.clear()
    try:
        await asyncio.wait_for(app.painted.wait(), PATIENCE_S)
    finally:
        app.shown = _shown
    return app.at


async def _loaded(pilot: Pilot[Path | None]) -> None:
    """Wait until the app has all in memory, and nothing is being made ready any more."""
    await pilot.pause(RESTED_S)
    await pilot.app.workers.wait_for_complete()
    await pilot.pause(RESTED_S)


def _typed(bench: Workbench, text: str) -> list[float]:
    """Type a text letter by letter; return ms of CPU for each key that can be read as a filter."""
    taken = []
    for end in range(1, len(text) + 1):
        begun = process_time()
        try:
            bench.stream.view_at_once(text[:end])
        except InvalidQuery:
            continue
        taken.append(1000 * (process_time() - begun))
    return taken
