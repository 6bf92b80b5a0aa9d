"""The dialogs of Review: what a candidate is merged into, better words for it, a marked group, a
rejection's reason.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from textual import on
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from workbench.config.drafts import digest
from workbench.core.record import Conflict, WorkbenchError
from workbench.core.reflection.llm import ENOUGH_CHARACTERS, ENOUGH_WORDS, substance
from workbench.core.reflection.reflector import Step
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench
from workbench.services.review.rewriting import rounds_of
from workbench.services.safety.texts import kept_edges
from workbench.tui.actions import CANCEL, GROUP, LIST, MERGE, REASONS, REFINE, on_row
from workbench.tui.app.actions import Action, bindings, footer_entries
from workbench.tui.app.host import Drafting, Host
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking, change
from workbench.tui.records.actions import Acts, Place
from workbench.tui.reflection import RunDialog, SentDialog
from workbench.tui.review.inbox import (
    ALIKE,
    diff_legend,
    facts,
    flags_in_words,
    heading,
    name,
    overlap,
    told_apart,
)
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    joined,
    key_of,
    keyed,
    muted,
    word_diff,
)
from workbench.tui.widgets.dialog import Dialog, SafeInput, TextDialog, held_keys
from workbench.tui.widgets.editor import TextEditor
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.line_list import Cell, LineView
from workbench.tui.widgets.reading_pane import ReadingPane

if TYPE_CHECKING:
    from workbench.services.reflection.wording import Refined, Refinement

# Before a marked group is decided of which some were never opened: their texts, to the end.


class GroupDialog(TextDialog[bool]):
    """Ask whether to decide the group; the result is True only for a yes after the end was in
    sight.

    `unopened` are the members that were never opened, each with the memory it is about. A short
    group fits the box, so its end is in sight at once.
    """

    BINDINGS = bindings(GROUP)
    DEFAULT_CSS = """
    GroupDialog .dialog--state { height: 1; }
    """

    def __init__(
        self, verb: str, group: int, unopened: Sequence[tuple[Proposal, Memory | None]]
    ) -> None:
        blocks = [_block(place, len(unopened), *one) for place, one in enumerate(unopened, 1)]
        title = f"{verb} {group}, including {len(unopened)} you have not read?"
        super().__init__(title, Content("\n\n").join(blocks), GROUP)
        self._what = f"{verb.lower()} {group}"
        self._seen = False

    def contents(self) -> Iterable[Widget]:
        """Return the texts and the line that says whether their end was in sight."""
        return (*super().contents(), self.state)

    def on_mount(self) -> None:
        self.watch(self.pane, "scroll_y", self._look, init=False)

    def on_resize(self) -> None:
        """Look again where the end is, once the box is fitted."""
        self.call_after_refresh(self.call_after_refresh, self._look)

    def _look(self) -> None:
        pane = self.pane
        self._seen = self._seen or pane.at_end
        share = round(100 * pane.scroll_offset.y / max(1, pane.max_scroll_y))
        state = muted(f"{share} % read. Scroll to the end, then press {key_of('group.yes')}.")
        if self._seen:
            state = Content.styled(
                f"You have read them all. y: {self._what}; one undo reverts it.", "bold"
            )
        self.tell(state)

    def action_yes(self) -> None:
        """Decide, once everything was in sight; before that, read on."""
        if self._seen:
            self.dismiss(True)
        else:
            self.action_read_on()


def _block(place: int, total: int, proposal: Proposal, memory: Memory | None) -> Content:
    text = proposal.title if memory is None else memory.content
    head = Content.styled(f"{place} of {total}  ", "bold $text-accent")
    is_candidate = memory is not None and memory.id == proposal.id
    told = facts((name(proposal.id), "" if is_candidate else proposal.kind, f"by {proposal.actor}"))
    lines = [head + told]
    if not is_candidate:
        lines.append(body(proposal.title, "bold"))
    if proposal.flags:
        lines.append(flags_in_words(proposal.flags))
    return joined(*lines, body(text))


# Why something was rejected: one of the usual reasons, or in words.


class ReasonDialog(Dialog[int]):
    """Ask for a reason by its key, or with enter; the result is its place in `REASONS`."""

    BINDINGS = bindings(REASONS)
    DEFAULT_CSS = """
    ReasonDialog LineView {
        height: auto;
        & > .line--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    }
    """

    def __init__(self, title: str) -> None:
        super().__init__(title, (replace(LIST[-1], label="choose"), CANCEL))

    def contents(self) -> Iterable[Widget]:
        return (LineView(self._draw, lambda reason: reason.id),)

    def on_mount(self) -> None:
        self.query_one(LineView).set_rows(REASONS[:-1])

    def _draw(self, reason: Action, _width: int) -> list[Cell]:
        key = held_keys(self, (reason,))[0][0]
        return [Cell(f"{key} {reason.label}", 16), Cell(reason.tooltip, 0, MUTED)]

    @on(LineView.Opened)
    def _take(self) -> None:
        self.dismiss(self.query_one(LineView).cursor)

    def action_reason(self, index: int) -> None:
        self.dismiss(index)


# What a candidate is merged into: one of the memories most like it, or any other; with both texts
# and the outcome.


class Target(NamedTuple):
    """A memory to merge into, and its cosine to the candidate as far as that is known."""

    memory: Memory
    similarity: float | None = None


LISTED = 6
"""Lines that the list of memories takes at most."""

FOUND = 50
"""How many memories the search for one to merge into lists at most."""

Whose = Literal["own", "candidate", "written"]


class MergeChoice(Dialog[None]):
    """Ask into which memory `candidate` goes, and with which text; `merged` is told into which it
    went.

    The memories most alike (`near`) are listed first. What is written for one memory waits while
    another one is looked at. Nothing is forgotten by a merge, so no guard delays the answer.
    """

    BINDINGS = bindings((*MERGE, *on_row("e E y")))
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
        & .dialog--state { height: auto; max-height: 4; }
        & .dialog--keys { margin-top: 0; }
    }
    """

    def __init__(
        self,
        bench: Workbench,
        candidate: Memory,
        near: Iterable[tuple[Memory, float]],
        merged: Callable[[str], None],
    ) -> None:
        super().__init__(f"Merge {name(candidate.id)} into …", footer_entries(MERGE))
        self._bench, self._candidate, self._merged = bench, candidate, merged
        self._near = tuple(Target(*found) for found in near)
        self._kept: tuple[str, ...] = ()
        self._whose: Whose = "own"
        self._written: dict[str, str] = {}
        self._warned = False
        self.acts = Acts(self, self._record_here)

    def contents(self) -> Iterable[Widget]:
        """Return the search, the list, both texts, and what merging does."""
        nothing = Content(keyed("No similar memory. {merge.search} searches all memories."))
        rows: LineView[Target] = LineView(self._draw, lambda t: t.memory.id, empty=nothing)
        return (
            SafeInput(placeholder="/ search all memories"),
            rows,
            Container(
                ReadingPane(id="merge-candidate"),
                ReadingPane(id="merge-existing"),
                id="merge-texts",
            ),
            self.state,
        )

    def on_mount(self) -> None:
        """List the nearest."""
        self._list(self._near)
        self.rows.focus()

    def _record_here(self) -> Place | None:
        return None if self.rows.current is None else ("memories", self.rows.current.memory.id)

    def _draw(self, target: Target, _width: int) -> list[Cell]:
        known = "" if target.similarity is None else f"{target.similarity:.3f}"
        return [Cell(known, 5), Cell(target.memory.line), Cell(target.memory.status, 9, MUTED)]

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if words := event.value.strip():
            self.rows.set_empty(Content("Nothing matches. Backspace widens the search."))
            self._list(self._living(words))
        else:
            self._list(self._near)

    def _living(self, words: str) -> list[Target]:
        """Return the memories that match free words best, archived ones left out."""
        similar = {t.memory.id: t.similarity for t in self._near}
        try:
            found = self._bench.stream.view(words).memories
        except WorkbenchError:
            return []
        return [Target(m, similar.get(m.id)) for m in found if m.status != "archived"][:FOUND]

    def _list(self, targets: Sequence[Target]) -> None:
        listed = [t for t in targets if t.memory.id != self._candidate.id]
        self.rows.styles.height = max(2, min(len(listed), LISTED))
        self.rows.set_rows(listed, cursor=0)
        self._show()

    @on(Input.Submitted)
    def _searched(self) -> None:
        self.rows.focus()

    @on(LineView.Highlighted)
    def _show(self) -> None:
        target, outcome = self.rows.current, self.state
        texts = (BLANK, BLANK) if target is None else both_texts(self._candidate, target)
        for pane, text in zip(self.query(ReadingPane), texts, strict=True):
            pane.show(text)
        self._warned = False
        if target is None:
            outcome.update(BLANK)
            return
        if self._whose == "written" and target.memory.id not in self._written:
            self._whose = "own"  # words that were written for one memory are none for another
        outcome.update(absorb_outcome(self._candidate, target.memory, self._text(target)))

    def _text(self, target: Target) -> str | None:
        """Return the text that a memory gets, `None` for its own."""
        if self._whose == "written":
            return self._written[target.memory.id]
        return self._candidate.content if self._whose == "candidate" else None

    @on(LineView.Opened)
    def action_yes(self) -> None:
        """Merge into the memory under the cursor."""
        if (target := self.rows.current) is None:
            return
        into, from_, text = target.memory, self._candidate.id, self._text(target)

        def merge() -> None:
            with self._bench.safety.keeping(
                f"merge {from_} into {into.id}", self._kept, lambda: [into.id]
            ):
                self._bench.review.merge_into(from_, into.id, text, into.content)
            self._merged(into.id)
            self.dismiss(None)

        def failed(error: WorkbenchError) -> None:
            if isinstance(error, Conflict):
                self._changed(target)
                self.complain(
                    f"{error} The current text is shown; {key_of('merge.yes')} merges anyway."
                )
            else:
                self.complain(error)

        change(self, merge, failed)

    def _changed(self, target: Target) -> None:
        """Show the memory as it is now."""
        now = target._replace(memory=self._bench.stream.get(target.memory.id))
        self.rows.set_rows(
            [now if t is target else t for t in self.rows.rows], cursor=self.rows.cursor
        )
        self._show()

    def action_text(self) -> None:
        """Take the candidate's text, the one that was written here, or the memory's own again."""
        if (target := self.rows.current) is not None:
            texts: list[Whose] = ["own", "candidate"]
            texts += ["written"] if target.memory.id in self._written else []
            self._whose = texts[(texts.index(self._whose) + 1) % len(texts)]
            self._show()

    @asking
    async def action_edit(self) -> None:
        """Write the text that is left, starting from the one chosen."""
        if (target := self.rows.current) is None:
            return
        own, chosen, id = target.memory.content, self._text(target), target.memory.id
        draft = cast(Host, self.app).draft(
            f"memories/{self._candidate.id}", f"merge-{digest(id)[:12]}"
        )
        preview = Preview(self._bench, f"{own}\n{self._candidate.content}")
        editor = TextEditor(
            f"The text of {name(id)}", own if chosen is None else chosen, draft=draft, check=preview
        )
        if await self.app.push_screen_wait(editor) is not None:
            self._kept += preview.typed
            self._written[id] = preview.text
            self._whose = "own" if preview.text == own else "written"
            self._show()

    def action_search(self) -> None:
        self.set_focus(self.query_one(SafeInput))

    def action_no(self) -> None:
        """Leave the search, or both memories as they are; with something written only the second
        time.
        """
        if isinstance(self.focused, SafeInput):
            self.rows.focus()
        elif self._written and not self._warned:
            self.complain(
                keyed("Your text would be lost: esc again discards it, {merge.yes} merges.")
            )
            self._warned = True
        else:
            self.dismiss(None)


