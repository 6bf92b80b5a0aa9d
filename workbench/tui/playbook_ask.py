"""Asking Claude to curate a playbook: what would be told, what it would cost, and the reply as cards."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.bench.curating import Reply
from workbench.bench.curation_asking import Asked, CurationPlan
from workbench.bench.curation_lessons import Lessons
from workbench.bench.llm_runs import Waiting
from workbench.bench.workbench import Workbench
from workbench.core.errors import WorkbenchError
from workbench.core.memory import Memory
from workbench.core.text import printable
from workbench.reflect.model import Step
from workbench.tui.actions import bindings
from workbench.tui.asking import asking
from workbench.tui.content import MUTED
from workbench.tui.playbook_actions import ASK
from workbench.tui.playbook_ask_text import asked_text, plan_text
from workbench.tui.playbook_cards import CardsDialog
from workbench.tui.reflect_dialog import SentDialog
from workbench.tui.reflect_result import ResultDialog
from workbench.tui.reflect_run import RunDialog
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.editor import TextEditor

LONGEST = 100_000
"""Characters of a reply that can be edited."""

NEW, LATEST, MARKED = "new", "latest", "marked"


class AskDialog(Dialog[str | None]):
    """Ask the Curator; the result is a sentence about what was done with its suggestions, or None.

    `marked` are memories that are marked in the Stream. A reply whose cards were closed is at hand until this closes.
    """

    class Planned(Message):
        """What would be told is gathered, or why it cannot be."""

        def __init__(self, number: int, plan: CurationPlan | None, problem: str) -> None:
            super().__init__()
            self.number = number
            self.plan = plan
            self.problem = problem

    BINDINGS: ClassVar[list[BindingType]] = bindings(ASK)
    DEFAULT_CSS = """
    AskDialog {
        & > .dialog { width: 84; }
        & Static { height: auto; }
        & #ask-plan { min-height: 4; }
        & #ask-state { margin-top: 1; max-height: 6; }
    }
    """
    AUTO_FOCUS = ""

    def __init__(self, bench: Workbench, book: str, marked: Sequence[Memory] = ()) -> None:
        super().__init__(f"Let Claude curate {book}", [a for a in ASK if a.show])
        self._bench = bench
        self._book = book
        self._marked = tuple(marked)
        self._kinds = (MARKED, NEW, LATEST) if marked else (NEW, LATEST)
        self._kind = self._kinds[0]
        self._number = 0
        self.plan: CurationPlan | None = None
        self.reply: Reply | None = None

    def contents(self) -> Iterable[Widget]:
        """Return what would be done, and what was done."""
        yield Static(Content(""), id="ask-plan")
        yield Static(Content(""), id="ask-state")

    def on_mount(self) -> None:
        """Gather what would be told."""
        self._say(Content(""))
        self._gather()

    # Gathering

    def _gather(self) -> None:
        self._number += 1
        self.plan = None
        self._show(Content.styled("Gathering the memories …", MUTED))
        self._plan(self._number, self._kind)

    @work(thread=True, group="ask-plan")
    def _plan(self, number: int, kind: str) -> None:
        worker = get_current_worker()
        plan, problem = None, ""
        try:
            plan = self._bench.curation.plan(self._book, self._lessons(kind))
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(self.Planned(number, plan, problem))

    def _lessons(self, kind: str) -> Lessons:
        curation = self._bench.curation
        if kind == MARKED:
            return curation.marked(self._marked)
        return curation.unseen(self._book) if kind == NEW else curation.latest()

    @on(Planned)
    def _planned(self, event: Planned) -> None:
        if event.number != self._number:
            return
        self.plan = event.plan
        if event.plan is None:
            self._show(Content.styled(f"✗ {printable(event.problem)}", "$text-error"))
        else:
            unread = len(self._bench.curation.waiting(self._book))
            self._show(plan_text(event.plan, self._bench.context.now(), unread, self._width))

    @property
    def _width(self) -> int:
        return self.query_one("#ask-plan").size.width

    def _show(self, text: Content) -> None:
        self.query_one("#ask-plan", Static).update(text)

    def _say(self, text: Content) -> None:
        state = self.query_one("#ask-state", Static)
        state.display = bool(text.plain)
        state.update(text)

    # Keys

    @asking
    async def action_start(self) -> None:
        """Ask, and show the reply as cards; a reply that is at hand is shown again."""
        if self.reply is not None:
            await self._show_cards(self.reply)
            return
        plan = self.plan
        if plan is None or not plan.told:
            self.app.bell()
            return
        make = partial(self._bench.curation.ask, plan)
        dialog: RunDialog[Asked] = RunDialog(make, Step("curate"), "Claude curates")
        asked = await self.app.push_screen_wait(dialog)
        if asked is not None:
            self._say(asked_text(asked))
            for reply in asked.replies:
                await self._show_cards(reply)
        if self.is_current:
            self._gather()

    def action_preview(self) -> None:
        """Show what would be sent."""
        if self.plan is not None:
            self.app.push_screen(SentDialog(self.plan.preview.texts, self.plan.preview.remark))

    def action_lessons(self) -> None:
        """Tell other memories."""
        self._kind = self._kinds[(self._kinds.index(self._kind) + 1) % len(self._kinds)]
        self.reply = None
        self._say(Content(""))
        self._gather()

    @asking
    async def action_unread(self) -> None:
        """Edit a reply that nobody could read and read it again, ask anew, or let go of it."""
        waiting = self._bench.curation.waiting(self._book)
        if not waiting:
            self.app.bell()
            return
        chosen = await self.app.push_screen_wait(ResultDialog(None, waiting))
        if chosen is None or chosen.reply is None:
            return
        if chosen.next == "edit":
            await self._edit(chosen.reply)
        else:
            self._bench.curation.dismiss(chosen.reply)
            if chosen.next == "again":
                self._say(
                    Content.styled("Let go of the reply; u in the Playbook brings it back. enter asks anew.", MUTED)
                )
        if self.is_current:
            self._gather()

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)

    # Replies

    async def _edit(self, waiting: Waiting) -> None:
        """Edit a reply until it can be read, then show it as cards."""
        found: list[Reply] = []

        def read(text: str) -> str | None:
            try:
                found.append(self._bench.curation.read_again(waiting, text))
            except WorkbenchError as error:
                return str(error)
            return None

        title = "Edit the reply until it can be read: JSON with a list of “operations”"
        await self.app.push_screen_wait(TextEditor(title, waiting.reply.reply, limit=LONGEST, check=read))
        if found:
            await self._show_cards(found[0])

    async def _show_cards(self, reply: Reply) -> None:
        self.reply = reply
        said = await self.app.push_screen_wait(CardsDialog(self._bench, self._book, reply))
        if said:
            self.dismiss(said)
        elif self.is_current:
            self._say(Content.styled("The reply is still at hand: enter shows its cards again, esc drops it.", "bold"))
