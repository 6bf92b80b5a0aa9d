"""Asking Claude to curate a playbook: what would be told, what it would cost, and the reply as cards."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import App
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.files.locks import irreplaceable
from workbench.core.record import WorkbenchError
from workbench.core.reflection.reflector import Step
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line, printable
from workbench.services.open import Workbench
from workbench.services.playbook.curation import Asked, CurationPlan, Reply
from workbench.services.playbook.curation_lessons import Lessons
from workbench.services.reflection.reflection import Waiting
from workbench.tui.app.actions import bindings
from workbench.tui.app.waiting import asking
from workbench.tui.playbook.actions import ASK, SOURCE
from workbench.tui.playbook.curation.cards import CardsDialog
from workbench.tui.reflection.dialog import ResultDialog, RunDialog, SentDialog
from workbench.tui.widgets.actions import PROMPT
from workbench.tui.widgets.content import MUTED, assemble, key_of, keyed, undo
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import amount, number, since
from workbench.tui.widgets.texts.editor import TextEditor
from workbench.tui.widgets.texts.prompt import CheckedLine, Prompt

if TYPE_CHECKING:
    from workbench.services.playbook.curation_run import Episode


# What the dialog that asks the Curator says.


_LABEL = 11
NOTHING = "No memory is confirmed yet. Approve candidates in Review (2) first."


def plan_text(plan: CurationPlan, now: datetime, unread: int, width: int) -> Content:
    """Return what would be told about which playbook, and what it would cost."""
    told = [_row("memories", _memories(plan, now))] if plan.run is None else _run(plan, width)
    lines = [*told, _row("playbook", _playbook(plan))]
    if plan.told or plan.run:
        lines.append(_row("costs", _costs(plan)))
        room = max(20, width - _LABEL)
        lines += [Content.styled(" " * _LABEL + part, MUTED) for part in wrap(printable(plan.preview.remark), room)]
    else:
        lines.append(Content.styled(_nothing(plan), "bold"))
    if unread:
        replies = amount(unread, "earlier reply", "earlier replies")
        lines.append(
            Content.styled(f"{replies} could not be read: {key_of('ask.unread')} shows them.", "$text-warning")
        )
    return Content("\n").join(lines)


def asked_text(asked: Asked) -> Content:
    """Return what came of asking: the tokens it took, and what went wrong."""
    used = f"Used {number(asked.usage.input)} tokens in, {number(asked.usage.output)} out."
    lines = [Content.styled(used, MUTED)]
    if asked.problem is not None:
        kept = keyed(" What came is kept: {ask.unread} shows it.") if asked.unread else ""
        lines.insert(0, Content.styled(f"✗ {printable(asked.problem.message)}{kept}", "$text-error"))
    return Content("\n").join(lines)


def _memories(plan: CurationPlan, now: datetime) -> Content:
    count = len(plan.told)
    word = "memory" if count == 1 else "memories"
    if plan.lessons.chosen:
        return assemble([(f"{number(count)} {word}", "bold"), (" marked in the Stream", MUTED)])
    if plan.since is not None:
        new = f" confirmed since the last curation, {since(plan.since, now)}"
        more = f"; {number(plan.lessons.left_out)} more are too many" if plan.lessons.left_out else ""
        return assemble([(f"{number(count)} {word}", "bold"), (new + more, MUTED)])
    more = f" of {number(count + plan.lessons.left_out)}" if plan.lessons.left_out else ""
    return assemble([(f"the latest {number(count)}{more}", "bold"), (" that were confirmed", MUTED)])


def _run(plan: CurationPlan, width: int) -> list[Content]:
    """Name the run's question and the bullets it used, also those that are not in the playbook."""
    assert plan.run is not None
    room = max(20, width - _LABEL)
    used = amount(len(plan.used), "bullet")
    unknown = f"; not in the playbook: {', '.join(plan.unknown)}" if plan.unknown else ""
    rest = one_line(unknown, max(0, room - len(used)))
    question = Content.styled(one_line(plan.run.task, room), "bold")
    return [_row("a run", question), _row("it used", assemble([(used, ""), (rest, "$text-warning")]))]


