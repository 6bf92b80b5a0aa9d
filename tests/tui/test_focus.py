"""Which pane has the keys: seen at once, and what space and tab mean there."""

from pathlib import Path

import pytest
from textual.widget import Widget

from tests.tui.support import demo, screen_text
from tests.tui.waiting import until, until_drawn
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import AREAS
from workbench.tui.widgets.line_list import CURSOR, RESTING, LineList
from workbench.tui.widgets.reading_pane import DetailPane


def heavy(pane: Widget) -> bool:
    """Whether a pane has the border of the one that has the keys."""
    return pane.styles.border_top[0] == "heavy"


@pytest.mark.parametrize("area", AREAS.every, ids=lambda area: area.id)
async def test_one_pane_stands_out_and_holds_the_only_pointer(tmp_path: Path, area: object) -> None:
    key = next(one.key for one in AREAS.every if one is area)
    async with demo(tmp_path, (120, 40)) as (app, pilot):
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, AreaScreen) and app.screen.area is area)
        await until_drawn(pilot, lambda: screen_text(app).count(CURSOR) == 1)
        for _ in range(3):
            standing_out = [pane for pane in app.screen.query(".pane") if heavy(pane)]
            assert app.focused is not None
            assert len(standing_out) <= 1
            assert all(pane.has_focus_within or pane.has_focus for pane in standing_out)
            assert screen_text(app).count(CURSOR) <= 1
            await pilot.press("tab")


@pytest.mark.parametrize("key", ["1", "3"])
async def test_space_marks_in_the_list_and_reads_on_in_the_text(tmp_path: Path, key: str) -> None:
    async with demo(tmp_path, (120, 14)) as (app, pilot):
        await pilot.press(key)
        await until(
            pilot, lambda: isinstance(app.screen, AreaScreen) and app.screen.area.key == key
        )
        rows = app.screen.query_one(LineList)
        await until(pilot, lambda: len(rows.rows) > 3 and rows.has_focus)
        await pilot.press("space", "space")
        assert rows.mark_count == 2
        await pilot.press("enter")
        text = app.focused
        assert isinstance(text, DetailPane)
        await until(pilot, lambda: text.max_scroll_y > 0)
        await pilot.press("space")
        await until(pilot, lambda: text.scroll_y > 0)
        assert rows.mark_count == 2


async def test_tab_goes_through_the_links_of_a_text_and_then_back_to_the_list(
    tmp_path: Path,
) -> None:
    async with demo(tmp_path, (140, 45)) as (app, pilot):
        await pilot.press("slash", *"is:reflection", "enter")
        rows = app.screen.query_one(LineList)
        await until_drawn(pilot, lambda: rows.has_focus and "cites" in screen_text(app))
        await pilot.press("tab")
        await until_drawn(pilot, lambda: f"{RESTING} " in screen_text(app))
        steps = 0
        while isinstance(app.focused, DetailPane):
            await pilot.press("tab")
            steps += 1
        assert steps > 1
        assert rows.has_focus
        await pilot.press("shift+tab")
        assert isinstance(app.focused, DetailPane)
