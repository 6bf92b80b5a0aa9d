"""Asking for something that takes a while: what would be sent, the reply in the making, and what
came of it.

Reflections and all that Claude is asked for share these dialogs; `reflect` leads a person through a
reflection.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Generic, Literal, Protocol, TypeVar

from textual import on, work
from textual.app import App
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.core.record import WorkbenchError
from workbench.core.reflection.llm import STAGES
from workbench.core.reflection.reflector import Preview, Step, Tell
from workbench.core.reflection.trigger import Gauge
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line, printable
from workbench.services.reflection.reflection import (
    CLAUDE,
    EXTRACTIVE,
    Outcome,
    Plan,
    Reflecting,
    Waiting,
)
from workbench.tui.actions import REFLECT, REFLECTED, RUNNING, SENT
from workbench.tui.app.actions import Action, bindings, footer_entries
from workbench.tui.app.host import Host
from workbench.tui.widgets.bars import behind
from workbench.tui.widgets.bars import gauge as gauge_line
from workbench.tui.widgets.content import MUTED, assemble, body, joined, key_of, keyed, muted
from workbench.tui.widgets.dialog import Dialog, SafeInput, TextDialog
from workbench.tui.widgets.editor import TextEditor
from workbench.tui.widgets.figures import amount, number


class Previewed(Protocol):
    """A plan that says what would be sent."""

    @property
    def preview(self) -> Preview: ...


Found = TypeVar("Found")
P = TypeVar("P", bound=Previewed)
R = TypeVar("R")

Make = Callable[[Tell, Cancelled], Found]
"""Reflects or asks, telling how far it is, until it is done or cancelled; raises `WorkbenchError`."""

LONGEST = 100_000
"""Characters of a reply that can be edited."""

SHOWN = 8_000
"""Characters of what came in that are shown: the last ones."""

_SECONDS = 0.1
"""How often what came in is painted."""

_LABEL = 11


def row(label: str, value: Content) -> Content:
    return muted(f"{label:<{_LABEL}}") + value


def costs(tokens: int, spent: int, limit: int) -> Content:
    """Return what a request costs, of what there is this month (limit 0: as much as one likes)."""
    month = f" · {number(spent)} of {number(limit)} this month" if limit else ""
    style = "$text-warning" if 0 < limit < spent + tokens else MUTED
    return assemble([(f"about {number(tokens)} tokens", "bold"), (month, style)])


def unread_line(count: int, action: str) -> list[Content]:
    if not count:
        return []
    replies = amount(count, "earlier reply is", "earlier replies are")
    said = f"{replies} unreadable: {key_of(action)} shows {'it' if count == 1 else 'them'}."
    return [Content.styled(said, "$text-warning")]


class PlanDialog(Dialog[R], Generic[R, P]):
    """Shows a plan that a thread gathers, before it is carried out; enter that comes too early
    begins it then.
    """

    DEFAULT_CSS = """
    PlanDialog {
        & > .dialog { width: 84; }
        & .dialog--state { height: auto; min-height: 4; }
    }
    """
    AUTO_FOCUS = ""

    def __init__(self, title: str, offered: Iterable[Action]) -> None:
        super().__init__(title, footer_entries(offered))
        self._starts = False
        self.plan: P | None = None

    def contents(self) -> Iterable[Widget]:
        yield self.state

    def told(self, plan: P) -> Content:
        """Return what would be done, in words."""
        raise NotImplementedError

    def start(self, plan: P) -> object:
        """Carry a plan out."""
        raise NotImplementedError

    def gather(self, make: Callable[[], P]) -> None:
        """Have a plan made in place of the one that is shown."""
        self.plan, self._starts = None, False
        self.tell("Collecting memories …")
        self._gather(make)

    @work(exclusive=True, group="plan", description="plan")
    async def _gather(self, make: Callable[[], P]) -> None:
        try:
            self.plan = plan = await asyncio.to_thread(make)
        except WorkbenchError as error:
            self.tell(f"✗ {error}", "$text-error")
            return
        self.tell(self.told(plan))
        if self._starts:
            self.start(plan)

    def action_start(self) -> None:
        """Begin; what is still being gathered comes first."""
        if self.plan is None:
            self._starts = True
        else:
            self.start(self.plan)

    def action_preview(self) -> None:
        if self.plan is not None:
            self.app.push_screen(SentDialog(self.plan.preview))


class SentDialog(TextDialog[None]):
    """Exactly what would leave the machine."""

    HIGH = 0.75
    BINDINGS = bindings(SENT)

    def __init__(self, preview: Preview, more: str = "") -> None:
        remark = " ".join(filter(None, (preview.remark or "Nothing leaves this machine.", more)))
        texts = (Content(printable(text, keep_newlines=True)) for text in preview.texts)
        super().__init__(
            "What leaves this machine", Content("\n\n").join([body(remark, "bold"), *texts]), SENT
        )


Next = Literal["review", "again", "edit", "dismiss"]


class ResultDialog(TextDialog[Next | None]):
    """Shows what came of a reflection (`None`: only replies of before) and the replies that wait,
    the first in full.

    The result is what to do next, with the first reply if it is about one.
    """

    BINDINGS = bindings(REFLECTED)

    def __init__(
        self, outcome: Outcome | None, waiting: Sequence[Waiting], problem: str = ""
    ) -> None:
        self._problem = problem
        self._is_waiting = bool(waiting)
        self._has_candidates = outcome is not None and bool(outcome.candidates)
        own = {"reflected.review": self._has_candidates, "reflected.leave": True}
        parts = [] if outcome is None else [outcome_text(outcome)]
        parts += (
            [_why(waiting), body(waiting[0].reply.reply or "(an empty reply)")] if waiting else []
        )
        super().__init__(
            "Reflected" if outcome is not None else "Unreadable replies",
            Content("\n\n").join(parts),
            [a for a in REFLECTED if own.get(a.id, self._is_waiting)],
        )

    def on_mount(self) -> None:
        """Say why what was asked for here before was not done, once the toasts of before are gone."""
        if self._problem:
            self.call_after_refresh(
                self.notify, printable(self._problem), severity="error", markup=False
            )

    def action_review(self) -> None:
        self.dismiss("review" if self._has_candidates else None)

    def action_reply(self, what: Next) -> None:
        if self._is_waiting:
            self.dismiss(what)
        else:
            self.app.bell()


def _why(waiting: Sequence[Waiting]) -> Content:
    first, more = waiting[0].reply, len(waiting) - 1
    others = f" {more} more after it." if more else ""
    about = f" It was asked: {first.question}" if first.question else ""
    return body(f"Could not be read ({first.stage}): {first.reason}{others}", "bold") + body(
        about, MUTED
    )


class RunDialog(Dialog[Found | None], Generic[Found]):
    """Asks on a thread; the result is what came of it. None: it failed (which was said), or was
    left alone.

    `alone` is given what comes once nobody waits for it here any more, for what `make` does not
    store itself.
    """

    BINDINGS = bindings(RUNNING)
    DEFAULT_CSS = """
    RunDialog {
        & > .dialog { width: 84; height: 70%; min-height: 12; }
        & .dialog--state { height: auto; max-height: 3; }
        & VerticalScroll { height: 1fr; margin-top: 1; background: $background; padding: 0 1; }
        & VerticalScroll { scrollbar-size-vertical: 1; }
    }
    """

    def __init__(
        self,
        make: Make[Found],
        first: Step,
        title: str = "Reflecting",
        alone: Callable[[Found], None] | None = None,
    ) -> None:
        super().__init__(title, RUNNING)
        self._make, self._alone = make, alone
        self._step = first
        self._text = self._painted = ""
        self._left = False
        self._stop = threading.Event()

    def contents(self) -> Iterable[Widget]:
        """Return how far it is, and the text."""
        yield self.state
        yield VerticalScroll(Static(id="run-text"), can_focus=False)

    def on_mount(self) -> None:
        self._show_step()
        self.set_interval(_SECONDS, self._paint)
        self._run(self.app)

    def on_unmount(self) -> None:
        """Let nothing go on that nobody waits for."""
        self._stop.set()
        self._left = True

    @work(thread=True, group="reflect")
    def _run(self, app: App[object]) -> None:
        outcome, problem = None, ""
        try:
            outcome = self._make(self._told, self._stop.is_set)
        except WorkbenchError as error:
            problem = str(error)
        # The app takes it, not this dialog, which may be gone.
        app.call_later(self._ended, app, outcome, problem)

    def _told(self, step: Step) -> None:
        self.call_later(self._went, step)

    def _went(self, step: Step) -> None:
        """Show that a step is done, or that a piece of a reply came in."""
        if self._text and (step.stage, step.done) != (self._step.stage, self._step.done):
            # A line for each proposal on this machine, a paragraph for each reply of Claude.
            self._text = self._text.rstrip("\n") + ("\n" if step.stage == "cluster" else "\n\n")
        self._step = step
        self._text = (self._text + step.text)[-SHOWN:]
        self._show_step()

    def _ended(self, app: App[object], outcome: Found | None, problem: str) -> None:
        """Close with what came of it, or why nothing did; what nobody waits for any more is not
        lost.
        """
        if problem:
            app.notify(printable(problem, keep_newlines=True), severity="error", markup=False)
        if not self._left:
            self.dismiss(outcome)
        elif outcome is not None and self._alone is not None:
            self._alone(outcome)

    def _show_step(self) -> None:
        about = one_line(STAGES.get(self._step.stage, self._step.stage), 60)
        text = Content(f"{about[:1].upper()}{about[1:]} …")
        if self._stop.is_set():
            text = Content.styled("Stopping. Findings are kept; esc again closes this.", "bold")
        elif self._step.total:
            text = gauge_line(self._step.done, self._step.total, about, 24)
        self.tell(text)

    def _paint(self) -> None:
        """Show what came in since the last time; each piece at once would be too often."""
        if self._text != self._painted:
            self._painted = self._text
            self.query_one("#run-text", Static).update(
                Content(printable(self._text, keep_newlines=True))
            )
            self.query_one(VerticalScroll).scroll_end(animate=False)

    def action_stop(self) -> None:
        """Stop; the second time, leave it alone: what it still finds goes to Review by itself."""
        if self._stop.is_set() and not self._left:
            self._left = True
            self.dismiss(None)
        self._stop.set()
        self._show_step()


# Reflecting, from R to Review.


class ReflectDialog(PlanDialog[Plan | Literal["unread"] | None, Plan]):
    """Plan a reflection; the result is the plan to carry out, "unread" to see the replies that
    wait, or None.
    """

    BINDINGS = bindings(REFLECT)
    DEFAULT_CSS = """
    ReflectDialog SafeInput { margin-top: 1; background: $background; }
    """

    def __init__(self, reflecting: Reflecting, now: datetime) -> None:
        super().__init__("Reflect", REFLECT)
        self._reflecting = reflecting
        self._now = now
        self._reflector = reflecting.default()

    def contents(self) -> Iterable[Widget]:
        """Return what would be done, and the line for the focus."""
        yield from super().contents()
        yield SafeInput(placeholder="topic (f); empty: anything")

    def on_mount(self) -> None:
        """Gather what would be read."""
        self._look()

    def _look(self) -> None:
        self.gather(
            partial(self._reflecting.plan, self._reflector, self.query_one(SafeInput).value.strip())
        )

    def told(self, plan: Plan) -> Content:
        return plan_text(
            plan, self._reflecting.gauge(), self._now, len(self._reflecting.runs.waiting())
        )

    def start(self, plan: Plan) -> None:
        """Reflect; after another focus the memories are gathered for it first."""
        if not plan.request.memories or plan.is_over_budget:
            self.app.bell()
        else:
            self.dismiss(plan)

    def action_look_for(self) -> None:
        self.query_one(SafeInput).focus()

    @on(Input.Submitted)
    def _focus_written(self) -> None:
        self.set_focus(None)
        self._look()

    def action_reflector(self) -> None:
        self._reflector = EXTRACTIVE if self._reflector == CLAUDE else CLAUDE
        self._look()

    def action_unread(self) -> None:
        """See the replies that nobody could read."""
        if self._reflecting.runs.waiting():
            self.dismiss("unread")
        else:
            self.app.bell()

    def action_leave(self) -> None:
        """End writing the focus, or close."""
        if self.focused is not None:
            self._focus_written()
        else:
            self.dismiss(None)


async def reflect(app: Host) -> None:
    """Lead a person through a reflection, until nothing is left to decide about what came of it."""
    reflecting = app.bench.reflecting
    plan = await app.push_screen_wait(ReflectDialog(reflecting, app.bench.context.now()))
    if plan is None:
        return
    outcome, problem = None, ""
    waiting = reflecting.runs.waiting()
    if plan != "unread":
        first = Step("questions" if plan.reflector == CLAUDE else "cluster")
        outcome = await app.push_screen_wait(RunDialog(partial(reflecting.reflect, plan), first))
        waiting = () if outcome is None else outcome.unread
    while outcome is not None or waiting:
        chosen = await app.push_screen_wait(ResultDialog(outcome, waiting, problem))
        problem = ""
        if chosen == "review":
            app.switch_mode("review")
        if chosen in (None, "review"):
            return
        if chosen == "again":
            make = partial(reflecting.ask_again, waiting[0])
            outcome = await app.push_screen_wait(RunDialog(make, Step("insights"))) or outcome
        elif chosen == "edit":
            await _edit(app, waiting[0])
        else:
            try:
                await asyncio.to_thread(reflecting.dismiss, waiting[0])
            except WorkbenchError as error:
                problem = str(error)
        kept = {one.reply for one in (*waiting, *(outcome.unread if outcome else ()))}
        waiting = tuple(one for one in reflecting.runs.waiting() if one.reply in kept)
        outcome = None if outcome is None else outcome._replace(unread=waiting)


async def _edit(app: Host, reply: Waiting) -> None:
    """Edit a reply into candidates."""
    title = "Edit into candidates: a list of insights (because of 1, 2), or one in each paragraph"
    stored: list[Memory] = []

    def read(text: str) -> None:
        stored.extend(app.bench.reflecting.read_again(reply, text))

    draft = app.draft(f"llm_runs/{reply.run}", f"reply-{reply.place}")
    await app.push_screen_wait(
        TextEditor(title, reply.reply.reply, limit=LONGEST, check=read, draft=draft)
    )
    if stored:
        app.say(f"{amount(len(stored), 'candidate waits', 'candidates wait')} in Review.")


def plan_text(plan: Plan, gauge: Gauge, now: datetime, unread: int) -> Content:
    """Return what would be read, by whom, and what it would cost, and every condition that makes it
    due.
    """
    if not plan.request.memories:
        empty = "No memories yet. Import some (workbench import FILE), or let an agent add them."
        return joined(Content.styled(empty, "bold"), *unread_line(unread, "reflect.unread"))
    leading = gauge.leading
    due = f" · due ({', '.join(gauge.reached)})" if gauge.reached else " · not due yet"
    lines = [
        row(
            "gauge",
            gauge_line(leading.value, leading.limit, leading.name) + muted(due),
        ),
        row("", behind(gauge)[3:]),
        row("reads", _reads(plan, now)),
    ]
    if plan.reflector == CLAUDE:
        lines.append(row("reflector", Content.styled("Claude", "bold")))
        lines.append(row("costs", costs(plan.preview.estimate.total, plan.spent, plan.limit)))
    else:
        lines.append(
            row(
                "reflector",
                Content(
                    "extractive: recurring statements and standing instructions, word for word"
                ),
            )
        )
    lines.append(body(plan.preview.remark, MUTED))
    if plan.is_over_budget:
        over = keyed(
            "✗ Over this month's limit: nothing is sent. {reflect.reflector} reflects on this machine "
            "instead; a higher claude.monthly_tokens in the config, or 0 for no limit, lets it."
        )
        lines.append(Content.styled(over, "$text-warning"))
    return joined(*lines, *unread_line(unread, "reflect.unread"))


def _reads(plan: Plan, now: datetime) -> Content:
    days = max(0, (now - plan.request.memories[0].created_at).days)
    ago = (
        "today"
        if days == 0
        else "since yesterday"
        if days == 1
        else f"of the last {number(days)} days"
    )
    reflections = sum(memory.is_synthetic for memory in plan.request.memories)
    among = f", among them {amount(reflections, 'reflection')}" if reflections else ""
    return assemble(
        [
            (f"{amount(len(plan.request.memories), 'memory', 'memories')} {ago}", "bold"),
            (among, MUTED),
        ]
    )


def _sentence(candidates: int, unread: bool) -> str:
    if candidates:
        return f"{amount(candidates, 'candidate waits', 'candidates wait')} in Review."
    if unread:
        return "No candidates yet: the reply was unreadable."
    return "Nothing new recurs often enough to be proposed."


def outcome_text(outcome: Outcome) -> Content:
    """Return what came of a reflection: the candidates in a line each, what it used, why it
    stopped.
    """
    reflection, count = outcome.reflection, len(outcome.candidates)
    by_person = outcome.problem is None and reflection.by_person
    stopped = f"You stopped it; {number(count) if count else 'nothing was'} found."
    lines = [
        Content.styled(stopped if by_person else _sentence(count, bool(outcome.unread)), "bold")
    ]
    if outcome.problem is not None:
        lines.append(body(f"✗ {outcome.problem}", "$text-error"))
    elif not reflection.complete and not by_person:
        lines.append(body(f"It is not complete: {reflection.stopped}", "$text-warning"))
    if outcome.afterwards is not None:
        lines.append(body(f"✗ {outcome.afterwards}", "$text-warning"))
    if (usage := reflection.usage).total:
        lines.append(muted(f"Used {number(usage.input)} tokens in, {number(usage.output)} out."))
    if outcome.unread:
        parts = amount(len(outcome.unread), "part of a reply is", "parts of replies are")
        lines.append(Content.styled(f"{parts} unreadable; see below.", "$text-warning"))
    if outcome.again:
        insights = amount(len(outcome.again), "insight says", "insights say")
        lines.append(muted(f"{insights} something already confirmed, waiting or rejected."))
    for memory in outcome.candidates:
        why = one_line(str(memory.metadata.get("why", "") or "no evidence"), 400)
        lines.append(
            assemble(
                [
                    ("\n· ", "$text-accent"),
                    (one_line(memory.content, 200), ""),
                    (f"\n  {why}", MUTED),
                ]
            )
        )
    return joined(*lines)
