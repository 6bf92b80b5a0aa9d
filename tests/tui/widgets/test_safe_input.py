"""A field of one line: what is typed in it moves nothing else."""

from textual import events
from textual.screen import Screen

from tests.tui.support import messages
from tests.tui.waiting import until
from tests.tui.widgets.host import Host
from workbench.tui.widgets.dialog import ROOM, SafeInput


async def test_typing_lays_nothing_out_and_yet_scrolls_the_field() -> None:
    field, laid_out = SafeInput(), list[Screen[object]]()
    async with Host(field).run_test(size=(20, 5)) as pilot:
        await pilot.pause()
        pilot.app.screen.screen_layout_refresh_signal.subscribe(pilot.app, laid_out.append)
        await pilot.press(*"a longer text than the field is wide")
        assert not laid_out
        assert field.scroll_x > 0
        await pilot.press("home")
        assert field.scroll_x == 0


async def test_a_paste_takes_as_much_as_a_line_has_room_for_and_says_what_it_left_out() -> None:
    field = SafeInput()
    host = Host(field)
    async with host.run_test(size=(40, 5)) as pilot:
        await pilot.press(*"behind", "home")
        field.post_message(events.Paste("a" * 1_000_000 + "\nsecond line"))
        await until(pilot, lambda: len(field.value) == ROOM)
        assert field.value.endswith("abehind")
        assert "990\u00a0006 of the paste were left out" in messages(host)[-1]
        field.action_select_all()
        field.post_message(events.Paste("\x1b[31mred\nblue"))
        await until(pilot, lambda: len(field.value) < ROOM)
        assert field.value == "\u241b[31mred"
        field.post_message(events.Paste(""))
        await pilot.press("!")
        assert field.value == "\u241b[31mred!"
        assert len(messages(host)) == 1


async def test_what_was_copied_in_the_app_is_cut_as_well() -> None:
    field = SafeInput()
    host = Host(field)
    async with host.run_test(size=(40, 5)) as pilot:
        host.copy_to_clipboard("z" * (2 * ROOM))
        await pilot.press("ctrl+v")
        assert field.value == "z" * ROOM
        assert len(messages(host)) == 1
