"""Review: decide on what waits, one item after the other."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace

from textual import on
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from workbench.core.record import WorkbenchError
from workbench.core.review.kinds import IMPORTANT, group_of, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.stream.filter import HELP
from workbench.core.stream.memory import MAX_CONTENT, Memory
from workbench.core.text import one_line
from workbench.services.context import Touched
from workbench.services.forms import TEXT, ProposalForm, Values
from workbench.services.review.finders import WorkedOut
from workbench.services.review.queue import Evidence
from workbench.services.review.rewriting import check_parts, parts_of
from workbench.tui.actions import EVIDENCE, REASONS, REVIEW
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.host import Drafting
from workbench.tui.app.saving import Preview, Saving
from workbench.tui.forms import FormSaving, fill_in, fill_in_elsewhere
from workbench.tui.records.actions import Acts, Place, links_of
from workbench.tui.review.drawing import Seen, evidence_text, item_text, show_impact, view_of
from workbench.tui.review.inbox import (
    Heading,
    Item,
    Look,
    Queue,
    SuggestionSearch,
    about,
    heading_id,
    legend,
)
from workbench.tui.widgets.content import BLANK, MUTED, fitted, key_of, keyed, muted, undo
from workbench.tui.widgets.editor import Said, TextEditor
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.reading_pane import ReadingPane

LONGEST_REASON = 300
FOLDED = "A text is folded: press {review.unfold} to open it first."

_DONE = {
    "approve": "Approved",
    "reject": "Rejected",
    "later": "Put off",
    "keep_old": "Kept the older one of",
}
_ASKED = {"later": "Put off", "keep_old": "Keep the older one of"}


class ReviewScreen(AreaScreen):
    """The queue, the texts of the item under the cursor, and the line that says what was decided."""

    AREA = "review"
    PANES = ("#queue", "#texts")
    BINDINGS = bindings(REVIEW)
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
        #queue { width: 46%; max-width: 72; }
        #texts { width: 1fr; layout: vertical; }
        #candidate { height: 2fr; }
        #evidence { height: 1fr; }
        &.-wide #queue { width: 34%; }
        &.-wide #texts { layout: horizontal; }
        &.-wide #candidate { width: 2fr; height: 1fr; }
        &.-wide #evidence { width: 3fr; height: 1fr; }
        &.-narrow #texts { display: none; }
        &.-narrow #queue { width: 1fr; max-width: 100%; }
        &.-narrow.-open #texts { display: block; }
        &.-narrow #candidate { height: 1fr; }
        &.-narrow #evidence { height: 1fr; }
        &.-narrow.-open #queue { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.seen = Seen(self.bench)
        self.looking = SuggestionSearch(self, self.bench, self._looked)
        self.queue = Queue(
            self.bench, self.looking, self.seen.is_folded, self.workbench_app.review_at
        )
        self.texts = ItemTexts(self)
        self.acts = self.texts.acts
        self.line = DecisionLine()
        self.deciding = Deciding(self)
        self.changes = Changes(self)

    def contents(self) -> Iterable[Widget]:
        """Return the filter line, the three columns, and the line that says what was decided."""
        yield Horizontal(self.queue.box, self.queue.count, id="filter-line")
        yield Horizontal(
            self.queue.rows,
            Container(self.texts.item, self.texts.evidence_pane, id="texts"),
            id="work",
        )
        yield self.line

    def on_mount(self) -> None:
        """Start in the queue, unless a key that was typed ahead went into the evidence."""
        if not self.has_class("-open"):
            self.rows.focus()

    @property
    def rows(self) -> LineList[Item]:
        return self.queue.rows

    @property
    def shown(self) -> "Shown | None":
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
        self.looking.saw()
        if touched.kind in ("undo", "redo"):
            self.line.say("", "")
        ids = {key for table, key in touched.keys if table in ("memories", "proposals")}
        before, expected = self.queue.current, self.queue.expect(touched, ids)
        self.show_store()
        now = self.queue.current
        if (
            before is not None
            and now is not None
            and not expected
            and before.id in ids
            and now.id != before.id
        ):
            self.say(
                f"{before.id} was decided in another session: {touched.label} ({touched.actor})."
            )

    def retriever_ready(self) -> None:
        """Look for what is alike, now that it can be looked for."""
        self.texts.gather()
        if self._in_sight:
            self.looking.ready()

    def come(self) -> None:
        """Look for what waits without being stored, once the queue is in sight."""
        super().come()
        self.call_after_refresh(self.looking.come)

    def _looked(self, look: Look, out: WorkedOut, stopped: bool) -> None:
        """List what was worked out, and say what came of a look that was asked for."""
        if look.asked and self.looking.is_asked:
            count = len(self.bench.review.found())
            found = (
                "Nothing more to decide."
                if not count
                else f"{number(count)} suggestions found; see the groups."
            )
            self.say("Stopped. Nothing was changed." if stopped else found)
            for _, problem in () if stopped else out.problems:
                self.say(problem, "warning")
        self.looking.took(look, out, stopped)
        self.show_anew()
        if not self.looking.is_looking:
            self.queue.wanted = ""  # nothing was found of what somebody came for

    @on(LineList.Highlighted)
    def _show_item(self) -> None:
        current, heading = self.queue.current, self.queue.heading
        if self.queue.go_to is None:
            self.line.rest(current.id if current else "")
        if current is not None:
            self.workbench_app.review_at = current.id
        self.texts.show_item(current)
        if heading is not None:
            self.texts.show_group(about(heading))

    def show_place(self, group: str) -> None:
        """Move the cursor to the heading of a group, as soon as there is one."""
        self.queue.wanted = heading_id(group)
        self.action_look()

    def on_resize(self) -> None:
        """Keep the focus where something can be seen, and say how the texts are opened."""
        self.call_after_refresh(self._settle_focus)
        self.texts.refit()

    def _settle_focus(self) -> None:
        narrow, is_open = self.has_class("-narrow"), self.has_class("-open")
        if self.focused is None or (
            narrow and not is_open and isinstance(self.focused, ReadingPane)
        ):
            self.rows.focus()
        hint = keyed("{app.back} goes back" if is_open else "{list.open} opens it")
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
        self.texts.evidence_pane.focus()
        self._settle_focus()
        self.texts.refit()
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

    def go_back(self) -> None:
        """Stop a look, close what is open, drop the marks, or clear the filter."""
        if self.looking.stop():
            return
        if self.has_class("-open") or self.focused is not self.rows:
            self._close()
        elif self.rows.mark_count:
            self.rows.clear_marks()
        else:
            self.queue.box.value = ""

    def action_search(self) -> None:
        """Go to the filter."""
        self._close()
        self.set_focus(self.queue.box)

    def action_go_round(self, step: int) -> None:
        """To the next or the previous listed item, round the end."""
        self.queue.go_round(step)

    def action_look(self) -> None:
        """Work out anew what waits without being stored, all of it, in a large store, too."""
        self.looking.look(Look(asked=True))
        self.show_store()

    def action_evidence(self) -> None:
        """To the evidence, or back to the queue."""
        if self.focused is self.texts.evidence_pane:
            self._close()
        else:
            self._go_in()

    def action_read(self, step: int) -> None:
        """Scroll the item, then the evidence; or both back."""
        _ = any(pane.read(step) for pane in (self.texts.item, self.texts.evidence_pane)[::step])

    def action_unfold(self) -> None:
        """Show a text that is folded away."""
        proposal = self.queue.current
        if proposal is None or not self.seen.is_folded(proposal):
            self.say("No text is folded here.")
            return
        self.seen.unfold([proposal])
        self.rows.refresh_row(self.rows.cursor)
        self.texts.show_item(proposal, anew=True)

    def action_decide(self, verb: str) -> None:
        """Decide on all that is marked, or else on the item or the group under the cursor, and go
        on.
        """
        self.deciding.decide(verb)


# Carrying decisions out: approve, reject with a reason, put off; a marked group is seen first.


class Deciding:
    """Carries decisions out and sends the cursor on; asks for the reason of the last rejection."""

    def __init__(self, screen: ReviewScreen) -> None:
        self._screen, self._app, self._bench = screen, screen.workbench_app, screen.bench
        self._queue, self._seen = screen.queue, screen.seen
        self._rejected: list[tuple[str, list[str]]] = []

    def decide(self, verb: str) -> None:
        """Decide on all that is marked, or else on the item or the group under the cursor."""
        of_group = self._queue.heading is not None and not self._queue.rows.mark_count
        proposals, approving = self._queue.targets(self._screen), verb == "approve"
        if not proposals:
            self._app.say("Nothing to decide here.")
        elif of_group and approving and group_of(proposals[0]) == IMPORTANT.id:
            self._app.hint("These are archived one at a time: {list.open} lists them.")
        elif approving and any(view_of(kind_of(p.kind)).ask for p in proposals):
            self._ask_elsewhere(proposals)
        elif of_group and verb == "later":
            self._carry_out(verb, proposals)
        elif len(proposals) > 1 and (unseen := [p for p in proposals if not self._seen.holds(p)]):
            self._ask_about(verb, proposals, unseen)
        elif len(proposals) == 1 and approving and self._seen.is_folded(proposals[0]):
            self._app.hint(
                "The text is folded: press {review.unfold} to read it before approving. Rejecting needs no look."
            )
        else:
            self._carry_out(verb, proposals)

    def _ask_elsewhere(self, proposals: list[Proposal]) -> None:
        """Open what shows an item whole and asks about it, one at a time."""
        ask = view_of(kind_of(proposals[0].kind)).ask
        if len(proposals) > 1 or ask is None:
            self._app.say("Data from elsewhere is reviewed one item at a time: select one first.")
        else:
            self._screen.run_worker(self._asked(proposals[0], ask(self._app, proposals[0])))

    async def _asked(self, proposal: Proposal, asking: Awaitable[None]) -> None:
        await asking
        await asyncio.to_thread(self._bench.working_out.run, lambda: False, only=(proposal.kind,))
        self._app.change(lambda: self._bench.review.settle(proposal.id))
        self._screen.looking.look(Look(quick=True))

    def _ask_about(self, verb: str, proposals: list[Proposal], unseen: list[Proposal]) -> None:
        """Show what nobody looked at, to its end, before a marked group is decided."""
        from workbench.tui.review.dialogs import GroupDialog

        def answered(agreed: bool | None) -> None:
            if agreed:
                self._seen.unfold(unseen)
                self._carry_out(verb, proposals)

        shown = [(p, self._bench.review.memory(p)) for p in unseen]
        self._app.push_screen(
            GroupDialog(_ASKED.get(verb, verb.capitalize()), len(proposals), shown), answered
        )

    def _carry_out(self, verb: str, proposals: list[Proposal]) -> None:
        targets = [p.id for p in proposals]
        following, review = self._queue.after(targets), self._bench.review

        def decide() -> None:
            why = ""
            if verb == "reject":
                group = review.reject(targets)
                if any(kind_of(p.kind).is_candidate for p in proposals):
                    self._rejected.append((group, targets))
                    why = keyed(" · {review.reason} adds a reason")
            else:
                {"approve": review.approve, "later": review.later, "keep_old": review.keep_old}[
                    verb
                ](targets)
            self._screen.looking.saw()  # the area comes into sight before it is told of the change
            one = len(targets) == 1
            what = self._bench.safety.masked(targets[0]) if one else number(len(targets))
            said = f"{_DONE[verb]} {what} · {undo()} takes {'it' if one else 'them'} back{why}"
            self._screen.line.say(said, following or "")
            done = "approved" if verb == "approve" else "rejected"
            self._queue.decided(targets if verb != "later" else [], following, done)
            self._queue.rows.clear_marks()

        self._app.change(decide)

    async def reason(self) -> None:
        """Ask for the reason of the last rejection that stands; nothing written is no reason."""
        from workbench.tui.review.dialogs import ReasonDialog
        from workbench.tui.widgets.dialog import Prompt

        group, ids = next(
            ((group, ids) for group, ids in reversed(self._rejected) if self._stands(ids)), ("", [])
        )
        if not ids:
            self._app.say("No candidate rejected yet.")
            return
        what = f"was “{one_line(self._bench.library.memories.get(ids[0]).line, 60)}”"
        what = what if len(ids) == 1 else f"were {number(len(ids))}"
        title = self._bench.safety.masked(f"Why {what} rejected?")
        chosen = await self._app.push_screen_wait(ReasonDialog(title))
        if chosen is None:
            return
        if (reason := REASONS[chosen]).id != "reason.words":
            self._app.change(lambda: self._record(group, ids, reason.label))
            return
        preview = Preview(self._bench, again="enter", line=True)

        def explain(_: str) -> None:
            self._record(
                group, ids, preview.text, self._bench.safety.keep_typed if preview.kept else None
            )

        await self._app.push_screen_wait(
            Prompt(title, check=_too_long, preview=preview, take=explain)
        )

    def _stands(self, ids: list[str]) -> bool:
        """Tell whether one of these is rejected still."""
        found = map(self._bench.library.memories.find, ids)
        return any(one is not None and one.archived_reason == "rejected" for one in found)

    def _record(
        self, group: str, ids: list[str], why: str, keep: Callable[[str], object] | None = None
    ) -> None:
        self._bench.review.explain(group, ids, why, keep)
        self._app.say(f"Rejected: {why}.")


def _too_long(reason: str) -> str | None:
    over = len(reason) - LONGEST_REASON
    return f"{over} characters too long." if over > 0 else None


# What is done to the words of an item: edit, merge, split, refine; and promoting it.


class Changes:
    """Opens the dialog for each change, and sends the cursor on once it is stored."""

    def __init__(self, screen: ReviewScreen) -> None:
        self._screen, self._app, self._bench = screen, screen.workbench_app, screen.bench
        self._queue, self._seen = screen.queue, screen.seen

    async def edit(self) -> None:
        """Edit in a form; it waits on."""
        await self._fill_in(fill_in)

    async def edit_externally(self) -> None:
        """Edit all of it in $EDITOR; what cannot be saved opens as a form."""
        await self._fill_in(fill_in_elsewhere)

    async def _fill_in(
        self, fill: Callable[[AreaScreen, FormSaving, Drafting], Awaitable[Values | None]]
    ) -> None:
        if (item := self._item_here()) is None:
            return
        proposal, memory = item
        with self._app.reporting():
            # What is typed of a candidate is what the Stream would go on with too.
            use = "text" if kind_of(proposal.kind).is_candidate else proposal.kind
            draft = self._app.draft(f"memories/{memory.id}", use)
            saved = await fill(
                self._screen, FormSaving(self._app, ProposalForm(self._bench, proposal)), draft
            )
            if saved:
                note = self._screen.flagged_note(saved.get(TEXT, memory.content))
                said = keyed(
                    "Saved, not yet decided. {review.approve} approves it, {app.undo} undoes the edit."
                )
                self._app.say(f"{said}{note}", "warning" if note else "information")

    async def merge(self) -> None:
        """Choose a memory to merge into, after a look at both."""
        if (item := self._item_here()) is None:
            return
        (proposal, memory), kind = item, kind_of(item[0].kind)
        if not kind.is_candidate:
            self._app.say(view_of(kind).no_merge)
            return
        from workbench.tui.review.dialogs import MergeChoice

        def merged(into: str) -> None:
            self._queue.decided([proposal.id], self._queue.after([proposal.id]), "merged")
            self._app.say(f"Merged into {into}. {undo()} separates them.")

        evidence = self._screen.texts.evidence
        near = evidence.near if evidence is not None else ()
        await self._app.push_screen_wait(MergeChoice(self._bench, memory, near, merged))

    async def split(self) -> None:
        """Part a candidate into several; each of them waits for its own decision."""
        if (item := self._candidate("split")) is None:
            return
        proposal, memory = item
        made: list[str] = []

        def save(text: str, expected: str) -> None:
            made[:] = self._bench.review.split(proposal.id, parts_of(text), expected)
            self._queue.decided([proposal.id], made[0], "split")

        saving = self._saving(memory, save, kept=lambda: made)
        editor = TextEditor(
            f"Split {proposal.id}", memory.content, limit=10 * MAX_CONTENT, told=parts_told,
            check=lambda text: _cannot_part(text) or saving(text),
            draft=self._app.draft(f"memories/{memory.id}", "split"),
        )  # fmt: skip
        await self._app.push_screen_wait(editor)

    async def refine(self) -> None:
        """Write better words, round by round; it stays a candidate."""
        if (item := self._candidate("refined")) is None:
            return
        from workbench.tui.review.dialogs import RefineDialog

        memory, refine = item[1], self._bench.review.refine
        rounds: list[tuple[str, ...]] = []
        saving = self._saving(
            memory, lambda text, expected: refine(memory.id, rounds[-1], text, expected), "enter"
        )

        def take(texts: tuple[str, ...], chosen: str) -> str | None:
            rounds.append(texts)
            problem = saving(chosen)
            if problem is None:
                now = f"{memory.id} now has the text of this round; it still needs a decision."
                self._app.say(f"{now} {undo()} reverts it.")
            return problem

        draft = self._app.draft(f"memories/{memory.id}", "round")
        await self._app.push_screen_wait(RefineDialog(memory, self._bench.refinement, take, draft))

    def _saving(
        self, memory: Memory, save: Callable[[str, str], None], again: str = "ctrl+s",
        kept: Callable[[], Iterable[str]] | None = None,
    ) -> Saving:  # fmt: skip
        """Save a text, unless the memory was changed while it was written; `again` is the key that
        saves.

        `kept` returns the records that were written, when it is not the memory itself.
        """
        now = self._bench.stream.get
        return Saving(
            self._bench,
            memory.id,
            memory.content,
            save,
            lambda: now(memory.id).content,
            again,
            kept,
        )

    def promote(self) -> None:
        """Put it where agents read it; after `;` all marked ones."""
        targets = self._queue.targets(self._screen)
        found = [
            p
            for p in targets
            if view_of(kind_of(p.kind)).promotable and self._bench.review.memory(p)
        ]
        if not found:
            self._app.say("Nothing to promote here.")
        elif (memories := self._memories(found)) is not None:
            from workbench.tui.promotion import open_promote

            self._queue.awaited = found[0].id
            open_promote(
                self._screen, [memory.id for memory in memories], then=self._queue.rows.clear_marks
            )

    def copy(self) -> None:
        """Copy the text of the item under the cursor, or of all that is marked."""
        if not self._queue.rows.mark_count and self._item_here() is None:
            return
        if memories := self._memories(self._queue.targets(self._screen)):
            self._screen.copy(*(memory.content for memory in memories))
            self._queue.rows.clear_marks()

    def impact(self) -> None:
        """Show what approving would do to the saved queries."""
        if (current := self._queue.current) is None:
            on_heading = "Impact is shown for one item at a time: select one of the group."
            self._app.say(on_heading if self._queue.heading else "Nothing to decide here.")
        else:
            evidence = self._screen.texts.evidence
            show_impact(self._screen, current, evidence.impact if evidence else None)

    def history(self) -> None:
        """Show who changed what."""
        if item := self._item_here():
            self._screen.show_history(item[1].id)

    def _memories(self, proposals: Iterable[Proposal]) -> list[Memory] | None:
        """Return what some items are about; `None` where one is folded, which is said."""
        found = list(proposals)
        if any(map(self._seen.is_folded, found)):
            self._app.hint(FOLDED)
            return None
        return [memory for memory in map(self._bench.review.memory, found) if memory is not None]

    def _candidate(self, done: str) -> tuple[Proposal, Memory] | None:
        """Return the candidate under the cursor, or say why there is none."""
        item = self._item_here()
        if item is not None and not kind_of(item[0].kind).is_candidate:
            self._app.say(f"Only a candidate can be {done}.")
            return None
        return item

    def _item_here(self) -> tuple[Proposal, Memory] | None:
        """Return the item under the cursor and its memory, or say why there is none."""
        proposal = self._queue.current
        memory = None if proposal is None else self._bench.review.memory(proposal)
        if proposal is None or memory is None:
            self._app.say("No text here.")
            return None
        return (proposal, memory) if self._memories([proposal]) else None


def parts_told(text: str) -> Said:
    """Say how many parts a text has, and how they begin."""
    parts = parts_of(text)
    if len(parts) < 2:
        return "1 part. A blank line, or a line of ---, starts the next part.", MUTED
    opened = " · ".join(f"{n} {one_line(part, 24)}" for n, part in enumerate(parts[:4], 1))
    more = f" · {len(parts) - 4} more" if len(parts) > 4 else ""
    return f"{len(parts)} parts, each with all citations: {opened}{more}", "$text-accent"


def _cannot_part(text: str) -> str | None:
    try:
        check_parts(parts_of(text))
    except WorkbenchError as error:
        return str(error)
    return None


# The item under the cursor and its evidence, which a thread looks up; the line below them.


LOOKING = "Looking for similar memories …"
LOADING = "Similar memories and earlier rejections are looked up as soon as the model is loaded."

NO_EVIDENCE = "That key acts on a memory or bullet in the evidence; none is selected. Esc returns to the queue."

PREVIEWED = 20
"""Saved queries up to which the impact is worked out for every item; beyond that only when asked
for.
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """Which item is drawn, as of which revision, and what is known about it so far; `note` says
    what is not.
    """

    proposal: Proposal
    revision: int
    evidence: Evidence | None = None
    note: str = ""


