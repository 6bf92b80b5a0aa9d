"""What Review shows: the queue, the item under the cursor, and the evidence for it."""

from collections.abc import Iterable, Sequence

from textual import on
from textual.cache import LRUCache
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.bench.review.review import is_put_off
from workbench.core.errors import InvalidQuery
from workbench.core.review.proposal import Proposal
from workbench.store.library import Touched
from workbench.tui.app.areas import GLOBAL, LIST, REASONS
from workbench.tui.app.stillness import Stillness
from workbench.tui.review.line import ReasonLine
from workbench.tui.review.progress import Progress
from workbench.tui.review.queue_list import QueueList
from workbench.tui.review.reading import ReviewReading
from workbench.tui.review.rows import row
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import lay_out
from workbench.tui.widgets.texts.safe_input import SafeInput

NOTHING_NEW = (
    "No candidates, and no memories to find any in. `workbench import FILE` or `workbench ingest` brings some in, "
    "F imports a file."
)
NO_MATCH = "Nothing matches. Esc clears the filter, ? explains it."


class ReviewView(ReviewReading):
    """Shows the queue and one item; deciding is the subclass's.

    `go_to` is where the cursor goes when the queue is shown next: at first to the item that was shown last time.
    `awaited` is an item that a dialog opened from here may decide.
    """

    AREA = "review"
    DEFAULT_CSS = """
    ReviewView {
        #filter-line { height: 1; padding: 0 1; }
        #filter { width: 2fr; background: $background; }
        #count { width: 3fr; color: $text-muted; padding-left: 1; text-align: right; text-wrap: nowrap; }
        #work { height: 1fr; }
        #queue { width: 42%; max-width: 72; }
        #texts { width: 1fr; layout: vertical; }
        ReadingPane { border-left: solid $panel; }
        ReadingPane:focus { border-left: solid $accent; }
        #candidate { height: 2fr; }
        #evidence { height: 3fr; padding: 1 1 0 1; }
        &.-wide #queue { width: 34%; }
        &.-wide #texts { layout: horizontal; }
        &.-wide #candidate { width: 2fr; height: 1fr; }
        &.-wide #evidence { width: 3fr; height: 1fr; padding: 0 1; }
        &.-narrow #texts { display: none; }
        &.-narrow #queue { width: 1fr; max-width: 100%; }
        &.-narrow.-open #texts { display: block; }
        &.-narrow #candidate { height: 1fr; }
        &.-narrow #evidence { height: 1fr; }
        &.-narrow.-open #queue { display: none; }
        &.-narrow ReadingPane { border-left: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._filter = ""
        self._drawn: LRUCache[tuple[object, ...], Content] = LRUCache(512)
        self.go_to: str | None = None
        self.awaited = ""
        self.still = Stillness(self)
        self._arrived = False
        self.progress = Progress()

    def contents(self) -> Iterable[Widget]:
        """Return the filter line, the three columns, and the line that asks for reasons."""
        box = SafeInput(placeholder="/ filter: tag:ci since:7d words", id="filter")
        yield Horizontal(box, Static(id="count"), id="filter-line")
        yield Horizontal(
            QueueList(self._draw, lambda p: p.id, id="queue"),
            Container(ReadingPane(id="candidate"), ReadingPane(id="evidence"), id="texts"),
            id="work",
        )
        yield ReasonLine(self.as_mapped(REASONS))

    def on_mount(self) -> None:
        """Start in the queue."""
        self.rows.focus()

    def on_unmount(self) -> None:
        """Leave the collector as it was found."""
        self.still.release()

    # Showing

    def show_store(self) -> None:
        """Show what waits now; the cursor goes where the last decision or undo sends it, or stays."""
        every = self.bench.review.queue()
        if not self._arrived:
            self._arrived, self.go_to = True, self.workbench_app.review_at
        try:
            listed = self.bench.review.matching(every, self._filter)
        except InvalidQuery as error:
            self._count(Content.styled(f"✗ {error}", "$text-error"))
            return
        now = self.bench.context.now()
        waiting = frozenset(p.id for p in every if not is_put_off(p, now))
        self.progress = self.progress.without(waiting)
        self.rows.set_empty(Content(NO_MATCH if every else self._nothing()))
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
        self.still.hold()
        ids = {key for table, key in touched.keys if table in ("memories", "proposals")}
        current, mine = self.rows.current, touched.actor == self.bench.context.actor
        if touched.kind == "undo" and mine:
            self.go_to = next((p.id for p in self.bench.review.queue() if p.id in ids), None)
        elif touched.kind == "redo" and mine:
            self.go_to = self.after(ids)
            left = {p.id for p in self.bench.review.queue()}
            again = [p.id for p in self.rows.rows if p.id in ids - left]
            self.progress = self.progress.with_decided(again, self.bench.context.now())
        expected = self.go_to is not None or (mine and self.awaited in ids)
        if mine and self.awaited in ids and self.awaited not in {p.id for p in self.bench.review.queue()}:
            self.progress = self.progress.with_decided([self.awaited], self.bench.context.now())
            self.awaited = ""
        self.show_store()
        now = self.rows.current
        if current is not None and now is not None and not expected and current.id in ids and now.id != current.id:
            self.workbench_app.say(f"{current.id} was decided elsewhere: {touched.label} ({touched.actor}).")

    def _nothing(self) -> str:
        """Say what to do when the queue is empty."""
        conditions = self.bench.overview.gauge().conditions
        count = int(next(c.value for c in conditions if c.name == "observations"))
        if count:
            return f"No candidates. R reflects on {count} observation{'s' if count > 1 else ''} now."
        read = self.bench.reflecting.readable()
        if not read:
            return NOTHING_NEW
        return f"No candidates. R reflects: it would read {number(read)} {'memory' if read == 1 else 'memories'}."

    def on_resize(self) -> None:
        """Keep the focus where something can be seen, and say how the texts are opened."""
        self.call_after_refresh(self._settle_focus)
        self.call_after_refresh(self.refit)

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
        cells = row(proposal, memory, width, now, folded=self.is_folded(proposal), mask=self.bench.safety.masked)
        looks = (width, *((str(cell.text), cell.style) for cell in cells))
        drawn = self._drawn.get(looks)
        if drawn is None:
            drawn = self._drawn[looks] = lay_out(cells, width)
        return drawn

    def _count(self, content: Content) -> None:
        self.query_one("#count", Static).update(content, layout=False)

    @on(LineList.Highlighted)
    def _show_item(self) -> None:
        self.settled(self.rows.current)
        self.show_item(self.rows.current)

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

    @on(LineList.Opened)
    def _open(self) -> None:
        self.add_class("-open")
        self.query_one("#evidence").focus()
        self._settle_focus()
        self.call_after_refresh(self.refit)
        self._note_opened()
        if self.shown is not None and self.is_folded(self.shown.proposal):
            self.action_unfold()

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