def _nothing(plan: CurationPlan) -> str:
    return NOTHING if plan.since is None else keyed("Nothing new to tell. {ask.lessons} takes the latest ones again.")


def _playbook(plan: CurationPlan) -> Content:
    count = len(plan.playbook.bullets)
    room = "" if plan.room is None else f" · may grow by {number(plan.room)} tokens"
    return assemble([(amount(count, "bullet"), "bold"), (room, MUTED)])


def _costs(plan: CurationPlan) -> Content:
    estimate = plan.preview.estimate.total
    month = f" · {number(plan.spent)} of {number(plan.limit)} this month" if plan.limit else ""
    over = 0 < plan.limit < plan.spent + estimate
    return assemble([(f"about {number(estimate)} tokens", "bold"), (month, "$text-warning" if over else MUTED)])


def _row(label: str, value: Content) -> Content:
    return Content.styled(f"{label:<{_LABEL}}", MUTED) + value


# Where suggestions for a playbook come from: a file, pasted text, or Claude.


TITLE = "File with a Curator's or Reflector's reply; leave it empty to paste the text"
CAN_ASK = "Or let Claude, as the Curator, suggest changes by what was confirmed lately."
CANNOT_ASK = "Once ANTHROPIC_API_KEY is set, Claude can be asked from here as well."


