"""A field of one line: what is typed in it moves nothing else."""

from textual.screen import Screen

from tests.tui.widgets.host import Host
from workbench.tui.widgets.texts.safe_input import SafeInput


async def test_typing_lays_nothing_out_and_yet_scrolls_the_field() -> None:
    field, laid_out = SafeInput(), list[Screen[object]]()
    async with Host(field).run_test(size=(20, 5)) as pilot:
        await pilot.pause()
        pilot.app.screen.screen_layout_refresh_signal.subscribe(pilot.app, laid_out.append)
        await pilot.press(*"a longer text than the field is wide")
        await pilot.pause()
        assert not laid_out
        assert field.scroll_x > 0
        await pilot.press("home")
        await pilot.pause()
        assert field.scroll_x == 0
