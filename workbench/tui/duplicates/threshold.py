"""Which pairs of memories would merge at a threshold: all pairs are compared once, the slider only counts."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.duplicates.kept_pair import KeptApart
from workbench.core.duplicates.thresholds import Thresholds
from workbench.core.record import WorkStopped
from workbench.services.duplicates.memory_pairs import FLOOR, MemoryPair, MemoryPairs, memory_pairs_of
from workbench.services.tuning.retriever import Retriever
from workbench.tui.app.actions import bindings
from workbench.tui.records.links import ActsBesideSliders, Place
from workbench.tui.tuning.actions import DUPLICATES
from workbench.tui.widgets.actions import on_row
from workbench.tui.widgets.bars import Scale, Slider, gauge
from workbench.tui.widgets.content import MUTED, assemble, word_diff
from workbench.tui.widgets.dialog import Dialog, Progressed
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell

WARN = "$text-warning"
LISTED = 2_000
"""Pairs that are listed at most."""

APART = "≠"
"""Marks a pair that says something else, whatever its cosine."""

SETTLED = "‖"
"""Marks a pair that a person keeps apart."""

Keep = Callable[[Thresholds], bool]
"""Writes thresholds to the settings; says whether that worked, having said why when it did not."""


class Threshold(Slider):
    """The slider; up and down go through the pairs, as there is no other slider."""

    def action_above(self) -> None:
        self.screen.query_one(LineView).action_up()

    def action_below(self) -> None:
        """One pair down."""
        self.screen.query_one(LineView).action_down()


class DuplicatesDialog(Dialog[None]):
    """A threshold, how much would merge, the pairs, and the difference of the one under the cursor.

    `mask` takes the secrets out of what is shown. In the list the usual keys act on the newer memory of a pair.
    """

    class Went(Progressed):
        """So many memories are compared."""

    class Found(Message):
        """All pairs are compared."""

        def __init__(self, found: MemoryPairs) -> None:
            super().__init__()
            self.found = found

    BINDINGS: ClassVar[list[BindingType]] = bindings((*DUPLICATES, *on_row()))
    DEFAULT_CSS = """
    DuplicatesDialog {
        & > .dialog { width: 94%; max-width: 150; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #duplicates-state { height: auto; max-height: 3; margin: 1 0; }
        & #duplicates-panes { layout: vertical; height: 1fr; }
        & LineView { height: 1fr; background: $surface; }
        & ReadingPane { height: 40%; border-top: solid $panel; }
    }
    """

    def __init__(
        self, retriever: Retriever, kept: Callable[[], KeptApart], keep: Keep, mask: Callable[[str], str]
    ) -> None:
        super().__init__("Duplicates · a preview of what would merge; nothing is merged", DUPLICATES)
        self._retriever = retriever
        self._kept = kept
        self._keep = keep
        self._mask = mask
        self.found: MemoryPairs | None = None
        self.acts = self._pair = ActsBesideSliders(lambda: self, self._record_here, then=self._compare)

    def contents(self) -> Iterable[Widget]:
        """Return the slider, the counts, the pairs and the difference."""
        yield Threshold("similarity", 0.9, Scale(FLOOR, 1.0, 0.01, 0.002), show=lambda v: f"{v:.3f}", id="threshold")
        yield Static(Content(""), id="duplicates-state")
        rows: LineView[MemoryPair] = LineView(
            self._draw, lambda pair: (pair.older.id, pair.newer.id), empty=Content("")
        )
        pane = ReadingPane(id="duplicates-text")
        pane.can_focus = False
        yield Container(rows, pane, id="duplicates-panes")

    def on_mount(self) -> None:
        """Compare all pairs."""
        self.query_one(Threshold).disabled = True
        self._went(self.Went(0, 1))
        self._compare()

    def _record_here(self, _what: str) -> Place | None:
        pair: MemoryPair | None = self.query_one(LineView).current
        return None if pair is None else ("memories", pair.newer.id)

    @on(LineView.Opened)
    def _open(self) -> None:
        self._pair.open()

    @work(thread=True, exclusive=True, group="duplicates")
    def _compare(self) -> None:
        worker = get_current_worker()

        def went(done: int, total: int) -> None:
            self.post_message(self.Went(done, total))

        try:
            found = memory_pairs_of(self._retriever, went, lambda: worker.is_cancelled, self._kept())
        except WorkStopped:
            return
        if not worker.is_cancelled:
            self.post_message(self.Found(found))

    @on(Went)
    def _went(self, event: Went) -> None:
        if self.found is None:
            bar = gauge(event.done, event.total, "memories", 30)
            self._say(Content("Comparing every memory with every other. Esc stops it.\n") + bar)

    @on(Found)
    def _compared(self, event: Found) -> None:
        first, self.found, slider = self.found is None, event.found, self.query_one(Threshold)
        slider.disabled = False
        slider.ticks = (event.found.review, event.found.flag)
        slider.scale = Scale(max(FLOOR, round(event.found.floor, 3)), 1.0, 0.01, 0.002)
        slider.default = event.found.flag
        if first:
            with slider.prevent(Slider.Changed):
                slider.value = event.found.flag
            slider.focus()
        self._show()

    @on(Slider.Changed)
    def _show(self) -> None:
        """Show the pairs at the threshold."""
        found, value = self.found, self.query_one(Threshold).value
        if found is None or value is None:
            return
        count, left = found.count(value), found.remaining(value)
        pairs = amount(count, "pair is", "pairs are")
        total = len(found.memories)
        parts = [(f"{pairs} at least this similar", "bold")]
        if differing := found.differing(value):
            verb = "stays" if differing == 1 else "stay"
            parts.append((f", {number(differing)} {verb} apart ({APART})", ""))
        if kept := found.kept(value):
            parts.append((f", {number(kept)} you keep apart ({SETTLED})", ""))
        if count:
            merging = f"{number(total)} memories would become {number(left)}" if left < total else "none would merge"
            parts.append((f" · {merging}", ""))
        parts.append(
            (f"\n┼ {found.flag:.2f} flags a likely duplicate, {found.review:.2f} lists a pair for review", MUTED)
        )
        self._say(assemble(parts))
        rows = self.query_one(LineView)
        rows.set_empty(Content("No two memories are that similar. ← lowers the threshold."))
        rows.set_rows(found.pairs(value, LISTED))
        self._show_pair()

    @on(LineView.Highlighted)
    def _show_pair(self) -> None:
        pair = self.query_one(LineView).current
        pane = self.query_one(ReadingPane)
        if pair is None:
            pane.show(Content(""))
            return
        why = [assemble([(f"{_mark(pair)}: ", WARN), ("these two would not merge.", "")])] if pair.apart else []
        head = Content.styled("From the older to the newer: [-gone-] {+new+}", MUTED)
        older, newer = (self._mask(memory.content) for memory in (pair.older, pair.newer))
        pane.show(Content("\n").join([*why, head, word_diff(older, newer)]))

    def _draw(self, pair: MemoryPair, width: int) -> list[Cell]:
        lines = [Cell(self._mask(memory.line)) for memory in (pair.older, pair.newer)]
        room = min(max(26, width // 4), width * 3 // 10)
        return [Cell(f"{pair.cosine:.3f}", 5), *lines, Cell(_mark(pair), room, WARN)]

    def _say(self, text: Content) -> None:
        self.query_one("#duplicates-state", Static).update(text)

    def action_less(self) -> None:
        """Lower the threshold, wherever the focus is."""
        self.query_one(Threshold).action_less()

    def action_more(self) -> None:
        """Raise the threshold."""
        self.query_one(Threshold).action_more()

    def action_reset(self) -> None:
        """Back to the threshold that holds."""
        self.query_one(Threshold).action_reset()

    def action_save(self, which: str) -> None:
        """Make this the threshold that flags (`flag`) or lists for review (`review`); the other one gives way."""
        found, value = self.found, self.query_one(Threshold).value
        if found is None or value is None:
            self.app.bell()
            return
        value = round(value, 3)
        flag, review = (value, min(found.review, value)) if which == "flag" else (max(found.flag, value), value)
        if (flag, review) == (found.flag, found.review):
            self.app.bell()
        elif self._keep(Thresholds(flag, review)):
            self.found = replace(found, flag=flag, review=review)
            slider = self.query_one(Threshold)
            slider.ticks, slider.default = (review, flag), flag
            self._show()

    def action_cancel(self) -> None:
        """Close; a comparison under way is stopped."""
        self.workers.cancel_node(self)
        self.dismiss(None)


def _mark(pair: MemoryPair) -> str:
    """Return why a pair would not merge, after its symbol; an empty text for one that would."""
    return f"{SETTLED if pair.apart.kind == 'kept' else APART} {pair.apart}" if pair.apart else ""
