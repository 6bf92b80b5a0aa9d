"""The reading half of Review: the item under the cursor and its evidence, which a thread looks up."""

from dataclasses import dataclass, replace

from textual import work
from textual.content import Content
from textual.message import Message
from textual.worker import get_current_worker

from workbench.bench.playbook.curation import Card
from workbench.bench.review.evidence import Evidence
from workbench.bench.safety.flagging import FLAGS
from workbench.bench.safety.masking import masked
from workbench.bench.safety.suspicion import suspicions
from workbench.core.errors import WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import REVIEW
from workbench.tui.review.candidate import candidate, changes, fold, merge
from workbench.tui.review.curator import suggestion
from workbench.tui.review.evidence import Item, evidence_text
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.lists.reading_pane import ReadingPane, Wrapped

LOOKING = "Looking for similar memories …"
LOADING = "Similar memories and earlier rejections are looked up as soon as the model is loaded."

_UNSAFE = frozenset(FLAGS.values())

PREVIEWED = 20
"""Saved queries up to which the impact is worked out for every item; beyond that only when asked for."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Which item is drawn, as of which revision, and what is known about it so far."""

    proposal: Proposal
    revision: int
    evidence: Evidence | None = None


class EvidenceFound(Message):
    """A worker gathered the evidence for an item, drew it and wrapped it."""

    def __init__(self, shown: Shown, text: Content, wrapped: Wrapped) -> None:
        super().__init__()
        self.shown = shown
        self.text = text
        self.wrapped = wrapped


class EvidenceRedrawn(EvidenceFound):
    """A worker drew and wrapped the evidence that is shown for another width."""


