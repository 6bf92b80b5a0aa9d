"""Before a reflection: what would be read, by whom, what it would cost, and exactly what would be sent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.errors import WorkbenchError
from workbench.core.text import printable
from workbench.services.reflection.claude import CLAUDE
from workbench.services.reflection.reflection import EXTRACTIVE, Plan, Reflecting
from workbench.tui.app.actions import bindings
from workbench.tui.reflection.actions import REFLECT, SENT
from workbench.tui.reflection.text import over_budget, plan_text
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.texts.safe_input import SafeInput


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person wants: a reflection as planned, or (without a plan) to see the replies that wait."""

    plan: Plan | None


class ReflectDialog(Dialog[Asked | None]):
    """Plan a reflection; the result is what to do, or None."""

    class Planned(Message):
        """What would be read is gathered, or why it cannot be."""

        def __init__(self, number: int, plan: Plan | None, problem: str) -> None:
            super().__init__()
            self.number = number
            self.plan = plan
            self.problem = problem

    BINDINGS: ClassVar[list[BindingType]] = bindings(REFLECT)
    DEFAULT_CSS = """
    ReflectDialog {
        & > .dialog { width: 84; }
        & #reflect-plan { height: auto; min-height: 4; }
        & SafeInput { margin-top: 1; background: $background; }
    }
    """

    AUTO_FOCUS = ""

    def __init__(self, reflecting: Reflecting, now: datetime) -> None:
        super().__init__("Reflect", [a for a in REFLECT if a.show])
        self._reflecting = reflecting
        self._now = now
        self._reflector = reflecting.default()
        self._number = 0
        self._starts = False
        self.plan: Plan | None = None

    def contents(self) -> Iterable[Widget]:
        """Return what would be done, and the line for the focus."""
        yield Static(Content(""), id="reflect-plan")
        yield SafeInput(placeholder="what to look for (f); empty: whatever stands out")

    def on_mount(self) -> None:
        """Gather what would be read."""
        self._gather()

    # Gathering

    def _gather(self) -> None:
        self._number += 1
        self.plan = None
        self._say(Content.styled("Gathering the memories …", MUTED))
        self._plan(self._number, self._reflector, self.query_one(SafeInput).value.strip())

    @work(thread=True, group="reflect-plan")
    def _plan(self, number: int, reflector: str, focus: str) -> None:
        worker = get_current_worker()
        plan, problem = None, ""
        try:
            plan = self._reflecting.plan(reflector, focus)
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(self.Planned(number, plan, problem))

    @on(Planned)
    def _planned(self, event: Planned) -> None:
        if event.number != self._number:
            return
        self.plan = event.plan
        if event.plan is None:
            self._starts = False
            self._say(Content.styled(f"✗ {printable(event.problem)}", "$text-error"))
            return
        gauge = self._reflecting.gauge()
        waiting = len(self._reflecting.runs.waiting())
        width = self.query_one("#reflect-plan").size.width
        self._say(plan_text(event.plan, gauge, self._now, waiting, width))
        if self._starts:
            self.action_start()

    def _say(self, text: Content) -> None:
        self.query_one("#reflect-plan", Static).update(text)

    # Keys

    def action_start(self) -> None:
        """Reflect; after another focus the memories are gathered for it first."""
        if self.plan is None:
            self._starts = self._number > 0
        elif not self.plan.request.memories or over_budget(self.plan):
            self.app.bell()
        else:
            self.dismiss(Asked(self.plan))

    def action_look_for(self) -> None:
        """Write what to look for."""
        self.query_one(SafeInput).focus()

    @on(Input.Submitted)
    def _focus_written(self) -> None:
        self.set_focus(None)
        self._gather()

    def action_reflector(self) -> None:
        """Take the other reflector."""
        self._starts = False
        self._reflector = EXTRACTIVE if self._reflector == CLAUDE else CLAUDE
        self._gather()

    def action_preview(self) -> None:
        """Show what would be sent."""
        if self.plan is not None:
            preview = self.plan.preview
            self.app.push_screen(SentDialog(preview.texts, preview.remark))

    def action_unread(self) -> None:
        """See the replies that nobody could read."""
        if self._reflecting.runs.waiting():
            self.dismiss(Asked(None))
        else:
            self.app.bell()

    def action_leave(self) -> None:
        """End writing the focus, or close."""
        if self.focused is not None:
            self._focus_written()
        else:
            self.dismiss(None)


class SentDialog(Dialog[None]):
    """Exactly what would leave the machine, to be scrolled through."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(SENT)
    DEFAULT_CSS = """
    SentDialog {
        & > .dialog { width: 94%; max-width: 120; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & VerticalScroll { height: 1fr; background: $background; padding: 0 1; scrollbar-size-vertical: 1; }
        & #sent-remark { height: auto; max-height: 4; margin-bottom: 1; }
    }
    """
    AUTO_FOCUS = ""

    def __init__(self, texts: Sequence[str], remark: str) -> None:
        super().__init__("What leaves this machine", [a for a in SENT if a.show])
        self._texts = tuple(texts)
        self._remark = remark or "Nothing leaves this machine."

    def contents(self) -> Iterable[Widget]:
        """Return the texts in full, in pieces that are quick to lay out."""
        yield Static(Content.styled(printable(self._remark), "bold"), id="sent-remark")
        parts = [part for text in self._texts for part in pieces(text)]
        shown = (Static(Content(printable(part, keep_newlines=True))) for part in parts)
        yield VerticalScroll(*shown, can_focus=False)

    @property
    def _pane(self) -> VerticalScroll:
        return self.query_one(VerticalScroll)

    def action_down(self) -> None:
        """Scroll down."""
        self._pane.scroll_down(animate=False)

    def action_up(self) -> None:
        """Scroll up."""
        self._pane.scroll_up(animate=False)

    def action_on(self) -> None:
        """Scroll a page down."""
        self._pane.scroll_page_down(animate=False)

    def action_back(self) -> None:
        """Scroll a page up."""
        self._pane.scroll_page_up(animate=False)

    def action_first(self) -> None:
        """Scroll to the beginning."""
        self._pane.scroll_home(animate=False)

    def action_last(self) -> None:
        """Scroll to the end."""
        self._pane.scroll_end(animate=False)

    def action_close(self) -> None:
        """Close the preview."""
        self.dismiss(None)


def pieces(text: str, limit: int = 4_000) -> list[str]:
    """Cut a text at line ends into pieces of about `limit` characters; nothing but those line ends is left out."""
    found, at = [], 0
    while len(text) - at > limit:
        end = text.rfind("\n", at, at + limit)
        end = at + limit if end <= at else end
        found.append(text[at:end])
        at = end + 1 if text[end] == "\n" else end
    return [*found, text[at:]]
