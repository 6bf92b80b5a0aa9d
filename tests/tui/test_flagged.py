"""Flagged text on the screens: a mark in the row, folded away until opened, let out only by a
decision.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.safety.samples import keys
from tests.services.conftest import ungated
from tests.tui.support import NOW, app_over, demo_app, open_bench, screen_text
from workbench.core.stream.memory import Memory
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.safety import FLAGGED
from workbench.tui.widgets.reading_pane import DetailPane

RULE, KEY = keys()["aws"]
ID = "mem-20260320-0000901"


def flagged_app(folder: Path) -> WorkbenchApp:
    bench = open_bench(folder)
    with ungated(bench), bench.library.transaction("setup", "set up") as tx:
        tx.put(Memory(ID, f"Deploy with {KEY} today.\nSecond line.", NOW, NOW))
        tx.put(Memory("mem-20260320-0000900", "Nothing special", NOW.replace(hour=9), NOW))
    return app_over(bench)


def detail_of(app: WorkbenchApp) -> str:
    return app.screen.query_one(DetailPane).plain


@pytest.mark.slow
@pytest.mark.parametrize("key", ["z", "enter"])
async def test_flagged_text_is_marked_masked_and_folded_until_opened(
    tmp_path: Path, key: str
) -> None:
    app = flagged_app(tmp_path)
    async with app.run_test(size=(140, 30)) as pilot:
        await pilot.pause()
        shown = screen_text(app)
        assert f"{FLAGGED} Deploy with [secret: {RULE}] today." in shown
        assert KEY not in shown
        assert "This looks like an AWS key." in detail_of(app)
        assert "z shows it." in detail_of(app)
        await pilot.press(key)
        assert f"Deploy with {KEY} today.\nSecond line." in detail_of(app)
        assert "z shows it." not in detail_of(app)
        await pilot.press("escape", "j", "k")


async def test_letting_one_out_asks_why_and_again_takes_it_back(tmp_path: Path) -> None:
    app = flagged_app(tmp_path)
    async with app.run_test(size=(140, 30)) as pilot:
        await pilot.press("exclamation_mark", "enter")
        assert ": reason" in screen_text(app)
        await pilot.press(*"old", "enter")
        found = app.bench.safety.override(app.bench.stream.get(ID))
        assert found is not None
        assert (found.actor, found.reason) == ("human", "old")
        assert "allowed to be exported since" in detail_of(app)
        await pilot.press("exclamation_mark")
        assert app.bench.safety.override(app.bench.stream.get(ID)) is None
        await pilot.press("u")
        assert app.bench.safety.override(app.bench.stream.get(ID)) is not None


async def test_an_export_is_held_back_until_it_is_allowed(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    bullet = app.bench.library.bullets.all()[0]
    with ungated(app.bench), app.bench.library.transaction("setup", "set up") as tx:
        tx.put(replace(bullet, content=f"Use {KEY}", raw=None))
    target = tmp_path / "out.txt"
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("3")
        assert f"{FLAGGED} Use [secret: {RULE}]" in screen_text(app)
        assert KEY not in screen_text(app)
        await pilot.press("X")
        box = app.screen.query_one("#export-path")
        box.value = str(target)  # type: ignore[attr-defined]
        await pilot.pause()
        assert "Held back: 1 flagged part." in screen_text(app)
        await pilot.press("ctrl+s")
        assert not target.exists()
        await pilot.press("ctrl+l")
        await pilot.press(*"fine", "enter")
        assert "Flagged, but exported:" in screen_text(app)
        await pilot.press("ctrl+s")
        assert KEY in target.read_text("utf-8")
