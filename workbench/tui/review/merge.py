"""What a candidate is merged into: one of the memories most like it, or any other; with both texts and the outcome."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from textual import on
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.core.stream.memory import Memory
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Drafting
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking, change
from workbench.tui.records.links import Acts, Place
from workbench.tui.review.actions import MERGE
from workbench.tui.review.evidence import ALIKE, overlap
from workbench.tui.review.impact import diff_legend, folded, heading, name
from workbench.tui.widgets.actions import on_row
from workbench.tui.widgets.content import MUTED, assemble, body, keyed, word_diff
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.editor import TextEditor
from workbench.tui.widgets.texts.safe_input import SafeInput


@dataclass(frozen=True, slots=True)
class Target:
    """A memory to merge into, and its cosine to the candidate as far as that is known."""

    memory: Memory
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Merging:
    """The memory to merge into, as it was shown, and the text it gets; `None` leaves its own.

    `typed` are texts whose secrets stay as a person typed them.
    """

    into: Memory
    text: str | None = None
    typed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a merge was not made: the memory is another one now."""

    why: str
    now: Memory


LISTED = 6
"""Lines that the list of memories takes at most."""

Find = Callable[[str], Sequence[Memory]]
Take = Callable[[Merging], Refused | None]
Draft = Callable[[str], Drafting]
"""What keeps the draft of the text that is written for a memory, by its id."""

Ask = Callable[[str], Preview]
"""Returns what shows how a text would be stored, by the texts whose secrets are not new."""

Whose = Literal["own", "candidate", "written"]


