"""Work over whole texts leaves the app's thread: it is done on another one, and what fits the
screen comes at once.
"""

import gc
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import App

from tests.tui.playbook_host import BOOK, bring_in, open_bench
from tests.tui.support import demo_app
from workbench.services.open import Workbench

pytestmark = pytest.mark.usefixtures("every_paint")


def store_of(folder: Path, *texts: str) -> Workbench:
    """Return a store whose playbook has these bullets."""
    bench = open_bench(folder)
    lines = [
        f"[r-{n:05}] helpful=0 harmful=0 :: {' '.join(text.split())}"
        for n, text in enumerate(texts)
    ]
    bring_in(bench, folder / f"{BOOK}.txt", "## RULES\n" + "\n".join(lines) + "\n")
    return bench


def noted(monkeypatch: pytest.MonkeyPatch, where: object, name: str) -> set[int]:
    """Return the threads on which a function is called from now on."""
    threads: set[int] = set()
    real: Callable[..., Any] = getattr(where, name)

    def wrapped(*arguments: Any, **options: Any) -> Any:
        threads.add(threading.get_ident())
        return real(*arguments, **options)

    monkeypatch.setattr(where, name, wrapped)
    return threads


async def _opened_and_left(folder: Path) -> "weakref.ref[App[Any]]":
    app = demo_app(folder)
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.press("j")
    return weakref.ref(app)


@pytest.mark.slow
async def test_nothing_holds_an_app_that_was_left_with_its_store(tmp_path: Path) -> None:
    # A library's thread, begun with the first app of a process, keeps that one; the last is in this
    # task's context.
    left = [await _opened_and_left(tmp_path / name) for name in ("first", "second", "third")]
    gc.collect()
    assert left[1]() is None
