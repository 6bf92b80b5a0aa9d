"""The bottom line: the keys of what is open, as many as fit, and a status on the right."""

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from workbench.tui.app.actions import Action, footer_entries
from workbench.tui.app.surviving import survives
from workbench.tui.widgets.content import assemble, cut, fitted, line

GAP = "  "
ALWAYS = "app.help"
"""The action that is shown however narrow the line is: the way to all the others."""


@survives
class KeyBar(Widget):
    """One line of keys and labels built from actions; a click on one is its key. The status stands on the right.

    While there is something `urgent`, it alone is shown.

    Give the actions of what is open first, then the global ones: what does not fit is left out from
    the end, except help.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyBar {
        dock: bottom;
        height: 1;
        background: $panel;
        color: $foreground;
        padding: 0 1;
    }
    """

    actions: reactive[tuple[Action, ...]] = reactive[tuple[Action, ...]](())
    status: reactive[Content] = reactive(Content(""))
    urgent: reactive[str] = reactive("")

    def render(self) -> Content:
        """Return the keys, padded, and the status."""
        width = self.content_size.width
        if self.urgent:
            return line(self.urgent, width, "bold $text-warning")
        pieces: list[tuple[str, str]] = []
        for action in self._fitting(self._room(width)):
            pieces += [(action.shown_key, "bold $text-accent"), (f" {action.label}{GAP}", "")]
        status = cut(self.status, width // 2)
        return fitted(assemble(pieces), max(0, width - status.cell_length)) + status

    def on_click(self, event: events.Click) -> None:
        """Press the key that was clicked, so that a click is never more than a key."""
        offset = None if self.urgent else event.get_content_offset(self)
        at = 0
        for action in self._fitting(self._room(self.content_size.width)):
            at += _length(action)
            if offset is not None and offset.x < at:
                self.app.simulate_key(action.first_key)
                return

    def _room(self, width: int) -> int:
        return width - min(self.status.cell_length, width // 2)

    def _fitting(self, room: int) -> list[Action]:
        shown = footer_entries(self.actions)
        always = [a for a in shown if a.id == ALWAYS]
        room -= sum(_length(a) for a in always)
        fitting = []
        for action in shown:
            if action.id == ALWAYS:
                continue
            room -= _length(action)
            if room < 0:
                break
            fitting.append(action)
        return fitting + always


def _length(action: Action) -> int:
    return len(action.shown_key) + 1 + len(action.label) + len(GAP)
