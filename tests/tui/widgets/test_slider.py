"""The slider: keys, typing, the mouse, its scale, and when it speaks."""

from collections.abc import Sequence

import pytest

from tests.tui.widgets.host import Host, keeping, picture
from workbench.tui.widgets.bars import Scale, Slider
from workbench.tui.widgets.figures import days

HALF_LIFE = Scale(0.1, 365.0, 0.1, 0.01, log=True, off=True)


async def after(keys: Sequence[str], slider: Slider) -> tuple[list[float | None], str]:
    """Press keys on a slider; return the values it took, of which each is sent, and its line."""
    host, values = Host(slider), list[float | None]()
    async with host.run_test(size=(60, 5), message_hook=keeping(host)) as pilot:
        host.watch(slider, "value", lambda value: values.append(value), init=False)  # noqa: PLW0108 - Textual counts parameters
        slider.focus()
        await pilot.press(*keys)
        assert len(host.of(Slider.Changed)) == len(values)
        return values, picture(host)[0]


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        (["right"], [0.55]), (["left", "left"], [0.45, 0.4]), (["shift+right"], [0.51]), (["shift+left"], [0.49]),
        (["right", "backspace"], [0.55, 0.5]), (["backspace"], []), ([], []),
    ],
)  # fmt: skip
async def test_keys_step_and_reset_and_only_a_change_is_sent(
    keys: list[str], sent: list[float]
) -> None:
    assert (await after(keys, Slider("relevance", 0.5)))[0] == sent


async def test_a_step_goes_to_the_next_multiple() -> None:
    assert (await after(["right", "right", "left"], Slider("recency", 1 / 3)))[0] == [
        0.35,
        0.4,
        0.35,
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        (["0", ".", "3", "7", "enter"], [0.37]), (["0", ".", "3", "escape"], []), (["9", "enter"], [1.0]),
        (["enter", ".", "2", "enter"], [0.2]), ([".", "enter"], []), (["1", "backspace", ".", "1", "enter"], [0.1]),
        ([".", ".", "3", "enter"], [0.3]), ([".", "3", "right"], [0.3, 0.35]), ([".", "3", "tab"], [0.3]),
    ],
)  # fmt: skip
async def test_a_value_can_be_typed(keys: list[str], sent: list[float]) -> None:
    assert (await after(keys, Slider("relevance", 0.5)))[0] == sent


async def test_digits_pass_when_the_slider_does_not_want_them() -> None:
    slider = Slider("relevance", 0.5, digits=False)
    assert await after(["7"], slider) == await after([], Slider("relevance", 0.5, digits=False))
    assert (await after(["enter", ".", "7", "enter"], Slider("relevance", 0.5, digits=False)))[
        0
    ] == [0.7]


async def test_beyond_the_end_of_the_scale_is_off() -> None:
    sent, line = await after(
        ["left", "right", "left"], Slider("half-life", None, HALF_LIFE, off="no decay", show=days)
    )
    assert sent == [365.0, None, 365.0]
    assert "365 d" in line
    assert (
        "no decay"
        in (await after([], Slider("half-life", None, HALF_LIFE, off="no decay", show=days)))[1]
    )


async def test_a_logarithmic_step_is_a_share() -> None:
    assert (await after(["right", "left"], Slider("half-life", 10.0, HALF_LIFE)))[0] == [11.0, 10.0]


async def test_the_mouse_presses_and_drags_the_bar() -> None:
    slider = Slider("relevance", 0.5)
    host = Host(slider)
    async with host.run_test(size=(60, 3), message_hook=keeping(host)) as pilot:
        line = picture(host)[0]
        start, end = line.index("━"), line.rindex("─")
        await pilot.mouse_down(slider, offset=(start, 0))
        assert slider.value == 0.0
        await pilot.hover(slider, offset=(end, 0))
        assert slider.value == 1.0
        await pilot.hover(slider, offset=(59, 0))
        await pilot.mouse_up(slider, offset=(59, 0))
        await pilot.hover(slider, offset=(start, 0))
        assert slider.value == 1.0
        await pilot.click(slider, offset=(3, 0))
        assert slider.value == 1.0
