"""What a list says of itself: named columns, as wide as they need to be, and few signs."""

import re
from pathlib import Path

import pytest
from textual.containers import VerticalScroll

from tests.manual import SYMBOLS
from tests.tui.support import demo, opens, screen_text
from tests.tui.waiting import until, until_drawn
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import AREAS, Area
from workbench.tui.manual import ManualScreen
from workbench.tui.stream.screen import StreamScreen
from workbench.tui.widgets.line_list import LineList

SIGNS = {sign for rows in SYMBOLS.values() for sign, _ in rows if not sign.isascii()}


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_a_row_of_the_stream_has_room_for_its_text(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with demo(tmp_path, size) as (app, pilot):
        await until_drawn(pilot, lambda: re.search("Handover[^…]{35,}…", screen_text(app)))


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ("1", "age type imp memory votes"),
        ("2", "imp proposal age"),
        ("3", "id bullet votes helps tok"),
        ("4", "# match score"),
        ("5", "age agent did"),
        ("6 j", "value what"),
        ("H", "age who change kind"),
        ("6 p", "imp memory why"),
        ("slash a u t h space f a i l u r e enter", "by meaning match"),
    ],
)
async def test_the_columns_of_lists_and_dialogs_are_named_above_them(
    tmp_path: Path, keys: str, names: str
) -> None:
    async with demo(tmp_path, (160, 40)) as (app, pilot):
        await pilot.press(*keys.split())
        await until_drawn(pilot, lambda: re.search(names.replace(" ", ".* "), screen_text(app)))


@pytest.mark.parametrize("area", AREAS.every, ids=lambda area: area.id)
async def test_few_signs_are_on_one_screen(tmp_path: Path, area: Area) -> None:
    async with demo(tmp_path, (120, 40)) as (app, pilot):
        await pilot.press(area.key)
        await until(pilot, lambda: isinstance(app.screen, AreaScreen) and app.screen.area is area)
        await until_drawn(pilot, lambda: "▸" in screen_text(app))
        seen = {sign for sign in SIGNS if sign in screen_text(app)}
        assert len(seen) <= 6, seen


async def test_what_a_sign_means_is_said_beside_it_and_behind_the_help(tmp_path: Path) -> None:
    async with demo(tmp_path, (140, 40)) as (app, pilot):
        await pilot.press("slash", *"pinned:yes status:confirmed", "enter")
        stream = await opens(pilot, StreamScreen)
        await until(pilot, lambda: stream.query_one(LineList).has_focus)
        await until_drawn(pilot, lambda: "✓ confirmed" in stream.side.plain)
        assert "★ pinned" in stream.side.plain
        await pilot.press("question_mark", "s")
        page = await opens(pilot, ManualScreen)
        await until_drawn(pilot, lambda: "Symbols" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not page)


async def test_the_symbols_of_an_area_are_shown_first(tmp_path: Path) -> None:
    async with demo(tmp_path, (120, 30)) as (app, pilot):
        await pilot.press("3", "question_mark", "s")
        page = await opens(pilot, ManualScreen)
        text = page.query_one(VerticalScroll)
        await until_drawn(pilot, lambda: "high performing" in screen_text(app))
        assert text.scroll_y > 0
