"""The line beside the filter of Review: how the sitting goes, in as many words as there is room for."""

from collections.abc import Callable

from textual.content import Content
from textual.widgets import Static

from workbench.tui.app.surviving import survives

Say = Callable[[int | None], Content]
"""Given the cells there are, or `None` before anybody knows, returns what is said."""


@survives
class Count(Static):
    """Says the same in fewer words where there is less room, and never half a number."""

    _say: Say | None = None

    def show(self, say: Say) -> None:
        """Say this from now on."""
        self._say = say
        self._fit()

    def on_resize(self) -> None:
        """Say it in the room there is now."""
        self._fit()

    def _fit(self) -> None:
        if self._say is not None:
            self.update(self._say(self.content_size.width or None), layout=False)
