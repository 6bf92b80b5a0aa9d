"""The sheet gives every widget the styles that Textual's gives it, and looks them up once."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.screen import Screen

from tests.tui.support import demo_app
from workbench.tui.app.app import WorkbenchApp

OPENED = {
    "stream": ("e", "P", "h", "question_mark", "d", "slash"),
    "review": ("P", "m", "r", "i", "e"),
    "playbook": ("X", "B", "equals_sign", "V", "D", "O"),
    "tune": ("J", "B", "m", "l", "N", "D", "tab"),
    "health": ("tab", "r", "j"),
}
SIZES = ((140, 45), (80, 24))


def _styles(node: DOMNode) -> dict[str, Any]:
    parts = {part: dict(styles.base._rules) for part, styles in node._component_styles.items()}
    return {"itself": dict(node.styles.base._rules), **parts}


def _by_textual(sheet: Stylesheet, node: DOMNode) -> dict[str, Any]:
    with (
        patch.object(type(sheet), "apply", Stylesheet.apply),
        patch.object(type(sheet), "replace_rules", Stylesheet.replace_rules),
        patch.object(type(sheet), "_process_component_classes", Stylesheet._process_component_classes),
    ):
        sheet.apply(node)
    return _styles(node)


def _differing(app: WorkbenchApp) -> list[str]:
    screen: Screen[Any] = app.screen
    found = []
    for node in screen.walk_children(with_self=True):
        ours = _styles(node)
        if ours != _by_textual(app.stylesheet, node):
            found.append(repr(node))
    return found


@pytest.mark.parametrize("area", OPENED)
async def test_every_widget_looks_as_textual_would_have_it(tmp_path: Path, area: str) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=SIZES[0]) as pilot:
        await app.workers.wait_for_complete()
        app.action_area(area)
        await pilot.pause()
        for size in SIZES:
            await pilot.resize_terminal(*size)
            assert _differing(app) == [], size
        for key in OPENED[area]:
            await pilot.press(key)
            await pilot.pause()
            assert _differing(app) == [], key
            await pilot.press("escape", "escape")
        app.theme = "workbench-light"
        await pilot.pause()
        assert _differing(app) == []


@pytest.mark.slow
async def test_a_dialog_that_opens_again_looks_nothing_up(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=SIZES[0]) as pilot:
        await app.workers.wait_for_complete()
        for _ in range(2):
            with patch.object(Stylesheet, "apply", autospec=True, side_effect=Stylesheet.apply) as looked_up:
                await pilot.press("P")
                await pilot.pause()
            await pilot.press("escape")
            await pilot.pause()
        assert looked_up.call_count == 0
