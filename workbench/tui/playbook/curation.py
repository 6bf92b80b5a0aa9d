"""What a Curator or a Reflector suggests, as cards; all that is accepted is one action."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual import on
from textual.app import App
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.files.locks import irreplaceable
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.operations import BulletTag, Delete
from workbench.core.record import WorkbenchError
from workbench.core.reflection.reflector import Step
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line, printable
from workbench.services.open import Workbench
from workbench.services.playbook.curation import (
    Asked,
    Card,
    CurationPlan,
    Reply,
    edited,
    read_episode,
)
from workbench.services.reflection.reflection import Waiting
from workbench.services.safety.texts import place_of
from workbench.tui.actions import ASK, CARDS, PROMPT, SOURCE, on_row
from workbench.tui.app.actions import bindings, footer_entries
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking, change
from workbench.tui.records.actions import Acts, Place
from workbench.tui.reflection import (
    LONGEST,
    PlanDialog,
    ResultDialog,
    RunDialog,
    costs,
    row,
    unread_line,
)
from workbench.tui.review.inbox import ALIKE, diff_legend, heading, overlap
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    joined,
    keyed,
    muted,
    undo,
    word_diff,
)
from workbench.tui.widgets.dialog import Dialog, Prompt
from workbench.tui.widgets.editor import TextEditor
from workbench.tui.widgets.figures import amount, number, since
from workbench.tui.widgets.line_list import Cell, LineView
from workbench.tui.widgets.reading_pane import ReadingPane

if TYPE_CHECKING:
    from workbench.services.playbook.curation import Episode


# A suggestion for a playbook as text: what would happen, and both texts with their difference.


Decision = Literal["", "accept", "skip"]
SIGNS: dict[Decision, tuple[str, str]] = {
    "": ("·", MUTED),
    "accept": ("✓", "bold $text-success"),
    "skip": ("✗", MUTED),
}
PROBLEM = ("!", "bold $text-warning")


def card_text(card: Card, decision: Decision) -> Content:
    """Return a card in full: what would happen, why, what stands in its way, and the texts."""
    parts = [heading(one_line(card.title, 200))]
    if decision:
        parts.append(
            Content.styled(
                {"accept": "✓ accepted", "skip": "✗ left out"}[decision], SIGNS[decision][1]
            )
        )
    return joined(*parts, *reasons(card), *texts(card))


def reasons(card: Card) -> list[Content]:
    """Return what stands in the way of a card, and why it is suggested."""
    parts = []
    if card.problem:
        parts.append(
            Content.styled("! ", "bold $text-warning") + body(card.problem, "$text-warning")
        )
    if card.reason:
        parts.append(muted("because  ") + body(card.reason))
    return parts


def texts(card: Card) -> list[Content]:
    """Return the difference from each text that it is alike enough to, the new text, and the
    bullets as they are.
    """
    if card.suggested is None:
        return [BLANK, heading("As it came"), body(card.raw)]
    parts = []
    for bullet in card.touches:
        before = bullet.content
        if card.after and card.after != before and overlap(before, card.after) >= ALIKE:
            title = (
                "The difference"
                if len(card.touches) == 1
                else f"From {one_line(bullet.id, 60)} to the new text"
            )
            parts += [BLANK, heading(title, diff_legend()), word_diff(before, card.after)]
    if card.after and card.after != card.before:
        parts += [BLANK, heading("The new text"), body(card.after)]
    for bullet in card.touches:
        parts += [BLANK, _as_it_is(bullet), body(bullet.content)]
    return parts


def _as_it_is(bullet: Bullet) -> Content:
    marks = f"+{bullet.helpful_count} −{bullet.harmful_count}"
    return heading("Now", assemble([(printable(bullet.id), "bold"), (f"  {marks}", MUTED)]))


NO_BULLET = "That key is for one bullet; this suggestion concerns none, or several."


class CardsDialog(Dialog[str | None]):
    """Cards to decide on; the result is a sentence about what was done, or None."""

    BINDINGS = bindings((*CARDS, *on_row("e")))
    DEFAULT_CSS = """
    CardsDialog {
        & > .dialog { width: 96%; height: 96%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & .dialog--state { height: auto; max-height: 4; margin-bottom: 1; }
        & #cards-panes { layout: horizontal; height: 1fr; }
        & LineView { width: 2fr; background: $surface; }
        & ReadingPane { width: 3fr; border-left: solid $panel; }
        &.-narrow #cards-panes { layout: vertical; }
        &.-narrow LineView { width: 1fr; height: 2fr; }
        &.-narrow ReadingPane { width: 1fr; height: 3fr; border-left: none; border-top: solid $panel; }
    }
    """

    def __init__(self, bench: Workbench, book: str, reply: Reply) -> None:
        super().__init__(f"What the {reply.actor} suggests for {book}", footer_entries(CARDS))
        self._bench = bench
        self._book = book
        self._reply = reply
        self._decided: dict[int, Decision] = {}
        self._kept: tuple[str, ...] = ()
        self._warned = False
        self.cards: tuple[Card, ...] = ()
        self.acts = Acts(self, self._bullet_here, missing=NO_BULLET, then=self._look)

    def contents(self) -> Iterable[Widget]:
        """Return what the reply says, the cards, and the one under the cursor."""
        yield self.state
        nothing = Content("No suggestions in the reply.")
        rows: LineView[int] = LineView(self._draw, lambda place: place, empty=nothing)
        yield Container(rows, ReadingPane(id="card"), id="cards-panes")

    def on_mount(self) -> None:
        """Look at every suggestion."""
        self.rows.focus()
        self._look()

    def decision(self, place: int) -> Decision:
        """Return what was decided on a card."""
        return self._decided.get(place, "")

    def _look(self) -> None:
        """Look at the cards again: whether one is possible depends on those before it."""
        skipped = [place for place, decision in self._decided.items() if decision == "skip"]
        try:
            self.cards = self._bench.curating.cards(self._book, self._reply, skipped)
        except WorkbenchError as error:
            self.complain(error)
            return
        for place, card in enumerate(self.cards):
            if card.problem and self.decision(place) == "accept":
                self._decided.pop(place)
        self.rows.set_rows(range(len(self.cards)), cursor=self.rows.cursor)
        self.tell(self._state())
        self._show()

    def _state(self) -> Content:
        accepted, skipped = (
            sum(d == kind for d in self._decided.values()) for kind in ("accept", "skip")
        )
        wrong = sum(bool(card.problem) for card in self.cards)
        left = len(self.cards) - accepted - skipped - wrong
        parts = [(f"{accepted} accepted · {skipped} skipped · {left} undecided", "bold")]
        if wrong:
            parts.append((f" · {wrong} not possible", "bold $text-warning"))
        if self._reply.said:
            parts.append((f"\n{one_line(self._reply.said, 500)}", MUTED))
        return assemble(parts)

    def _draw(self, place: int, _width: int) -> list[Cell]:
        card, decision = self.cards[place], self.decision(place)
        sign, style = PROBLEM if card.problem and not decision else SIGNS[decision]
        return [
            Cell(sign, 1, style),
            Cell(card.title, 0, MUTED if decision == "skip" or card.problem else ""),
        ]

    @on(LineView.Highlighted)
    def _show(self) -> None:
        place = self.rows.current
        shown = self._bench.safety.shown
        text = BLANK if place is None else card_text(shown(self.cards[place]), self.decision(place))
        self.query_one(ReadingPane).show(text)

    def _bullet_here(self) -> Place | None:
        """Return where the only bullet is that the suggestion under the cursor is about."""
        place = self.rows.current
        touched = () if place is None else self.cards[place].touches
        return place_of(touched[0]) if len(touched) == 1 else None

    # Deciding

    def action_decide(self, decision: Decision) -> None:
        place = self.rows.current
        if place is None:
            return
        if decision == "accept" and self.cards[place].problem:
            self.app.bell()
            return
        self._warned = False
        self._decided[place] = decision
        self.rows.cursor += 1
        self._look()

    def action_clear(self) -> None:
        """Take the decision back."""
        if self.rows.current is not None:
            self._decided.pop(self.rows.current, None)
            self._look()

    def action_all(self) -> None:
        """Accept all that is undecided and possible."""
        for place, card in enumerate(self.cards):
            if not card.problem and not self.decision(place):
                self._decided[place] = "accept"
        self._look()

    @asking
    async def action_edit(self) -> None:
        """Edit its text; saving accepts it."""
        place = self.rows.current
        if place is None or self.cards[place].suggested is None:
            self.app.bell()
            return
        suggested, reason = self._reply.parts[place]
        if isinstance(suggested, Delete | BulletTag):
            self.tell(
                muted(
                    keyed(
                        "This suggestion has no text to edit: {cards.accept} accepts it, {cards.skip} skips it."
                    )
                )
            )
            return
        card, preview = self.cards[place], Preview(self._bench, self.cards[place].after)
        if (
            await self.app.push_screen_wait(TextEditor(card.title[:200], card.after, check=preview))
            is not None
        ):
            text = preview.text
            self._kept += preview.typed
            parts = list(self._reply.parts)
            parts[place] = (edited(suggested, text), reason)
            self._reply = self._reply._replace(parts=tuple(parts))
            self._look()
            if not self.cards[place].problem:
                self.action_decide("accept")

    # Carrying out

    def action_apply(self) -> None:
        """Change the playbook as accepted, as one action."""
        if not self._accepted():
            self.tell(
                Content.styled(
                    keyed(
                        "Nothing is accepted yet: {cards.accept} accepts, {cards.all} accepts all."
                    ),
                    "$text-warning",
                )
            )
            return
        self._carry_out(to_review=False)

    def action_later(self) -> None:
        """Apply what is accepted, and put what is undecided into Review."""
        self._carry_out(to_review=True)

    def _accepted(self) -> list[int]:
        return sorted(place for place, decision in self._decided.items() if decision == "accept")

    def _carry_out(self, *, to_review: bool) -> None:
        accepted = self._accepted()
        rest = (
            [place for place in range(len(self._reply.parts)) if not self.decision(place)]
            if to_review
            else []
        )
        keep = partial(self._bench.safety.keep_typed, *self._kept)
        chosen = [self._reply.parts[place][0] for place in accepted]

        def settle() -> None:
            said, curating = [], self._bench.curating
            with self._bench.library.turn():
                if chosen:
                    said.append(
                        f"Applied {curating.apply(self._book, self._reply, chosen, keep)} suggestions."
                    )
                if rest:
                    count = curating.put_off(self._book, self._reply, rest, keep)
                    said.append(
                        f"{count} {'waits' if count == 1 else 'wait'} in Review now (key 2)."
                    )
            self.dismiss(" ".join([*said, f"{undo()} takes that back."]))

        if chosen or rest:
            change(self, settle, self.complain)
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        """Close; with decisions only the second time."""
        if self._accepted() and not self._warned:
            self._warned = True
            self.tell(
                Content.styled(
                    keyed("Nothing is applied yet: {cards.apply} applies, esc again discards."),
                    "$text-warning",
                )
            )
        else:
            self.dismiss(None)


# Asking Claude to curate a playbook: what would be told, what it would cost, and the reply as
# cards.


# Where suggestions for a playbook come from: a file, pasted text, or Claude.


TITLE = "File with a Curator's or Reflector's reply; empty: paste the text"
CAN_ASK = "Or ask Claude, as the Curator, for changes based on recent confirmations."
CANNOT_ASK = "Set ANTHROPIC_API_KEY to ask Claude from here."


class SourcePrompt(Prompt):
    """Ask for a file; the result is its name, "" for pasting, or None. `wants_claude` says that
    Claude is to be asked.

    Asking is offered when there is a key (`can_ask`).
    """

    BINDINGS = bindings(SOURCE)
    DEFAULT_CSS = """
    SourcePrompt #source-claude { height: auto; color: $text-muted; }
    """

    def __init__(self, *, can_ask: bool, check: Callable[[str], str | None]) -> None:
        offered = (PROMPT[0], *SOURCE, *PROMPT[1:]) if can_ask else PROMPT
        super().__init__(TITLE, placeholder="reply.json", check=check, offered=offered)
        self._can_ask = can_ask
        self.wants_claude = False

    def contents(self) -> Iterable[Widget]:
        """Return the input, and whether Claude can be asked."""
        yield from super().contents()
        yield Static(muted(CAN_ASK if self._can_ask else CANNOT_ASK), id="source-claude")

    def action_ask(self) -> None:
        """Ask Claude instead."""
        if self._can_ask:
            self.wants_claude = True
            self.dismiss(None)
        else:
            self.app.bell()


NEW, LATEST, MARKED, RUN = "new", "latest", "marked", "run"
RUN_TITLE = "File with one agent run: JSON with question, reasoning (or trace) and answer"


class AskDialog(PlanDialog[str | None, CurationPlan]):
    """Ask the Curator; the result is a sentence about what was done with its suggestions, or None.

    `marked` are memories that are marked in the Stream. A reply whose cards were closed is at hand
    until this closes.
    """

    BINDINGS = bindings(ASK)
    DEFAULT_CSS = """
    AskDialog #ask-reply { height: auto; margin-top: 1; max-height: 6; }
    """

    def __init__(self, bench: Workbench, book: str, marked: Sequence[Memory] = ()) -> None:
        super().__init__(f"Ask Claude to curate {book}", ASK)
        self._reply = Static(id="ask-reply")
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
        yield self._reply

    def on_mount(self) -> None:
        """Gather what would be told."""
        self._tell(self._kind)

    def _tell(self, kind: str) -> None:
        self._kind, self.replies = kind, ()
        self._say(BLANK)
        self.gather(self._plan)

    def _plan(self) -> CurationPlan:
        curation = self._bench.curation
        if self._kind == RUN and self._episode is not None:
            return curation.plan_run(self._book, self._episode)
        if self._kind == MARKED:
            return curation.plan(self._book, curation.marked(self._marked))
        return curation.plan(
            self._book, curation.unseen(self._book) if self._kind == NEW else curation.latest()
        )

    def told(self, plan: CurationPlan) -> Content:
        """Return what would be told about which playbook, and what it would cost."""
        lines = [row("memories", self._memories(plan))]
        if plan.run is not None:
            unknown = f"; not in the playbook: {', '.join(plan.unknown)}" if plan.unknown else ""
            used = assemble(
                [(amount(len(plan.used), "bullet"), ""), (one_line(unknown, 200), "$text-warning")]
            )
            lines = [
                row("a run", Content.styled(one_line(plan.run.task, 200), "bold")),
                row("it used", used),
            ]
        room = "" if plan.room is None else f" · may grow by {number(plan.room)} tokens"
        bullets = amount(len(plan.playbook.bullets), "bullet")
        lines.append(row("playbook", assemble([(bullets, "bold"), (room, MUTED)])))
        if plan.told or plan.run:
            lines.append(row("costs", costs(plan.preview.estimate.total, plan.spent, plan.limit)))
            lines.append(body(plan.preview.remark, MUTED))
        else:
            nothing = "No memory is confirmed yet. Approve candidates in Review (2) first."
            if plan.since is not None:
                nothing = keyed("Nothing new to send. {ask.lessons} sends the latest again.")
            lines.append(Content.styled(nothing, "bold"))
        return joined(
            *lines, *unread_line(len(self._bench.curation.waiting(self._book)), "ask.unread")
        )

    def _memories(self, plan: CurationPlan) -> Content:
        count, left_out = len(plan.told), plan.lessons.left_out
        told, more = amount(count, "memory", "memories"), ""
        if plan.lessons.chosen:
            more = " marked in the Stream"
        elif plan.since is not None:
            more = f" confirmed since the last curation, {since(plan.since, self._bench.context.now())}"
            more += f"; {number(left_out)} more do not fit" if left_out else ""
        else:
            told = f"the latest {number(count)}" + (
                f" of {number(count + left_out)}" if left_out else ""
            )
            more = " that were confirmed"
        return assemble([(told, "bold"), (more, MUTED)])

    def _say(self, text: Content) -> None:
        self._reply.display = bool(text.plain)
        self._reply.update(text)

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
        self._tell(
            self._kinds[(self._kinds.index(self._kind) + 1) % len(self._kinds)]
            if self._kind != RUN
            else NEW
        )

    @asking
    async def action_run(self) -> None:
        """Learn from a run that is named: the Reflector looks at it, and the Curator is told what
        it found.
        """
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
                said = keyed(
                    "Discarded the reply; {app.undo} in the Playbook restores it. {ask.start} asks again."
                )
                self._say(muted(said))
        self._look_again()

    # Replies

    async def _edit(self, waiting: Waiting) -> None:
        """Edit a reply until it can be read, then show it as cards."""
        found: list[Reply] = []

        def read(text: str) -> None:
            found.append(self._bench.curation.read_again(waiting, text))

        title = "Repair the reply: JSON with a list of “operations”"
        await self.app.push_screen_wait(
            TextEditor(title, waiting.reply.reply, limit=LONGEST, check=read)
        )
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
            said = f"The {what} kept: enter shows the cards again, esc drops them."
            self._say(Content.styled(" ".join((*map(printable, done), said)), "bold"))


def asked_text(asked: Asked) -> Content:
    """Return what came of asking: the tokens it took, and what went wrong."""
    used = f"Used {number(asked.usage.input)} tokens in, {number(asked.usage.output)} out."
    lines = [muted(used)]
    if asked.problem is not None:
        kept = keyed(" The reply is kept: {ask.unread} shows it.") if asked.unread else ""
        lines.insert(0, body(f"✗ {asked.problem.message}{kept}", "$text-error"))
    return joined(*lines)


def put_off(app: App[object], bench: Workbench, book: str, asked: Asked) -> None:
    """Put replies that nobody waited for into Review, however long others hold the store."""

    def store() -> None:
        with irreplaceable():
            count = sum(
                bench.curating.put_off(book, reply, range(len(reply.parts)))
                for reply in asked.replies
            )
        if count:
            suggestions = amount(count, "suggestion of Claude waits", "suggestions of Claude wait")
            app.call_later(
                app.notify,
                f"{suggestions} in Review now (key 2). {undo()} takes that back.",
                markup=False,
            )

    app.run_worker(store, thread=True)


def _episode_in(name: str) -> "tuple[Episode | None, str | None]":
    """Return the run in a file, or the sentence that says why there is none."""
    try:
        return read_episode(Path(name).expanduser()), None
    except (WorkbenchError, RuntimeError) as error:
        return None, str(error)
