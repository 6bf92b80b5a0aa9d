"""The item under the cursor of Review and its evidence, which a thread looks up."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.record import WorkbenchError
from workbench.core.review.kinds import kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench
from workbench.services.review.queue import Evidence
from workbench.services.safety.masking import masked
from workbench.services.safety.suspicion import suspicions
from workbench.tui.app.actions import Action, bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.surviving import survives
from workbench.tui.records.links import Acts, Place, links_of
from workbench.tui.review.actions import EVIDENCE, GROUP, REASONS
from workbench.tui.review.evidence import evidence_text
from workbench.tui.review.impact import facts, fold, name
from workbench.tui.review.rows import flags_in_words, legend
from workbench.tui.review.views import Cites, Look, Seen, view_of
from workbench.tui.widgets.actions import CANCEL, LIST
from workbench.tui.widgets.content import MUTED, body, fitted, key_of
from workbench.tui.widgets.dialog import Dialog, TextDialog, held_keys
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell

# The question before a marked group is decided of which some were never opened: their texts, to the end.


class GroupDialog(TextDialog[bool]):
    """Ask whether to decide the group; the result is True only for a yes after the end was in sight.

    `unopened` are the members that were never opened, each with the memory it is about. A short group fits the box,
    so its end is in sight at once.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(GROUP)
    DEFAULT_CSS = """
    GroupDialog .group--state { height: 1; }
    """

    def __init__(self, verb: str, group: int, unopened: Sequence[tuple[Proposal, Memory | None]]) -> None:
        blocks = [_block(place, len(unopened), *one) for place, one in enumerate(unopened, 1)]
        title = f"{verb} {group}, including {len(unopened)} you have not read?"
        super().__init__(title, Content("\n\n").join(blocks), GROUP)
        self._what = f"{verb.lower()} {group}"
        self._seen = False

    def contents(self) -> Iterable[Widget]:
        """Return the texts and the line that says whether their end was in sight."""
        return (*super().contents(), Static(classes="group--state"))

    def on_mount(self) -> None:
        self.watch(self.pane, "scroll_y", self._look, init=False)

    def on_resize(self) -> None:
        """Look again where the end is, once the box is fitted."""
        self.call_after_refresh(self.call_after_refresh, self._look)

    def _look(self) -> None:
        pane = self.pane
        self._seen = self._seen or pane.at_end
        share = round(100 * pane.scroll_offset.y / max(1, pane.max_scroll_y))
        state = Content.styled(f"{share} % read. Scroll to the end, then press {key_of('group.yes')}.", MUTED)
        if self._seen:
            state = Content.styled(f"You have read them all. y: {self._what}; one undo reverts it.", "bold")
        self.query_one(".group--state", Static).update(state)

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
    return Content("\n").join([*lines, body(text)])


# The line below the texts of Review: what was decided last, else what the signs mean.


@survives
class DecisionLine(Widget):
    """One line that is always there, so that nothing moves. What is `said` stays until the cursor goes on."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    DecisionLine { height: 1; padding: 0 1; color: $foreground; }
    """

    said = reactive("")
    hint = reactive("")
    """Stands on the right."""

    def __init__(self) -> None:
        super().__init__()
        self._beside = ""

    def say(self, text: str, beside: str) -> None:
        """Say what was decided, while the cursor is `beside` where that stood; an empty text says nothing."""
        self.said, self._beside = text, beside

    def rest(self, beside: str) -> None:
        """Say no more of a decision once the cursor went on from there."""
        if beside != self._beside:
            self.said = ""

    def render(self) -> Content:
        """Return what was decided, or the legend."""
        hint = Content.styled(self.hint, MUTED)
        room = max(0, self.content_size.width - len(self.hint))
        return fitted(Content(self.said) if self.said else legend(room), room) + hint


# Why something was rejected: one of the usual reasons, or in words.