class EvidencePane(ReadingPane):
    """A list of what speaks for and against an item; the usual keys act on what it names."""

    BINDINGS = bindings(EVIDENCE)


class ItemTexts:
    """Two panes: what an item says, and what speaks for and against it. `shown` is the item that is
    drawn.

    The evidence is a list of what it names, whose keys act on that and decide nothing (`acts`).
    """

    def __init__(self, screen: ReviewScreen) -> None:
        self._screen, self._bench, self._seen = screen, screen.bench, screen.seen
        self.item, self.evidence_pane = (
            ReadingPane(id="candidate", title="Proposal"),
            EvidencePane(id="evidence", title="Evidence"),
        )
        self.shown: Shown | None = None
        links = links_of(screen, self.evidence_pane, self._own)
        self.item.links, self.evidence_pane.links = links_of(screen, self.item, self._own), links
        self.acts = Acts(screen, lambda: links.current, missing=NO_EVIDENCE)
        self.evidence_pane.acts = self.acts

    def _own(self) -> Place | None:
        """Return the memory that the item is about."""
        memory = None if self.shown is None else self._bench.review.memory(self.shown.proposal)
        return None if memory is None else ("memories", memory.id)

    @property
    def evidence(self) -> Evidence | None:
        """What is known so far about the item that is shown."""
        return None if self.shown is None else self.shown.evidence

    def note_seen(self) -> None:
        """Count the item as seen, if its text stands on the screen: narrow panes are opened first."""
        if self.shown is not None and (
            self._screen.has_class("-open") or not self._screen.has_class("-narrow")
        ):
            self._seen.note(self.shown.proposal)

    def show_item(self, proposal: Proposal | None, *, anew: bool = False) -> None:
        """Show an item; one that is shown already, and has not changed, is left as it is unless
        `anew` says so.
        """
        before = self.shown
        if proposal is None:
            self.shown = None
            self.item.show(BLANK)
            self.evidence_pane.show(BLANK)
            return
        revision = self._bench.library.revision
        if not anew and before and (before.proposal, before.revision) == (proposal, revision):
            return
        same = before is not None and before.proposal.id == proposal.id
        known = before.evidence if same and before else None
        note = "" if known else LOOKING if self._bench.retriever.ready else LOADING
        self.shown = Shown(proposal, revision, known, note)
        text = item_text(self._bench, self._seen, proposal, key_of("review.unfold"))
        self.item.show(text, keep_place=same)
        self._fit(0.4)
        if not same:
            self.draw_evidence(keep_place=False)
        self.note_seen()
        # After the paint: the item is what the eye waits for, and the thread would slow it down.
        self._screen.call_after_refresh(self.gather, self.shown)

    def show_group(self, text: Content) -> None:
        """Show what a group is."""
        self.item.show(text)
        self._fit(0.8)

    def _fit(self, share: float) -> None:
        """Let the evidence begin right below the item, where it stands below it."""
        beside = self._screen.has_class("-wide") or self._screen.has_class("-narrow")
        self.item.fit(0.0 if beside else share)

    def refit(self) -> None:
        """Draw the evidence again, once its pane is laid out at its new width."""

        def fit() -> None:
            self._fit(0.8 if self.shown is None else 0.4)
            self.draw_evidence()

        self._screen.call_after_refresh(self._screen.call_after_refresh, fit)

    def draw_evidence(self, *, keep_place: bool = True) -> None:
        """Show what is known by now, as wide as the pane is."""
        if (shown := self.shown) is None:
            return
        proposal, evidence = (
            shown.proposal,
            shown.evidence or self._bench.review.known(shown.proposal),
        )
        memory = None if self._seen.is_folded(proposal) else self._bench.review.memory(proposal)
        text = "" if memory is None else memory.content
        width = self.evidence_pane.scrollable_content_region.width or max(
            20, self._screen.size.width - 4
        )
        drawn = evidence_text(self._bench, proposal, evidence, text, shown.note, width)
        self.evidence_pane.show(drawn, keep_place=keep_place)

    def gather(self, shown: Shown | None = None) -> None:
        """Look for what is alike, away from the keyboard; a later item cancels this one."""
        if (now := self.shown) is not None and shown in (None, now):
            self._screen.run_worker(
                self._look_up(now), exclusive=True, group="evidence", exit_on_error=False
            )

    async def _look_up(self, shown: Shown) -> None:
        worker, review = get_current_worker(), self._bench.review
        note = "" if self._bench.retriever.ready else LOADING
        try:
            evidence = await asyncio.to_thread(review.evidence, shown.proposal)
        except WorkbenchError as error:
            evidence, note = review.known(shown.proposal), str(error)
        shown = replace(shown, evidence=evidence, note=note)
        self._found(shown)
        if not evidence.searched or not 0 < len(self._bench.library.queries) <= PREVIEWED:
            return
        try:
            impact = await asyncio.to_thread(
                self._bench.impact.of, shown.proposal, lambda: worker.is_cancelled
            )
        except WorkbenchError:
            return  # it cannot be accepted: `i` says why when somebody asks
        self._found(replace(shown, evidence=evidence._replace(impact=impact)))

    def _found(self, shown: Shown) -> None:
        """Show the evidence, unless another item is open by now."""
        now = self.shown
        if now is not None and (now.proposal.id, now.revision) == (
            shown.proposal.id,
            shown.revision,
        ):
            self.shown = shown
            self.draw_evidence()


class DecisionLine(Widget):
    """One line that is always there, so that nothing moves: what was `said` of a decision, until
    the cursor goes on, else the legend.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    DecisionLine { height: 1; padding: 0 1; color: $foreground; }
    """

    said = reactive("")
    hint = reactive("")
    """Stands on the right."""

    _beside = ""

    def say(self, text: str, beside: str) -> None:
        """Say what was decided, while the cursor is `beside` where that stood; an empty text says
        nothing.
        """
        self.said, self._beside = text, beside

    def rest(self, beside: str) -> None:
        """Say no more of a decision once the cursor went on from there."""
        if beside != self._beside:
            self.said = ""

    def render(self) -> Content:
        """Return what was decided, or the legend."""
        room = max(0, self.content_size.width - len(self.hint))
        return fitted(Content(self.said) if self.said else legend(room), room) + muted(self.hint)
