"""How much there is to scroll in a widget that draws its own lines."""

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


def set_extent(view: ScrollView, size: Size) -> None:
    """Say how much there is to scroll.

    A view of a fixed height only moves its scrollbar; setting `virtual_size` would lay out and paint the whole screen.
    """
    height = view.styles.height
    if height is None or height.is_auto or not view.size:
        view.virtual_size = size
    elif view.virtual_size != size:
        view.set_reactive(Widget.virtual_size, size)
        view._scroll_update(size)
        view.scroll_to(y=min(view.scroll_y, view.max_scroll_y), animate=False, force=True)
