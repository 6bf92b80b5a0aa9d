"""The app at Health, for its tests: a small store, the rows of a part, and waiting until every part has looked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from textual.pilot import Pilot

from tests.tui.support import (
    NOW,
    each_key,
    open_bench,
    opens,
)
from tests.tui.waiting import until
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.health.screen import HealthScreen
from workbench.tui.health.sections import Row
from workbench.tui.widgets.reading_pane import ReadingPane

FRIDAY = "Deploys on Friday need a second person"


PNPM = "Use pnpm for installs in this repository"


def made(id: str, content: str, days: float, **fields: object) -> Memory:
    at = NOW - timedelta(days=days)
    return Memory(id, content, at, at, **fields)  # type: ignore[arg-type]


MEMORIES = (
    made("old", "a note that nobody ever read", 20),
    made("older", "yet another thing nobody looked at", 40),
    made("seen", "the build needs the token of the vault", 2, helpful_absorbed=3),
    made("f1", FRIDAY, 3), made("f2", FRIDAY, 2),
    made("p1", PNPM, 5), made("p2", f"{PNPM}.", 4),
    made("n1", "always pnpm, never npm", 5), made("n2", "always npm, never pnpm", 4),
)  # fmt: skip


def filled(folder: Path, *memories: Memory) -> Workbench:
    bench = open_bench(folder)
    with bench.library.transaction("agent:claude", "some observations") as tx:
        for memory in memories or MEMORIES:
            tx.put(memory)
    return bench


def health(app: WorkbenchApp) -> HealthScreen:
    return next(s for s in app.opened if isinstance(s, HealthScreen))


async def settled(pilot: Pilot[Path | None]) -> None:
    """Wait until every part has found out what it shows."""
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    await pilot.pause()
    await until(pilot, lambda: app.bench.retriever.ready and not health(app).working)
    await pilot.pause()


async def keys(pilot: Pilot[Path | None], *pressed: str) -> None:
    for key in each_key(pressed):
        await pilot.press(key)
        await settled(pilot)


@asynccontextmanager
async def opened(
    app: WorkbenchApp, size: tuple[int, int] = (140, 45)
) -> AsyncIterator[Pilot[Path | None]]:
    async with app.run_test(size=size) as pilot:
        await pilot.press("6")
        await opens(pilot, HealthScreen)
        await settled(pilot)
        yield pilot


def rows(app: WorkbenchApp, section: str) -> list[Row]:
    return [row for row in health(app).rows.rows if row.section == section and not row.heading]


def go(app: WorkbenchApp, section: str, name: str) -> None:
    """Put the cursor on a row whose name begins like this."""
    every = health(app).rows.rows
    health(app).rows.cursor = next(
        n for n, row in enumerate(every) if row.section == section and row.name.startswith(name)
    )


def beside(app: WorkbenchApp) -> str:
    return health(app).query_one("#detail", ReadingPane).plain


def status(app: WorkbenchApp, id: str) -> str:
    return app.bench.stream.get(id).status