class ReasonDialog(Dialog[int]):
    """Ask for a reason by its key, or with enter; the result is its place in `REASONS`."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(REASONS)
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

    def _draw(self, reason: Action, width: int) -> list[Cell]:
        del width
        key = held_keys(self, (reason,))[0][0]
        return [Cell(f"{key} {reason.label}", 16), Cell(reason.tooltip, 0, MUTED)]

    @on(LineView.Opened)
    def _take(self) -> None:
        self.dismiss(self.query_one(LineView).cursor)

    def action_reason(self, index: int) -> None:
        self.dismiss(index)


LOOKING = "Looking for similar memories …"
LOADING = "Similar memories and earlier rejections are looked up as soon as the model is loaded."

NO_EVIDENCE = "That key acts on a memory or bullet in the evidence; none is selected. Esc returns to the queue."

PREVIEWED = 20
"""Saved queries up to which the impact is worked out for every item; beyond that only when asked for."""


@dataclass(frozen=True, slots=True)
class Item:
    """What the evidence is for: a proposal, and its text (empty while that is folded away)."""

    proposal: Proposal
    text: str


@dataclass(frozen=True, slots=True)
class Shown:
    """Which item is drawn, as of which revision, and what is known about it so far."""

    proposal: Proposal
    revision: int
    evidence: Evidence | None = None


class EvidenceFound(Message, bubble=False):
    """A worker gathered the evidence for an item, drew it and wrapped it."""

    def __init__(self, shown: Shown, text: Content) -> None:
        super().__init__()
        self.shown = shown
        self.text = text


class EvidenceRedrawn(EvidenceFound, bubble=False):
    """A worker drew and wrapped the evidence that is shown for another width."""


@survives
class ItemTexts(Container):
    """Two panes: what an item says, and what speaks for and against it. `shown` is the item that is drawn."""

    def __init__(self, bench: Workbench, seen: Seen, unfold_key: str) -> None:
        self._item_pane, self._evidence_pane = ReadingPane(id="candidate"), ReadingPane(id="evidence")
        super().__init__(self._item_pane, self._evidence_pane, id="texts")
        self._bench = bench
        self._seen = seen
        self._unfold_key = unfold_key
        self.shown: Shown | None = None

    def carry(self, area: AreaScreen) -> Acts:
        """Let the evidence be a list of what it names, whose keys act on that and decide nothing; return what acts."""
        links = links_of(area, self._evidence_pane, self._own)
        self._item_pane.links, self._evidence_pane.links = links_of(area, self._item_pane, self._own), links
        acts = Acts(lambda: area, lambda _what: links.current, missing=NO_EVIDENCE)
        self._evidence_pane.carry(acts, EVIDENCE)
        return acts

    def _own(self) -> Place | None:
        """Return the memory that the item is about."""
        memory = None if self.shown is None else self._bench.review.memory(self.shown.proposal)
        return None if memory is None else ("memories", memory.id)

    @property
    def in_sight(self) -> bool:
        """Whether the panes are on the screen: narrow ones are opened first."""
        return self.screen.has_class("-open") or not self.screen.has_class("-narrow")

    @property
    def evidence(self) -> Evidence | None:
        """What is known so far about the item that is shown."""
        return None if self.shown is None else self.shown.evidence

    def note_seen(self) -> None:
        """Count the item as seen, if its text stands on the screen."""
        if self.shown is not None and self.in_sight:
            self._seen.note(self.shown.proposal)

    # Showing

    def show_item(self, proposal: Proposal | None, *, anew: bool = False) -> None:
        """Show an item; one that is shown already, and has not changed, is left as it is unless `anew` says so."""
        before = self.shown
        if proposal is None:
            self.shown = None
            self._item_pane.show(Content(""))
            self._evidence_pane.show(Content(""))
            return
        shown = Shown(proposal, self._bench.library.revision)
        if not anew and before and (before.proposal, before.revision) == (shown.proposal, shown.revision):
            return
        self.shown = shown
        same = before is not None and before.proposal.id == proposal.id
        self._item_pane.show(self._item_text(proposal), keep_place=same)
        if not same:
            note = LOOKING if self._bench.retriever.ready else LOADING
            self._show_evidence(shown, self._bench.review.known(proposal), note)
        self.note_seen()
        # After the paint: the item is what the eye waits for, and the thread would slow it down.
        self.call_after_refresh(self._gather, shown)

    def show_words(self, text: Content) -> None:
        self._item_pane.show(text)

    def look_again(self) -> None:
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
        note = LOOKING if self._bench.retriever.ready else LOADING
        self._show_evidence(shown, self._bench.review.known(shown.proposal), note, keep_place=True)

    def _item_text(self, proposal: Proposal) -> Content:
        memory = self._bench.review.memory(proposal)
        hidden, unfolded = self._fold(proposal, memory), self._seen.was_unfolded(proposal)
        view = view_of(kind_of(proposal.kind))
        return view.item(Look(self._bench, proposal, memory, hidden, unfolded))

    def _fold(self, proposal: Proposal, memory: Memory | None) -> Content | None:
        if memory is None or not self._seen.is_folded(proposal):
            return None
        return fold(suspicions(memory, self._bench.safety.sorts), self._unfold_key)

    def _item(self, proposal: Proposal) -> Item:
        return Item(proposal, "" if self._seen.is_folded(proposal) else self._seen.text_of(proposal))

    @property
    def _width(self) -> int:
        """The cells of a line of evidence."""
        width = self._evidence_pane.scrollable_content_region.width
        return width if width > 0 else max(20, self.screen.size.width - 4)

    def _show_evidence(self, shown: Shown, evidence: Evidence, note: str, *, keep_place: bool = False) -> None:
        text = self._drawn(self._item(shown.proposal), evidence, note, self._width, brief=shown.evidence is None)
        self._evidence_pane.show(text, keep_place=keep_place)

    def _drawn(self, item: Item, evidence: Evidence, note: str, width: int, *, brief: bool = False) -> Content:
        mask, now = self._bench.safety.masked, self._bench.context.now()
        item, found = masked(item, mask), masked(evidence, mask)
        view = view_of(kind_of(item.proposal.kind))
        if not view.compares:
            found = replace(found, searched=False)
        return evidence_text(item.text, found, view.cited(found, Cites(now, width, brief)), now, note, width)

    def _gather(self, shown: Shown) -> None:
        if shown is self.shown:
            self._look_up(shown, self._item(shown.proposal), self._width)

    @work(thread=True, exclusive=True, group="evidence", exit_on_error=False, description="evidence")
    def _look_up(self, shown: Shown, item: Item, width: int) -> None:
        """Look for what is alike, away from the keyboard; a later item cancels this one."""
        worker, review = get_current_worker(), self._bench.review
        if worker.is_cancelled:
            return
        note = "" if self._bench.retriever.ready else LOADING
        try:
            evidence = review.evidence(item.proposal)
        except WorkbenchError as error:
            evidence, note = review.known(item.proposal), str(error)
        if worker.is_cancelled:
            return
        text = self._drawn(item, evidence, note, width)
        self.post_message(EvidenceFound(replace(shown, evidence=evidence), text))
        if not evidence.searched or not self._may_preview or worker.is_cancelled:
            return
        try:
            impact = self._bench.impact.of(item.proposal, lambda: worker.is_cancelled)
        except WorkbenchError:
            return  # cancelled, or it cannot be accepted: `i` says why when somebody asks
        evidence = replace(evidence, impact=impact)
        text = self._drawn(item, evidence, note, width)
        if not worker.is_cancelled:
            self.post_message(EvidenceFound(replace(shown, evidence=evidence), text))

    @property
    def _may_preview(self) -> bool:
        return 0 < len(self._bench.library.queries) <= PREVIEWED

    @work(thread=True, exclusive=True, group="redraw", exit_on_error=False, description="another width")
    def _redraw(self, shown: Shown, item: Item, width: int) -> None:
        """Draw evidence that is known for another width, away from the keyboard."""
        worker = get_current_worker()
        if shown.evidence is None or worker.is_cancelled:
            return
        text = self._drawn(item, shown.evidence, "", width)
        self.post_message(EvidenceRedrawn(shown, text))

    def on_evidence_redrawn(self, event: EvidenceRedrawn) -> None:
        """Show it, unless more is known by now."""
        if event.shown is self.shown:
            self._evidence_pane.show(event.text, keep_place=True)

    def on_evidence_found(self, event: EvidenceFound) -> None:
        """Show the evidence, unless another item is open by now."""
        now = self.shown
        if now is not None and (now.proposal.id, now.revision) == (event.shown.proposal.id, event.shown.revision):
            self.shown = event.shown
            self._evidence_pane.show(event.text, keep_place=True)

    # Reading

    def read_on(self) -> None:
        """Scroll the item, then the evidence."""
        _ = self._item_pane.read(1) or self._evidence_pane.read(1)

    def read_back(self) -> None:
        """Scroll the evidence, then the item, back."""
        _ = self._evidence_pane.read(-1) or self._item_pane.read(-1)