def absorb_outcome(candidate: Memory, target: Memory, text: str | None) -> Content:
    """Return what merging a candidate into a memory does, in a sentence; without a `text` it keeps
    its own.
    """
    keeps = text in (None, target.content)
    whose = (
        "its own text"
        if keeps
        else f"the text of {name(candidate.id)}"
        if text == candidate.content
        else "your text"
    )
    more = f"; {name(candidate.id)} adds its votes, tags and citations, and is archived as merged. Undo separates them."
    stays = f"{name(target.id)} stays {target.status} and {'keeps' if keeps else 'gets'} "
    return assemble([(stays, ""), (whose, "bold"), (more, MUTED)])


def both_texts(candidate: Memory, target: Target) -> tuple[Content, Content]:
    """Return both texts in full, below the second the word diff where it reads well."""
    other = target.memory
    known = "" if target.similarity is None else f" · similarity {target.similarity:.3f}"
    parts = [heading("The existing memory", muted(f"{other.status}{known}")), body(other.content)]
    if overlap(other.content, candidate.content) >= ALIKE:
        difference = told_apart(
            "From the existing memory to the candidate", other.content, candidate.content
        )
        parts += [BLANK, *difference]
    return joined(heading("The candidate"), body(candidate.content)), joined(*parts)


# The rounds of words of a candidate, side by side: write the next one, or let Claude, and take the
# best.


