"""The first card: what can be done with no store, by keys and by mouse, and that it writes nothing."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.support import messages, screen_text
from workbench.core.first_run import FirstRun, FirstStep
from workbench.tui.opening import Welcome, WelcomeApp, rows_of
from workbench.tui.widgets.line_list import LineView

STORE = Path("/home/ann/.local/share/memory-workbench/store")


def first(**given: Any) -> FirstRun:
    return FirstRun(Path("/work/shop"), STORE)._replace(**given)


async def chosen(keys: tuple[str, ...], run: FirstRun) -> FirstStep | None:
    """Press keys on the card and return what it ends with."""
    app = WelcomeApp(run)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await pilot.press(*keys)
    return app.return_value


async def shown(pilot: Pilot[FirstStep | None]) -> Welcome:
    await pilot.pause()
    assert isinstance(pilot.app.screen, Welcome)
    return pilot.app.screen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "choice"),
    [
        (("enter",), "demo"), (("1",), "demo"), (("2",), "project"), (("down", "enter"), "project"), (("3",), "import"),
        (("5",), "empty"), (("G", "enter"), "empty"),
    ],
)  # fmt: skip
async def test_a_digit_or_the_cursor_chooses(keys: tuple[str, ...], choice: str) -> None:
    assert await chosen(keys, first()) == FirstStep(choice)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["escape", "q", "ctrl+c"])
async def test_leaving_chooses_nothing(key: str) -> None:
    assert await chosen((key,), first()) is None


async def test_a_click_on_the_row_under_the_cursor_chooses_it() -> None:
    app = WelcomeApp(first())
    async with app.run_test(size=(80, 24)) as pilot:
        card = await shown(pilot)
        await pilot.press("G")
        assert app.screen is card
        assert "It is /home/ann/.local/share/memory-workbench/store" in screen_text(app)
        await pilot.click(LineView, offset=(5, 4))
        await pilot.pause()
    assert app.return_value == FirstStep("empty")


async def test_where_no_store_can_be_made_the_card_says_why_and_stays() -> None:
    app = WelcomeApp(first(closed="it is not writable"))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await pilot.press("2")
        assert "cannot be made here" in screen_text(app)
        assert messages(app) == [
            "Nothing was made: /work/shop: it is not writable. "
            "Start workbench in a folder of yours to make one there."
        ]
        await pilot.press("q")


def test_the_home_folder_is_named_as_such() -> None:
    rows = {row.step.choice: row for row in rows_of(first(is_home=True))}
    assert rows["project"].more.endswith("This is your home: that is nearly everything.")


def test_what_lies_in_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("# Shop\n", "utf-8")
    rows = {row.step.choice: row for row in rows_of(first(here=tmp_path))}
    assert "CLAUDE.md" in rows["import"].remark
    assert str(STORE) in rows["import"].more


def test_the_store_that_an_import_goes_into_is_named(tmp_path: Path) -> None:
    rows = {row.step.choice: row for row in rows_of(first(here=tmp_path, is_project=True))}
    assert str(tmp_path / ".workbench") in rows["import"].more


async def test_the_card_writes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    await chosen(("down", "4", "escape", "q"), first(here=tmp_path))
    assert [*Path.home().rglob("*"), *tmp_path.rglob("*")] == []
