"""Deciding on what waits in Review: approve, reject with a reason, put off; a marked group is seen first."""

import asyncio
from collections.abc import Awaitable, Callable

from workbench.core.review.groups import IMPORTANT
from workbench.core.review.kinds import group_of, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.text import one_line
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.saving import Preview
from workbench.tui.app.stillness import Stillness
from workbench.tui.review.actions import REASONS
from workbench.tui.review.line import DecisionLine
from workbench.tui.review.queue import Queue
from workbench.tui.review.seen import Seen
from workbench.tui.review.views import view_of
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.keys import keyed, undo

LONGEST_REASON = 300
_DONE = {"approve": "Approved", "reject": "Rejected", "later": "Put off", "keep_old": "Kept the old of"}


class Deciding:
    """Carries decisions out and sends the cursor on; asks for the reason of the last rejection.

    `look_again` is called after what is decided in a dialog elsewhere, `saw` after what was decided in sight.
    """

    def __init__(
        self, area: AreaScreen, queue: Queue, seen: Seen, line: DecisionLine, still: Stillness,
        look_again: Callable[[], None], saw: Callable[[], None],
    ) -> None:  # fmt: skip
        self._look_again, self._saw = look_again, saw
        self._area, self._app, self._bench = area, area.workbench_app, area.bench
        self._queue = queue
        self._seen = seen
        self._line = line
        self._rejected: list[tuple[str, list[str]]] = []
        self._still = still
        self._listed_at = -1

    def has_listed(self, revision: int) -> bool:
        """Tell whether what a transaction decided was taken from the list already, which is what the eye waits for."""
        return revision == self._listed_at

    def decide(self, verb: str) -> None:
        """Decide on all that is marked, or else on the item or the group under the cursor."""
        of_group = self._queue.heading is not None and not self._queue.rows.mark_count
        proposals = self._queue.targets(self._area)
        if not proposals:
            self._app.say("Nothing waits here.")
            return
        if of_group and verb == "approve" and group_of(proposals[0]) == IMPORTANT.id:
            self._app.say(keyed("These are archived one by one: {list.open} lists them."))
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
        return view_of(kind_of(proposal.kind)).ask is not None

    def _ask_elsewhere(self, proposals: list[Proposal]) -> None:
        """Open what shows an item whole and asks about it, one at a time."""
        ask = view_of(kind_of(proposals[0].kind)).ask
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
            review, asks = self._bench.review, False
            if verb == "reject":
                group = review.reject(targets)
                if asks := any(kind_of(p.kind).is_candidate for p in proposals):
                    self._rejected.append((group, targets))
            else:
                {"approve": review.approve, "later": review.later, "keep_old": review.keep_old}[verb](targets)
            self._saw()  # the area comes into sight before it is told of the change
            why = keyed(" · {review.reason} says why") if asks else ""
            self._line.say(_said(verb, targets, self._bench.safety.masked) + why, following or "")
            done = "approved" if verb == "approve" else "rejected"
            self._listed_at = self._bench.library.revision
            self._queue.decided(targets if verb != "later" else [], following, done)
            self._queue.rows.clear_marks()

        self._app.change(decide)

    # Why

    async def ask_reason(self) -> None:
        """Ask for the reason of the last rejection that stands; nothing written is no reason."""
        from workbench.tui.review.reasons import ReasonDialog
        from workbench.tui.widgets.texts.prompt import Prompt

        group, ids = next(((group, ids) for group, ids in reversed(self._rejected) if self._stands(ids)), ("", []))
        if not ids:
            self._app.say("No candidate was rejected here yet.")
            return
        what = f"“{one_line(self._bench.library.memories.get(ids[0]).line, 60)}”" if len(ids) == 1 else number(len(ids))
        title = self._bench.safety.masked(f"Why {'was' if len(ids) == 1 else 'were'} {what} rejected?")
        chosen = await self._app.push_screen_wait(ReasonDialog(title))
        if chosen is None:
            return
        if (reason := REASONS[chosen]).id != "reason.words":
            self._app.change(lambda: self._record(group, ids, reason.label))
            return
        preview = Preview(self._bench, again="enter", line=True)

        def explain(_: str) -> None:
            self._record(group, ids, preview.text, self._bench.safety.keep_typed if preview.kept else None)

        await self._app.push_screen_wait(Prompt(title, check=_too_long, preview=preview, take=explain))

    def _stands(self, ids: list[str]) -> bool:
        """Tell whether one of these is rejected still."""
        found = map(self._bench.library.memories.find, ids)
        return any(one is not None and one.archived_reason == "rejected" for one in found)

    def _record(self, group: str, ids: list[str], why: str, keep: Callable[[str], object] | None = None) -> None:
        self._bench.review.explain(group, ids, why, keep)
        self._app.say(f"Rejected: {self._bench.safety.masked(why)}.")


def _said(verb: str, ids: list[str], masked: Callable[[str], str]) -> str:
    """Say what was decided, and the way back."""
    what, back = (masked(ids[0]), "it") if len(ids) == 1 else (number(len(ids)), "them")
    return f"{_DONE[verb]} {what} · {undo()} takes {back} back"


def _too_long(reason: str) -> str | None:
    over = len(reason) - LONGEST_REASON
    return f"{over} characters too long." if over > 0 else None
