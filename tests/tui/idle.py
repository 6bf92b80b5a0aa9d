"""When an app has nothing to do: what tests wait for after each key.

Textual's own test takes the process for idle that used little processor time for 20 ms. On a busy
machine it is only starved, and on a quiet one every key costs those 20 ms several times. Here the
event loop is asked what is ready, and the system what the other threads are doing.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import textual._wait

SOON = 0.02
"""Seconds: what a timer does within them belongs to the key; Textual draws in this time."""

PATIENCE = 2.0
"""Seconds after which a thread that works on is no longer waited for."""

NOTHING = 0.0002
"""Seconds of processor time that count as none: what asking for it takes."""

TASKS = Path("/proc/self/task")


ROUNDS = 3
"""How often a screen that is painted may ask to be painted again."""

Idle = Callable[..., Awaitable[None]]


def idle_and(paint: Callable[[], bool]) -> Idle:
    """Return what waits as `idle` does, and then lets `paint` paint what is due; it answers whether
    anything was.
    """

    async def painted(least: float = 0, most: float = 1.0) -> None:
        for _ in range(ROUNDS):
            await idle(least, most)
            if not paint():
                return

    return painted


async def idle(_least: float = 0, most: float = 1.0) -> None:
    """Wait until nothing is ready to run: no callback, no timer about to ring, no thread at work.

    An app that never rests is waited for up to `most` seconds, one whose threads work up to
    `PATIENCE`.
    """
    if not TASKS.exists():
        await textual._wait.wait_for_idle(_least, most)
        return
    begun, pause = time.monotonic(), 0.001
    while (waited := time.monotonic() - begun) < PATIENCE:
        await _callbacks()
        if wait := _next_timer():
            if waited >= most:
                return
            await asyncio.sleep(wait)
        elif await _threads_rest(pause):
            return
        else:
            pause = min(2 * pause, SOON)


async def _callbacks() -> None:
    """Let run what is ready, and what that makes ready."""
    loop = asyncio.get_running_loop()
    quiet = 0
    while quiet < 2:
        await asyncio.sleep(0)
        quiet = 0 if loop._ready else quiet + 1  # type: ignore[attr-defined]


def _next_timer() -> float:
    """Return the seconds to the next timer that rings soon; 0 when none does."""
    loop = asyncio.get_running_loop()
    now = loop.time()
    soon = [h.when() - now for h in loop._scheduled if not h.cancelled() and h.when() - now <= SOON]  # type: ignore[attr-defined]
    return max(min(soon), 0.001) if soon else 0.0


async def _threads_rest(pause: float) -> bool:
    """Whether no other thread works, or would if it got the processor; it gets the chance to."""
    if threading.active_count() == 1:
        return True
    before = _spent_by_others()
    await asyncio.sleep(pause)
    return _spent_by_others() - before < NOTHING and not _others_want_to_run()


def _spent_by_others() -> float:
    """Return the processor time of all threads but this one, in seconds."""
    return time.process_time() - time.thread_time()


def _others_want_to_run() -> bool:
    """Whether the system has another thread of this process running, or waiting for a processor."""
    own = str(threading.get_native_id())
    return any(_state(task) == "R" for task in TASKS.iterdir() if task.name != own)


def _state(task: Path) -> str:
    """Return what a thread is doing: `R` runs, `S` waits; nothing when it has ended meanwhile."""
    try:
        return (task / "stat").read_bytes().rpartition(b")")[2][1:2].decode()
    except OSError:
        return ""
