"""What a Curator or a Reflector suggests, as cards; all that is accepted is one action."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import ClassVar, Literal

from textual import on
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.playbook.book import Bullet
from workbench.core.playbook.operations import BulletTag, Delete
from workbench.core.record import WorkbenchError
from workbench.core.text import one_line, printable
from workbench.services.open import Workbench
from workbench.services.playbook.curation import Card, Reply, edited
from workbench.services.safety.texts import place_of
from workbench.tui.app.actions import bindings
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking, change
from workbench.tui.playbook.actions import CARDS
from workbench.tui.records.links import Acts, Place
from workbench.tui.review.texts import ALIKE, diff_legend, heading, overlap
from workbench.tui.widgets.actions import on_row
from workbench.tui.widgets.content import MUTED, assemble, body, keyed, undo, word_diff
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.editor import TextEditor

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
    parts = [heading(one_line(card.title[:400], 200))]
    if decision:
        parts.append(Content.styled({"accept": "✓ accepted", "skip": "✗ left out"}[decision], SIGNS[decision][1]))
    return Content("\n").join([*parts, *reasons(card), *texts(card)])


def reasons(card: Card) -> list[Content]:
    """Return what stands in the way of a card, and why it is suggested."""
    parts = []
    if card.problem:
        parts.append(Content.styled("! ", "bold $text-warning") + body(card.problem, "$text-warning"))
    if card.reason:
        parts.append(Content.styled("because  ", MUTED) + body(card.reason))
    return parts


def texts(card: Card) -> list[Content]:
    """Return the difference from each text that it is alike enough to, the new text, and the bullets as they are."""
    if card.suggested is None:
        return [Content(""), heading("As it came"), body(card.raw)]
    parts = []
    for bullet in card.touches:
        before = bullet.content
        if card.after and card.after != before and overlap(before, card.after) >= ALIKE:
            title = (
                "The difference" if len(card.touches) == 1 else f"From {one_line(bullet.id[:100], 60)} to the new text"
            )
            parts += [Content(""), heading(title, diff_legend()), word_diff(before, card.after)]
    if card.after and card.after != card.before:
        parts += [Content(""), heading("The new text"), body(card.after)]
    for bullet in card.touches:
        parts += [Content(""), _as_it_is(bullet), body(bullet.content)]
    return parts


def _as_it_is(bullet: Bullet) -> Content:
    marks = f"+{bullet.helpful_count} −{bullet.harmful_count}"
    return heading("Now", assemble([(printable(bullet.id), "bold"), (f"  {marks}", MUTED)]))


NO_BULLET = "That key is for a bullet: this suggestion is about none, or about several."


class CardsDialog(Dialog[str | None]):
    """Cards to decide on; the result is a sentence about what was done, or None."""

    BINDINGS: ClassVar[list[BindingType]] = bindings((*CARDS, *on_row("e")))
    DEFAULT_CSS = """
    CardsDialog {
        & > .dialog { width: 96%; height: 96%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #cards-state { height: auto; max-height: 4; margin-bottom: 1; }
        & #cards-panes { layout: horizontal; height: 1fr; }
        & LineView { width: 2fr; background: $surface; }
        & ReadingPane { width: 3fr; border-left: solid $panel; }
        &.-narrow #cards-panes { layout: vertical; }
        &.-narrow LineView { width: 1fr; height: 2fr; }
        &.-narrow ReadingPane { width: 1fr; height: 3fr; border-left: none; border-top: solid $panel; }
    }
    """

    def __init__(self, bench: Workbench, book: str, reply: Reply) -> None:
        super().__init__(f"What the {reply.actor} suggests for {book}", [a for a in CARDS if a.show])
        self._bench = bench
        self._book = book
        self._reply = reply
        self._decided: dict[int, Decision] = {}
        self._kept: tuple[str, ...] = ()
        self._warned = False
        self.cards: tuple[Card, ...] = ()
        self.acts = Acts(lambda: self, self._bullet_here, missing=NO_BULLET, then=self._look)

    def contents(self) -> Iterable[Widget]:
        """Return what the reply says, the cards, and the one under the cursor."""
        yield Static(Content(""), id="cards-state")
        nothing = Content("The reply suggests nothing.")
        rows: LineView[int] = LineView(self._draw, lambda place: place, empty=nothing)
        yield Container(rows, ReadingPane(id="card"), id="cards-panes")

    def on_mount(self) -> None:
        """Look at every suggestion."""
        self._rows.focus()
        self._look()

    @property
    def _rows(self) -> LineView[int]:
        return self.query_one(LineView)

    def decision(self, place: int) -> Decision:
        """Return what was decided on a card."""
        return self._decided.get(place, "")

    def _look(self) -> None:
        """Look at the cards again: whether one is possible depends on those before it."""
        skipped = [place for place, decision in self._decided.items() if decision == "skip"]
        try:
            self.cards = self._bench.curating.cards(self._book, self._reply, skipped)
        except WorkbenchError as error:
            self._say(body(str(error), "$text-warning"))
            return
        for place, card in enumerate(self.cards):
            if card.problem and self.decision(place) == "accept":
                self._decided.pop(place)
        self._rows.set_rows(range(len(self.cards)), cursor=self._rows.cursor)
        self._say(self._state())
        self._show()

    def _state(self) -> Content:
        accepted, skipped = (sum(d == kind for d in self._decided.values()) for kind in ("accept", "skip"))
        wrong = sum(bool(card.problem) for card in self.cards)
        left = len(self.cards) - accepted - skipped - wrong
        parts = [(f"{accepted} accepted · {skipped} left out · {left} undecided", "bold")]
        if wrong:
            parts.append((f" · {wrong} not possible", "bold $text-warning"))
        if self._reply.said:
            parts.append((f"\n{one_line(self._reply.said[:600], 500)}", MUTED))
        return assemble(parts)

    def _say(self, content: Content) -> None:
        self.query_one("#cards-state", Static).update(content)

    def _draw(self, place: int, _width: int) -> list[Cell]:
        card, decision = self.cards[place], self.decision(place)
        sign, style = PROBLEM if card.problem and not decision else SIGNS[decision]
        return [Cell(sign, 1, style), Cell(card.title, 0, MUTED if decision == "skip" or card.problem else "")]

    @on(LineView.Highlighted)
    def _show(self) -> None:
        place = self._rows.current
        shown = self._bench.safety.shown
        text = Content("") if place is None else card_text(shown(self.cards[place]), self.decision(place))
        self.query_one(ReadingPane).show(text)

    def _bullet_here(self, _what: str) -> Place | None:
        """Return where the only bullet is that the suggestion under the cursor is about."""
        place = self._rows.current
        touched = () if place is None else self.cards[place].touches
        return place_of(touched[0]) if len(touched) == 1 else None

    # Deciding

    def _decide(self, decision: Decision) -> None:
        place = self._rows.current
        if place is None:
            return
        if decision == "accept" and self.cards[place].problem:
            self.app.bell()
            return
        self._warned = False
        self._decided[place] = decision
        self._rows.cursor += 1
        self._look()

    def action_accept(self) -> None:
        """Accept it, and go to the next."""
        self._decide("accept")

    def action_skip(self) -> None:
        """Leave it out, and go to the next."""
        self._decide("skip")

    def action_clear(self) -> None:
        """Take the decision back."""
        if self._rows.current is not None:
            self._decided.pop(self._rows.current, None)
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
        place = self._rows.current
        if place is None or self.cards[place].suggested is None:
            self.app.bell()
            return
        suggested, reason = self._reply.parts[place]
        if isinstance(suggested, Delete | BulletTag):
            self._say(
                Content.styled(
                    keyed(
                        "This suggestion has no text to edit: {cards.accept} accepts it, {cards.skip} leaves it out."
                    ),
                    MUTED,
                )
            )
            return
        card, preview = self.cards[place], Preview(self._bench, self.cards[place].after)
        if await self.app.push_screen_wait(TextEditor(card.title[:200], card.after, check=preview)) is not None:
            text = preview.text
            self._kept += preview.typed
            parts = list(self._reply.parts)
            parts[place] = (edited(suggested, text), reason)
            self._reply = replace(self._reply, parts=tuple(parts))
            self._look()
            if not self.cards[place].problem:
                self._decide("accept")

    # Carrying out

    def action_apply(self) -> None:
        """Change the playbook as accepted, as one action."""
        if not self._accepted():
            self._say(
                Content.styled(
                    keyed("Nothing is accepted yet: {cards.accept} accepts, {cards.all} accepts all."), "$text-warning"
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
        rest = [place for place in range(len(self._reply.parts)) if not self.decision(place)] if to_review else []
        keep = partial(self._bench.safety.keep_typed, *self._kept)
        chosen = [self._reply.parts[place][0] for place in accepted]

        def settle() -> None:
            said, curating = [], self._bench.curating
            with self._bench.library.turn():
                if chosen:
                    said.append(f"Applied {curating.apply(self._book, self._reply, chosen, keep)} suggestions.")
                if rest:
                    count = curating.put_off(self._book, self._reply, rest, keep)
                    said.append(f"{count} {'waits' if count == 1 else 'wait'} in Review now (key 2).")
            self.dismiss(" ".join([*said, f"{undo()} takes that back."]))

        if chosen or rest:
            change(self, settle, lambda error: self._say(body(str(error), "$text-warning")))
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        """Close; with decisions only the second time."""
        if self._accepted() and not self._warned:
            self._warned = True
            self._say(
                Content.styled(
                    keyed("Nothing is applied yet: {cards.apply} applies, esc again discards."), "$text-warning"
                )
            )
        else:
            self.dismiss(None)
