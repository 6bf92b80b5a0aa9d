"""What agents are given at size: a context and its budget on the screen, the brief, and what
documents say.

CPU is that of all threads of the process, those of matrix products that wait for the next one
included; `wall` is what somebody waits. Medians over tasks in turn, with everything read once
before; commands are whole processes, in turns with `search`. A step is from the key to the paint.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any
from unittest import mock

from textual.pilot import Pilot
from textual.screen import Screen

from tests.benchmarks import documents, episodes, patterns
from tests.benchmarks.cli import Asked, in_turns, own
from tests.benchmarks.open import ROOT, build
from tests.benchmarks.rank_paint import HELD_S, RESTED_S, PaintedApp, figures, step
from workbench.services.agents import context
from workbench.services.agents.api import AgentApi
from workbench.services.agents.context import gathered
from workbench.services.agents.reading_log import ReadingLog
from workbench.services.open import Workbench, open_workbench
from workbench.services.safety.provenance import learn_all
from workbench.tui.agents.screen import AgentsScreen

BARS = {
    "context": "100 ms at 100,000 memories, with 10,000 episodes and 1,000 patterns, too",
    "step": "50 ms",
    **documents.BARS,
}
SIZES = ((80, 24), (120, 40), (180, 50))
BUDGET = 4_000


def run(small: bool = False) -> dict[str, object]:
    """Return medians in ms, and what recall over documents takes."""
    size, done, learned, turns = (1_000, 40, 20, 3) if small else (100_000, 10_000, 1_000, 25)
    with tempfile.TemporaryDirectory(prefix="bench-agents-") as name:
        place = Path(name)
        tasks = build(place / "store", size)[: turns + 1]
        found: dict[str, object] = {"bars": BARS, "memories": size}
        with closing(_opened(place)) as bench:
            found["alone_cpu_ms"] = _in_process(bench, tasks)
        commands = _commands(place, tasks, 2 if small else 7)
        found["step"] = {
            f"{width}x{height}": asyncio.run(
                _painted(place, (width, height), tasks[0], 4 if small else 40)
            )
            for width, height in SIZES
        }
        _fill(place, done, learned)
        with closing(_opened(place)) as bench:
            found["experience"] = {
                "episodes": done,
                "patterns": learned,
                "cpu_ms": _in_process(bench, tasks),
            }
    return {**found, "commands": commands, "documents": _documents(small)}


def _documents(small: bool) -> object:
    """Return what documents take, of a process of its own: how much memory its parent had is not to
    count for it.
    """
    asked = [sys.executable, "-m", "tests.benchmarks", "documents", *(["--small"] if small else [])]
    return json.loads(
        subprocess.run(asked, check=True, cwd=ROOT, capture_output=True, text=True).stdout
    )


def _opened(place: Path) -> Workbench:
    return open_workbench(
        place / "store", profiles=place / "none", cache=place / "here", actor="human"
    )


def _in_process(bench: Workbench, tasks: Sequence[str]) -> dict[str, float]:
    """Return ms of contexts, of cutting one, of what an agent's door gives, and of the brief; CPU
    but for `wall`.
    """
    bench.retriever.load()
    everything = _ms(lambda: learn_all(bench.context))
    agent = replace(bench.context, actor="agent:bench")
    door = AgentApi(bench, "bench", "s", ReadingLog())
    make = partial(gathered, agent, bench.tuning, bench.playbooks)
    first = _ms(lambda: make(tasks[0]))
    # With what failed and the cut, as the server answers.
    both = [
        _both(lambda task=task: make(task, error=f"TimeoutError: {task}").cut())  # type: ignore[misc]
        for task in tasks[1:]
    ]
    times, walls = (sorted(some) for some in zip(*both, strict=True))
    material = make(tasks[0])
    cuts = [_ms(partial(material.cut, budget)) for budget in range(1_000, 21_000, 1_000)]
    doors = [_ms(partial(door.memory_context, f"{task} once more", BUDGET)) for task in tasks[1:]]
    briefs = [
        _ms(lambda: context.make_brief(bench.context, bench.tuning, bench.playbooks, "agent:bench"))
        for _ in range(5)
    ]
    bench.keep_caches()
    return {
        "origins": round(everything),
        "first": round(first, 1),
        "context": round(statistics.median(times), 1),
        "context_p95": round(times[int(len(times) * 0.95)], 1),
        "context_wall": round(statistics.median(walls), 1),
        "context_wall_p95": round(walls[int(len(walls) * 0.95)], 1),
        "cut": round(statistics.median(cuts), 2),
        "memory_context": round(statistics.median(doors), 1),
        "brief": round(statistics.median(briefs), 1),
    }


def _commands(place: Path, tasks: Sequence[str], runs: int) -> dict[str, Any]:
    """Return what a search and a context cost as commands, in turns, and a session that begins: its
    brief is made.
    """
    ours = [sys.executable, "-m", "workbench", "--store", str(place / "store")]

    def turn(number: int) -> dict[str, Asked]:
        task = f"{tasks[number % len(tasks)]} {number}"
        event = {
            "hook_event_name": "SessionStart",
            "session_id": f"s-{number}",
            "cwd": "/",
            "source": "startup",
        }
        return {
            "search": Asked([*ours, "search", task]),
            "context": Asked([*ours, "context", task]),
            "append": Asked([*ours, "append", f"the hook saw step {number}"]),
            "session begins": Asked([*ours, "capture", "claude-code"], json.dumps(event).encode()),
        }

    return in_turns(turn, own(place / "store"), runs, base="search")


def _fill(place: Path, done: int, learned: int) -> None:
    """Put episodes and patterns into the store; it is not made durable, which is not measured here."""
    chance = Random(1)
    with mock.patch("os.fsync"), closing(_opened(place)) as bench:
        for start in range(0, done, episodes.CHUNK):
            numbers = range(start, min(done, start + episodes.CHUNK))
            bench.episodes.store_all([episodes._episode(n, chance) for n in numbers])
        for start in range(0, learned, patterns.CHUNK):
            numbers = range(start, min(learned, start + patterns.CHUNK))
            bench.patterns.add([patterns._pattern(chance, n) for n in numbers])


def _ms(work: Callable[[], object]) -> float:
    return _both(work)[0]


def _both(work: Callable[[], object]) -> tuple[float, float]:
    """Return the milliseconds of CPU that something takes, and those that one waits for it."""
    cpu, wall = process_time(), perf_counter()
    work()
    return 1_000 * (process_time() - cpu), 1_000 * (perf_counter() - wall)


def _made_on(screen: Screen[object]) -> object:
    return screen.preview.made if isinstance(screen, AgentsScreen) else None


async def _painted(place: Path, size: tuple[int, int], task: str, steps: int) -> dict[str, object]:
    """Move the budget of all and of a layer, to and fro; return ms from the key to the paint,
    rested and held down.
    """
    with closing(_opened(place)) as bench:
        app = PaintedApp(bench, _made_on)
        taken: dict[str, list[Any]] = {"rested": [], "held": []}
        async with app.run_test(size=size) as pilot:
            screen = await _asked(pilot, bench, task)
            for row in (0, len(screen.preview.rows.rows) // 4):
                screen.preview.rows.cursor = row
                for way, rest in (("rested", RESTED_S), ("held", HELD_S)):
                    await pilot.pause(0.5)
                    for number in range(steps):
                        one = await step(app, screen, ("right", "left")[number // 5 % 2])
                        taken[way].append(one)
                        await asyncio.sleep(max(0.0, rest - one.seconds))
    return {way: figures(times) for way, times in taken.items()}


async def _asked(pilot: Pilot[Path | None], bench: Workbench, task: str) -> AgentsScreen:
    """Open the area and have the context found for a task."""
    await _until(pilot, lambda: bench.retriever.ready)
    await pilot.press("5")
    await _until(pilot, lambda: _made_on(pilot.app.screen) is not None)
    screen = pilot.app.screen
    assert isinstance(screen, AgentsScreen)
    screen.preview.box.value = task
    await _until(
        pilot, lambda: screen.preview.made is not None and screen.preview.made.task == task.strip()
    )
    screen.preview.rows.focus()
    await pilot.pause(1.0)
    return screen


async def _until(pilot: Pilot[Path | None], holds: Callable[[], object]) -> None:
    for _ in range(2_400):
        if holds():
            return
        await pilot.pause(0.05)
    raise TimeoutError("the context never came")
