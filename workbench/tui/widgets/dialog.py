"""What all dialogs share: a box in the middle, a title, and a line with the keys that hold."""

from collections.abc import Iterable
from typing import TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from workbench.tui.actions import Action, display_key
from workbench.tui.content import MUTED, assemble, body

R = TypeVar("R")


class Dialog(ModalScreen[R]):
    """A modal box: a title, the widgets of `contents`, and the keys of `offered`."""

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        & > .dialog {
            width: 72;
            max-width: 100%;
            height: auto;
            max-height: 100%;
            border: round $border;
            background: $surface;
            color: $foreground;
            padding: 0 1;
        }
        & .dialog--title { text-style: bold; height: auto; max-height: 4; margin-bottom: 1; }
        & .dialog--keys { height: 1; margin-top: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """

    def __init__(self, title: str, offered: Iterable[Action] = ()) -> None:
        super().__init__()
        self._heading = title
        self._offered = tuple(offered)

    def compose(self) -> ComposeResult:
        """Build the box."""
        with Vertical(classes="dialog"):
            yield Static(body(self._heading), classes="dialog--title")
            yield from self.contents()
            yield Static(Content(""), classes="dialog--keys")

    def contents(self) -> Iterable[Widget]:
        """Return what stands between the title and the keys."""
        return ()

    def on_mount(self) -> None:
        """Show the keys as they are mapped now."""
        self.query_one(".dialog--keys", Static).update(keys_line(self, self._offered))

    def action_cancel(self) -> None:
        """Close without a result."""
        self.dismiss(None)


def keys_line(node: DOMNode, actions: Iterable[Action]) -> Content:
    """Return "key label" for each action, with the keys that a person's keymap gives them."""
    held: dict[str, str] = {}
    for key, active in node.screen.active_bindings.items():
        held.setdefault(active.binding.id or "", key)
    pieces: list[tuple[str, str]] = []
    for action in actions:
        key = display_key(held.get(action.id, action.first_key))
        pieces += [(key, "bold $text-accent"), (f" {action.label}   ", MUTED)]
    return assemble(pieces)
