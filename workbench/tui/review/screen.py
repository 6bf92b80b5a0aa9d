"""Review: decide on what waits, one item after the other."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from workbench.core.review.kinds import IMPORTANT, group_of, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.stream.filter import HELP
from workbench.core.text import one_line
from workbench.services.context import Touched
from workbench.tui.app.actions import GLOBAL, bindings
from workbench.tui.app.area import TURN_S, AreaScreen
from workbench.tui.app.saving import Preview
from workbench.tui.app.stillness import Stillness
from workbench.tui.app.waiting import asking
from workbench.tui.review.actions import REASONS, REVIEW
from workbench.tui.review.changes import Changes, Queue
from workbench.tui.review.inbox import Heading, Item, Looked, SuggestionSearch, about, heading_id
from workbench.tui.review.texts import DecisionLine, ItemTexts, Shown
from workbench.tui.review.views import Seen, view_of
from workbench.tui.widgets.actions import LIST
from workbench.tui.widgets.content import keyed, undo
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.lists.reading_pane import ReadingPane

# Deciding on what waits in Review: approve, reject with a reason, put off; a marked group is seen first.


LONGEST_REASON = 300
_DONE = {"approve": "Approved", "reject": "Rejected", "later": "Put off", "keep_old": "Kept the older one of"}


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
            self._app.say("Nothing to decide here.")
            return
        if of_group and verb == "approve" and group_of(proposals[0]) == IMPORTANT.id:
            self._app.say(keyed("These are archived one at a time: {list.open} lists them."))
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
                keyed("The text is folded: press {review.unfold} to read it before approving. Rejecting needs no look.")
            )
        else:
            self._carry_out(verb, proposals)

    def _asks(self, proposal: Proposal) -> bool:
        return view_of(kind_of(proposal.kind)).ask is not None

    def _ask_elsewhere(self, proposals: list[Proposal]) -> None:
        """Open what shows an item whole and asks about it, one at a time."""
        ask = view_of(kind_of(proposals[0].kind)).ask
        if len(proposals) > 1 or ask is None:
            self._app.say("Data from elsewhere is reviewed one item at a time: select one first.")
            return
        self._area.run_worker(self._asked(proposals[0], ask(self._app, proposals[0])))

    async def _asked(self, proposal: Proposal, asking: Awaitable[None]) -> None:
        await asking
        await asyncio.to_thread(self._bench.working_out.run, lambda: False, only=(proposal.kind,))
        self._app.change(lambda: self._bench.review.settle(proposal.id))
        self._look_again()

    def _ask_about(self, verb: str, proposals: list[Proposal], unseen: list[Proposal]) -> None:
        """Show what nobody looked at, to its end, before a marked group is decided."""
        from workbench.tui.review.texts import GroupDialog

        def answered(agreed: bool | None) -> None:
            if agreed:
                self._seen.unfold(unseen)
                self._carry_out(verb, proposals)

        shown = [(p, self._bench.review.memory(p)) for p in unseen]
        title = {"later": "Put off", "keep_old": "Keep the older one of"}.get(verb, verb.capitalize())
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
            why = keyed(" · {review.reason} adds a reason") if asks else ""
            self._line.say(_said(verb, targets, self._bench.safety.masked) + why, following or "")
            done = "approved" if verb == "approve" else "rejected"
            self._listed_at = self._bench.library.revision
            self._queue.decided(targets if verb != "later" else [], following, done)
            self._queue.rows.clear_marks()

        self._app.change(decide)

    # Why

    async def ask_reason(self) -> None:
        """Ask for the reason of the last rejection that stands; nothing written is no reason."""
        from workbench.tui.review.texts import ReasonDialog
        from workbench.tui.widgets.texts.prompt import Prompt

        group, ids = next(((group, ids) for group, ids in reversed(self._rejected) if self._stands(ids)), ("", []))
        if not ids:
            self._app.say("No candidate rejected yet.")
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


class ReviewScreen(AreaScreen):
    """The queue, the texts of the item under the cursor, and the line that says what was decided."""

    AREA = "review"
    BINDINGS: ClassVar[list[BindingType]] = bindings(REVIEW)
    help_text = (
        "Groups\n"
        "  Open decisions are grouped by their effect. On a heading, enter folds or lists the group; "
        "{review.approve} {review.reject} {review.later} apply to all of it.\n"
        "  Duplicates, suggestions for archiving, changed files and data from elsewhere are found when you open "
        "Review.\n\n"
        "A marked group\n"
        "  {mark.one}, {mark.range} or {mark.all} marks; the next decision applies to all marked items. "
        "Items that you have not read are shown first.\n\n"
        + "The filter\n"
        + "\n".join(f"  {what:<28} {means}" for what, means in HELP)
    )
    DEFAULT_CSS = """
    ReviewScreen {
        #filter-line { height: 1; padding: 0 1; }
        #filter { width: 2fr; background: $background; }
        #count {
            width: 3fr; color: $text-muted; padding-left: 1;
            text-align: right; text-wrap: nowrap; text-overflow: ellipsis;
        }
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
        keys = {action.id: action.shown_key for action in self.as_mapped(REVIEW)}
        self.still = Stillness(self)
        self.seen = Seen(self.bench)
        self._keys = keys | {action.id: action.shown_key for action in self.as_mapped(LIST)}
        self.queue = Queue(self.bench, self.seen, self.workbench_app.review_at, self._keys)
        self.texts = ItemTexts(self.bench, self.seen, keys["review.unfold"])
        self.acts = self.texts.carry(self)
        self.looking = SuggestionSearch(self, self.bench)
        self.line = DecisionLine()
        look = self.looking
        self.deciding = Deciding(self, self.queue, self.seen, self.line, self.still, look.again, look.saw)
        self.changes = Changes(self, self.queue, self.seen)
        self._soon: Timer | None = None

    def contents(self) -> Iterable[Widget]:
        """Return the filter line, the three columns, and the line that says what was decided."""
        yield Horizontal(self.queue.box, self.queue.count, id="filter-line")
        yield Horizontal(self.queue.rows, self.texts, id="work")
        yield self.line

    def on_mount(self) -> None:
        """Start in the queue, unless a key that was typed ahead went into the evidence."""
        if not self.has_class("-open"):
            self.rows.focus()

    def on_unmount(self) -> None:
        """Leave the collector as it was found."""
        self.still.release()

    @property
    def rows(self) -> LineList[Item]:
        return self.queue.rows

    @property
    def shown(self) -> Shown | None:
        """The item that is drawn, with what is known about it."""
        return self.texts.shown

    # Showing

    def show_store(self) -> None:
        """Show what waits now."""
        if not self.queue.list_anew():
            return
        if not self.rows.rows and self.has_class("-open"):
            self._close()
        self._show_item()

    def show_changes(self, touched: Touched) -> None:
        """Show what a transaction changed; an undone decision brings its item and the cursor back."""
        if touched.kind == "access":
            return
        self.still.hold()
        self.looking.saw()
        if touched.kind in ("undo", "redo"):
            self.line.say("", "")
        ids = {key for table, key in touched.keys if table in ("memories", "proposals")}
        before, expected = self.queue.current, self.queue.expect(touched, ids)
        if self.deciding.has_listed(touched.rev):
            self._show_soon()
            return
        self.show_store()
        now = self.queue.current
        if before is not None and now is not None and not expected and before.id in ids and now.id != before.id:
            self.workbench_app.say(f"{before.id} was decided in another session: {touched.label} ({touched.actor}).")

    def retriever_ready(self) -> None:
        """Look for what is alike, now that it can be looked for."""
        self.texts.look_again()
        if self._in_sight:
            self.looking.ready()

    def come(self) -> None:
        """Look for what waits without being stored, once the queue is in sight."""
        super().come()
        self.call_after_refresh(self.looking.come)

    @on(Looked)
    def _looked(self, event: Looked) -> None:
        """List what was worked out."""
        self.looking.took(event)
        if event.look.asked and self.queue.looking:
            self._tell(event)
        self.queue.unasked, self.queue.looking = bool(self.looking.unasked), self.looking.is_asked
        self.show_status()
        if self._in_sight:
            self._show_soon()
        else:
            self._stale = True

    def _show_soon(self) -> None:
        """Show the store once a key that was pressed meanwhile had its turn, however often that is asked for."""
        if self._soon is None:
            self._soon = self.set_timer(TURN_S, self._show_at_last)

    def _show_at_last(self) -> None:
        self._soon = None
        self.show_store()
        if not self.looking.is_looking:
            self.queue.want_no_longer()

    def _tell(self, event: Looked) -> None:
        """Say what came of a look that was asked for."""
        count = len(self.bench.review.found())
        found = "Nothing more to decide." if not count else f"{number(count)} suggestions found; see the groups."
        self.workbench_app.say("Stopped. Nothing was changed." if event.stopped else found)
        for _, problem in () if event.stopped else event.out.problems:
            self.workbench_app.say(problem, "warning")

    @on(LineList.Highlighted)
    def _show_item(self) -> None:
        current, heading = self.queue.current, self.queue.heading
        if self.queue.go_to is None:
            self.line.rest(current.id if current else "")
        if current is not None:
            self.workbench_app.review_at = current.id
        self.texts.show_item(current)
        if heading is not None:
            self.texts.show_words(about(heading, self._keys))

    def show_place(self, group: str) -> None:
        """Move the cursor to the heading of a group, as soon as there is one."""
        self.queue.wanted = heading_id(group)
        self.looking.all()
        self.show_store()

    def on_resize(self) -> None:
        """Keep the focus where something can be seen, and say how the texts are opened."""
        self.call_after_refresh(self._settle_focus)
        self.call_after_refresh(self.texts.refit)

    def _settle_focus(self) -> None:
        narrow, is_open = self.has_class("-narrow"), self.has_class("-open")
        if self.focused is None or (narrow and not is_open and isinstance(self.focused, ReadingPane)):
            self.rows.focus()
        key, back = (next(a.shown_key for a in (*LIST, *GLOBAL) if a.id == id) for id in ("list.open", "app.back"))
        hint = f"{back} goes back" if is_open else f"{key} opens it"
        self.line.hint = hint if narrow else ""

    # Moving and filtering

    @on(Input.Changed, "#filter")
    def _filtered(self) -> None:
        self.show_store()

    @on(Input.Submitted, "#filter")
    def _taken(self) -> None:
        self.rows.focus()

    def _go_in(self) -> None:
        self.add_class("-open")
        self.query_one("#evidence").focus()
        self._settle_focus()
        self.call_after_refresh(self.texts.refit)
        self.texts.note_seen()

    @on(LineList.Opened)
    def _open(self) -> None:
        heading = self.queue.heading
        if heading is not None:
            self._open_group(heading)
            return
        self._go_in()
        if self.shown is not None and self.seen.is_folded(self.shown.proposal):
            self.action_unfold()

    def _open_group(self, heading: Heading) -> None:
        """List or fold a group, or look for what is looked for only when asked."""
        if not heading.members:
            self.action_look()
            return
        self.queue.turn()
        self.show_store()
        if (now := self.queue.heading) is not None and not now.folded:
            self.queue.rows.show_below(len(now.members))

    def _close(self) -> None:
        self.remove_class("-open")
        self.set_focus(self.rows)
        self._settle_focus()

    @on(LineList.MarksChanged)
    def _marked(self) -> None:
        self.show_status()

    def go_back(self) -> None:
        """Stop a look, close what is open, drop the marks, or clear the filter."""
        box = self.queue.box
        if self.looking.stop():
            return
        if self.has_class("-open") or self.focused is not self.rows:
            self._close()
        elif self.rows.mark_count:
            self.rows.clear_marks()
        elif box.value:
            box.value = ""

    def action_search(self) -> None:
        """Go to the filter."""
        self._close()
        self.set_focus(self.queue.box)

    def action_next(self) -> None:
        """To the next listed item, round the end."""
        self.queue.go_round(1)

    def action_previous(self) -> None:
        """To the previous listed item, round the start."""
        self.queue.go_round(-1)

    def action_look(self) -> None:
        """Work out anew what waits without being stored, all of it."""
        self.looking.all()
        self.queue.looking = True
        self.show_store()

    def action_evidence(self) -> None:
        """To the evidence, or back to the queue."""
        if self.focused is self.query_one("#evidence"):
            self._close()
        else:
            self._go_in()

    def action_read_on(self) -> None:
        """Scroll the item, then the evidence."""
        self.texts.read_on()

    def action_read_back(self) -> None:
        """Scroll the evidence, then the item, back."""
        self.texts.read_back()

    def action_unfold(self) -> None:
        """Show a text that is folded away."""
        proposal = self.queue.current
        if proposal is None or not self.seen.is_folded(proposal):
            self.workbench_app.say("No text is folded here.")
            return
        self.seen.unfold([proposal])
        self.rows.refresh_row(self.rows.cursor)
        self.texts.show_item(proposal, anew=True)

    # Deciding

    def action_approve(self) -> None:
        self.deciding.decide("approve")

    def action_reject(self) -> None:
        self.deciding.decide("reject")

    def action_keep_old(self) -> None:
        """Keep the older one of two that contradict each other, and go on."""
        self.deciding.decide("keep_old")

    def action_later(self) -> None:
        """Put off and go on."""
        self.deciding.decide("later")

    @asking
    async def action_reason(self) -> None:
        """Ask why the last one was rejected."""
        await self.deciding.ask_reason()

    # Changing

    @asking
    async def action_edit(self) -> None:
        await self.changes.edit()

    @asking
    async def action_external(self) -> None:
        """Edit in $EDITOR."""
        await self.changes.edit_externally()

    @asking
    async def action_merge(self) -> None:
        """Choose a memory to merge into."""
        await self.changes.merge(self.texts.evidence)

    @asking
    async def action_split(self) -> None:
        """Part a candidate into several."""
        await self.changes.split()

    @asking
    async def action_refine(self) -> None:
        """Write better words, round by round."""
        await self.changes.refine()

    def action_promote(self) -> None:
        """Put it where agents read it."""
        self.changes.promote()

    def action_impact(self) -> None:
        """Show what approving would do to the saved queries."""
        from workbench.tui.review.impact import show_impact

        current = self.queue.current
        if current is None:
            self.workbench_app.say("Nothing to decide here.")
        else:
            evidence = self.texts.evidence
            show_impact(self, current, evidence.impact if evidence else None)

    def action_copy(self) -> None:
        """Copy the text, or those of all that is marked."""
        self.changes.copy()

    def action_history(self) -> None:
        """Show who changed what."""
        if item := self.changes.item_here():
            self.show_history(item[1].id)
