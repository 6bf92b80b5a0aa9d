"""Keys that a terminal brings all at once: what is typed behind the key that goes into a field is
in the field.
"""

import asyncio
from pathlib import Path

import pytest
from textual import events
from textual.app import App
from textual.widgets import Input, TextArea

from tests.tui.support import demo, demo_app, opens
from tests.tui.waiting import until
from workbench.tui.app.area import AreaScreen
from workbench.tui.forms import FieldLine, RecordForm
from workbench.tui.widgets.bars import Slider
from workbench.tui.widgets.line_list import LineView

NAMED = {
    "!": "escape",
    "/": "slash",
    "\n": "enter",
    "^": "ctrl+p",
    ".": "full_stop",
    " ": "space",
    "\t": "tab",
}
CONTROLS = {"!": None, "\n": "\r", "^": "\x10", "\t": "\t"}
"""The characters that a terminal sends for such keys."""


def type_at_once(app: App[Path | None], keys: str) -> None:
    """Bring keys as a driver does that read them together: each as it comes, no rest between them;
    `!` is esc.
    """
    for key in keys:
        event = events.Key(NAMED.get(key, key), CONTROLS.get(key, key))
        event.set_sender(app)
        app.post_message(event)


@pytest.mark.parametrize("where", ["H", "5", "5L", "6"])
async def test_words_behind_the_key_that_finds_in_a_list_are_no_keys(
    tmp_path: Path, where: str
) -> None:
    async with demo(tmp_path, (80, 24)) as (app, pilot):
        await pilot.press(*where)
        await until(pilot, lambda: isinstance(app.focused, LineView))
        before = app.bench.library.revision
        type_at_once(app, "/pnpm")
        await until(pilot, lambda: written(app) == "pnpm")
        assert app.bench.library.revision == before


@pytest.mark.parametrize(
    "gap", [0.0, *(pytest.param(gap, marks=pytest.mark.slow) for gap in (0.02, 0.08))]
)
@pytest.mark.parametrize(
    ("area", "keys", "screen", "text"),
    [
        ("1", "/undo", "StreamScreen", "undo"),
        ("1", "eundo xaq", "RecordForm", "undo xaq"),
        ("1", "^undo", "ManualPalette", "undo"),
        ("1", "rundo", "ReplaceDialog", "undo"),
        ("2", "^undo", "ManualPalette", "undo"),
        ("3", "oundo xaq", "RecordForm", "undo xaq"),
        ("6", "^undo", "ManualPalette", "undo"),
    ],
)
async def test_words_typed_fast_reach_what_the_key_before_them_opens(
    tmp_path: Path, area: str, keys: str, screen: str, text: str, gap: float
) -> None:
    async with demo(tmp_path) as (app, pilot):
        await pilot.press(area)
        await opens(pilot, AreaScreen, lambda s: s.area.key == area)
        await until(pilot, lambda: app.focused is not None)
        before = app.bench.library.revision
        for key in keys:
            type_at_once(app, key)
            if gap:
                await asyncio.sleep(gap)
        await until(
            pilot, lambda: type(app.screen).__name__ == screen and written(app).endswith(text)
        )
        await pilot.pause(0.1)
        assert (type(app.screen).__name__, written(app)[-len(text) :]) == (screen, text)
        assert app.bench.library.revision == before


@pytest.mark.parametrize("gap", [0.0, 0.02])
async def test_digits_behind_enter_are_typed_at_the_slider(tmp_path: Path, gap: float) -> None:
    async with demo(tmp_path) as (app, pilot):
        await pilot.press("4")
        await until(pilot, lambda: isinstance(app.focused, Slider))
        slider = app.screen.query(Slider).first()
        for key in "\n0.73":
            type_at_once(app, key)
            if gap:
                await asyncio.sleep(gap)
        await until(pilot, lambda: slider.typed is not None)
        await pilot.pause(0.2)
        assert slider.typed == "0.73"


def written(app: App[Path | None]) -> str:
    """Return what stands in the field that has the focus."""
    field = app.focused
    return (
        field.text
        if isinstance(field, TextArea)
        else field.value
        if isinstance(field, Input)
        else ""
    )


@pytest.mark.parametrize(("keys", "forms"), [("o!", 0), ("o!o", 1), ("o!oabc", 1), ("o!o!oabc", 1)])
async def test_esc_in_one_go_with_a_key_that_opens_a_form_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str, forms: int
) -> None:
    app, opened = demo_app(tmp_path), list[RecordForm]()
    begin = RecordForm.on_mount

    def begun(form: RecordForm) -> None:
        opened.append(form)
        begin(form)

    monkeypatch.setattr(RecordForm, "on_mount", begun)
    wanted = (1 + forms, "abc" if keys.endswith("abc") else "")

    def is_done() -> bool:
        """Tell whether what is wanted is there, and a form was opened that is gone."""
        return (
            len(opened) > forms
            and (len(app.screen_stack), written(app)) == wanted
            and app.screen.is_mounted
        )

    async with app.run_test(size=(140, 45)) as pilot:
        await until(pilot, lambda: isinstance(app.focused, LineView))
        before = app.bench.library.revision
        type_at_once(app, keys)
        await until(pilot, is_done)
        await pilot.pause(0.1)
        assert is_done()
        assert app.bench.library.revision == before


async def test_words_behind_tab_in_a_form_go_into_the_next_field(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.focused, LineView))
        type_at_once(app, "ex\tab\tc")
        await until(pilot, lambda: isinstance(app.screen, RecordForm) and written(app) == "c")
        lines = {line.field.name: line for line in app.screen.query(FieldLine)}
        await until(pilot, lambda: lines["type"].touched and lines["title"].touched)
        assert app.screen.query_one(TextArea).text.endswith("x")
        assert lines["title"].value.endswith("ab")
