"""Review: decide on what waits, one item after the other."""

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType

from workbench.core.filter import HELP
from workbench.core.memory import Memory
from workbench.core.proposal import Proposal
from workbench.tui.actions import bindings
from workbench.tui.areas import REASONS, REVIEW
from workbench.tui.asking import asking
from workbench.tui.review_line import ReasonLine
from workbench.tui.review_merge import MergeConfirm
from workbench.tui.review_view import ReviewView
from workbench.tui.saving import Saving
from workbench.tui.widgets.editor import TextEditor


@dataclass(frozen=True, slots=True)
class Rejected:
    """What was rejected last, and where the cursor came to rest: a reason may be given while it stays there."""

    group: str
    ids: tuple[str, ...]
    beside: str


class ReviewScreen(ReviewView):
    """The queue with its evidence, and the keys that decide."""

    BINDINGS: ClassVar[list[BindingType]] = bindings((*REVIEW, *REASONS))
    help_text = (
        "After a rejection\n"
        + "\n".join(f"  {a.shown_key}  {a.label:<24} {a.tooltip}" for a in REASONS)
        + "\n  Any other key goes on without a reason; meanwhile these digits do not change the area.\n\n"
        + "The filter\n"
        + "\n".join(f"  {what:<28} {means}" for what, means in HELP)
    )

    def __init__(self) -> None:
        super().__init__()
        self._rejected: Rejected | None = None

    # Deciding

    def action_approve(self) -> None:
        """Approve and go on."""
        self._decide("approve")

    def action_reject(self) -> None:
        """Reject and go on; a reason may follow."""
        self._decide("reject")

    def action_later(self) -> None:
        """Put off and go on."""
        self._decide("later")

    def _decide(self, verb: str) -> None:
        proposals = self.take_targets(self.rows)
        targets = [p.id for p in proposals]
        if not targets:
            self.workbench_app.say("Nothing waits here.")
            return
        following = self.after(targets)
        with self.workbench_app.reporting():
            review = self.bench.review
            self._rejected = None
            if verb == "reject":
                group = review.reject(targets)
                if any(p.kind == "reflection" for p in proposals):
                    self._rejected = Rejected(group, tuple(targets), following or "")
            else:
                (review.approve if verb == "approve" else review.later)(targets)
            self._decided(targets if verb != "later" else [], following)

    def _decided(self, ids: list[str], following: str | None) -> None:
        """Count decisions and send the cursor on; the list follows when the store says what changed."""
        self.go_to = following
        self.progress = self.progress.with_decided(ids, self.bench.context.now())

    def action_reason(self, index: int) -> None:
        """Record why the last rejection was made."""
        rejected, self._rejected = self._rejected, None
        if rejected is not None:
            with self.workbench_app.reporting():
                self.bench.review.explain(rejected.group, rejected.ids, REASONS[index].label)
                self.workbench_app.say(f"Rejected as {REASONS[index].label}.")
        self.settled(self.rows.current)

    def on_reason_line_picked(self, event: ReasonLine.Picked) -> None:
        """A click on a reason is its key."""
        self.action_reason(event.index)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let the digits change the area unless reasons are offered."""
        del parameters
        return action != "reason" or self._rejected is not None

    def settled(self, current: Proposal | None) -> None:
        """Offer reasons while the cursor is where the rejection left it."""
        rejected = self._rejected
        if rejected is not None and self.go_to is None and (current.id if current else "") != rejected.beside:
            self._rejected = None
        self.query_one(ReasonLine).asking = self._rejected is not None

    def go_back(self) -> None:
        """Leave the last rejection without a reason, or close what is open."""
        if self._rejected is None:
            super().go_back()
        self._go_on()

    def on_screen_suspend(self) -> None:
        """Whoever leaves gives no reason."""
        self._go_on()

    def _go_on(self) -> None:
        self._rejected = None
        self.query_one(ReasonLine).asking = False

    # Changing the text

    @asking
    async def action_edit(self) -> None:
        """Edit here; saving approves, and the editor stays open when that is refused."""
        item = self._one_with_text()
        if item is not None:
            await self._edit(item[0], item[1].content, self._saving(*item))

    @asking
    async def action_external(self) -> None:
        """Edit in $EDITOR; a text that cannot be approved is kept in the editor here."""
        item = self._one_with_text()
        text = await self.edit_externally(item[1].content) if item else None
        if item is not None and text is not None:
            save = self._saving(*item)
            if problem := save(text):
                self.workbench_app.say(f"{problem} Your text is kept here.", "warning")
                await self._edit(item[0], text, save)

    async def _edit(self, proposal: Proposal, text: str, save: Saving) -> None:
        await self.app.push_screen_wait(TextEditor(f"Edit and approve {proposal.id}", text, check=save))

    def _saving(self, proposal: Proposal, memory: Memory) -> Saving:
        """Approve with another text, unless the memory was changed while that was written."""

        def approve(text: str, expected: str) -> None:
            following = self.after([proposal.id])
            self.bench.review.edit_and_approve(proposal.id, text, expected)
            self._decided([proposal.id], following)

        return Saving(memory.id, memory.content, approve, lambda: self.bench.stream.get(memory.id).content)

    @asking
    async def action_merge(self) -> None:
        """Merge into the nearest memory, after a look at both."""
        item, shown = self._one_with_text(), self.shown
        if item is None or shown is None:
            return
        proposal, memory = item
        if proposal.kind == "merge":
            self.workbench_app.say("This is a merge already: approve makes it.")
        elif shown.evidence is None or not shown.evidence.searched:
            self.workbench_app.say("The nearest memory is still being looked for.")
        elif not shown.evidence.near:
            self.workbench_app.say("No other memory is like it, so there is nothing to merge into.")
        else:
            other, similarity = shown.evidence.near[0]
            question = MergeConfirm(memory, other, similarity, clock=lambda: self.bench.context.now().timestamp())
            if await self.app.push_screen_wait(question):
                following = self.after([proposal.id])
                with self.workbench_app.reporting():
                    self.bench.review.merge_into(proposal.id, other.id)
                    self._decided([proposal.id], following)
                    self.workbench_app.say(f"Merged into {other.id}. u parts them again.")

    def _one_with_text(self) -> tuple[Proposal, Memory] | None:
        """Return the item under the cursor and its memory, or say why there is none."""
        self._go_on()
        proposal = self.rows.current
        memory = None if proposal is None else self.bench.review.memory(proposal)
        if proposal is None or memory is None:
            self.workbench_app.say("There is no text here.")
            return None
        return proposal, memory

    def action_copy(self) -> None:
        """Copy the text."""
        if item := self._one_with_text():
            self.copy(item[1].content)

    def action_history(self) -> None:
        """Show who changed what."""
        if item := self._one_with_text():
            self.show_history(item[1].id)

    def action_apply(self) -> None:
        """Let the next decision apply to all marked rows."""
        self.arm(self.rows)
