"""Before a reflection: what would be read, by whom, what it would cost, and exactly what would be sent."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Generic, Literal, TypeVar

from textual import on, work
from textual.app import App
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.record import WorkbenchError
from workbench.core.reflection.reflector import Step, Tell
from workbench.core.runtime import Cancelled
from workbench.core.text import printable
from workbench.services.reflection.reflection import CLAUDE, EXTRACTIVE, Outcome, Plan, Reflecting, Waiting
from workbench.tui.app.actions import Action, bindings
from workbench.tui.reflection.actions import REFLECT, REFLECTED, RUNNING, SENT
from workbench.tui.reflection.text import outcome_text, over_budget, plan_text, step_text
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
        self.query_one(SafeInput).focus()

    @on(Input.Submitted)
    def _focus_written(self) -> None:
        self.set_focus(None)
        self._gather()

    def action_reflector(self) -> None:
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
        self._pane.scroll_down(animate=False)

    def action_up(self) -> None:
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


# What a reflection found, and the replies that could not be read: as they came, to ask again or to edit.


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
        self.dismiss(Chosen("review") if self._has_candidates else None)

    def action_again(self) -> None:
        """Ask again for what the reply was to say."""
        self._about_reply("again")

    def action_edit(self) -> None:
        """Edit the reply into candidates."""
        self._about_reply("edit")

    def action_let_go(self) -> None:
        self._about_reply("dismiss")

    def action_down(self) -> None:
        self._pane.scroll_down(animate=False)

    def action_up(self) -> None:
        self._pane.scroll_up(animate=False)

    def action_leave(self) -> None:
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


# A reflection in the making: how far it is, the text as it comes in, and esc to stop it.


SHOWN = 8_000
"""Characters of what came in that are shown: the last ones."""

_SECONDS = 0.1
"""How often what came in is painted."""

Found = TypeVar("Found")

Make = Callable[[Tell, Cancelled], Found]
"""Reflects or asks, telling how far it is, until it is done or cancelled; raises `WorkbenchError`."""


class RunDialog(Dialog[Found | None], Generic[Found]):
    """Reflect on a thread; the result is what came of it. None: it failed (which was said), or was left alone.

    `alone` is given what comes once nobody waits for it here any more, for what `make` does not store itself.
    """

    class Went(Message):
        """A step of the reflection."""

        def __init__(self, step: Step) -> None:
            super().__init__()
            self.step = step

    BINDINGS: ClassVar[list[BindingType]] = bindings(RUNNING)
    DEFAULT_CSS = """
    RunDialog {
        & > .dialog { width: 84; height: 70%; min-height: 12; }
        & #run-step { height: auto; max-height: 3; }
        & VerticalScroll { height: 1fr; margin-top: 1; background: $background; padding: 0 1; }
        & VerticalScroll { scrollbar-size-vertical: 1; }
    }
    """

    def __init__(
        self,
        make: Make[Found],
        first: Step,
        title: str = "Reflecting",
        alone: Callable[[Found], None] = lambda _: None,
    ) -> None:
        super().__init__(title, RUNNING)
        self._make = make
        self._alone = alone
        self._left = False
        self._step = first
        self._text = ""
        self._painted = -1
        self._stop = threading.Event()

    def contents(self) -> Iterable[Widget]:
        """Return how far it is, and the text."""
        yield Static(Content(""), id="run-step")
        yield VerticalScroll(Static(Content(""), id="run-text"), can_focus=False)

    def on_mount(self) -> None:
        self._show_step()
        self.set_interval(_SECONDS, self._paint)
        self._reflect()

    def on_unmount(self) -> None:
        """Let nothing go on that nobody waits for."""
        self._stop.set()
        self._left = True

    @work(thread=True, group="reflect")
    def _reflect(self) -> None:
        outcome, problem, app = None, "", self.app
        try:
            outcome = self._make(self._told, self._stop.is_set)
        except WorkbenchError as error:
            problem = str(error)
        # The app takes it, not this dialog, which may be gone.
        app.call_later(self._ended, app, outcome, problem)

    def _told(self, step: Step) -> None:
        """Pass a step on; called on the reflector's thread."""
        self.post_message(self.Went(step))

    @on(Went)
    def _went(self, event: Went) -> None:
        if self._text and (event.step.stage, event.step.done) != (self._step.stage, self._step.done):
            # A line for each proposal on this machine, a paragraph for each reply of Claude.
            self._text = self._text.rstrip("\n") + ("\n" if event.step.stage == "cluster" else "\n\n")
        self._step = event.step
        self._text = (self._text + event.step.text)[-SHOWN:]
        self._show_step()

    def _ended(self, app: App[object], outcome: Found | None, problem: str) -> None:
        """Close with what came of it, or why nothing did; what nobody waits for any more is not lost."""
        if problem:
            app.notify(printable(problem, keep_newlines=True), severity="error", markup=False)
        if not self._left:
            self.dismiss(outcome)
        elif outcome is not None:
            self._alone(outcome)

    def _show_step(self) -> None:
        self.query_one("#run-step", Static).update(step_text(self._step, self._stop.is_set()))

    def _paint(self) -> None:
        """Show what came in since the last time; each piece at once would be too often."""
        if hash(self._text) == self._painted:
            return
        self._painted = hash(self._text)
        self.query_one("#run-text", Static).update(Content(printable(self._text, keep_newlines=True)))
        self.query_one(VerticalScroll).scroll_end(animate=False)

    def action_stop(self) -> None:
        """Stop; the second time, leave it alone: what it still finds goes to Review by itself."""
        if self._stop.is_set() and not self._left:
            self._left = True
            self.dismiss(None)
        self._stop.set()
        self._show_step()
