"""Review: decide on what waits, one item after the other."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import BindingType

from workbench.core.review.proposal import Proposal
from workbench.core.stream.filter import HELP
from workbench.tui.app.actions import bindings, key_names
from workbench.tui.app.areas import REASONS, REVIEW
from workbench.tui.app.asking import asking
from workbench.tui.app.saving import Preview
from workbench.tui.review.changing import ReviewChanging
from workbench.tui.review.line import SECONDS, ReasonLine

LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class Rejected:
    """What was rejected last, and where the cursor came to rest: a reason may be given while it stays there."""

    group: str
    ids: tuple[str, ...]
    beside: str


class ReviewScreen(ReviewChanging):
    """The queue with its evidence, and the keys that decide."""

    BINDINGS: ClassVar[list[BindingType]] = bindings((*REVIEW, *REASONS))
    help_text = (
        "After a rejection\n"
        + "\n".join(f"  {a.shown_key}  {a.label:<24} {a.tooltip}" for a in REASONS)
        + f"\n  Any other key, or {SECONDS} seconds, go on without a reason: then the digits change the area again.\n\n"
        "A marked group\n"
        "  t, v or T marks, then ; and a decision. What you never had in sight is shown first, to its end.\n\n"
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
        if not proposals:
            self.workbench_app.say("Nothing waits here.")
            return
        unopened = [p for p in proposals if not self.was_opened(p)] if len(proposals) > 1 else []
        if unopened:
            self._ask_about(verb, proposals, unopened)
        elif len(proposals) == 1 and verb == "approve" and self.is_folded(proposals[0]):
            self.workbench_app.say("Its text is folded. o opens it; then approve it, or reject it as it is.")
        else:
            self._carry_out(verb, proposals)

    def _ask_about(self, verb: str, proposals: list[Proposal], unopened: list[Proposal]) -> None:
        """Show what nobody looked at, to its end, before a marked group is decided."""
        from workbench.tui.review.group import GroupDialog

        def answered(agreed: bool | None) -> None:
            if agreed:
                self.opened(unopened)
                self._carry_out(verb, proposals)

        shown = [(p, self.bench.review.memory(p)) for p in unopened]
        title = "Put off" if verb == "later" else verb.capitalize()
        self.app.push_screen(GroupDialog(title, len(proposals), shown), answered)

    def _carry_out(self, verb: str, proposals: list[Proposal]) -> None:
        targets = [p.id for p in proposals]
        following = self.after(targets)
        self.still.hold()

        def decide() -> None:
            review = self.bench.review
            self._rejected = None
            if verb == "reject":
                group = review.reject(targets)
                if any(p.kind == "reflection" for p in proposals):
                    self._rejected = Rejected(group, tuple(targets), following or "")
            else:
                (review.approve if verb == "approve" else review.later)(targets)
            self.decided(targets if verb != "later" else [], following)

        self.workbench_app.change(decide)

    def action_reason(self, index: int) -> None:
        """Record why the last rejection was made."""
        rejected, self._rejected = self._rejected, None
        if rejected is not None:
            self.workbench_app.change(partial(self._record, rejected, REASONS[index].label))
        self.settled(self.rows.current)

    @asking
    async def action_reason_in_words(self) -> None:
        """Ask for the reason in words; nothing written is no reason."""
        from workbench.tui.widgets.texts.prompt import Prompt

        rejected = self._rejected
        if rejected is None:
            return
        self._go_on()
        preview = Preview(self.bench, again="enter", line=True)
        explain = partial(self._explain, rejected, preview)
        ask = Prompt("Why was it rejected?", check=_too_long, preview=preview, take=explain)
        await self.app.push_screen_wait(ask)

    def _explain(self, rejected: Rejected, preview: Preview, _: str) -> None:
        keep = self.bench.safety.keep_typed if preview.kept else None
        self._record(rejected, preview.text, keep)

    def _record(self, rejected: Rejected, why: str, keep: Callable[[str], object] | None = None) -> None:
        self.bench.review.explain(rejected.group, rejected.ids, why, keep)
        self.workbench_app.say(f"Rejected: {self.bench.safety.masked(why)}.")

    def on_reason_line_picked(self, event: ReasonLine.Picked) -> None:
        """A click on a reason is its key."""
        self.call_later(self.run_action, REASONS[event.index].method)

    def on_reason_line_over(self) -> None:
        """Give the digits back: whoever presses one now means the area."""
        self._go_on()

    def on_key(self, event: events.Key) -> None:
        """Take any key but those of the reasons for going on; keys come here before they do what they do."""
        if self._rejected is not None and event.key not in self._reason_keys():
            self._go_on()

    def _reason_keys(self) -> set[str]:
        return {key for action in self.as_mapped(REASONS) for key in key_names(action.keys)}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let the digits change the area unless reasons are offered."""
        del parameters
        return not action.startswith("reason") or self._rejected is not None

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

    def settle_reasons(self) -> None:
        """Go on without a reason."""
        self._go_on()

    def action_apply(self) -> None:
        """Let the next decision apply to all marked rows."""
        self.arm(self.rows)


def _too_long(reason: str) -> str | None:
    over = len(reason) - LONGEST_REASON
    return f"{over} characters too long." if over > 0 else None
