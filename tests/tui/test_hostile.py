"""Hostile stored text stays inert on every screen."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.support import (
    HOSTILE,
    app_over,
    first_of,
    hidden_on,
    import_file,
    open_bench,
    screen_text,
)
from workbench.tui.app.app import WorkbenchApp

WAYS: dict[str, list[str]] = {
    "1": ["j"] * 30
    + ["enter", "escape", "e", "escape", "h", "escape", "slash", "h", "z", "escape", "escape"],
    "2": ["j"] * 12 + ["enter", "escape", "e", "escape", "h", "escape", "m", "escape"],
    "3": ["j"] * 16
    + ["enter", "escape", "e", "escape", "h", "escape", "X", "escape", "M", "escape"],
    "4": ["slash", *"host", "enter", *["j"] * 8, "enter", "escape", "l", "escape"],
}
"""Keys that lead through each area, by the key of the area."""


def inert(app: WorkbenchApp, where: str) -> None:
    assert hidden_on(app) == [], f"on the screen after {where}"


async def walk(app: WorkbenchApp, pilot: Pilot[Path | None], area: str) -> None:
    await pilot.press(area)
    await pilot.pause()
    for key in WAYS[area]:
        await pilot.press(key)
        await pilot.pause()
        inert(app, f"{area}: {key}")


@pytest.mark.slow
@pytest.mark.parametrize("size", first_of((80, 24), (140, 45)))
@pytest.mark.parametrize("area", sorted(WAYS))
async def test_nothing_hostile_reaches_the_terminal(
    tmp_path: Path, area: str, size: tuple[int, int]
) -> None:
    bench = open_bench(tmp_path)
    for name in ("memories.jsonl", "playbook.txt"):
        import_file(bench, HOSTILE / name)
    app = app_over(bench)
    async with app.run_test(size=size) as pilot:
        await app.workers.wait_for_complete()
        await walk(app, pilot, area)
    assert app.return_code in (0, None)


async def test_markup_is_shown_as_it_is_written(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    import_file(bench, HOSTILE / "memories.jsonl")
    app = app_over(bench)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        assert "[bold]" in screen_text(app)
        assert "[/x]" in screen_text(app) or "[shr-00001]" in screen_text(app)
