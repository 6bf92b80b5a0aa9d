"""The rounds of words of a candidate, side by side: write the next one, or let Claude, and take the best."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.config.drafts import digest
from workbench.core.record import WorkbenchError
from workbench.core.reflection.llm import ENOUGH_CHARACTERS, ENOUGH_WORDS, substance
from workbench.core.reflection.reflector import Step
from workbench.core.stream.memory import Memory
from workbench.services.review.rewriting import rounds_of
from workbench.services.safety.texts import kept_edges
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Drafting
from workbench.tui.app.waiting import asking, change
from workbench.tui.reflection.dialog import RunDialog, SentDialog
from workbench.tui.review.actions import REFINE
from workbench.tui.review.impact import diff_legend, heading, name
from workbench.tui.widgets.content import MUTED, body, key_of, word_diff
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.editor import TextEditor

if TYPE_CHECKING:
    from workbench.services.review.refinement import Refined, Refinement

LISTED = 5
"""Lines that the list of rounds takes at most."""

Take = Callable[[tuple[str, ...], str], str | None]
"""All rounds, and the text of the one that was taken."""


class RefineDialog(Dialog[None]):
    """Shows the rounds of a candidate until one is taken, or none.

    `take` is given all of them and the chosen one; it may refuse with a sentence, and nothing is lost then.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(REFINE)
    DEFAULT_CSS = """
    RefineDialog {
        & > .dialog { width: 150; height: 90%; }
        & .dialog--title { margin-bottom: 0; max-height: 1; }
        & LineView { height: 1; }
        & Horizontal { height: 1fr; border-top: solid $panel; }
        & ReadingPane { width: 1fr; border: none; }
        & ReadingPane:focus { border: none; }
        & #before { border-right: solid $panel; }
        & .refine--state { height: auto; max-height: 3; }
        & .dialog--keys { margin-top: 0; }
        &.-narrow Horizontal { layout: vertical; }
        &.-narrow ReadingPane { height: 1fr; width: 1fr; }
        &.-narrow #before { border-right: none; max-height: 40%; color: $text-muted; }
    }
    """

    def __init__(self, memory: Memory, refinement: "Refinement", take: Take, draft: Drafting) -> None:
        super().__init__(f"Refine {name(memory.id)}", REFINE)
        self._memory = memory
        self._refinement = refinement
        self._take = take
        self._draft = draft
        self._rounds = list(rounds_of(memory))
        self._known = len(self._rounds)
        self._warned = False

    def contents(self) -> Iterable[Widget]:
        """Return the rounds, the two texts, and the line of the state."""
        rows: LineView[int] = LineView(self._draw, lambda place: place)
        texts = Horizontal(ReadingPane(id="before"), ReadingPane(id="after"))
        return (rows, texts, Static(classes="refine--state"))

    def on_mount(self) -> None:
        """Start at the latest round."""
        self._add(())
        self._rows.focus()

    @property
    def _rows(self) -> LineView[int]:
        return self.query_one(LineView)

    @property
    def chosen(self) -> str:
        """The text of the round under the cursor."""
        return self._rounds[self._rows.current or 0]

    @property
    def _new(self) -> int:
        return len(self._rounds) - self._known

    def _draw(self, place: int, _width: int) -> list[Cell]:
        text = self._rounds[place]
        new = "new" if place >= self._known else "as it is" if text == self._memory.content else ""
        found = substance(text)
        size = f"{number(found.characters)} characters · {len(found.actionable)} actionable"
        return [Cell(f"round {place + 1}", 9), Cell(new, 9, MUTED), Cell(text), Cell(size, 30, MUTED, "right")]

    @on(LineView.Highlighted)
    def _show(self) -> None:
        place, text = self._rows.current or 0, self.chosen
        before, after = self.query_one("#before", ReadingPane), self.query_one("#after", ReadingPane)
        if place:
            before.show(Content("\n").join([heading(f"Round {place}"), body(self._rounds[place - 1])]))
            title = heading(f"Round {place + 1}", diff_legend())
            after.show(Content("\n").join([title, word_diff(self._rounds[place - 1], text)]))
        else:
            before.show(heading("No earlier round"))
            after.show(Content("\n").join([heading("Round 1"), body(text)]))
        found = substance(text)
        has = f"{found.characters} characters, actionable: {', '.join(found.actionable) or 'none'}"
        wanted = f"{ENOUGH_CHARACTERS} characters and {ENOUGH_WORDS} actionable words (when, always, avoid, use, …)"
        self._say(f"✓ Specific enough: {has}" if found.enough else f"◔ {has}. Needed: {wanted}")

    def _say(self, sentence: str, style: str = MUTED) -> None:
        self.query_one(".refine--state", Static).update(body(sentence, style))

    def _add(self, texts: Sequence[str]) -> None:
        self._rounds += [text for text in texts if text.strip() and text not in self._rounds]
        self._warned = False
        self._rows.styles.height = min(len(self._rounds), LISTED)
        self._rows.set_rows(range(len(self._rounds)), cursor=len(self._rounds) - 1)
        self._show()

    @asking
    async def action_write(self) -> None:
        """Write the next round, from the one under the cursor."""
        start = self.chosen
        if self._new:
            self._draft.drop()  # it is listed here
        title = f"Round {len(self._rounds) + 1} of {self._memory.id}"
        text = await self.app.push_screen_wait(TextEditor(title, start, draft=self._draft))
        if text is not None:
            self._add([kept_edges(text, start)])
            self._draft.keep(text, digest(start))  # until a round is taken, nothing else holds it

    def action_preview(self) -> None:
        """Show what would leave this machine."""
        try:
            preview = self._refinement.preview(self._memory, self.chosen)
        except WorkbenchError as error:
            self._say(str(error), "$text-error")
            return
        estimate = preview.estimate
        cost = f"About {number(estimate.input)} tokens out, up to {number(estimate.output)} back."
        self.app.push_screen(SentDialog(preview, cost))

    @asking
    async def action_ask(self) -> None:
        """Let Claude write the next rounds."""
        if missing := self._refinement.missing:
            by_hand = f"Until then, {key_of('refine.write')} writes the next round by hand."
            self._say(f"{missing} {by_hand}", "$text-warning")
            return
        make = partial(self._refinement.ask, self._memory, self.chosen)
        run: RunDialog[Refined] = RunDialog(make, Step("refine"), "Claude refines", self._came)
        if (found := await self.app.push_screen_wait(run)) is not None:
            self._came(found)

    def _came(self, found: "Refined") -> None:
        """List what Claude wrote, also when it was left alone meanwhile."""
        if self.is_attached:
            self._add(found.texts)
            self.notify(str(found.problem or f"Claude used {number(found.usage.total)} tokens."), markup=False)

    @on(LineView.Opened)
    def action_take(self) -> None:
        """Take the round under the cursor."""
        rounds, chosen = tuple(self._rounds), self.chosen

        def take() -> None:
            if problem := self._take(rounds, chosen):
                self._say(problem, "$text-error")
            else:
                self._end()

        change(self, take)

    def action_leave(self) -> None:
        """Leave; with new rounds only the second time."""
        if self._new and not self._warned:
            self._warned = True
            lost = amount(self._new, "new round is", "new rounds are")
            self._say(f"{lost} lost: esc again discards, enter takes one and keeps all.", "$text-warning")
        else:
            self._end()

    def _end(self) -> None:
        if self._new:
            self._draft.drop()
        self.dismiss(None)
