"""The top line, the key line, the stacked bar and the gauge."""

from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.binding import BindingType
from textual.content import Content

from tests.tui.widgets.host import Host, keeping, picture
from workbench.core.tuning.profile import FACTORS
from workbench.tui.actions import STREAM
from workbench.tui.app.actions import GLOBAL, remapped
from workbench.tui.app.areas import AREAS
from workbench.tui.widgets.bars import factor_bar, gauge
from workbench.tui.widgets.header import KeyBar, TopBar


def top(store: str = "project-x", active: str = "stream", **counts: int) -> TopBar:
    bar = TopBar()
    bar.areas, bar.store, bar.active = AREAS.every, store, active
    bar.counts = counts
    return bar


async def test_the_top_line_shows_place_store_and_what_waits() -> None:
    host = Host(top(active="review", review=4))
    async with host.run_test(size=(100, 4)) as pilot:
        line = picture(host)[0]
        assert line.startswith(" project-x ")
        assert line.rstrip().endswith(
            "1 Stream [2 Review (4)] 3 Playbook  4 Tune  5 Agents  6 Health"
        )
        host.query_one(TopBar).counts = {"review": 0}
        await pilot.pause()
        assert "[2 Review] 3" in picture(host)[0]
        host.query_one(TopBar).due = frozenset(("health",))
        await pilot.pause()
        assert picture(host)[0].rstrip().endswith("5 Agents  6 Health !")


async def test_every_tab_can_be_clicked() -> None:
    bar = top(review=4)
    host = Host(bar)
    async with host.run_test(size=(80, 4), message_hook=keeping(host)) as pilot:
        line = picture(host)[0]
        for area in AREAS:
            await pilot.click(offset=(line.index(area.title) + 1, 0))
        await pilot.click(offset=(3, 0))
        await pilot.pause()
        assert [m.area for m in host.of(TopBar.Selected)] == [area.id for area in AREAS]


class Keyed(Host):
    """Remembers the forget key."""

    BINDINGS: ClassVar[list[BindingType]] = [("d", "note('d')"), ("w", "note('w')")]

    def action_note(self, key: str) -> None:
        self.results.append(key)


def keys(status: str = "") -> KeyBar:
    bar = KeyBar()
    bar.actions = (*STREAM, *GLOBAL)
    bar.status = Content(status)
    return bar


@pytest.mark.slow
@pytest.mark.parametrize("width", [200, 120, 80, 40])
async def test_the_key_line_shows_what_fits_and_always_help(width: int) -> None:
    host = Host(keys("112/150 importance"))
    async with host.run_test(size=(width, 4)):
        line = picture(host)[-1]
        assert len(line) == width
        assert line.startswith(" / search  ")
        assert ("+ helpful" in line) is (width > 40)
        assert "? help " in line
        assert line.rstrip().endswith("112/150 importance")
        assert ("u undo" in line) is (width > 120)


async def test_a_click_on_a_label_is_its_key_also_when_remapped() -> None:
    bar = keys()
    host = Keyed(bar)
    async with host.run_test(size=(120, 4)) as pilot:
        await pilot.click(offset=(picture(host)[-1].index("archive"), 3))
        bar.actions = remapped(bar.actions, {"stream.forget": "w"})
        await pilot.pause()
        await pilot.click(offset=(picture(host)[-1].index("w archive"), 3))
        await pilot.pause()
        assert host.results == ["d", "w"]


parts = st.lists(st.floats(0, 1, allow_nan=False), min_size=3, max_size=3)
FILLS = [factor.glyph for factor in FACTORS]


def bar(values: list[float], width: int) -> str:
    return factor_bar({f.id: value for f, value in zip(FACTORS, values, strict=True)}, width).plain


@pytest.mark.slow
@given(parts, st.integers(0, 60))
def test_the_stacked_bar_is_exact(values: list[float], width: int) -> None:
    drawn = bar(values, width)
    assert len(drawn) == width
    full = min(width, round(sum(values) * width))
    counts = [drawn.count(fill) for fill in FILLS]
    assert sum(counts) == full
    if 0 < sum(values) <= 1:
        assert all(abs(n - v / sum(values) * full) < 1 for n, v in zip(counts, values, strict=True))


def test_the_parts_differ_without_colour() -> None:
    assert len(set(FILLS)) == 3
    assert bar([0.25, 0.25, 0.5], 8) == "▓▓░░████"


@pytest.mark.parametrize("values", [[0, 0, 0], [float("nan"), 0, 0.5], [-1, 0, 0], [2, 2, 2]])
def test_odd_parts_never_break_the_bar(values: list[float]) -> None:
    assert len(bar(values, 10)) == 10


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (112, "▓▓░░ 112/150 importance"), (0, "░░░░ 0/150 importance"), (150, "▓▓▓▓ 150/150 importance"),
        (149.7, "▓▓▓░ 149.7/150 importance"), (400, "▓▓▓▓ 400/150 importance"),
    ],
)  # fmt: skip
def test_the_gauge_is_full_only_at_the_limit(value: float, text: str) -> None:
    assert gauge(value, 150, "importance").plain == text
