"""The rounds of words of a candidate, side by side: write the next one, or let Claude, and take the best."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.config.drafts import digest
from workbench.core.record import WorkbenchError
from workbench.core.reflection.llm import ENOUGH_CHARACTERS, ENOUGH_WORDS, substance
from workbench.core.stream.memory import Memory
from workbench.core.text import printable
from workbench.services.review.rewriting import rounds_of
from workbench.services.safety.texts import kept_edges
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Drafting
from workbench.tui.app.waiting import asking, change
from workbench.tui.review.actions import REFINE
from workbench.tui.review.impact import ImpactDialog, diff_legend, heading, name
from workbench.tui.widgets.content import MUTED, assemble, body, key_of, word_diff
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.editor import TextEditor

if TYPE_CHECKING:
    from workbench.core.reflection.reflector import Step
    from workbench.services.review.refinement import Refinement

LISTED = 5
"""Lines that the list of rounds takes at most."""

Take = Callable[[tuple[str, ...], str], str | None]
"""All rounds, and the text of the one that was taken."""


class RoundsMade(Message):
    """Claude wrote rounds, or `said` says why not."""

    def __init__(self, texts: tuple[str, ...], said: str = "") -> None:
        super().__init__()
        self.texts = texts
        self.said = said


class Streamed(Message):
    """A piece of a reply came in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


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

    def __init__(self, memory: Memory, refinement: "Refinement", take: Take, draft: Drafting | None = None) -> None:
        super().__init__(f"Refine {name(memory.id)}", REFINE)
        self._memory = memory
        self._refinement = refinement
        self._take = take
        self._draft = draft
        self._rounds = list(rounds_of(memory))
        self._known = len(self._rounds)
        self._warned = False
        self._coming: str | None = None
        self._remark: tuple[int, str] = (-1, "")

    def contents(self) -> Iterable[Widget]:
        """Return the rounds, the two texts, and the line of the state."""
        rows: LineView[int] = LineView(self._draw, lambda place: place)
        texts = Horizontal(ReadingPane(id="before"), ReadingPane(id="after"))
        return (rows, texts, Static(Content(""), classes="refine--state"))

    def on_mount(self) -> None:
        """Start at the latest round."""
        self._list(len(self._rounds) - 1)
        self._rows.focus()

    @property
    def _rows(self) -> LineView[int]:
        return self.query_one(LineView)

    @property
    def chosen(self) -> str:
        """The text of the round under the cursor."""
        return self._rounds[self._rows.current or 0]

    def _list(self, cursor: int) -> None:
        self._rows.styles.height = min(len(self._rounds), LISTED)
        self._rows.set_rows(range(len(self._rounds)), cursor=cursor)
        self._show()

    def _draw(self, place: int, _width: int) -> list[Cell]:
        text = self._rounds[place]
        new = "new" if place >= self._known else "as it is" if text == self._memory.content else ""
        found = substance(text)
        size = f"{number(found.characters)} characters · {len(found.actionable)} actionable"
        return [Cell(f"round {place + 1}", 9), Cell(new, 9, MUTED), Cell(text), Cell(size, 30, MUTED, "right")]

    @on(LineView.Highlighted)
    def _show(self) -> None:
        place = self._rows.current or 0
        before, after = self.query_one("#before", ReadingPane), self.query_one("#after", ReadingPane)
        text = self._rounds[place]
        if place:
            before.show(_titled(f"Round {place}", body(self._rounds[place - 1])))
            title = heading(f"Round {place + 1}", diff_legend())
            after.show(Content("\n").join([title, word_diff(self._rounds[place - 1], text)]))
        else:
            before.show(_titled("No earlier round", Content("")))
            after.show(_titled("Round 1", body(text)))
        at, remark = self._remark
        more = Content.styled(f"\n{remark}", MUTED) if remark and at == place else Content("")
        self._say(self._state(text) + more)

    def _state(self, text: str) -> Content:
        found = substance(text)
        words = ", ".join(found.actionable) or "none"
        if found.enough:
            return Content.styled(f"✓ Specific enough: {found.characters} characters, actionable: {words}", MUTED)
        wanted = f"{ENOUGH_CHARACTERS} characters and {ENOUGH_WORDS} actionable words (when, always, avoid, use, …)"
        return assemble([(f"◔ {found.characters} characters, actionable: {words}. ", ""), (f"Needed: {wanted}", MUTED)])

    def _say(self, content: Content) -> None:
        self.query_one(".refine--state", Static).update(content)

    def _add(self, texts: Sequence[str]) -> None:
        fresh = [text for text in texts if text.strip() and text not in self._rounds]
        self._rounds += fresh
        self._warned = False
        self._list(len(self._rounds) - 1)

    @asking
    async def action_write(self) -> None:
        """Write the next round, from the one under the cursor."""
        if self._coming is None:
            start = self.chosen
            if self._draft is not None and len(self._rounds) > self._known:
                self._draft.drop()  # it is listed here
            title = f"Round {len(self._rounds) + 1} of {self._memory.id}"
            editor = TextEditor(title, start, draft=self._draft)
            text = await self.app.push_screen_wait(editor)
            if text is not None:
                self._add([kept_edges(text, start)])
                if self._draft is not None:  # until a round is taken, nothing else holds it
                    self._draft.keep(text, digest(start))

    def action_preview(self) -> None:
        """Show what would leave this machine."""
        try:
            preview = self._refinement.preview(self._memory, self.chosen)
        except WorkbenchError as error:
            self._say(body(str(error), "$text-error"))
            return
        cost = f"About {number(preview.estimate.input)} tokens out, up to {number(preview.estimate.output)} back."
        text = Content("\n\n").join([Content.styled(f"{preview.remark} {cost}", MUTED), *map(body, preview.texts)])
        self.app.push_screen(ImpactDialog("What would be sent", text))

    def action_ask(self) -> None:
        """Let Claude write the next rounds."""
        if self._refinement.missing:
            self._say(
                body(
                    f"{self._refinement.missing} Until then, {key_of('refine.write')} writes the next round by hand.",
                    "$text-warning",
                )
            )
        elif self._coming is None:
            self._coming = ""
            self._say(Content.styled("Asking Claude … esc stops.", MUTED))
            self._ask(self.chosen)

    @work(thread=True, exclusive=True, group="refine", exit_on_error=False)
    def _ask(self, text: str) -> None:
        worker = get_current_worker()

        def tell(step: "Step") -> None:
            if step.text and not worker.is_cancelled:
                self.post_message(Streamed(step.text))

        try:
            found = self._refinement.ask(self._memory, text, tell, lambda: worker.is_cancelled)
        except WorkbenchError as error:
            self.post_message(RoundsMade((), str(error)))
            return
        self.post_message(RoundsMade(found.texts, str(found.problem) if found.problem else _used(found.usage.total)))

    def on_streamed(self, event: Streamed) -> None:
        """Show the reply as it comes in."""
        if self._coming is not None:
            self._coming += event.text
            self.query_one("#after", ReadingPane).show(_titled("Claude writes …", body(self._coming)), keep_place=True)

    def on_rounds_made(self, event: RoundsMade) -> None:
        """List the new rounds."""
        self._coming = None
        if event.texts:
            self._remark = (len(self._rounds) + len(event.texts) - 1, printable(event.said))
            self._add(event.texts)
        else:
            self._show()
            self._say(body(event.said, "$text-warning"))

    @on(LineView.Opened)
    def action_take(self) -> None:
        """Take the round under the cursor."""
        if self._coming is not None:
            return
        rounds, chosen = tuple(self._rounds), self.chosen

        def take() -> None:
            if problem := self._take(rounds, chosen):
                self._say(body(problem, "$text-error"))
            else:
                self._end()

        change(self, take)

    def action_leave(self) -> None:
        """Stop Claude, or leave; with new rounds only the second time."""
        if self._coming is not None:
            self.workers.cancel_group(self, "refine")
            self._say(Content.styled("Stopping. Rounds received so far are kept.", MUTED))
        elif len(self._rounds) > self._known and not self._warned:
            self._warned = True
            count = len(self._rounds) - self._known
            what = "1 new round is" if count == 1 else f"{count} new rounds are"
            self._say(
                Content.styled(f"{what} lost: esc again discards, enter takes one and keeps all.", "$text-warning")
            )
        else:
            self._end()

    def _end(self) -> None:
        if self._draft is not None and len(self._rounds) > self._known:
            self._draft.drop()
        self.dismiss(None)


def _titled(title: str, text: Content) -> Content:
    return Content("\n").join([heading(title), text])


def _used(total: int) -> str:
    return f"Claude used {number(total)} tokens."
