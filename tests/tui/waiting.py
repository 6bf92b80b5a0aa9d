"""Waiting for what an app does in its own time: for a condition, never for so many milliseconds."""

import time
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

PATIENCE = 120.0
"""Seconds after which a condition counts as never coming true: far more than the slowest machine
needs.
"""


async def until(pilot: Pilot[Any], holds: Callable[[], object]) -> None:
    """Wait for a condition."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"the condition never came true; in sight is {pilot.app.screen}")
        await pilot.pause(0.01)


async def until_drawn(pilot: Pilot[Any], holds: Callable[[], object]) -> None:
    """Wait for a condition, and for what follows from it to be on the screen."""
    await until(pilot, holds)
    await pilot.pause()