class ReviewReading(AreaScreen):
    """Shows one item in two panes and knows which items were opened.

    `shown` is the item that is drawn. An item counts as opened once its text stood on the screen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shown: Shown | None = None
        self._opened: dict[str, str] = {}
        self._unfolded: dict[str, str] = {}

    @property
    def rows(self) -> LineList[Proposal]:
        """The queue."""
        return self.query_one("#queue", LineList)

    # What was seen

    @property
    def texts_in_sight(self) -> bool:
        """Whether the panes are on the screen: narrow ones are opened first."""
        return self.has_class("-open") or not self.has_class("-narrow")

    def was_opened(self, proposal: Proposal) -> bool:
        """Tell whether an item, as its text is now, stood on the screen, and unfolded."""
        return self._opened.get(proposal.id) == self._text_of(proposal) and not self.is_folded(proposal)

    def opened(self, proposals: list[Proposal]) -> None:
        """Note that these were seen elsewhere, in full."""
        for proposal in proposals:
            self._opened[proposal.id] = self._unfolded[proposal.id] = self._text_of(proposal)

    def is_folded(self, proposal: Proposal) -> bool:
        """Tell whether the item's text is folded away as unsafe to look at."""
        if proposal.kind == "reflection" and not _UNSAFE.intersection(proposal.flags):
            return False  # candidates carry what was found in them as flags
        memory = self.bench.review.memory(proposal)
        if memory is None or self._unfolded.get(proposal.id) == memory.content:
            return False
        return bool(suspicions(memory, self.bench.safety.sorts))

    def _text_of(self, proposal: Proposal) -> str:
        memory = self.bench.review.memory(proposal)
        return proposal.title if memory is None else memory.content

    def _note_opened(self) -> None:
        if self.shown is not None and self.texts_in_sight:
            self._opened[self.shown.proposal.id] = self._text_of(self.shown.proposal)

    def action_unfold(self) -> None:
        """Show a text that is folded away."""
        proposal = self.rows.current
        if proposal is None or not self.is_folded(proposal):
            self.workbench_app.say("Nothing is folded here.")
            return
        self.opened([proposal])
        self.rows.refresh_row(self.rows.cursor)
        self.show_item(proposal, anew=True)

    # Showing

    def show_item(self, proposal: Proposal | None, *, anew: bool = False) -> None:
        """Show an item; one that is shown already, and has not changed, is left as it is unless `anew` says so."""
        before = self.shown
        if proposal is None:
            self.shown = None
            for pane in self.query(ReadingPane):
                pane.show(Content(""))
            return
        shown = Shown(proposal, self.bench.library.revision)
        if not anew and before and (before.proposal, before.revision) == (shown.proposal, shown.revision):
            return
        self.shown = shown
        self.workbench_app.review_at = proposal.id
        same = before is not None and before.proposal.id == proposal.id
        self.query_one("#candidate", ReadingPane).show(self._item_text(proposal), keep_place=same)
        if not same:
            note = LOOKING if self.bench.retriever.ready else LOADING
            self._show_evidence(shown, self.bench.review.known(proposal), note)
        self._note_opened()
        # After the paint: the item is what the eye waits for, and the thread would slow it down.
        self.call_after_refresh(self._gather, shown)

    def retriever_ready(self) -> None:
        """Look for what is alike, now that it can be looked for."""
        if self.shown is not None:
            self._gather(self.shown)

    def refit(self) -> None:
        """Draw the evidence again, as wide as its pane is now."""
        shown = self.shown
        if shown is None:
            return
        if shown.evidence is not None:
            self._redraw(shown, self._item(shown.proposal), self._width)
            return
        note = LOOKING if self.bench.retriever.ready else LOADING
        self._show_evidence(shown, self.bench.review.known(shown.proposal), note, keep_place=True)

    def _item_text(self, proposal: Proposal) -> Content:
        review, now = self.bench.review, self.bench.context.now()
        memory = review.memory(proposal)
        hidden = self._fold(proposal, memory)
        if proposal.kind == "curator":
            return suggestion(proposal, self._card(proposal), now, self.bench.safety.masked)
        group = [c.memory for c in review.cited(proposal) if c.memory is not None]
        if proposal.id not in self._unfolded:
            proposal, memory, group = masked((proposal, memory, group), self.bench.safety.masked)
        if proposal.kind == "reflection" and memory is not None:
            return candidate(proposal, memory, now, hidden)
        if proposal.kind == "merge" and len(group) > 1 and hidden is None:
            return merge(proposal, group, now)
        return changes(proposal, memory, now, hidden)

    def _card(self, proposal: Proposal) -> Card | None:
        """Return what a suggestion for a playbook would do, or `None` when that playbook is gone."""
        try:
            return self.bench.curating.card_of(proposal)
        except WorkbenchError:
            return None

    def _fold(self, proposal: Proposal, memory: Memory | None) -> Content | None:
        if memory is None or not self.is_folded(proposal):
            return None
        key = next(a.shown_key for a in self.as_mapped(REVIEW) if a.id == "review.unfold")
        return fold(suspicions(memory, self.bench.safety.sorts), key)

    def _item(self, proposal: Proposal) -> Item:
        return Item(proposal, "" if self.is_folded(proposal) else self._text_of(proposal))

    @property
    def _width(self) -> int:
        """The cells of a line of evidence."""
        width = self.query_one("#evidence", ReadingPane).scrollable_content_region.width
        return width if width > 0 else max(20, self.size.width - 4)

    def _show_evidence(self, shown: Shown, evidence: Evidence, note: str, *, keep_place: bool = False) -> None:
        mask, now = self.bench.safety.masked, self.bench.context.now()
        item, found, brief = masked(self._item(shown.proposal), mask), masked(evidence, mask), shown.evidence is None
        text = evidence_text(item, found, now, note, self._width, brief=brief)
        self.query_one("#evidence", ReadingPane).show(text, keep_place=keep_place)

    def _gather(self, shown: Shown) -> None:
        if shown is self.shown:
            self._look_up(shown, self._item(shown.proposal), self._width)

    @work(thread=True, exclusive=True, group="evidence", exit_on_error=False, description="evidence")
    def _look_up(self, shown: Shown, item: Item, width: int) -> None:
        """Look for what is alike, away from the keyboard; a later item cancels this one."""
        worker, review, now = get_current_worker(), self.bench.review, self.bench.context.now()
        if worker.is_cancelled:
            return
        note = "" if self.bench.retriever.ready else LOADING
        try:
            evidence = review.evidence(item.proposal)
        except WorkbenchError as error:
            evidence, note = review.known(item.proposal), str(error)
        if worker.is_cancelled:
            return
        mask = self.bench.safety.masked
        text = evidence_text(masked(item, mask), masked(evidence, mask), now, note, width)
        self.post_message(EvidenceFound(replace(shown, evidence=evidence), text, (width, text.wrap(width))))
        if not evidence.searched or not self._may_preview or worker.is_cancelled:
            return
        try:
            impact = self.bench.impact.of(item.proposal, lambda: worker.is_cancelled)
        except WorkbenchError:
            return  # cancelled, or it cannot be accepted: `i` says why when somebody asks
        evidence = replace(evidence, impact=impact)
        text = evidence_text(masked(item, mask), masked(evidence, mask), now, note, width)
        if not worker.is_cancelled:
            self.post_message(EvidenceFound(replace(shown, evidence=evidence), text, (width, text.wrap(width))))

    @property
    def _may_preview(self) -> bool:
        return 0 < len(self.bench.library.queries) <= PREVIEWED

    @work(thread=True, exclusive=True, group="redraw", exit_on_error=False, description="another width")
    def _redraw(self, shown: Shown, item: Item, width: int) -> None:
        """Draw evidence that is known for another width, away from the keyboard."""
        worker, now, mask = get_current_worker(), self.bench.context.now(), self.bench.safety.masked
        if shown.evidence is None or worker.is_cancelled:
            return
        text = evidence_text(masked(item, mask), masked(shown.evidence, mask), now, "", width)
        self.post_message(EvidenceRedrawn(shown, text, (width, text.wrap(width))))

    def on_evidence_redrawn(self, event: EvidenceRedrawn) -> None:
        """Show it, unless more is known by now."""
        if event.shown is self.shown:
            self.query_one("#evidence", ReadingPane).show(event.text, keep_place=True, wrapped=event.wrapped)

    def on_evidence_found(self, event: EvidenceFound) -> None:
        """Show the evidence, unless another item is open by now."""
        now = self.shown
        if now is not None and (now.proposal.id, now.revision) == (event.shown.proposal.id, event.shown.revision):
            self.shown = event.shown
            self.query_one("#evidence", ReadingPane).show(event.text, keep_place=True, wrapped=event.wrapped)

    # Reading

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
