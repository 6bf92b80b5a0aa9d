"""The real app over a real store, for tests."""

import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pexpect
import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.theme import Theme

from tests.caches import make, take_along
from tests.tui.waiting import until_drawn
from tests.tui.widgets.host import is_inert, picture
from workbench.services.demo import fill
from workbench.services.open import Workbench, open_workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.host import AppOptions
from workbench.tui.app.themes import load_themes
from workbench.tui.widgets.dialog import Confirm

ROOT = Path(__file__).parent.parent.parent
DEMO = ROOT / "fixtures" / "demo"
HOSTILE = ROOT / "fixtures" / "hostile"
NOW = datetime(2026, 3, 20, 17, 30, tzinfo=UTC)


def first_of(*sizes: tuple[int, int]) -> list[Any]:
    """Return the sizes that a test is run at: at the first in every run, at the others with the
    long proofs.
    """
    return [sizes[0], *(pytest.param(size, marks=pytest.mark.slow) for size in sizes[1:])]


def open_bench(folder: Path, clock: Callable[[], datetime] = lambda: NOW) -> Workbench:
    """Open a store in `folder` on a fixed clock."""
    return open_workbench(
        folder / "store", profiles=folder / "profiles", replaced=folder / "replaced", clock=clock
    )


@cache
def _demo() -> TemporaryDirectory[str]:
    """Make the demo store and its caches, once in a run; the folder goes with the process."""
    folder = TemporaryDirectory(prefix="demo")
    place = Path(folder.name)
    bench = open_workbench(
        place / "store", profiles=place, cache=place / "cache", clock=lambda: NOW
    )
    fill(bench, DEMO)
    make(bench, place / "caches")
    bench.close()
    return folder


def demo_bench(folder: Path) -> Workbench:
    """Open a copy of the demo store in `folder`, whose texts are embedded and indexed already."""
    made, store = Path(_demo().name), folder / "store"
    shutil.copytree(made / "store", store)
    take_along(made / "caches", store)
    return open_bench(folder)


def demo_app(folder: Path, theme: str = "workbench-dark", seen: int | None = None) -> WorkbenchApp:
    """Return the app over the demo store."""
    return app_over(demo_bench(folder), theme, seen)


def app_over(
    bench: Workbench,
    theme: str = "workbench-dark",
    seen: int | None = None,
    review_at: str = "",
    drafts: Path | None = None,
    keymap: tuple[tuple[str, str], ...] = (),
) -> WorkbenchApp:
    """Return the app over an open bench."""
    options = AppOptions("demo", theme, _themes(), keymap, seen, review_at=review_at, drafts=drafts)
    return WorkbenchApp(bench, options)


@cache
def _themes() -> tuple[Theme, ...]:
    """Read the themes, once in a run."""
    return load_themes((ROOT / "themes",)).themes


@asynccontextmanager
async def demo(
    folder: Path, size: tuple[int, int] = (140, 45)
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[Path | None]]]:
    """Run the app over the demo store."""
    app = demo_app(folder)
    async with app.run_test(size=size) as pilot:
        yield app, pilot


S = TypeVar("S", bound=Screen[Any])


async def opens(
    pilot: Pilot[Any], kind: type[S], ready: Callable[[S], object] = lambda _: True
) -> S:
    """Wait until a screen of a kind is in front and has what it shows; return it."""

    def there() -> bool:
        return isinstance(pilot.app.screen, kind) and bool(ready(pilot.app.screen))

    await until_drawn(pilot, there)
    assert isinstance(pilot.app.screen, kind)
    return pilot.app.screen


async def shows(pilot: Pilot[Any], text: str) -> None:
    """Wait until a text is on the screen."""
    await until_drawn(pilot, lambda: text in screen_text(pilot.app))


async def answered(pilot: Pilot[Any], key: str = "y") -> None:
    """Answer the question that comes, as soon as it takes an answer."""
    question = await opens(pilot, Confirm)
    while pilot.app.screen is question:
        await pilot.press(key)
        await pilot.pause(0.01)


def each_key(pressed: Iterable[str]) -> Iterator[str]:
    """Yield the keys of texts that name several each: "j j enter"."""
    for keys in pressed:
        yield from keys.split() or [keys]


class Driver:
    """An app, driven by keys."""

    def __init__(self, app: WorkbenchApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for a condition, and for what follows from it to be on the screen."""
        await until_drawn(self.pilot, holds)

    @property
    def said(self) -> list[str]:
        """What was said in toasts, oldest first."""
        return messages(self.app)


def follow(app: WorkbenchApp) -> None:
    """Let the app look now at what others wrote, which it does by a timer."""
    app._follow()


def messages(app: App[Any]) -> list[str]:
    """Return what was said in toasts, oldest first."""
    return [str(note.message) for note in app._notifications]


def tells(app: App[Any], words: str) -> bool:
    """Tell whether words were said in a toast."""
    return any(words in said for said in messages(app))


def import_file(bench: Workbench, path: Path) -> None:
    """Import a file as `workbench import` does."""
    bench.importer.carry_out(bench.importer.plan(path))


def screen_text(app: App[Any]) -> str:
    """Return every character the terminal would be sent for the present screen."""
    return "\n".join(picture(app))


def hidden_on(app: App[Any]) -> list[str]:
    """Return the lines of the present screen in which a character controls a terminal, reorders, or
    hides.
    """
    return [line for line in screen_text(app).split("\n") if not is_inert(line)]


def hears_hang_ups() -> None:
    """Let a process in a terminal of its own end with that, also where the tests were started to
    outlive theirs.
    """
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def in_a_terminal(
    store: Path, size: tuple[int, int] = (24, 80), begin: Callable[[], object] = hears_hang_ups
) -> "pexpect.spawn[str]":
    """Start the app as a process of its own beside its store, in a terminal of so many lines and
    columns.

    Returns once its first screen is there. `begin` is what its process does first.
    """
    child = pexpect.spawn(
        sys.executable, ["-m", "workbench", "--store", str(store)],
        cwd=str(store.parent), encoding="utf-8", codec_errors="replace", timeout=180, dimensions=size,
        preexec_fn=begin,
        env={**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    child.expect("Stream")
    return child


def drain(child: "pexpect.spawn[str]", seconds: float = 0.05) -> str:
    """Read what the app paints, so that it never waits for the terminal; nothing when it has ended."""
    try:
        return str(child.read_nonblocking(100_000, timeout=seconds))
    except (pexpect.TIMEOUT, pexpect.EOF):
        return ""
