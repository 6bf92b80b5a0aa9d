"""Replacing everywhere, by keys: every place is seen, taken or left, and written as one action that
u takes back.
"""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.support import NOW, app_over, open_bench, opens, screen_text, shows
from tests.tui.waiting import until_drawn
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.stream.replacing import ReplaceDialog
from workbench.tui.widgets.line_list import LineView

SECRET = "ghp_" + "Kq7vR2xT9mZ4pL8sW3nB6yC1dF5gH0jAeXuQ"


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    """Two memories and a bullet with an old name, one of them with a secret, and one that only
    begins like it.
    """
    bench = open_bench(tmp_path)
    with bench.library.transaction("human", "prepare") as tx:
        tx.put(Memory("m1", "Restart authd, then wait.", NOW, NOW))
        tx.put(Memory("m2", f"authd reads {SECRET} and [red]more[/].", NOW, NOW))
        tx.put(Memory("m3", "authdaemon is another program.", NOW, NOW))
    bench.playbooks.add_to_new_section("main", "Hard rules", "Never stop authd")
    return bench


def contents(bench: Workbench) -> set[str]:
    return {
        one.content
        for table in (bench.library.memories, bench.library.bullets)
        for one in table.all()
    }


async def opened(app: WorkbenchApp, pilot: Pilot[Any]) -> ReplaceDialog:
    """Ask for gated in place of authd, as whole words."""
    await pilot.press("r")
    await opens(pilot, ReplaceDialog)
    await pilot.press(*"authd", "enter", *"gated", "enter")
    dialog = app.screen
    assert isinstance(dialog, ReplaceDialog)
    await until_drawn(pilot, lambda: len(dialog.query_one(LineView).rows) == 4)
    await pilot.press("w")
    await until_drawn(pilot, lambda: len(dialog.query_one(LineView).rows) == 3)
    await pilot.pause()
    return dialog


@pytest.mark.slow
async def test_places_are_taken_or_left_and_undone_as_one(bench: Workbench) -> None:
    app = app_over(bench)
    before = contents(bench)
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = await opened(app, pilot)
        names = [place.name for place in dialog.query_one(LineView).rows]
        assert SECRET not in screen_text(app)
        await pilot.press("x")
        assert "3 places · 0 to replace · 1 skipped" in screen_text(app)
        await pilot.press("A")
        assert "2 to replace" in screen_text(app)
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: not app.screen.is_modal)
        changed = contents(bench) - before
        assert len(changed) == 2
        assert all("gated" in text for text in changed)
        kept = bench.library.memories.find(names[0]) or bench.library.bullets.find(names[0])
        assert kept is not None
        assert "authd" in kept.content
        await pilot.press("u")
        await until_drawn(pilot, lambda: contents(bench) == before)


async def test_nothing_taken_writes_nothing_and_says_so(bench: Workbench) -> None:
    app = app_over(bench)
    before = contents(bench)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press("ctrl+s")
        assert "Nothing chosen yet" in screen_text(app)
        await pilot.press("escape")
        await until_drawn(pilot, lambda: not app.screen.is_modal)
        assert contents(bench) == before


async def test_a_record_changed_meanwhile_refuses_and_is_listed_anew(bench: Workbench) -> None:
    app = app_over(bench)
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = await opened(app, pilot)
        await pilot.press("A")
        bench.stream.edit("m1", "Restart it, then wait.")
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: len(dialog.query_one(LineView).rows) == 2)
        assert not any("gated" in text for text in contents(bench))


async def test_tags_and_titles_are_taken_along_on_a_key_and_said_before(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    with bench.library.transaction("human", "prepare") as tx:
        tx.put(Memory("m1", "Restart authd.", NOW, NOW))
        tx.put(Memory("m2", "The port is 8443.", NOW, NOW, tags=("authd",)))
    bench.playbooks.add_section("main", "About authd")
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("r")
        await opens(pilot, ReplaceDialog)
        await pilot.press(*"authd", "enter", *"gated", "enter")
        await shows(pilot, "t: also in 1 tag, 1 section title")
        await pilot.press("t")
        await shows(pilot, "3 places")
        await pilot.press("A")
        await shows(pilot, "3 to replace, 1 of them not viewed")
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: not app.screen.is_modal)
        assert bench.library.memories.get("m2").tags == ("gated",)
        assert [section.title for section in bench.library.sections.all()] == ["About gated"]