class MergeChoice(Dialog[None]):
    """Ask into which memory `candidate` goes, and with which text, until `take` has done it or nobody wants it.

    The memories most alike are listed first; `find` answers what is typed into the search. What is written for one
    memory waits while another one is looked at. Nothing is forgotten by a merge, so no guard delays the answer.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings((*MERGE, *on_row("e E y")))
    DEFAULT_CSS = """
    MergeChoice {
        & > .dialog { width: 120; height: 90%; }
        &.-narrow > .dialog { height: 100%; }
        & .dialog--title { margin-bottom: 0; max-height: 1; }
        & SafeInput { margin: 0; }
        & LineView { height: 3; }
        & #merge-texts { layout: horizontal; height: 1fr; }
        &.-narrow #merge-texts { layout: vertical; }
        & ReadingPane { width: 1fr; height: 1fr; border: none; border-top: solid $panel; padding: 0 1 0 0; }
        & ReadingPane:focus { border: none; border-top: solid $accent; }
        & .merge--outcome { height: auto; max-height: 4; }
        & .dialog--keys { margin-top: 0; }
    }
    """

    def __init__(
        self,
        candidate: Memory,
        near: Sequence[Target],
        find: Find,
        take: Take,
        draft: Draft | None = None,
        preview: Ask | None = None,
    ) -> None:
        super().__init__(f"Merge {name(candidate.id)} into …", [a for a in MERGE if a.show])
        self._candidate = candidate
        self._near = tuple(near)
        self._find = find
        self._take = take
        self._draft = draft
        self._preview = preview
        self._kept: tuple[str, ...] = ()
        self._whose: Whose = "own"
        self._written: dict[str, str] = {}
        self._warned = False
        self.acts = Acts(lambda: self, self._record_here)

    def contents(self) -> Iterable[Widget]:
        """Return the search, the list, both texts, and what merging does."""
        nothing = Content(keyed("No similar memory. {merge.search} searches all memories."))
        rows: LineView[Target] = LineView(self._draw, lambda t: t.memory.id, empty=nothing)
        return (
            SafeInput(placeholder="/ search all memories"),
            rows,
            Container(ReadingPane(id="merge-candidate"), ReadingPane(id="merge-existing"), id="merge-texts"),
            Static(Content(""), classes="merge--outcome"),
        )

    def on_mount(self) -> None:
        """List the nearest."""
        self._list(self._near)
        self._rows.focus()
        self._show()

    @property
    def _rows(self) -> LineView[Target]:
        return self.query_one(LineView)

    def _record_here(self, _what: str) -> Place | None:
        return None if self._rows.current is None else ("memories", self._rows.current.memory.id)

    def _draw(self, target: Target, _width: int) -> list[Cell]:
        known = "" if target.similarity is None else f"{target.similarity:.3f}"
        return [Cell(known, 5), Cell(target.memory.line), Cell(target.memory.status, 9, MUTED)]

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        words = event.value.strip()
        similar = {t.memory.id: t.similarity for t in self._near}
        found = [Target(m, similar.get(m.id)) for m in self._find(words)] if words else list(self._near)
        self._rows.set_empty(Content("Nothing matches. Backspace widens the search." if words else ""))
        self._list([t for t in found if t.memory.id != self._candidate.id])
        self._show()

    def _list(self, targets: Sequence[Target]) -> None:
        self._rows.styles.height = max(2, min(len(targets), LISTED))
        self._rows.set_rows(targets, cursor=0)

    @on(Input.Submitted)
    def _searched(self) -> None:
        self._rows.focus()

    @on(LineView.Highlighted)
    def _show(self) -> None:
        target = self._rows.current
        outcome = self.query_one(".merge--outcome", Static)
        texts = (Content(""), Content("")) if target is None else both_texts(self._candidate, target)
        for pane, text in zip(self.query(ReadingPane), texts, strict=True):
            pane.show(text)
        if target is None:
            outcome.update(Content(""))
            return
        if self._whose == "written" and target.memory.id not in self._written:
            self._whose = "own"  # words that were written for one memory are none for another
        self._warned = False
        outcome.update(absorb_outcome(self._candidate, target.memory, self._text(target)))

    def _text(self, target: Target) -> str | None:
        """Return the text that a memory gets, `None` for its own."""
        if self._whose == "written":
            return self._written[target.memory.id]
        return self._candidate.content if self._whose == "candidate" else None

    @on(LineView.Opened)
    def action_yes(self) -> None:
        """Merge into the memory under the cursor."""
        target = self._rows.current
        if target is None:
            return
        merging = Merging(target.memory, self._text(target), self._kept)

        def merge() -> None:
            if (refused := self._take(merging)) is None:
                self.dismiss(None)
            else:
                self._refuse(target, refused)

        change(self, merge, lambda error: self._complain(str(error)))

    def _refuse(self, target: Target, refused: Refused) -> None:
        """Show the memory as it is now, and why nothing was merged into it."""
        rows = [replace(t, memory=refused.now) if t is target else t for t in self._rows.rows]
        self._rows.set_rows(rows, cursor=self._rows.cursor)
        self._show()
        self._complain(refused.why)

    def _complain(self, sentence: str) -> None:
        self.query_one(".merge--outcome", Static).update(body(f"✗ {sentence}", "$text-warning"))

    def action_text(self) -> None:
        """Take the candidate's text, the one that was written here, or the memory's own again."""
        if (target := self._rows.current) is not None:
            texts: list[Whose] = ["own", "candidate"]
            texts += ["written"] if target.memory.id in self._written else []
            self._whose = texts[(texts.index(self._whose) + 1) % len(texts)]
            self._show()

    @asking
    async def action_edit(self) -> None:
        """Write the text that is left, starting from the one chosen."""
        if (target := self._rows.current) is not None:
            own, chosen = target.memory.content, self._text(target)
            title = f"The text of {name(target.memory.id)}"
            draft = None if self._draft is None else self._draft(target.memory.id)
            preview = None if self._preview is None else self._preview(f"{own}\n{self._candidate.content}")
            check = (lambda _: None) if preview is None else preview
            editor = TextEditor(title, own if chosen is None else chosen, draft=draft, check=check)
            written = await self.app.push_screen_wait(editor)
            if written is not None:
                if preview is not None:
                    written, self._kept = preview.text, self._kept + preview.typed
                self._written[target.memory.id] = written
                self._whose = "own" if written == own else "written"
                self._show()

    def action_search(self) -> None:
        self.set_focus(self.query_one(SafeInput))

    def action_no(self) -> None:
        """Leave the search, or both memories as they are; with something written only the second time."""
        if isinstance(self.focused, SafeInput):
            self._rows.focus()
        elif self._written and not self._warned:
            self._complain(keyed("Your text would be lost: esc again discards it, {merge.yes} merges."))
            self._warned = True
        else:
            self.dismiss(None)


def absorb_outcome(candidate: Memory, target: Memory, text: str | None) -> Content:
    """Return what merging a candidate into a memory does, in a sentence; `text` as in `Merging`."""
    keeps = text in (None, target.content)
    whose = "its own text" if keeps else "your text"
    whose = f"the text of {name(candidate.id)}" if text == candidate.content != target.content else whose
    pieces = [
        (name(target.id), ""), (f" stays {target.status} and keeps " if keeps else
        f" stays {target.status} and gets ", MUTED), (whose, "bold"),
        ("; ", MUTED), (name(candidate.id), ""),
        (" adds its votes, tags and citations, and is archived as merged. Undo separates them.", MUTED),
    ]  # fmt: skip
    return assemble(pieces)


def both_texts(candidate: Memory, target: Target) -> tuple[Content, Content]:
    """Return both texts in full, below the second the word diff where it reads well."""
    other = target.memory
    known = "" if target.similarity is None else f" · similarity {target.similarity:.3f}"
    parts = [heading("The existing memory", Content.styled(f"{other.status}{known}", MUTED)), body(other.content)]
    if overlap(other.content, candidate.content) >= ALIKE:
        difference = folded(word_diff(other.content, candidate.content))
        parts += [Content(""), heading("From the existing memory to the candidate", diff_legend()), difference]
    return Content("\n").join([heading("The candidate"), body(candidate.content)]), Content("\n").join(parts)
