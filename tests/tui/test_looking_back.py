"""The store as it was: the banner, every key that would change something, the way there from
History, and back.
"""

from pathlib import Path

import pytest

from tests.tui.support import app_over, demo_bench, messages, opens, screen_text
from tests.tui.waiting import until_drawn
from workbench.services.open import Workbench, open_workbench
from workbench.tui.app.areas import AREAS, Area
from workbench.tui.app.run import Next, View, after
from workbench.tui.stream.history_dialog import HistoryDialog
from workbench.tui.widgets.line_list import LineView

REFUSED = "read-only. Nothing was changed"


@pytest.fixture
def past(tmp_path: Path) -> Workbench:
    """The demo store before its newest memory was pinned and edited."""
    bench = demo_bench(tmp_path)
    rev, newest = (
        bench.library.revision,
        max(bench.library.memories.all(), key=lambda m: m.created_at),
    )
    bench.stream.pin([newest.id])
    bench.stream.edit(newest.id, "What it says now.")
    bench.close()
    return open_workbench(tmp_path / "store", profiles=tmp_path / "profiles", at=rev)


@pytest.mark.slow
async def test_a_banner_says_where_one_stands_in_every_area(past: Workbench) -> None:
    app = app_over(past)
    standpoint = past.library.standpoint
    assert standpoint is not None
    async with app.run_test(size=(80, 24)) as pilot:
        for area in AREAS:
            await pilot.press(area.key)
            second = screen_text(app).splitlines()[1]
            assert second.strip() == (
                f"Revision {standpoint.rev} of {standpoint.latest} · 2026-03-20 17:30 · read-only"
                " · ctrl+o opens the present"
            )
        await pilot.press("1")
        assert "What it says now." not in screen_text(app)


@pytest.mark.slow
@pytest.mark.parametrize("area", AREAS.every, ids=lambda area: area.id)
async def test_every_key_that_changes_something_is_refused_in_a_sentence(
    past: Workbench, area: Area
) -> None:
    app = app_over(past)
    store = past.library.folder
    before = {path: path.read_bytes() for path in store.iterdir() if path.is_file()}
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(area.key)
        screen = app.screen
        for action in (*area.actions.own, *AREAS.everywhere):
            if action.changes or action.id in ("app.import", "app.reflect", "app.undo", "app.redo"):
                app.clear_notifications()
                await pilot.pause()
                await (app if action in AREAS.everywhere else screen).run_action(action.method)
                await pilot.pause()
                assert app.screen is screen, action.id
                assert any(REFUSED in one for one in messages(app)), action.id
        await pilot.press("q")
    assert {path: path.read_bytes() for path in store.iterdir() if path.is_file()} == before


async def test_a_row_of_the_history_opens_the_store_as_it_was(tmp_path: Path) -> None:
    bench = demo_bench(tmp_path)
    for memory in bench.library.memories.all()[:2]:
        bench.stream.pin([memory.id])
    app = app_over(bench)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("H")
        await opens(pilot, HistoryDialog, lambda s: len(s.query_one(LineView).rows) > 1)
        assert "t store then" in screen_text(app)
        await pilot.press("j", "t")
        await until_drawn(pilot, lambda: app.return_value is not None)
    assert app.return_value == bench.library.folder
    assert app.next_at is not None
    assert 0 < app.next_at < bench.library.revision


async def test_a_row_of_a_dialog_is_not_changed_either(past: Workbench) -> None:
    app = app_over(past)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("h")
        await opens(pilot, HistoryDialog, lambda s: s.query_one(LineView).rows)
        for key in ("plus", "e", "p", "d"):
            app.clear_notifications()
            await pilot.press(key)
            assert isinstance(app.screen, HistoryDialog), key
            assert any(REFUSED in one for one in messages(app)), key


def test_whoever_looked_back_comes_back_to_now() -> None:
    now, other = View(Path("/a"), "a", "by --store", begin="app.import"), Path("/b")
    looking = after((now,), Next(Path("/a"), 7))
    assert [view.at for view in looking] == [None, 7]
    assert {view.begin for view in looking} == {""}
    further = after(looking, Next(Path("/a"), 3))
    assert [view.at for view in further] == [None, 3]
    assert [view.at for view in after(further, None)] == [None]
    assert [(view.store, view.at) for view in after(further, Next(other))] == [(other, None)]
    assert after((now,), None) == ()
    alone = now._replace(at=7)
    assert [view.at for view in after((alone,), Next(Path("/a")))] == [None]
