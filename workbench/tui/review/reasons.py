"""Why something was rejected: one of the usual reasons, or in words."""

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget

from workbench.tui.app.actions import Action, bindings
from workbench.tui.review.actions import REASONS
from workbench.tui.widgets.actions import CANCEL, LIST
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.dialog import Dialog, held_keys
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.row import Cell


class ReasonDialog(Dialog[int]):
    """Ask for a reason by its key, or with enter; the result is its place in `REASONS`."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(REASONS)
    DEFAULT_CSS = """
    ReasonDialog LineView {
        height: auto;
        & > .line--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    }
    """

    def __init__(self, title: str) -> None:
        super().__init__(title, (replace(LIST[-1], label="choose"), CANCEL))

    def contents(self) -> Iterable[Widget]:
        """Return the reasons."""
        return (LineView(self._draw, lambda reason: reason.id),)

    def on_mount(self) -> None:
        """List them."""
        self.query_one(LineView).set_rows(REASONS[:-1])

    def _draw(self, reason: Action, width: int) -> list[Cell]:
        del width
        key = held_keys(self, (reason,))[0][0]
        return [Cell(f"{key} {reason.label}", 16), Cell(reason.tooltip, 0, MUTED)]

    @on(LineView.Opened)
    def _take(self) -> None:
        self.dismiss(self.query_one(LineView).cursor)

    def action_reason(self, index: int) -> None:
        """Take a reason."""
        self.dismiss(index)