class SourcePrompt(Dialog[str | None]):
    """Ask for a file; the result is its name, "" for pasting, or None. `wants_claude` says that Claude is to be asked.

    Asking is offered when there is a key (`can_ask`).
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings((*PROMPT, *SOURCE))
    DEFAULT_CSS = """
    SourcePrompt #source-claude { height: auto; color: $text-muted; }
    """

    def __init__(self, *, can_ask: bool, check: Callable[[str], str | None]) -> None:
        super().__init__(TITLE, (PROMPT[0], *SOURCE, *PROMPT[1:]) if can_ask else PROMPT)
        self._line = CheckedLine("", "reply.json", check)
        self._can_ask = can_ask
        self.wants_claude = False

    def contents(self) -> Iterable[Widget]:
        """Return the input, and whether Claude can be asked."""
        yield self._line
        yield Static(Content.styled(CAN_ASK if self._can_ask else CANNOT_ASK, MUTED), id="source-claude")

    def on_input_submitted(self) -> None:
        """Enter inside the input takes the line."""
        self.action_take()

    def action_take(self) -> None:
        """Take the name of the file, or say what is wrong with it."""
        name = self._line.taken()
        if name is not None:
            self.dismiss(name)

    def action_ask(self) -> None:
        """Ask Claude instead."""
        if self._can_ask:
            self.wants_claude = True
            self.dismiss(None)
        else:
            self.app.bell()


LONGEST = 100_000
"""Characters of a reply that can be edited."""

NEW, LATEST, MARKED, RUN = "new", "latest", "marked", "run"
RUN_TITLE = "File with one run of an agent: JSON with a question, a reasoning (or trace) and an answer"


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
        self._episode: Episode | None = None
        self.plan: CurationPlan | None = None
        self.replies: tuple[Reply, ...] = ()

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
        self._show(Content.styled("Gathering what would be told …", MUTED))
        self._plan(self._number, self._kind, self._episode)

    @work(thread=True, group="ask-plan", description="plan")
    def _plan(self, number: int, kind: str, episode: "Episode | None") -> None:
        worker = get_current_worker()
        plan, problem = None, ""
        try:
            if kind == RUN and episode is not None:
                plan = self._bench.curation.plan_run(self._book, episode)
            else:
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
        """Ask, and show each reply as cards; replies that are at hand are shown again."""
        if self.replies:
            await self._show_cards(self.replies)
            return
        plan = self.plan
        if plan is None or not (plan.told or plan.run):
            self.app.bell()
            return
        make = partial(self._bench.curation.ask, plan)
        first = Step("curate" if plan.run is None else "analyse")
        dialog: RunDialog[Asked] = RunDialog(
            make, first, "Claude curates", partial(put_off, self.app, self._bench, self._book)
        )
        asked = await self.app.push_screen_wait(dialog)
        if asked is not None:
            self._say(asked_text(asked))
            await self._show_cards(asked.replies)
        if self.is_current:
            self._gather()

    def action_preview(self) -> None:
        """Show what would be sent."""
        if self.plan is not None:
            self.app.push_screen(SentDialog(self.plan.preview.texts, self.plan.preview.remark))

    def action_lessons(self) -> None:
        self._tell(self._kinds[(self._kinds.index(self._kind) + 1) % len(self._kinds)] if self._kind != RUN else NEW)

    def _tell(self, kind: str) -> None:
        self._kind = kind
        self.replies = ()
        self._say(Content(""))
        self._gather()

    @asking
    async def action_run(self) -> None:
        """Learn from a run that is named: the Reflector looks at it, and the Curator is told what it found."""
        prompt = Prompt(RUN_TITLE, placeholder="run.json", check=lambda name: _episode_in(name)[1])
        name = await self.app.push_screen_wait(prompt)
        if name is None:
            return
        self._episode, problem = _episode_in(name)
        if self._episode is None:
            self._say(Content.styled(f"✗ {printable(problem or '')}", "$text-error"))
        elif self.is_current:
            self._tell(RUN)

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
            await asyncio.to_thread(self._bench.curation.dismiss, chosen.reply)
            if chosen.next == "again":
                self._say(
                    Content.styled(
                        keyed("Discarded the reply; {app.undo} in the Playbook restores it. {ask.start} asks again."),
                        MUTED,
                    )
                )
        if self.is_current:
            self._gather()

    def action_leave(self) -> None:
        self.dismiss(None)

    # Replies

    async def _edit(self, waiting: Waiting) -> None:
        """Edit a reply until it can be read, then show it as cards."""
        found: list[Reply] = []

        def read(text: str) -> None:
            found.append(self._bench.curation.read_again(waiting, text))

        title = "Edit the reply until it can be read: JSON with a list of “operations”"
        await self.app.push_screen_wait(TextEditor(title, waiting.reply.reply, limit=LONGEST, check=read))
        if found:
            await self._show_cards(found)

    async def _show_cards(self, replies: Sequence[Reply]) -> None:
        """Show replies one after the other; those whose cards were closed stay at hand."""
        done, left = list[str](), list[Reply]()
        for reply in replies:
            said = await self.app.push_screen_wait(CardsDialog(self._bench, self._book, reply))
            if said:
                done.append(said)
            else:
                left.append(reply)
        self.replies = tuple(left)
        if done and not left:
            self.dismiss(" ".join(done))
        elif left and self.is_current:
            what = "reply is" if len(left) == 1 else "replies are"
            said = f"The {what} still at hand: enter shows the cards again, esc drops them."
            self._say(Content.styled(" ".join((*map(printable, done), said)), "bold"))


def put_off(app: App[object], bench: Workbench, book: str, asked: Asked) -> None:
    """Put replies that nobody waited for into Review, however long others hold the store."""

    def store() -> None:
        with irreplaceable():
            count = sum(bench.curating.put_off(book, reply, range(len(reply.parts))) for reply in asked.replies)
        if count:
            suggestions = "1 suggestion of Claude waits" if count == 1 else f"{count} suggestions of Claude wait"
            app.call_later(app.notify, f"{suggestions} in Review now (key 2). {undo()} takes that back.", markup=False)

    app.run_worker(store, thread=True)


def _episode_in(name: str) -> "tuple[Episode | None, str | None]":
    """Return the run in a file, or the sentence that says why there is none."""
    from workbench.services.playbook.curation_run import read_episode

    try:
        return read_episode(Path(name).expanduser()), None
    except (WorkbenchError, RuntimeError) as error:
        return None, str(error)
