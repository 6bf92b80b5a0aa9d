"""Work over whole texts leaves the app's thread: it is done on another one, and what fits the
screen comes at once.
"""

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
from textual.app import App

from tests.tui.support import demo

pytestmark = pytest.mark.usefixtures("every_paint")


async def _opened_and_left(folder: Path) -> "weakref.ref[App[Any]]":
    async with demo(folder) as (app, pilot):
        await pilot.press("j")
    return weakref.ref(app)


@pytest.mark.slow
async def test_nothing_holds_an_app_that_was_left_with_its_store(tmp_path: Path) -> None:
    # A library's thread, begun with the first app of a process, keeps that one; the last is in this
    # task's context.
    left = [await _opened_and_left(tmp_path / name) for name in ("first", "second", "third")]
    gc.collect()
    assert left[1]() is None
