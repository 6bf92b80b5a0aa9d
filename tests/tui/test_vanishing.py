"""Nothing that another process does to the store ends the app: every key of every area and dialog."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.small_host import quiet, small
from tests.tui.support import NOW, app_over, follow, open_bench
from workbench.core.agents.read import AgentRead
from workbench.core.files.locks import Patience, StoreBusy, waiting
from workbench.services.demo import fill
from workbench.services.open import open_workbench
from workbench.store.library import Library
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.area import AreaScreen

PLACES: dict[str, tuple[str, ...]] = {
    "stream": ("1", "g"),
    "stream, opened": ("1", "g", "j", "enter"),
    "stream, marked": ("1", "g", "t", "t"),
    "review": ("2", "g"),
    "review, further on": ("2", "g", "j", "j", "j"),
    "review, marked": ("2", "g", "t", "t"),
    "playbook, section": ("3", "g"),
    "playbook, bullet": ("3", "g", "j"),
    "playbook, marked": ("3", "g", "j", "t", "t"),
    "tune": ("4", "slash", *"deploy", "enter"),
    "tune, sliders": ("4", "slash", *"deploy", "enter", "tab"),
    "agents": ("5",),
    "agents, a memory": ("5", "enter", "j"),
    "health": ("6", "g"),
    "health, further on": ("6", "g", *("j",) * 6),
    "health, last": ("6", "G"),
}
"""How to come to where the keys are pressed; the cursor is on a record then."""

NEVER = frozenset({"app.quit", "app.stores"})
"""Actions that leave the app, as they should."""


class Neighbour:
    """Another process's view of the store: it takes records away, and brings them back."""

    def __init__(self, folder: Path) -> None:
        self.bench = open_workbench(
            folder, profiles=folder / "none", actor="agent:other", clock=lambda: NOW
        )
        self._taken: list[object] = []

    @property
    def _tables(self) -> Iterator[list[object]]:
        library: Library = self.bench.library
        for table in (
            library.memories, library.bullets, library.sections, library.books, library.votes, library.queries,
            library.judgments, library.proposals, library.placements, library.kept_pairs, library.tallies,
            library.runs, library.reflection, library.overrides, library.table(AgentRead),
        ):  # fmt: skip
            yield list(table.all())

    async def take_away(self) -> None:
        """Remove every record."""
        await self._write(self._take_away)

    async def bring_back(self) -> None:
        """Put every record back as it was."""
        await self._write(self._bring_back)

    async def _write(self, change: Callable[[], None]) -> None:
        """Make a change before the app can do anything; while a thread of the app writes, it goes
        on.
        """
        try:
            with waiting(Patience(0)):
                change()
        except StoreBusy:
            await asyncio.to_thread(change)

    def _take_away(self) -> None:
        self.bench.library.journal.refresh()
        self._taken = [record for records in self._tables for record in records]
        with self.bench.library.transaction("agent:other", "take everything away") as tx:
            for record in self._taken:
                tx.delete(record)

    def _bring_back(self) -> None:
        with self.bench.library.transaction("agent:other", "bring everything back") as tx:
            for record in self._taken:
                tx.put(record)


@asynccontextmanager
async def running(
    folder: Path,
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[Path | None], Neighbour]]:
    bench = open_bench(folder)
    fill(bench, small(folder))
    app = app_over(bench)
    async with app.run_test(size=(100, 30)) as pilot:
        await quiet(app, pilot)
        yield app, pilot, Neighbour(bench.library.folder)


