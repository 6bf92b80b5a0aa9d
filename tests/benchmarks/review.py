"""How long it takes from the key of a decision until the next item is painted, among many memories."""

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from textual.pilot import Pilot
from textual.screen import Screen

from tests.tui.support import DEMO, NOW, app_over, open_bench
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.review.screen import ReviewScreen

SIZES = ((80, 24), (140, 45), (200, 60))
BAR_MS = 50.0
KEYS = ("a", "x", "space", "u")


def run(*, small: bool) -> dict[str, object]:
    """Decide at every size of a terminal; times in ms, `evidence` until what is alike stands there
    too.
    """
    memories, candidates, each = (200, 60, 4) if small else (10_000, 500, 50)
    with tempfile.TemporaryDirectory() as folder:
        bench = open_bench(Path(folder))
        fill(bench, memories, candidates)
        bench.retriever.load()
        sizes = {f"{w}x{h}": asyncio.run(_decide(bench, (w, h), each)) for w, h in SIZES}
        bench.close()
    worst = max(float(figures["p95"]) for keys in sizes.values() for figures in keys.values())
    told = {
        "memories": memories,
        "candidates": candidates,
        "decisions_per_key": each,
        "bar_ms": BAR_MS,
    }
    return {**told, "worst_p95_ms": worst, "within_the_bar": worst <= BAR_MS, "ms": sizes}


def fill(bench: Workbench, memories: int, candidates: int) -> None:
    """Store synthetic memories, made of the demo's sentences, and candidates that cite four of them
    each.
    """
    docs = [json.loads(line) for line in (DEMO / "memories.jsonl").read_text("utf-8").splitlines()]
    random, sentences = (
        Random(1),
        [part for doc in docs for part in str(doc.get("context", "")).split(". ") if part],
    )

    def text(count: int) -> str:
        return ". ".join(random.choice(sentences) for _ in range(count))

    def memory(id: str, content: str, **fields: Any) -> Memory:
        at = NOW - timedelta(hours=random.uniform(1, 2000))
        return Memory(
            id, content, at, at, importance_score=float(random.randrange(1, 10)), **fields
        )

    with bench.library.transaction("benchmark", "fill") as tx:
        for n in range(memories):
            tx.put(memory(f"m-{n:05}", text(2), status="confirmed", session_id=f"s-{n // 40}"))
        for n in range(candidates):
            cited = tuple(f"m-{random.randrange(memories):05}" for _ in range(4))
            tx.put(
                memory(f"c-{n:05}", text(3), status="candidate", is_synthetic=True, citations=cited)
            )


async def _decide(
    bench: Workbench, size: tuple[int, int], each: int
) -> dict[str, dict[str, float]]:
    app = app_over(bench)
    async with app.run_test(size=size) as pilot:
        await pilot.press("2")
        if size[0] < 100:
            await pilot.press("enter")
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        with painting(screen) as painted:
            await _until(pilot, lambda: _settled(screen))
            found: dict[str, dict[str, float]] = {}
            for key in KEYS:
                times = [await _one(app, screen, pilot, painted, key) for _ in range(each)]
                item, evidence, cpu = (list(column) for column in zip(*times, strict=True))
                found[key] = {
                    **_figures(item),
                    "cpu_p95": _p95(cpu),
                    "evidence_p95": _p95(evidence),
                }
    return found


async def _one(
    app: WorkbenchApp,
    screen: ReviewScreen,
    pilot: Pilot[Any],
    painted: list[tuple[float, str]],
    key: str,
) -> tuple[float, float, float]:
    """Press one key; return the ms until the next item was painted, and until its evidence was
    complete.

    The third figure is what the app's thread worked for the first one, whatever else the machine
    did.
    """
    before = _id(screen)
    painted.clear()
    begun, worked = time.perf_counter(), time.thread_time()
    app.simulate_key(key)
    while not (next_ones := [at for at, id in painted if id not in ("", before)]):
        await asyncio.sleep(0)
    worked = time.thread_time() - worked
    while not _settled(screen):
        await asyncio.sleep(0)
    done = time.perf_counter()
    await pilot.pause()
    return (next_ones[0] - begun) * 1000, (done - begun) * 1000, worked * 1000


@contextmanager
def painting(screen: ReviewScreen) -> Iterator[list[tuple[float, str]]]:
    """Note when the terminal was written to, and which item the screen showed then."""
    painted: list[tuple[float, str]] = []
    display = WorkbenchApp._display

    def noted(self: WorkbenchApp, shown: Screen[Any], renderable: Any) -> None:
        display(self, shown, renderable)
        painted.append((time.perf_counter(), _id(screen)))

    with patch.object(WorkbenchApp, "_display", noted):
        yield painted


def _id(screen: ReviewScreen) -> str:
    return screen.shown.proposal.id if screen.shown is not None else ""


def _settled(screen: ReviewScreen) -> bool:
    shown = screen.shown
    return shown is not None and shown.evidence is not None and shown.evidence.searched


async def _until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    for _ in range(6000):
        if holds():
            return
        await asyncio.sleep(0.01)
        await pilot.pause()
    raise AssertionError("the model never came")


def _figures(times: list[float]) -> dict[str, float]:
    return {
        "median": round(sorted(times)[len(times) // 2], 1),
        "p95": _p95(times),
        "max": round(max(times), 1),
    }


def _p95(times: list[float]) -> float:
    return round(sorted(times)[min(len(times) - 1, int(0.95 * len(times)))], 1)
