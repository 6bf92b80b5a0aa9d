"""One of many, picked from a list that narrows while one types."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from workbench.tui.app.actions import bindings
from workbench.tui.widgets.actions import CHOOSE
from workbench.tui.widgets.content import MUTED, find_words, highlight
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.safe_input import SafeInput


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose: its id (the result), its label, and a remark on the right."""

    id: str
    label: str
    remark: str = ""


Search = Callable[[str], Sequence[Choice] | str]
"""Answers what is typed with choices, or says why it cannot."""

NO_MATCH = "Nothing matches. Backspace widens the list."


class Choose(Dialog[str | None]):
    """Ask for one of the choices; the result is its id, or None.

    Typing narrows the list to labels that hold every typed word; the cursor starts on `current`. With a `search` it
    is what is typed that is listed: the answer to it (to an empty text too), or why there is none. `shown` makes of a
    label what may be seen of it, once it is in sight.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(CHOOSE)
    DEFAULT_CSS = """
    Choose LineView {
        height: auto;
        max-height: 14;
        min-height: 3;
        margin-top: 1;
        & > .line--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    }
    """

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice] = (),
        current: str = "",
        *,
        search: Search | None = None,
        shown: Callable[[str], str] = str,
    ) -> None:
        super().__init__(title, [a for a in CHOOSE if a.show])
        self._choices = choices
        self._current = current
        self._search = search
        self._shown = shown

    def contents(self) -> Iterable[Widget]:
        """Return the filter and the list."""
        choices: LineView[Choice] = LineView(self._draw, lambda choice: choice.id, empty=Content(NO_MATCH))
        choices.can_focus = False
        return (SafeInput(placeholder="type to narrow the list"), choices)

    def on_mount(self) -> None:
        """List everything, the cursor on the current choice."""
        if self._search is not None:
            self._find(self._search)
            return
        place = next((i for i, choice in enumerate(self._choices) if choice.id == self._current), 0)
        self._list.set_rows(self._choices, cursor=place)

    @property
    def _list(self) -> LineView[Choice]:
        return self.query_one(LineView)

    @property
    def _words(self) -> list[str]:
        return self.query_one(SafeInput).value.split()

    def _draw(self, choice: Choice, width: int) -> list[Cell]:
        said = self._shown(choice.label)
        label = highlight(said, find_words(said, self._words))
        remark = min(len(choice.remark), width // 2)
        return [Cell(label), *([Cell(choice.remark, remark, MUTED, "right")] if remark else [])]

    def on_input_changed(self) -> None:
        """Narrow the list; the cursor goes to the first match."""
        if self._search is not None:
            self._find(self._search)
            return
        words = [word.casefold() for word in self._words]
        said = ((choice, self._shown(choice.label).casefold()) for choice in self._choices)
        self._list.set_rows([choice for choice, label in said if all(word in label for word in words)], cursor=0)

    def _find(self, search: Search) -> None:
        found = search(" ".join(self._words))
        self._list.set_empty(Content(found if isinstance(found, str) else NO_MATCH))
        self._list.set_rows(() if isinstance(found, str) else found, cursor=0)

    @on(Input.Submitted)
    @on(LineView.Opened)
    def action_take(self) -> None:
        """Take the choice under the cursor."""
        choice = self._list.current
        if choice is not None:
            self.dismiss(choice.id)

    def action_up(self) -> None:
        """One choice up."""
        self._list.action_up()

    def action_down(self) -> None:
        """One choice down."""
        self._list.action_down()
