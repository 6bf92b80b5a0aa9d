"""Asking Claude to curate a playbook: what would be told, what it would cost, and the reply as cards."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.files.locks import irreplaceable
from workbench.core.record import WorkbenchError
from workbench.core.reflection.reflector import Step
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line, printable
from workbench.services.open import Workbench
from workbench.services.playbook.curation import Asked, CurationPlan, Reply
from workbench.services.reflection.reflection import Waiting
from workbench.tui.app.actions import bindings
from workbench.tui.app.waiting import asking
from workbench.tui.playbook.actions import ASK, SOURCE
from workbench.tui.playbook.curation.cards import CardsDialog
from workbench.tui.reflection.dialog import LONGEST, PlanDialog, ResultDialog, RunDialog, costs, row, unread_line
from workbench.tui.widgets.actions import PROMPT
from workbench.tui.widgets.content import MUTED, assemble, body, keyed, undo
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import amount, number, since
from workbench.tui.widgets.texts.editor import TextEditor
from workbench.tui.widgets.texts.prompt import CheckedLine, Prompt

if TYPE_CHECKING:
    from workbench.services.playbook.curation import Episode


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


NEW, LATEST, MARKED, RUN = "new", "latest", "marked", "run"
RUN_TITLE = "File with one run of an agent: JSON with a question, a reasoning (or trace) and an answer"


class AskDialog(PlanDialog[str | None, CurationPlan]):
    """Ask the Curator; the result is a sentence about what was done with its suggestions, or None.

    `marked` are memories that are marked in the Stream. A reply whose cards were closed is at hand until this closes.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(ASK)
    DEFAULT_CSS = """
    AskDialog #ask-state { height: auto; margin-top: 1; max-height: 6; }
    """

    def __init__(self, bench: Workbench, book: str, marked: Sequence[Memory] = ()) -> None:
        super().__init__(f"Let Claude curate {book}", ASK)
        self._bench = bench
        self._book = book
        self._marked = tuple(marked)
        self._kinds = (MARKED, NEW, LATEST) if marked else (NEW, LATEST)
        self._kind = self._kinds[0]
        self._episode: Episode | None = None
        self.replies: tuple[Reply, ...] = ()

    def contents(self) -> Iterable[Widget]:
        """Return what would be done, and what was done."""
        yield from super().contents()
        yield Static(id="ask-state")

    def on_mount(self) -> None:
        """Gather what would be told."""
        self._tell(self._kind)

    def _tell(self, kind: str) -> None:
        self._kind, self.replies = kind, ()
        self._say(Content(""))
        self.gather(self._plan)

    def _plan(self) -> CurationPlan:
        curation = self._bench.curation
        if self._kind == RUN and self._episode is not None:
            return curation.plan_run(self._book, self._episode)
        if self._kind == MARKED:
            return curation.plan(self._book, curation.marked(self._marked))
        return curation.plan(self._book, curation.unseen(self._book) if self._kind == NEW else curation.latest())

    def told(self, plan: CurationPlan) -> Content:
        """Return what would be told about which playbook, and what it would cost."""
        lines = [row("memories", self._memories(plan))]
        if plan.run is not None:
            unknown = f"; not in the playbook: {', '.join(plan.unknown)}" if plan.unknown else ""
            used = assemble([(amount(len(plan.used), "bullet"), ""), (one_line(unknown, 200), "$text-warning")])
            lines = [row("a run", Content.styled(one_line(plan.run.task, 200), "bold")), row("it used", used)]
        room = "" if plan.room is None else f" · may grow by {number(plan.room)} tokens"
        bullets = amount(len(plan.playbook.bullets), "bullet")
        lines.append(row("playbook", assemble([(bullets, "bold"), (room, MUTED)])))
        if plan.told or plan.run:
            lines.append(row("costs", costs(plan.preview.estimate.total, plan.spent, plan.limit)))
            lines.append(body(plan.preview.remark, MUTED))
        else:
            nothing = "No memory is confirmed yet. Approve candidates in Review (2) first."
            if plan.since is not None:
                nothing = keyed("Nothing new to tell. {ask.lessons} takes the latest ones again.")
            lines.append(Content.styled(nothing, "bold"))
        return Content("\n").join([*lines, *unread_line(len(self._bench.curation.waiting(self._book)), "ask.unread")])

    def _memories(self, plan: CurationPlan) -> Content:
        count, left_out = len(plan.told), plan.lessons.left_out
        told, more = amount(count, "memory", "memories"), ""
        if plan.lessons.chosen:
            more = " marked in the Stream"
        elif plan.since is not None:
            more = f" confirmed since the last curation, {since(plan.since, self._bench.context.now())}"
            more += f"; {number(left_out)} more are too many" if left_out else ""
        else:
            told = f"the latest {number(count)}" + (f" of {number(count + left_out)}" if left_out else "")
            more = " that were confirmed"
        return assemble([(told, "bold"), (more, MUTED)])

    def _say(self, text: Content) -> None:
        state = self.query_one("#ask-state", Static)
        state.display = bool(text.plain)
        state.update(text)

    # Keys

    def start(self, plan: CurationPlan) -> None:
        """Ask, and show each reply as cards; replies that are at hand are shown again."""
        if self.replies or plan.told or plan.run:
            self.run_worker(self._ask(plan))
        else:
            self.app.bell()

    async def _ask(self, plan: CurationPlan) -> None:
        if self.replies:
            await self._show_cards(self.replies)
            return
        dialog: RunDialog[Asked] = RunDialog(
            partial(self._bench.curation.ask, plan), Step("curate" if plan.run is None else "analyse"),
            "Claude curates", partial(put_off, self.app, self._bench, self._book),
        )  # fmt: skip
        asked = await self.app.push_screen_wait(dialog)
        if asked is not None:
            self._say(asked_text(asked))
            await self._show_cards(asked.replies)
        self._look_again()

    def _look_again(self) -> None:
        if self.is_current:
            self.gather(self._plan)

    def action_lessons(self) -> None:
        self._tell(self._kinds[(self._kinds.index(self._kind) + 1) % len(self._kinds)] if self._kind != RUN else NEW)

    @asking
    async def action_run(self) -> None:
        """Learn from a run that is named: the Reflector looks at it, and the Curator is told what it found."""
        prompt = Prompt(RUN_TITLE, placeholder="run.json", check=lambda name: _episode_in(name)[1])
        name = await self.app.push_screen_wait(prompt)
        if name is None:
            return
        self._episode, problem = _episode_in(name)
        if self._episode is None:
            self._say(body(f"✗ {problem}", "$text-error"))
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
        if chosen is None:
            return
        if chosen == "edit":
            await self._edit(waiting[0])
        else:
            await asyncio.to_thread(self._bench.curation.dismiss, waiting[0])
            if chosen == "again":
                said = keyed("Discarded the reply; {app.undo} in the Playbook restores it. {ask.start} asks again.")
                self._say(Content.styled(said, MUTED))
        self._look_again()

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


