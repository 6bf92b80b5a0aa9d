"""What was typed when the app was stopped comes back with the same item, in every area that edits
texts.
"""

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import TextArea

from tests.tui.support import app_over, demo_bench, screen_text
from workbench.config import drafts, recent
from workbench.services.open import Workbench
from workbench.tui.app.run import _left
from workbench.tui.forms import RecordForm
from workbench.tui.widgets.editor import TextEditor

CANDIDATE = "Making a setting required"
"""How the text of a candidate of the demo begins."""


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return demo_bench(tmp_path)


async def to_candidate(pilot: Any) -> None:
    """Go down in Review to one candidate, whatever was found above it."""
    for _ in range(20):
        await pilot.pause()
        if CANDIDATE in screen_text(pilot.app):
            return
        await pilot.press("j")
    raise AssertionError(screen_text(pilot.app))


async def typed(bench: Workbench, folder: Path, *keys: str) -> tuple[str, str]:
    """Open an editor by keys, type a letter and stop the app; return what the editor held, and the
    whole screen.
    """
    app = app_over(bench, drafts=folder)
    async with app.run_test(size=(100, 30)) as pilot:
        for key in keys:
            await pilot.press(key)
            if key == "2":
                await to_candidate(pilot)
        assert isinstance(app.screen, RecordForm | TextEditor)
        before, shown = app.screen.query_one(TextArea).text, screen_text(app)
        await pilot.press("Z")
    return before, shown


@pytest.mark.slow
@pytest.mark.parametrize("keys", ["1 e", "1 o", "2 e", "2 S", "3 j e", "3 o"])
async def test_what_is_typed_outlives_the_app(bench: Workbench, tmp_path: Path, keys: str) -> None:
    folder, rev = tmp_path / "drafts", bench.library.journal.rev
    stored, shown = await typed(bench, folder, *keys.split())
    assert "Restored" not in shown
    restored, shown = await typed(bench, folder, *keys.split())
    assert restored == f"{stored}Z"
    assert "Restored: you typed this" in shown
    assert bench.library.journal.rev == rev, "a draft is no part of the record"
    assert bench.library.folder not in folder.parents


@pytest.mark.slow
async def test_a_written_round_outlives_the_app_until_one_is_taken(
    bench: Workbench, tmp_path: Path
) -> None:
    folder = tmp_path / "drafts"
    for last in ("end", "enter"):
        app = app_over(bench, drafts=folder)
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.press("2")
            await to_candidate(pilot)
            for key in ("r", "e", *([] if last == "enter" else ["W"]), "ctrl+s", last):
                await pilot.press(key)
        assert bool(list(folder.iterdir())) is (last == "end")
    assert any(memory.content.endswith("W") for memory in bench.library.memories.all())


def test_the_next_start_says_once_what_was_being_typed(bench: Workbench, tmp_path: Path) -> None:
    now, item = bench.context.now(), drafts.Item("memories/mem-1")
    drafts.keep(tmp_path / "d", item, drafts.Draft("half", "", now))
    (said,) = _left(tmp_path / "d", None)
    assert "You were editing mem-1 when the app was stopped" in said
    assert list(_left(tmp_path / "d", recent.Look("", 1, now))) == []
