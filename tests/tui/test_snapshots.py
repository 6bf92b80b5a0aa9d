"""How each area looks, at the smallest size that must work and at a common one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.support import demo_app
from tests.tui.tune_host import has_floor, is_measured
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.tuning.screen import TuneScreen

SnapCompare = Callable[..., bool]

AREAS = {"stream": "1", "review": "2", "playbook": "3", "tune": "4", "agents": "5"}
SIZES = [(80, 24), (140, 45)]


async def settled(pilot: Pilot[Path | None]) -> None:
    """Wait until the model is loaded and everything that waits for it is drawn."""
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    await app.workers.wait_for_complete()
    while not app.bench.retriever.ready:
        await pilot.pause(0.02)
    await pilot.pause()
    await app.workers.wait_for_complete()
    await pilot.pause()


async def at_rest(pilot: Pilot[Path | None]) -> None:
    """Wait until Tune has worked out everything that follows the sliders."""
    await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, TuneScreen)
    while not has_floor(screen) or not is_measured(screen) or screen.verdict.found is None:
        await pilot.pause(0.02)
    await pilot.pause()


def opening(key: str) -> Callable[[Pilot[Path | None]], object]:
    async def run(pilot: Pilot[Path | None]) -> None:
        await settled(pilot)
        await pilot.press(key, "j")
        await (at_rest if key == AREAS["tune"] else settled)(pilot)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=["80x24", "140x45"])
@pytest.mark.parametrize("area", AREAS)
def test_an_area_looks_as_it_did(
    snap_compare: SnapCompare, tmp_path: Path, area: str, size: tuple[int, int]
) -> None:
    assert snap_compare(demo_app(tmp_path), terminal_size=size, run_before=opening(AREAS[area]))


@pytest.mark.parametrize("theme", ["workbench-light", "workbench-contrast", "workbench-mono"])
def test_the_stream_in_every_theme(snap_compare: SnapCompare, tmp_path: Path, theme: str) -> None:
    assert snap_compare(demo_app(tmp_path, theme), terminal_size=(120, 30), run_before=opening("1"))


TUNE_SIZES = {"80x24": (80, 24), "120x40": (120, 40), "180x50": (180, 50)}
TUNE_THEMES = ("workbench-dark", "workbench-light", "workbench-mono")

TUNE = [
    pytest.param(
        theme, size, id=f"{theme}-{name}", marks=[] if row == column else [pytest.mark.slow]
    )
    for row, theme in enumerate(TUNE_THEMES)
    for column, (name, size) in enumerate(TUNE_SIZES.items())
]
"""Every theme at every size; in every run each theme and each size once."""


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "size"), TUNE)
def test_tune_in_every_kind_of_theme_and_size(
    snap_compare: SnapCompare, tmp_path: Path, theme: str, size: tuple[int, int]
) -> None:
    async def run(pilot: Pilot[Path | None]) -> None:
        await settled(pilot)
        await pilot.press("4")
        await at_rest(pilot)
        # One step away from the saved profile, so that movement marks, shares and a verdict are on
        # the screen.
        await pilot.press("right", "tab", "j", "j")
        await at_rest(pilot)

    assert snap_compare(demo_app(tmp_path, theme), terminal_size=size, run_before=run)
