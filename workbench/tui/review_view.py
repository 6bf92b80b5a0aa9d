"""What Review shows: the queue, the item under the cursor, and the evidence for it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual import on, work
from textual.cache import LRUCache
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.bench.review import Evidence, is_put_off
from workbench.core.errors import InvalidQuery, WorkbenchError
from workbench.core.proposal import Proposal
from workbench.store.library import Touched
from workbench.tui.areas import GLOBAL, LIST
from workbench.tui.review_candidate import candidate, changes, merge
from workbench.tui.review_evidence import evidence_text
from workbench.tui.review_line import ReasonLine
from workbench.tui.review_pane import ReadingPane
from workbench.tui.review_progress import Progress
from workbench.tui.review_rows import row
from workbench.tui.screens.area import AreaScreen
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.row import lay_out
from workbench.tui.widgets.safe_input import SafeInput

EMPTY = (
    "No candidates wait. `workbench import FILE` brings some in, and `workbench ingest` asks here "
    "when something new looks like a memory you have."
)
NO_MATCH = "Nothing matches. Esc clears the filter, ? explains it."
LOOKING = "Looking for similar memories …"
LOADING = "Similar memories and earlier rejections are looked up as soon as the model is loaded."


@dataclass(frozen=True, slots=True)
class Shown:
    """Which item is drawn, as of which revision, and what is known about it so far."""

    proposal: Proposal
    revision: int
    evidence: Evidence | None = None


class EvidenceFound(Message):
    """A worker gathered the evidence for an item and drew it."""

    def __init__(self, shown: Shown, text: Content) -> None:
        super().__init__()
        self.shown = shown
        self.text = text


class ReviewView(AreaScreen):
    """Shows the queue and one item; deciding is the subclass's.

    `go_to` is where the cursor goes when the queue is shown next; `shown` is the item that is drawn.
    """

    AREA = "review"
    DEFAULT_CSS = """
    ReviewView {
        #filter-line { height: 1; padding: 0 1; }
        #filter { width: 1fr; background: $background; }
        #count { width: auto; color: $text-muted; padding-left: 2; }
        #work { height: 1fr; }
        #queue { width: 42%; max-width: 72; }
        #texts { width: 1fr; layout: vertical; }
        ReadingPane { border-left: solid $panel; }
        ReadingPane:focus { border-left: solid $accent; }
        #candidate { height: auto; max-height: 50%; }
        #evidence { height: 1fr; padding: 1 1 0 1; }
        &.-wide #queue { width: 34%; }
        &.-wide #texts { layout: horizontal; }
        &.-wide #candidate { width: 2fr; height: 1fr; max-height: 100%; }
        &.-wide #evidence { width: 3fr; padding: 0 1; }
        &.-narrow #texts { display: none; }
        &.-narrow #queue { width: 1fr; max-width: 100%; }
        &.-narrow.-open #texts { display: block; }
        &.-narrow.-open #queue { display: none; }
        &.-narrow #candidate { max-height: 62%; }
        &.-narrow ReadingPane { border-left: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._filter = ""
        self._drawn: LRUCache[tuple[object, ...], Content] = LRUCache(512)
        self.shown: Shown | None = None
        self.go_to: str | None = None
        self.progress = Progress()

    def contents(self) -> Iterable[Widget]:
        """Return the filter line, the three columns, and the line that asks for reasons."""
        box = SafeInput(placeholder="/ filter: tag:ci since:7d words", id="filter")
        yield Horizontal(box, Static(id="count"), id="filter-line")
        yield Horizontal(
            LineList(self._draw, lambda p: p.id, empty=Content(EMPTY), id="queue"),
            Container(ReadingPane(id="candidate"), ReadingPane(id="evidence"), id="texts"),
            id="work",
        )
        yield ReasonLine()

    def on_mount(self) -> None:
        """Start in the queue."""
        self.rows.focus()

    @property
    def rows(self) -> LineList[Proposal]:
        """The queue."""
        return self.query_one("#queue", LineList)

    # Showing

    def show_store(self) -> None:
        """Show what waits now; the cursor goes where the last decision or undo sends it, or stays."""
        every = self.bench.review.queue()
        try:
            listed = self.bench.review.matching(every, self._filter)
        except InvalidQuery as error:
            self._count(Content.styled(f"✗ {error}", "$text-error"))
            return
        now = self.bench.context.now()
        waiting = frozenset(p.id for p in every if not is_put_off(p, now))
        self.progress = self.progress.without(waiting)
        self.rows.set_empty(Content(NO_MATCH if every else EMPTY))
        place = next((i for i, p in enumerate(listed) if p.id == self.go_to), None)
        self.go_to = None
        self.rows.set_rows(listed, cursor=place)
        sentence = self.progress.sentence(len(waiting), len(every) - len(waiting))
        self._count(Content(f"{len(listed)} listed · {sentence}" if self._filter.strip() else sentence))
        if not listed and self.has_class("-open"):
            self._close()
        self._show_item()

    def show_changes(self, touched: Touched) -> None:
        """Show what a transaction changed; an undone decision brings its item and the cursor back."""
        if touched.kind == "access":
            return
        ids = {key for table, key in touched.keys if table in ("memories", "proposals")}
        current, mine = self.rows.current, touched.actor == self.bench.context.actor
        if touched.kind == "undo" and mine:
            self.go_to = next((p.id for p in self.bench.review.queue() if p.id in ids), None)
        elif touched.kind == "redo" and mine:
            self.go_to = self.after(ids)
            left = {p.id for p in self.bench.review.queue()}
            again = [p.id for p in self.rows.rows if p.id in ids - left]
            self.progress = self.progress.with_decided(again, self.bench.context.now())
        expected = self.go_to is not None
        self.show_store()
        now = self.rows.current
        if current is not None and now is not None and not expected and current.id in ids and now.id != current.id:
            self.workbench_app.say(f"{current.id} was decided elsewhere: {touched.label} ({touched.actor}).")

    def retriever_ready(self) -> None:
        """Look for what is alike, now that it can be looked for."""
        if self.shown is not None:
            self._gather(self.shown)

    def on_resize(self) -> None:
        """Keep the focus where something can be seen, and say how the texts are opened."""
        self.call_after_refresh(self._settle_focus)

    def _settle_focus(self) -> None:
        narrow, is_open = self.has_class("-narrow"), self.has_class("-open")
        if self.focused is None or (narrow and not is_open and isinstance(self.focused, ReadingPane)):
            self.rows.focus()
        key, back = (next(a.shown_key for a in (*LIST, *GLOBAL) if a.id == id) for id in ("list.open", "app.back"))
        hint = f"{back} goes back" if is_open else f"{key} opens it"
        self.query_one(ReasonLine).hint = hint if narrow else ""

    def _draw(self, proposal: Proposal, width: int) -> Content:
        """Draw a row, or take it as drawn before: a decision moves the rows below it, but they look the same."""
        memory, now = self.bench.review.memory(proposal), self.bench.context.now()
        cells = row(proposal, memory, width, now)
        looks = (width, *((str(cell.text), cell.style) for cell in cells))
        drawn = self._drawn.get(looks)
        if drawn is None:
            drawn = self._drawn[looks] = lay_out(cells, width)
        return drawn

    def _count(self, content: Content) -> None:
        self.query_one("#count", Static).update(content)

    @on(LineList.Highlighted)
    def _show_item(self) -> None:
        proposal, before = self.rows.current, self.shown
        self.settled(proposal)
        if proposal is None:
            self.shown = None
            for pane in self.query(ReadingPane):
                pane.show(Content(""))
            return
        shown = Shown(proposal, self.bench.library.journal.rev)
        if before is not None and (before.proposal, before.revision) == (shown.proposal, shown.revision):
            return
        self.shown = shown
        same = before is not None and before.proposal.id == proposal.id
        self.query_one("#candidate", ReadingPane).show(self._item_text(proposal), keep_place=same)
        if not same:
            cited = Evidence(self.bench.review.cited(proposal))
            self._show_evidence(shown, cited, LOOKING if self.bench.retriever.ready else LOADING)
        # After the paint: the item is what the eye waits for, and the thread would slow it down.
        self.call_after_refresh(self._gather, shown)

    def _item_text(self, proposal: Proposal) -> Content:
        review, now = self.bench.review, self.bench.context.now()
        memory = review.memory(proposal)
        if proposal.kind == "reflection" and memory is not None:
            return candidate(proposal, memory, now)
        pair = [c.memory for c in review.cited(proposal) if c.memory is not None]
        if proposal.kind == "merge" and len(pair) == 2:
            return merge(proposal, pair[0], pair[1], now)
        return changes(proposal, now)

    def _show_evidence(self, shown: Shown, evidence: Evidence, note: str) -> None:
        memory, now = self.bench.review.memory(shown.proposal), self.bench.context.now()
        self.query_one("#evidence", ReadingPane).show(evidence_text(shown.proposal, memory, evidence, now, note))

    @work(thread=True, exclusive=True, group="evidence", exit_on_error=False)
    def _gather(self, shown: Shown) -> None:
        """Look for what is alike, away from the keyboard; a later item cancels this one."""
        worker, review = get_current_worker(), self.bench.review
        if worker.is_cancelled:
            return
        note = "" if self.bench.retriever.ready else LOADING
        try:
            evidence = review.evidence(shown.proposal)
        except WorkbenchError as error:
            evidence, note = Evidence(review.cited(shown.proposal)), str(error)
        if worker.is_cancelled:
            return
        memory, now = review.memory(shown.proposal), self.bench.context.now()
        text = evidence_text(shown.proposal, memory, evidence, now, note)
        if not worker.is_cancelled:
            self.post_message(EvidenceFound(Shown(shown.proposal, shown.revision, evidence), text))

    def on_evidence_found(self, event: EvidenceFound) -> None:
        """Show the evidence, unless another item is open by now."""
        now = self.shown
        if now is not None and (now.proposal.id, now.revision) == (event.shown.proposal.id, event.shown.revision):
            self.shown = event.shown
            self.query_one("#evidence", ReadingPane).show(event.text, keep_place=True)

    def settled(self, current: Proposal | None) -> None:
        """Take notice of the item under the cursor, drawn anew or moved to; for subclasses."""

    def after(self, ids: Iterable[str]) -> str | None:
        """Return the id that the cursor goes to when these leave: the next one below, else the last above."""
        leaving, cursor = set(ids), self.rows.cursor
        listed: Sequence[Proposal] = self.rows.rows
        below = (p.id for p in listed[cursor:] if p.id not in leaving)
        above = (p.id for p in reversed(listed[:cursor]) if p.id not in leaving)
        return next(below, None) or next(above, None)

    # Filtering and moving

    @on(Input.Changed, "#filter")
    def _filtered(self, event: Input.Changed) -> None:
        self._filter = event.value
        self.show_store()

    @on(Input.Submitted, "#filter")
    def _taken(self) -> None:
        self.rows.focus()

    def action_search(self) -> None:
        """Go to the filter."""
        self._close()
        self.set_focus(self.query_one("#filter"))

    def action_next(self) -> None:
        """To the next listed item, round the end."""
        self._go_round(1)

    def action_previous(self) -> None:
        """To the previous listed item, round the start."""
        self._go_round(-1)

    def _go_round(self, step: int) -> None:
        if self.rows.rows:
            self.rows.cursor = (self.rows.cursor + step) % len(self.rows.rows)

    def action_read_on(self) -> None:
        """Scroll the item, then the evidence."""
        for pane in self.query(ReadingPane):
            if pane.read(1):
                return

    def action_read_back(self) -> None:
        """Scroll the evidence, then the item, back."""
        for pane in reversed(self.query(ReadingPane)):
            if pane.read(-1):
                return

    @on(LineList.Opened)
    def _open(self) -> None:
        self.add_class("-open")
        self.query_one("#evidence").focus()
        self._settle_focus()

    def _close(self) -> None:
        self.remove_class("-open")
        self.set_focus(self.rows)
        self._settle_focus()

    def go_back(self) -> None:
        """Close what is open, leave the texts or the filter, drop the marks, or clear the filter."""
        box = self.query_one("#filter", SafeInput)
        if self.has_class("-open") or self.focused is not self.rows:
            self._close()
        elif self.rows.mark_count:
            self.rows.clear_marks()
        elif box.value:
            box.value = ""

    @on(LineList.MarksChanged)
    def _marked(self) -> None:
        self.show_status()