def asked_text(asked: Asked) -> Content:
    """Return what came of asking: the tokens it took, and what went wrong."""
    used = f"Used {number(asked.usage.input)} tokens in, {number(asked.usage.output)} out."
    lines = [Content.styled(used, MUTED)]
    if asked.problem is not None:
        kept = keyed(" What came is kept: {ask.unread} shows it.") if asked.unread else ""
        lines.insert(0, body(f"✗ {asked.problem.message}{kept}", "$text-error"))
    return Content("\n").join(lines)


def put_off(app: App[object], bench: Workbench, book: str, asked: Asked) -> None:
    """Put replies that nobody waited for into Review, however long others hold the store."""

    def store() -> None:
        with irreplaceable():
            count = sum(bench.curating.put_off(book, reply, range(len(reply.parts))) for reply in asked.replies)
        if count:
            suggestions = amount(count, "suggestion of Claude waits", "suggestions of Claude wait")
            app.call_later(app.notify, f"{suggestions} in Review now (key 2). {undo()} takes that back.", markup=False)

    app.run_worker(store, thread=True)


def _episode_in(name: str) -> "tuple[Episode | None, str | None]":
    """Return the run in a file, or the sentence that says why there is none."""
    from workbench.services.playbook.curation import read_episode

    try:
        return read_episode(Path(name).expanduser()), None
    except (WorkbenchError, RuntimeError) as error:
        return None, str(error)
