"""What a list says of itself: named columns, as wide as they need to be, and few signs."""

import re
from pathlib import Path

import pytest
from textual.containers import VerticalScroll

from tests.manual import SYMBOLS
from tests.tui.support import demo, opens, screen_text
from tests.tui.waiting import until, until_drawn
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import AREAS
from workbench.tui.manual import ManualScreen
from workbench.tui.stream.screen import StreamScreen
from workbench.tui.widgets.line_list import LineList

SIGNS = {sign for rows in SYMBOLS.values() for sign, _ in rows if not sign.isascii()}


@pytest.mark.parametrize(("size", "least"), [((120, 40), 44), ((80, 24), 44)])
async def test_a_row_of_the_stream_has_room_for_its_text(
    tmp_path: Path, size: tuple[int, int], least: int
) -> None:
    async with demo(tmp_path, size) as (app, pilot):
        await until_drawn(pilot, lambda: "Handover" in screen_text(app))
        text = re.search(r"Handover[^…]*…", screen_text(app))
        assert text is not None
        assert len(text.group()) >= least


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("1", ("age", "type", "imp", "memory", "votes")),
        ("2", ("imp", "proposal", "age")),
        ("3", ("id", "bullet", "votes", "helps", "tok")),
        ("4", ("#", "match", "score")),
        ("5", ("age", "agent", "did")),
    ],
)
async def test_the_columns_of_a_list_are_named_above_it(
    tmp_path: Path, key: str, names: tuple[str, ...]
) -> None:
    async with demo(tmp_path, (120, 40)) as (app, pilot):
        await pilot.press(key)

        named = ".*".join(map(re.escape, names))
        await until_drawn(pilot, lambda: re.search(named, screen_text(app)) is not None)


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        (("6", "j"), ("value", "what")),
        (("H",), ("age", "who", "change", "kind")),
        (("6", "p"), ("imp", "memory", "why")),
    ],
)
async def test_so_are_those_of_health_and_of_dialogs(
    tmp_path: Path, keys: tuple[str, ...], names: tuple[str, ...]
) -> None:
    async with demo(tmp_path, (160, 40)) as (_, pilot):
        await pilot.press(*keys)
        named = " +".join(map(re.escape, names))
        await until_drawn(pilot, lambda: re.search(named, screen_text(pilot.app)) is not None)


async def test_the_relevances_below_the_matches_by_words_are_named(tmp_path: Path) -> None:
    async with demo(tmp_path, (120, 40)) as (_, pilot):
        await pilot.press("slash", *"auth failure", "enter")
        await until_drawn(
            pilot, lambda: re.search("by meaning.* match", screen_text(pilot.app)) is not None
        )


@pytest.mark.parametrize("area", AREAS.every, ids=lambda area: area.id)
async def test_few_signs_are_on_one_screen(tmp_path: Path, area: object) -> None:
    key = next(one.key for one in AREAS.every if one is area)
    async with demo(tmp_path, (120, 40)) as (app, pilot):
        await pilot.press(key)
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
