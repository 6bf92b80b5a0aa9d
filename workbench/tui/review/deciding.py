"""Deciding on what waits in Review: approve, reject with a reason, put off; a marked group is seen first."""

import asyncio
from collections.abc import Awaitable, Callable

from workbench.core.review.proposal import Proposal
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.saving import Preview
from workbench.tui.app.stillness import Stillness
from workbench.tui.review.line import ReasonLine, Rejected
from workbench.tui.review.queue import Queue
from workbench.tui.review.seen import Seen
from workbench.tui.review.views import view_of
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.keys import keyed, undo

LONGEST_REASON = 300
_DONE = {"approve": "Approved", "reject": "Rejected", "later": "Put off", "keep_old": "Kept the old of"}


class Deciding:
    """Carries decisions out and sends the cursor on; a rejection is handed to the line that offers reasons.

    `look_again` is called after what is decided in a dialog elsewhere, `saw` after what was decided in sight.
    """

    def __init__(
        self, area: AreaScreen, queue: Queue, seen: Seen, reasons: ReasonLine, still: Stillness,
        look_again: Callable[[], None], saw: Callable[[], None],
    ) -> None:  # fmt: skip
        self._look_again, self._saw = look_again, saw
        self._area, self._app, self._bench = area, area.workbench_app, area.bench
        self._queue = queue
        self._seen = seen
        self._reasons = reasons
        self._still = still
        self._listed_at = -1

    def has_listed(self, revision: int) -> bool:
        """Tell whether what a transaction decided was taken from the list already, which is what the eye waits for."""
        return revision == self._listed_at

    def decide(self, verb: str) -> None:
        """Decide on the item under the cursor, or after `;` on all marked ones."""
        of_group = self._queue.heading is not None
        proposals = self._queue.targets(self._area)
        if not proposals:
            self._app.say("Nothing waits here.")
            return
        if verb == "approve" and any(self._asks(p) for p in proposals):
            self._ask_elsewhere(proposals)
            return
        if of_group and verb == "later":
            self._carry_out(verb, proposals)
            return
        unseen = [p for p in proposals if not self._seen.holds(p)] if len(proposals) > 1 else []
        if unseen:
            self._ask_about(verb, proposals, unseen)
        elif len(proposals) == 1 and verb == "approve" and self._seen.is_folded(proposals[0]):
            self._app.say(
                keyed("Its text is folded. {review.unfold} opens it; then approve it, or reject it as it is.")
            )
        else:
            self._carry_out(verb, proposals)

    def _asks(self, proposal: Proposal) -> bool:
        return view_of(self._bench.context.kinds[proposal.kind]).ask is not None

    def _ask_elsewhere(self, proposals: list[Proposal]) -> None:
        """Open what shows an item whole and asks about it, one at a time."""
        ask = view_of(self._bench.context.kinds[proposals[0].kind]).ask
        if len(proposals) > 1 or ask is None:
            self._app.say("What came from elsewhere is looked at one by one: go to one of them first.")
            return
        self._area.run_worker(self._asked(proposals[0], ask(self._app, proposals[0])))

    async def _asked(self, proposal: Proposal, asking: Awaitable[None]) -> None:
        await asking
        await asyncio.to_thread(self._bench.working_out.run, lambda: False, only=(proposal.kind,))
        self._app.change(lambda: self._bench.review.settle(proposal.id))
        self._look_again()

    def _ask_about(self, verb: str, proposals: list[Proposal], unseen: list[Proposal]) -> None:
        """Show what nobody looked at, to its end, before a marked group is decided."""
        from workbench.tui.review.group import GroupDialog

        def answered(agreed: bool | None) -> None:
            if agreed:
                self._seen.unfold(unseen)
                self._carry_out(verb, proposals)

        shown = [(p, self._bench.review.memory(p)) for p in unseen]
        title = {"later": "Put off", "keep_old": "Keep the old of"}.get(verb, verb.capitalize())
        self._app.push_screen(GroupDialog(title, len(proposals), shown), answered)

    def _carry_out(self, verb: str, proposals: list[Proposal]) -> None:
        targets = [p.id for p in proposals]
        following = self._queue.after(targets)
        self._still.hold()

        def decide() -> None:
            review, rejected = self._bench.review, None
            self._reasons.rejected = None
            if verb == "reject":
                group = review.reject(targets)
                if any(self._bench.context.kinds[p.kind].is_candidate for p in proposals):
                    rejected = Rejected(group, tuple(targets), following or "")
            else:
                {"approve": review.approve, "later": review.later, "keep_old": review.keep_old}[verb](targets)
            self._saw()  # the area comes into sight before it is told of the change
            self._reasons.rejected = rejected
            self._reasons.say("" if rejected else _said(verb, targets, self._bench.safety.masked), following or "")
            done = "approved" if verb == "approve" else "rejected"
            self._listed_at = self._bench.library.revision
            self._queue.decided(targets if verb != "later" else [], following, done)

        self._app.change(decide)

    # Why

    def give_reason(self, why: str) -> None:
        """Record one of the offered reasons for the last rejection."""
        rejected = self._reasons.rejected
        self._reasons.go_on()
        if rejected is not None:
            self._app.change(lambda: self._record(rejected, why))

    async def ask_reason(self) -> None:
        """Ask for the reason in words; nothing written is no reason."""
        from workbench.tui.widgets.texts.prompt import Prompt

        rejected = self._reasons.rejected
        if rejected is None:
            return
        self._reasons.go_on()
        preview = Preview(self._bench, again="enter", line=True)

        def explain(_: str) -> None:
            self._record(rejected, preview.text, self._bench.safety.keep_typed if preview.kept else None)

        ask = Prompt("Why was it rejected?", check=_too_long, preview=preview, take=explain)
        await self._app.push_screen_wait(ask)

    def _record(self, rejected: Rejected, why: str, keep: Callable[[str], object] | None = None) -> None:
        self._bench.review.explain(rejected.group, rejected.ids, why, keep)
        self._app.say(f"Rejected: {self._bench.safety.masked(why)}.")


def _said(verb: str, ids: list[str], masked: Callable[[str], str]) -> str:
    """Say what was decided, and the way back."""
    what, back = (masked(ids[0]), "it") if len(ids) == 1 else (number(len(ids)), "them")
    return f"{_DONE[verb]} {what} · {undo()} takes {back} back"


def _too_long(reason: str) -> str | None:
    over = len(reason) - LONGEST_REASON
    return f"{over} characters too long." if over > 0 else None