@pytest.fixture
def _prompt(every_paint: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a key be pressed, and awaited, without waiting for the processor to be idle: `quiet`
    waits for what counts.

    Textual waits up to a second after each key while any thread is busy, which is most of what such
    a proof takes.
    """

    async def at_once(_least: float = 0, _most: float = 1) -> None:
        await asyncio.sleep(0)

    for module in ("app", "pilot"):
        monkeypatch.setattr(f"textual.{module}.wait_for_idle", at_once)


async def home(app: WorkbenchApp, pilot: Pilot[Path | None], place: tuple[str, ...]) -> None:
    """Close what is open, and go to a place."""
    for _ in range(12):
        if isinstance(app.screen, AreaScreen) and len(app.screen_stack) == 1:
            break
        await pilot.press("escape")
        if (
            len(app.screen_stack) > 1
            and not isinstance(app.screen, AreaScreen)
            and not hasattr(app.screen, "_heading")
        ):
            app.pop_screen()
    for key in place:
        await pilot.press(key)
    await quiet(app, pilot)


def lives(app: WorkbenchApp, where: str) -> None:
    if app._exception is not None:
        raise AssertionError(f"the app ended: {where}") from app._exception


async def all_back(
    app: WorkbenchApp, pilot: Pilot[Path | None], other: Neighbour, where: str
) -> None:
    """Close what is open, and let every record come back."""
    await home(app, pilot, ())
    await other.bring_back()
    follow(app)
    await quiet(app, pilot)
    lives(app, f"{where}, brought back")


def keys_here(app: WorkbenchApp, but: Collection[str] = NEVER) -> dict[str, str]:
    """Return the keys of every action that can be taken now, by its id, moves and the typing of
    texts left out.
    """
    held = [held.binding for held in app.screen.active_bindings.values()]
    return {b.id: b.key for b in held if b.id and b.id not in {*NEVER, *but}}


SHORT = "stream"
"""The place that every run of the tests goes through; the others take minutes."""

LONG = (
    PLACES
    if os.environ.get("WORKBENCH_EVERY_CASE")
    else ("review", "playbook, bullet", "tune", "agents, a memory", "health")
)
"""The places of the long proof: one of each other area, or all when the environment asks for them."""

SOME = [SHORT, *(pytest.param(place, marks=pytest.mark.slow) for place in LONG if place != SHORT)]


@pytest.mark.usefixtures("_prompt")
@pytest.mark.parametrize("place", SOME, ids=str)
async def test_every_key_of_an_area_without_its_record(tmp_path: Path, place: str) -> None:
    async with running(tmp_path) as (app, pilot, other):
        await home(app, pilot, PLACES[place])
        for key in keys_here(app).values():
            await home(app, pilot, PLACES[place])
            await other.take_away()
            await pilot.press(key)
            await quiet(app, pilot)
            lives(app, f"{place}: {key}")
            follow(app)
            await quiet(app, pilot)
            lives(app, f"{place}: {key}, then seen")
            await pilot.press(key)
            await quiet(app, pilot)
            lives(app, f"{place}: {key} again")
            await all_back(app, pilot, other, f"{place}: {key}")


@pytest.mark.slow
@pytest.mark.usefixtures("_prompt")
@pytest.mark.parametrize("place", LONG, ids=str)
async def test_every_key_of_every_dialog_without_its_record(tmp_path: Path, place: str) -> None:
    async with running(tmp_path) as (app, pilot, other):
        await home(app, pilot, PLACES[place])
        pressed = set(keys_here(app))  # what dialogs share with their area is another test's
        for opener in keys_here(app).values():
            await home(app, pilot, PLACES[place])
            await pilot.press(opener)
            await quiet(app, pilot)
            lives(app, f"{place}: {opener}")
            if isinstance(app.screen, AreaScreen):
                continue
            name = type(app.screen).__name__
            here = keys_here(app, pressed)
            pressed |= here.keys()
            for key in here.values():
                if isinstance(app.screen, AreaScreen):
                    await home(app, pilot, PLACES[place])
                    await pilot.press(opener)
                    await quiet(app, pilot)
                await other.take_away()
                await pilot.press(key)
                await quiet(app, pilot)
                lives(app, f"{place}: {opener} opens {name}: {key}")
                follow(app)
                await quiet(app, pilot)
                lives(app, f"{place}: {opener} opens {name}: {key}, then seen")
                await all_back(app, pilot, other, f"{place}: {opener} opens {name}: {key}")