ROUNDS = 5
"""Lines that the list of rounds takes at most."""

Take = Callable[[tuple[str, ...], str], str | None]
"""All rounds, and the text of the one that was taken."""


class RefineDialog(Dialog[None]):
    """Shows the rounds of a candidate until one is taken, or none.

    `take` is given all of them and the chosen one; it may refuse with a sentence, and nothing is
    lost then.
    """

    BINDINGS = bindings(REFINE)
    DEFAULT_CSS = """
    RefineDialog {
        & > .dialog { width: 150; height: 90%; }
        & .dialog--title { margin-bottom: 0; max-height: 1; }
        & LineView { height: 1; }
        & Horizontal { height: 1fr; border-top: solid $panel; }
        & ReadingPane { width: 1fr; border: none; }
        & ReadingPane:focus { border: none; }
        & #before { border-right: solid $panel; }
        & .dialog--state { height: auto; max-height: 3; }
        & .dialog--keys { margin-top: 0; }
        &.-narrow Horizontal { layout: vertical; }
        &.-narrow ReadingPane { height: 1fr; width: 1fr; }
        &.-narrow #before { border-right: none; max-height: 40%; color: $text-muted; }
    }
    """

    def __init__(
        self, memory: Memory, refinement: "Refinement", take: Take, draft: Drafting
    ) -> None:
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
        return (rows, texts, self.state)

    def on_mount(self) -> None:
        """Start at the latest round."""
        self._add(())
        self.rows.focus()

    @property
    def chosen(self) -> str:
        """The text of the round under the cursor."""
        return self._rounds[self.rows.current or 0]

    @property
    def _new(self) -> int:
        return len(self._rounds) - self._known

    def _draw(self, place: int, _width: int) -> list[Cell]:
        text = self._rounds[place]
        new = "new" if place >= self._known else "as it is" if text == self._memory.content else ""
        found = substance(text)
        size = f"{number(found.characters)} characters · {len(found.actionable)} actionable"
        return [
            Cell(f"round {place + 1}", 9),
            Cell(new, 9, MUTED),
            Cell(text),
            Cell(size, 30, MUTED, "right"),
        ]

    @on(LineView.Highlighted)
    def _show(self) -> None:
        place, text = self.rows.current or 0, self.chosen
        before, after = (
            self.query_one("#before", ReadingPane),
            self.query_one("#after", ReadingPane),
        )
        if place:
            before.show(joined(heading(f"Round {place}"), body(self._rounds[place - 1])))
            title = heading(f"Round {place + 1}", diff_legend())
            after.show(joined(title, word_diff(self._rounds[place - 1], text)))
        else:
            before.show(heading("No earlier round"))
            after.show(joined(heading("Round 1"), body(text)))
        found = substance(text)
        has = f"{found.characters} characters, actionable: {', '.join(found.actionable) or 'none'}"
        wanted = f"{ENOUGH_CHARACTERS} characters and {ENOUGH_WORDS} actionable words (when, always, avoid, use, …)"
        self.tell(f"✓ Specific enough: {has}" if found.enough else f"{has}. Needed: {wanted}")

    def _add(self, texts: Sequence[str]) -> None:
        self._rounds += [text for text in texts if text.strip() and text not in self._rounds]
        self._warned = False
        self.rows.styles.height = min(len(self._rounds), ROUNDS)
        self.rows.set_rows(range(len(self._rounds)), cursor=len(self._rounds) - 1)
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
            self.tell(str(error), "$text-error")
            return
        estimate = preview.estimate
        cost = f"About {number(estimate.input)} tokens out, up to {number(estimate.output)} back."
        self.app.push_screen(SentDialog(preview, cost))

    @asking
    async def action_ask(self) -> None:
        """Let Claude write the next rounds."""
        if missing := self._refinement.missing:
            by_hand = f"Until then, {key_of('refine.write')} writes the next round by hand."
            self.tell(f"{missing} {by_hand}", "$text-warning")
            return
        make = partial(self._refinement.ask, self._memory, self.chosen)
        run: RunDialog[Refined] = RunDialog(make, Step("refine"), "Claude refines", self._came)
        if (found := await self.app.push_screen_wait(run)) is not None:
            self._came(found)

    def _came(self, found: "Refined") -> None:
        """List what Claude wrote, also when it was left alone meanwhile."""
        if self.is_attached:
            self._add(found.texts)
            self.notify(
                str(found.problem or f"Claude used {number(found.usage.total)} tokens."),
                markup=False,
            )

    @on(LineView.Opened)
    def action_take(self) -> None:
        """Take the round under the cursor."""
        rounds, chosen = tuple(self._rounds), self.chosen

        def take() -> None:
            if problem := self._take(rounds, chosen):
                self.tell(problem, "$text-error")
            else:
                self._end()

        change(self, take)

    def action_leave(self) -> None:
        """Leave; with new rounds only the second time."""
        if self._new and not self._warned:
            self._warned = True
            lost = amount(self._new, "new round is", "new rounds are")
            self.tell(
                f"{lost} lost: esc again discards, enter takes one and keeps all.", "$text-warning"
            )
        else:
            self._end()

    def _end(self) -> None:
        if self._new:
            self._draft.drop()
        self.dismiss(None)
