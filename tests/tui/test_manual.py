"""The manual in the app: F1 everywhere, the page of the area, links, search in all pages, and the
way back.
"""

from pathlib import Path

import pytest
from textual.widgets import Markdown

from tests.tui.support import demo, opens, screen_text, shows
from tests.tui.waiting import until_drawn
from workbench.services.manual import Page, pages, sections
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.areas import AREAS, Area
from workbench.tui.manual import ManualScreen
from workbench.tui.stream.history_dialog import HistoryDialog
from workbench.tui.widgets.dialog import Choose

TEXTS = {page.name: page.text for page in pages()}


def shown(app: WorkbenchApp) -> str:
    """Return the name of the page that is shown, "" while there is none."""
    if not isinstance(app.screen, ManualScreen) or not app.screen.query(Markdown):
        return ""
    source = app.screen.query_one(Markdown).source
    return next((name for name, text in TEXTS.items() if text == source), "")


@pytest.mark.parametrize("area", AREAS, ids=lambda area: area.id)
async def test_f1_opens_the_page_of_the_area_and_closes_it(tmp_path: Path, area: Area) -> None:
    async with demo(tmp_path, (120, 40)) as (app, pilot):
        await pilot.press(area.key, "f1")
        await until_drawn(pilot, lambda: shown(app) == area.page)
        await pilot.press("f1")
        await until_drawn(pilot, lambda: app.screen is app.screen_stack[0])


async def test_a_dialog_opens_the_page_of_the_area_below_and_is_there_afterwards(
    tmp_path: Path,
) -> None:
    async with demo(tmp_path, (80, 24)) as (app, pilot):
        await pilot.press("3", "H")
        await opens(pilot, HistoryDialog)
        await pilot.press("f1")
        await until_drawn(pilot, lambda: shown(app) == "playbook")
        await pilot.press("escape")
        await opens(pilot, HistoryDialog)


async def test_a_link_is_followed_and_led_back_from(tmp_path: Path) -> None:
    async with demo(tmp_path, (80, 24)) as (app, pilot):
        app.action_manual("index")
        await until_drawn(pilot, lambda: shown(app) == "index")
        await pilot.press("l")
        await opens(pilot, Choose)
        await pilot.press(*"glossary", "enter")
        await until_drawn(pilot, lambda: shown(app) == "glossary")
        await pilot.press("backspace")
        await until_drawn(pilot, lambda: shown(app) == "index")
        document = app.screen.query_one(Markdown)
        document.post_message(Markdown.LinkClicked(document, "symbols.md"))
        await until_drawn(pilot, lambda: shown(app) == "symbols")


async def test_words_are_found_in_every_page_and_lead_to_their_place(tmp_path: Path) -> None:
    async with demo(tmp_path, (80, 24)) as (app, pilot):
        await pilot.press("f1")
        await until_drawn(pilot, lambda: shown(app) == "stream")
        await pilot.press("slash", *"git share")
        await shows(pilot, "Share a store with git")
        await pilot.press("enter", "enter")
        await until_drawn(pilot, lambda: shown(app) == "store-and-backup")
        await shows(pilot, "workbench init --shared")
        await pilot.press("escape")
        await until_drawn(pilot, lambda: "git share" not in screen_text(app))
        assert shown(app) == "store-and-backup"
        await pilot.press("slash", *"xyzzy")
        await shows(pilot, "No page has these words.")


async def test_the_list_of_pages_leads_to_each_where_the_screen_has_no_room_for_both(
    tmp_path: Path,
) -> None:
    async with demo(tmp_path, (80, 24)) as (app, pilot):
        await pilot.press("f1")
        await until_drawn(pilot, lambda: shown(app) == "stream")
        assert "Getting started" not in screen_text(app)
        await pilot.press("c")
        await shows(pilot, "Getting started")
        await pilot.press("g", "down", "enter")
        await until_drawn(pilot, lambda: shown(app) == "getting-started")
        await shows(pilot, "Your coding agents")
        assert "stream.svg" not in screen_text(app)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
async def test_every_page_is_drawn_with_all_its_headings(tmp_path: Path, page: Page) -> None:
    async with demo(tmp_path, (80, 24)) as (app, pilot):
        app.action_manual(page.name)
        await until_drawn(pilot, lambda: shown(app) == page.name)
        drawn = [title for _, title, _ in app.screen.query_one(Markdown).table_of_contents]
        assert drawn == [section.title.replace("`", "") for section in sections(page)]
