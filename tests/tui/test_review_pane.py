"""The pane that a text is read in: it wraps to its width, scrolls, and lets the mouse select."""

from textual.content import Content
from textual.geometry import Offset
from textual.selection import Selection

from tests.tui.widgets.host import Host, picture
from workbench.tui.widgets.reading_pane import ReadingPane


async def test_reading_goes_to_the_end_and_another_text_starts_at_its_top() -> None:
    pane = ReadingPane(id="pane")
    host = Host(pane)
    async with host.run_test(size=(40, 6)) as pilot:
        pane.show(Content("\n".join(f"line {n}" for n in range(50))))
        pane.focus()
        await pilot.pause()
        assert not pane.at_end
        await pilot.press("G")
        assert pane.at_end
        assert "line 49" in picture(host)[-1]
        assert not pane.read(1)
        pane.show(Content("\n".join(f"row {n}" for n in range(40))), keep_place=True)
        await pilot.pause()
        assert pane.scroll_offset.y == pane.max_scroll_y, "the place is kept as far as there is one"
        pane.show(Content("short"))
        await pilot.pause()
        assert "short" in picture(host)[0]
        assert pane.at_end


async def test_the_mouse_selects_text_as_it_stands_there() -> None:
    pane = ReadingPane(id="pane")
    host = Host(pane)
    async with host.run_test(size=(40, 6)) as pilot:
        pane.show(Content("first line\nsecond line\nthird line"))
        await pilot.pause()
        found = pane.get_selection(Selection(Offset(6, 0), Offset(6, 1)))
        assert found == ("line\nsecond", "\n")
        await pilot.mouse_down(pane, offset=(1, 0))
        await pilot.hover(pane, offset=(6, 0))
        await pilot.mouse_up(pane, offset=(6, 0))
        await pilot.pause()
        assert (host.screen.get_selected_text() or "").strip() == "first"
