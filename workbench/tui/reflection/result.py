"""What a reflection found, and the replies that could not be read: as they came, to ask again or to edit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.text import printable
from workbench.services.reflection.llm_runs import Waiting
from workbench.services.reflection.reflection import Outcome
from workbench.tui.app.actions import Action, bindings
from workbench.tui.reflection.actions import REFLECTED
from workbench.tui.reflection.text import outcome_text
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.dialog import Dialog

_FRAME = 8
"""Rows around what is scrolled: border, title, keys, and some air."""

Next = Literal["review", "again", "edit", "dismiss"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What to do next, and the reply it is about, if there is one."""

    next: Next
    reply: Waiting | None = None


class ResultDialog(Dialog[Chosen | None]):
    """Show what came of a reflection (`None`: only replies of before) and the replies that wait, the first in full."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(REFLECTED)
    DEFAULT_CSS = """
    ResultDialog {
        & > .dialog { width: 92; }
        & #result-found { height: auto; }
        & VerticalScroll { height: auto; scrollbar-size-vertical: 1; }
        & #result-reply { background: $background; padding: 0 1; margin-top: 1; }
        & #result-why { height: auto; margin-top: 1; }
    }
    """
    AUTO_FOCUS = ""

    def __init__(self, outcome: Outcome | None, waiting: Sequence[Waiting], problem: str = "") -> None:
        self._found = outcome
        self._problem = problem
        self._waiting = tuple(waiting)
        super().__init__("Reflected" if outcome is not None else "Replies that could not be read", self._offered_keys())

    def contents(self) -> Iterable[Widget]:
        """Return the candidates in lines, then the first reply that could not be read."""
        parts = [Static(Content(""), id="result-found")]
        if self._waiting:
            parts.append(Static(_why(self._waiting), id="result-why"))
            reply = printable(self._waiting[0].reply.reply, keep_newlines=True)
            parts.append(Static(Content(reply or "(an empty reply)"), id="result-reply"))
        yield VerticalScroll(*parts, can_focus=False)

    def on_mount(self) -> None:
        """Say why what was asked for here before was not done, once the toasts of before are gone."""
        if self._problem:
            self.call_after_refresh(self.notify, printable(self._problem), severity="error", markup=False)

    def on_resize(self) -> None:
        """Fit into the height there is, and cut the lines of the candidates to the width."""
        self._pane.styles.max_height = max(3, self.size.height - _FRAME)
        self.call_after_refresh(self._show_found)

    def _show_found(self) -> None:
        found = self.query_one("#result-found", Static)
        found.display = self._found is not None
        if self._found is not None:
            # The scrollbar may come with the text.
            found.update(outcome_text(self._found, self._pane.size.width - 1))

    def _offered_keys(self) -> list[Action]:
        own = {"reflected.review": self._has_candidates, "reflected.leave": True}
        return [a for a in REFLECTED if a.show and own.get(a.id, bool(self._waiting))]

    @property
    def _has_candidates(self) -> bool:
        return self._found is not None and bool(self._found.candidates)

    @property
    def _pane(self) -> VerticalScroll:
        return self.query_one(VerticalScroll)

    def action_review(self) -> None:
        """Go to Review."""
        self.dismiss(Chosen("review") if self._has_candidates else None)

    def action_again(self) -> None:
        """Ask again for what the reply was to say."""
        self._about_reply("again")

    def action_edit(self) -> None:
        """Edit the reply into candidates."""
        self._about_reply("edit")

    def action_let_go(self) -> None:
        """Let go of the reply."""
        self._about_reply("dismiss")

    def action_down(self) -> None:
        """Scroll down."""
        self._pane.scroll_down(animate=False)

    def action_up(self) -> None:
        """Scroll up."""
        self._pane.scroll_up(animate=False)

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)

    def _about_reply(self, what: Next) -> None:
        if self._waiting:
            self.dismiss(Chosen(what, self._waiting[0]))
        else:
            self.app.bell()


def _why(waiting: Sequence[Waiting]) -> Content:
    first, more = waiting[0].reply, len(waiting) - 1
    others = f" {more} more after it." if more else ""
    about = f" It was asked: {printable(first.question)}" if first.question else ""
    text = Content.styled(f"Could not be read ({printable(first.stage)}): {printable(first.reason)}{others}", "bold")
    return text + Content.styled(about, MUTED)
