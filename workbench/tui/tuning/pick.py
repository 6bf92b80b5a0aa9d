"""Any memory of the store, found while one types: for "why not this one?"."""

from collections.abc import Callable, Sequence

from textual import on
from textual.content import Content
from textual.widgets import Input

from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.lists.line_view import LineView

SHOWN = 500
"""How many matches are listed at most."""


class PickMemory(Choose):
    """Ask for one memory; `search` answers what is typed (an empty text too), or says why it cannot."""

    def __init__(self, title: str, search: Callable[[str], Sequence[Choice] | str]) -> None:
        found = search("")
        super().__init__(title, () if isinstance(found, str) else found)
        self._search = search

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        """Search anew, instead of narrowing what is listed; the cursor goes to the first match."""
        event.prevent_default()
        found = self._search(" ".join(self._words))
        rows = self.query_one(LineView)
        if isinstance(found, str):
            rows.set_empty(Content(found))
            found = ()
        else:
            rows.set_empty(Content("Nothing matches. Backspace widens the list."))
        rows.set_rows(found, cursor=0)
