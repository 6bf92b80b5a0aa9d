"""The tuning screen in the real app, for its tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Static

from tests.tui.support import demo, each_key
from tests.tui.waiting import until
from workbench.core.tuning.floor import UNKNOWN
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.tuning.ranking import Row
from workbench.tui.tuning.screen import TuneScreen
from workbench.tui.widgets.bars import Slider

WIDE = (140, 45)


def focused(app: WorkbenchApp) -> object:
    return app.focused


def tune(app: WorkbenchApp) -> TuneScreen:
    screen = next(s for s in app.opened if isinstance(s, TuneScreen))
    assert isinstance(screen, TuneScreen)
    return screen


def slider(app: WorkbenchApp, name: str) -> Slider:
    return tune(app).query_one(f"#slider-{name}", Slider)


def ranked(app: WorkbenchApp) -> list[str]:
    return [
        line.standing.memory.id
        for line in tune(app).rows.rows
        if isinstance(line, Row) and line.served
    ]


def row(app: WorkbenchApp, place: int) -> Row:
    return next(
        line
        for line in tune(app).rows.rows
        if isinstance(line, Row) and line.standing.place == place
    )


def why(app: WorkbenchApp) -> str:
    return str(tune(app).query_one(".why--text", Static).content)


@asynccontextmanager
async def tuning(
    folder: Path, size: tuple[int, int] = WIDE
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[Path | None]]]:
    """Run the app over the demo store, at Tune with its first ranking."""
    async with demo(folder, size) as (app, pilot):
        await opened(pilot)
        yield app, pilot


async def opened(pilot: Pilot[Path | None]) -> WorkbenchApp:
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    await pilot.press("4")
    await until(
        pilot, lambda: isinstance(app.screen, TuneScreen) and tune(app).session.ranking is not None
    )
    await settled(pilot)
    return app


async def settled(pilot: Pilot[Path | None]) -> None:
    """Wait until the hints of the last change are on the screen."""
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    await pilot.pause()
    await until(pilot, lambda: has_floor(tune(app)))
    await until(pilot, lambda: not tune(app).resting)
    await pilot.pause()


def has_floor(screen: TuneScreen) -> bool:
    """Tell whether the floor is known, or it is known why there is none, or nothing is asked."""
    question = screen.session.question
    return question is None or question.standard != UNKNOWN


def is_measured(screen: TuneScreen) -> bool:
    """Tell whether the verdict is on the settings as they are now, or there is none."""
    return not screen.resting and not screen.verdict.old


async def keys(pilot: Pilot[Path | None], *pressed: str) -> None:
    for key in each_key(pressed):
        await pilot.press(key)
    await pilot.pause()


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(p): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and "cache" not in p.parts
    }
