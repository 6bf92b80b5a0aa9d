"""Tune under the hand: ← and → from any pane, the mouse, and values that are typed."""

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from tests.tui.support import demo_app, shows, tells
from tests.tui.tune_host import WIDE, focused, keys, opened, ranked, settled, slider, tune, tuning
from tests.tui.waiting import until
from workbench.core.tuning.profile import WORKBENCH
from workbench.tui.widgets.bars import Slider


async def roll(pilot: Pilot[Path | None], target: Slider, up: bool, shift: bool = False) -> None:
    kind = events.MouseScrollUp if up else events.MouseScrollDown
    x, y = target.region.offset
    pilot.app.screen._forward_event(
        kind(target, x + 20, y, 0, 0, 0, shift, False, False, x + 20, y)
    )
    await pilot.pause()


@pytest.mark.slow
async def test_a_query_is_followed_by_slides_without_another_key(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        await keys(pilot, "slash ctrl+u", *"redis", "enter")
        await until(pilot, lambda: getattr(tune(app).session.question, "text", "") == "redis")
        await settled(pilot)
        before = ranked(app)
        await keys(pilot, *["right"] * 8)
        assert focused(app) is tune(app).rows
        assert slider(app, "recency").value == pytest.approx(0.45)
        assert ranked(app) != before
        await keys(pilot, "shift+left down")
        assert slider(app, "recency").value == pytest.approx(0.44)
        assert tune(app).rows.cursor == 1
        await keys(pilot, "backspace")
        assert slider(app, "recency").value == WORKBENCH.recency


async def test_a_slider_without_effect_says_so_when_it_is_moved_from_elsewhere(
    tmp_path: Path,
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await opened(pilot)
        slider(app, "half-life-episodic").focus()
        await keys(pilot, "tab o", *"off", "enter")
        await until(pilot, lambda: slider(app, "half-life-episodic").disabled)
        before = slider(app, "half-life-episodic").value
        await keys(pilot, "right")
        assert slider(app, "half-life-episodic").value == before
        assert tells(app, "no effect now: recency is off")


async def test_the_wheel_nudges_a_click_sets_and_a_click_on_a_row_selects(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        target = slider(app, "importance")
        await roll(pilot, target, up=True)
        assert target.value == pytest.approx(0.1)
        assert tune(app).session.profile.importance == pytest.approx(0.1)
        await roll(pilot, target, up=False, shift=True)
        assert target.value == pytest.approx(0.09)
        start, cells = target._bar_place(target.content_size.width)
        await pilot.click(target, offset=(start + cells - 1, 0))
        assert target.value == 1.0
        assert tune(app).session.profile.importance == 1.0
        await pilot.click("#list", offset=(60, 6 + tune(app).rows.gutter.top))
        assert tune(app).rows.cursor == 6
        await shows(pilot, f"#{7}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("nan", "“nan” is not a number"), ("-0.2", "“-0.2” is too low: the least is 0.00"),
        ("inf", "“inf” is not a number"), ("much", "“much” is not a number"), ("1e999", "“1e999” is not a number"),
    ],
)  # fmt: skip
async def test_a_weight_that_is_none_changes_nothing_and_says_why(
    tmp_path: Path, typed: str, says: str
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await opened(pilot)
        before = ranked(app)
        await keys(
            pilot, "enter", *[{"-": "minus", ".": "full_stop"}.get(c, c) for c in typed], "enter"
        )
        assert tells(app, says)
        assert tells(app, "recency stays at 0.05")
        assert tune(app).session.profile == WORKBENCH
        assert ranked(app) == before
        assert app.screen is tune(app)
