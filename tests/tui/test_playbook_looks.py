"""The Playbook to look at, through the real app over a real store."""

from pathlib import Path

import pytest

from tests.tui.playbook_host import BOOK, opened
from workbench.services.open import Workbench, open_workbench
from workbench.store.library import Library


async def test_a_wide_screen_shows_the_sections_and_a_click_goes_there(bench: Workbench) -> None:
    async with opened(bench, (200, 50)) as hand:
        assert hand.screen.outline.display
        await hand.pilot.click("#outline", offset=(6, 2))
        await hand.until(lambda: hand.here == "apis_to_use")
        await hand.press("k")
        assert hand.screen.outline.cursor == 0


@pytest.mark.slow
async def test_what_another_process_does_appears_and_the_cursor_marks_and_filter_stay(
    bench: Workbench, tmp_path: Path
) -> None:
    other = open_workbench(tmp_path / "store", profiles=tmp_path / "profiles", actor="agent:x")
    async with opened(bench) as hand:
        await hand.press("slash")
        await hand.write("hr")
        await hand.press("enter j t")
        assert hand.here == "hr-00003"
        other.playbooks.edit(BOOK, "hr-00001", "changed elsewhere")
        other.playbooks.delete(BOOK, ["hr-00002"])
        await hand.until(
            lambda: _refreshed(bench.library) and hand.listed == ["hr-00001", "hr-00003"],
        )
        assert "changed elsewhere" in hand.text
        assert hand.here == "hr-00003"
        other.playbooks.delete(BOOK, ["hr-00003"])
        await hand.until(lambda: _refreshed(bench.library) and hand.listed == ["hr-00001"])
        assert hand.screen.rows.mark_count == 0
    other.close()


def _refreshed(library: Library) -> bool:
    library.journal.refresh()
    return True
