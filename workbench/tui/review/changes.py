"""What Review does to the words of an item: edit, merge, split, refine; and promoting it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial

from textual.cache import LRUCache
from textual.content import Content

from workbench.config.drafts import digest
from workbench.core.record import Conflict, InvalidQuery, WorkbenchError
from workbench.core.review.kinds import ProposalKind, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import MAX_CONTENT, Memory
from workbench.core.text import one_line
from workbench.services.context import Touched
from workbench.services.forms import TEXT, ProposalForm, Values
from workbench.services.open import Workbench
from workbench.services.review.queue import Evidence
from workbench.services.review.review import is_put_off
from workbench.services.review.rewriting import check_parts, parts_of
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.host import Drafting
from workbench.tui.app.saving import Preview, Saving
from workbench.tui.forms.form import FormSaving, fill_in, fill_in_elsewhere
from workbench.tui.review.inbox import ASK, Count, Heading, Item, Progress, grouped, heading_line
from workbench.tui.review.rows import row
from workbench.tui.review.views import Seen, view_of
from workbench.tui.widgets.content import MUTED, key_of, keyed, undo
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.lists.row import lay_out
from workbench.tui.widgets.texts.editor import Said, TextEditor
from workbench.tui.widgets.texts.safe_input import FilterInput

# What waits in Review, as it is listed: the filter, the rows, where the cursor goes, how the sitting goes.


NOTHING_NEW = (
    "No candidates and no memories yet. Import some with `workbench import FILE` or `workbench ingest`, or press "
    "{app.import}."
)
LOOKING = "Looking … esc stops it"
NO_MATCH = "Nothing matches. Esc clears the filter, {app.help} explains it."


class Queue:
    """The filter's `box`, the `rows`, and the `count` beside the filter.

    `go_to` is where the cursor goes when the queue is listed next: at first to the item that was shown last time.
    `awaited` is an item that a dialog opened from here may decide. `unasked` tells that some of what waits without
    being stored is looked for only when a person asks, `looking` that one did. `wanted` is the heading that somebody
    came for, until it is there or is known not to be. `keys` has the key of each action as a person has it.
    """

    def __init__(self, bench: Workbench, seen: Seen, go_to: str, keys: Mapping[str, str]) -> None:
        self._bench = bench
        self._seen = seen
        self._drawn: LRUCache[tuple[object, ...], Content] = LRUCache(512)
        self._progress = Progress()
        self.box = FilterInput(placeholder="/ filter: tag:ci since:7d words", id="filter")
        self.count = Count(id="count")
        # A decision moves every row below it by a line, and none of them is drawn anew.
        self.rows: LineList[Item] = LineList(
            self._draw, lambda p: p.id, is_heading=lambda p: isinstance(p, Heading), kept=1024, id="queue"
        )
        self.go_to: str | None = go_to
        self.awaited = ""
        self.unasked = self.looking = False
        self.wanted = ""
        self._turned: set[str] = set()
        self._open_key = keys["list.open"]

    @property
    def current(self) -> Proposal | None:
        """The proposal under the cursor; `None` on a heading."""
        row = self.rows.current
        return None if isinstance(row, Heading) else row

    @property
    def heading(self) -> Heading | None:
        """The heading under the cursor."""
        row = self.rows.current
        return row if isinstance(row, Heading) else None

    @property
    def listed(self) -> list[Proposal]:
        return [row for row in self.rows.rows if not isinstance(row, Heading)]

    def targets(self, area: AreaScreen) -> list[Proposal]:
        """Return what the next decision is for: the marked rows, or all of the group whose heading is under the
        cursor, or else the row there.
        """
        found: list[Proposal] = []
        for one in area.take_targets(self.rows):
            found += one.members if isinstance(one, Heading) else [one]
        return found

    def want_no_longer(self) -> None:
        """Let the cursor stay where it is: nothing was found of what somebody came for."""
        self.wanted = ""

    def turn(self) -> None:
        """Fold the group under the cursor, or list what is folded."""
        if (heading := self.heading) is not None:
            self._turned ^= {heading.group.id}
            self.go_to = heading.id

    # Listing

    def list_anew(self) -> bool:
        """List what waits now; the cursor goes where the last decision or undo sends it, or stays.

        Returns whether the filter could be read; the count says why not.
        """
        review, filter = self._bench.review, self.box.value
        every, found = review.queue(), review.found()
        try:
            listed = review.matching((*every, *found), filter)
        except InvalidQuery as error:
            problem = Content.styled(f"✗ {error}", "$text-error")
            self.count.show(lambda _: problem)
            return False
        now = self._bench.context.now()
        waiting = frozenset(p.id for p in every if not is_put_off(p, now))
        found_ids = frozenset(p.id for p in found)
        self._progress = self._progress.without(waiting | found_ids)
        put_off = len(every) - len(waiting)
        self.rows.set_empty(Content(keyed(NO_MATCH) if every or found else self._nothing()))
        done = "" if filter.strip() else self._progress.done(put_off)
        rows = grouped(listed, now, found_ids, self._turned, done)
        if (self.unasked or self.looking) and not filter.strip():
            rows.append(Heading(ASK, text=LOOKING if self.looking else ""))
        self._set_rows(rows)
        left = review.waiting() + self._bench.worked_out
        shown = len(listed) if filter.strip() else None
        self.count.show(lambda room: Content(self._progress.sentence(left, put_off, shown, room)))
        return True

    def _set_rows(self, rows: list[Item]) -> None:
        """List rows; the cursor goes where it is wanted, else it stays, at first on the first proposal."""
        place = next((i for i, row in enumerate(rows) if row.id == (self.wanted or self.go_to)), None)
        self.go_to = None
        if place is not None:
            self.wanted = ""
        if place is None and not self.rows.rows:
            place = next((i for i, row in enumerate(rows) if not isinstance(row, Heading)), None)
        self.rows.set_rows(rows, cursor=place)

    def _nothing(self) -> str:
        """Say what was done, and what to do, when the queue is empty."""
        done = self._progress.done(0)
        return f"{done}. {self._next()}" if done else self._next()

    def _next(self) -> str:
        conditions = self._bench.overview.gauge().conditions
        count = int(next(c.value for c in conditions if c.name == "observations"))
        if count:
            return (
                f"No candidates. {key_of('app.reflect')} reflects on {count} observation{'s' if count > 1 else ''} now."
            )
        read = self._bench.reflecting.readable()
        if not read:
            return keyed(NOTHING_NEW)
        return (
            f"No candidates. {key_of('app.reflect')} reflects: it would read {number(read)} "
            f"{'memory' if read == 1 else 'memories'}."
        )

    def _draw(self, proposal: Item, width: int) -> Content:
        """Draw a row, or take it as drawn before: a decision moves the rows below it, but they look the same."""
        if isinstance(proposal, Heading):
            return heading_line(proposal, self._open_key)
        memory, now = self._bench.review.memory(proposal), self._bench.context.now()
        folded = self._seen.is_folded(proposal)
        cells = row(proposal, memory, width, now, folded=folded, mask=self._bench.safety.masked)
        looks = (width, *((str(cell.text), cell.style) for cell in cells))
        drawn = self._drawn.get(looks)
        if drawn is None:
            drawn = self._drawn[looks] = lay_out(cells, width)
        return drawn

    # Deciding

    def decided(self, ids: list[str], following: str | None, done: str = "approved") -> None:
        """Count decisions and send the cursor on at once, so that a key typed ahead is for the next item.

        `done` is the word for what was decided. The rest of the list follows when the store says what changed.
        """
        self.go_to = following
        self._note_decided(ids, done)
        left = [p for p in self.rows.rows if p.id not in ids]
        self.rows.set_rows(left, cursor=next((at for at, p in enumerate(left) if p.id == following), None))

    def expect(self, touched: Touched, ids: Collection[str]) -> bool:
        """Say where the cursor goes after a transaction that touched these; return whether it is wanted there.

        An undone decision of this person brings its item and the cursor back.
        """
        mine = touched.actor == self._bench.context.actor
        if touched.kind == "undo" and mine:
            self.go_to = next((p.id for p in self._waiting() if p.id in ids), None)
        elif touched.kind == "redo" and mine:
            self.go_to = self.after(ids)
            self._note_decided([p.id for p in self.listed if p.id in set(ids) - self._waiting_ids()])
        awaited = mine and self.awaited in ids
        if awaited and self.awaited not in self._waiting_ids():
            self._note_decided([self.awaited], "promoted")
            self.awaited = ""
        return self.go_to is not None or awaited

    def _waiting(self) -> tuple[Proposal, ...]:
        return (*self._bench.review.queue(), *self._bench.review.found())

    def _waiting_ids(self) -> set[str]:
        return {p.id for p in self._waiting()}

    def _note_decided(self, ids: list[str], done: str = "decided") -> None:
        self._progress = self._progress.with_decided(ids, self._bench.context.now(), done)

    def after(self, ids: Iterable[str]) -> str | None:
        """Return the id that the cursor goes to when these leave: the next one below, else the last above."""
        leaving, cursor = set(ids), self.rows.cursor
        below = (p.id for p in self.rows.rows[cursor:] if p.id not in leaving and not isinstance(p, Heading))
        above = (p.id for p in reversed(self.rows.rows[:cursor]) if p.id not in leaving and not isinstance(p, Heading))
        return next(below, None) or next(above, None)

    def go_round(self, step: int) -> None:
        """To the next or previous listed item, round the end."""
        places = [at for at, row in enumerate(self.rows.rows) if not isinstance(row, Heading)]
        ahead = [at for at in places if (at > self.rows.cursor if step > 0 else at < self.rows.cursor)]
        if places:
            self.rows.cursor = (ahead or places)[0 if step > 0 else -1]


HOW = "A blank line, or a line of ---, starts the next part."
"""How a candidate is parted."""

FOLDED = "A text is folded: press {review.unfold} to open it first."

FOUND = 50
"""How many memories the search for one to merge into lists at most."""


class Changes:
    """Opens the dialog for each change, and sends the cursor on once it is stored."""

    def __init__(self, area: AreaScreen, queue: Queue, seen: Seen) -> None:
        self._area, self._app, self._bench = area, area.workbench_app, area.bench
        self._queue = queue
        self._seen = seen

    async def edit(self) -> None:
        """Edit in a form; it waits on."""
        if item := self.item_here():
            with self._app.reporting():
                self._say_saved(item[1], await fill_in(self._area, self._saving(item[0]), self._draft(*item)))

    async def edit_externally(self) -> None:
        """Edit all of it in $EDITOR; what cannot be saved opens as a form."""
        if item := self.item_here():
            with self._app.reporting():
                saved = await fill_in_elsewhere(self._area, self._saving(item[0]), self._draft(*item))
                self._say_saved(item[1], saved)

    def _draft(self, proposal: Proposal, memory: Memory) -> Drafting:
        """Return the draft of an item; what is typed of a candidate is what the Stream would go on with too."""
        use = "text" if self._kind(proposal).is_candidate else proposal.kind
        return self._app.draft(f"memories/{memory.id}", use)

    def _say_saved(self, memory: Memory, saved: Values | None) -> None:
        if saved:
            note = self._area.flagged_note(saved.get(TEXT, memory.content))
            said = keyed("Saved, not yet decided. {review.approve} approves it, {app.undo} undoes the edit.")
            self._app.say(f"{said}{note}", "warning" if note else "information")

    def _saving(self, proposal: Proposal) -> FormSaving:
        return FormSaving(self._app, ProposalForm(self._bench, proposal))

    async def merge(self, evidence: Evidence | None) -> None:
        """Choose a memory to merge into, after a look at both."""
        item = self.item_here()
        if item is None:
            return
        proposal, memory = item
        if not (kind := self._kind(proposal)).is_candidate:
            self._app.say(view_of(kind).no_merge)
            return
        from workbench.tui.review.merge import MergeChoice, Merging, Refused, Target

        near = [Target(*found) for found in evidence.near] if evidence is not None else []

        def take(chosen: Merging) -> Refused | None:
            into, following = chosen.into, self._queue.after([proposal.id])
            try:
                label = f"merge {proposal.id} into {into.id}"
                with self._bench.safety.keeping(label, chosen.typed, lambda: [into.id]):
                    self._bench.review.merge_into(proposal.id, into.id, chosen.text, into.content)
            except Conflict as error:
                return Refused(
                    f"{error} The current text is shown; {key_of('merge.yes')} merges anyway.",
                    self._bench.stream.get(into.id),
                )
            self._queue.decided([proposal.id], following, "merged")
            self._app.say(f"Merged into {into.id}. {undo()} separates them.")
            return None

        def draft(into: str) -> Drafting:
            return self._app.draft(f"memories/{memory.id}", f"merge-{digest(into)[:12]}")

        preview = partial(Preview, self._bench)
        await self._app.push_screen_wait(MergeChoice(memory, near, self._living, take, draft, preview))

    def _living(self, words: str) -> list[Memory]:
        """Return the memories that match free words best, archived ones left out."""
        try:
            found = self._bench.stream.view(words).memories
        except WorkbenchError:
            return []
        return [m for m in found if m.status != "archived"][:FOUND]

    async def split(self) -> None:
        """Part a candidate into several; each of them waits for its own decision."""
        item = self._candidate("split")
        if item is None:
            return
        proposal, memory = item
        made: list[str] = []

        def save(text: str, expected: str) -> None:
            made[:] = self._bench.review.split(proposal.id, parts_of(text), expected)
            self._queue.decided([proposal.id], made[0], "split")

        draft = self._app.draft(f"memories/{memory.id}", "split")
        saving = self._watched(memory, save, kept=lambda: made)
        editor = TextEditor(
            f"Split {proposal.id}",
            memory.content,
            limit=10 * MAX_CONTENT,
            check=lambda text: _cannot_part(text) or saving(text),
            draft=draft,
            told=parts_told,
        )
        await self._app.push_screen_wait(editor)

    async def refine(self) -> None:
        """Write better words, round by round; it stays a candidate."""
        item = self._candidate("refined")
        if item is None:
            return
        from workbench.tui.review.refine import RefineDialog

        memory, refine = item[1], self._bench.review.refine
        rounds: list[tuple[str, ...]] = []
        saving = self._watched(memory, lambda text, expected: refine(memory.id, rounds[-1], text, expected), "enter")

        def take(texts: tuple[str, ...], chosen: str) -> str | None:
            rounds.append(texts)
            problem = saving(chosen)
            if problem is None:
                self._app.say(
                    f"{memory.id} now has the text of this round; it still needs a decision. {undo()} reverts it."
                )
            return problem

        draft = self._app.draft(f"memories/{memory.id}", "round")
        await self._app.push_screen_wait(RefineDialog(memory, self._bench.refinement, take, draft))

    def promote(self) -> None:
        """Put it where agents read it; after `;` all marked ones."""
        targets = [p for p in self._queue.targets(self._area) if view_of(self._kind(p)).promotable]
        found = [(p, self._bench.review.memory(p)) for p in targets]
        ids = [memory.id for _, memory in found if memory is not None]
        if not ids:
            self._app.say("Nothing to promote here.")
        elif any(self._seen.is_folded(proposal) for proposal, _ in found):
            self._app.say(keyed(FOLDED))
        else:
            from workbench.tui.promotion.dialog import open_promote

            self._queue.awaited = found[0][0].id
            open_promote(self._area, ids, then=self._queue.rows.clear_marks)

    def copy(self) -> None:
        """Copy the text of the item under the cursor, or of all that is marked."""
        if not self._queue.rows.mark_count:
            if item := self.item_here():
                self._area.copy(item[1].content)
            return
        targets = self._queue.targets(self._area)
        if any(self._seen.is_folded(proposal) for proposal in targets):
            self._app.say(keyed(FOLDED))
            return
        found = [self._bench.review.memory(proposal) for proposal in targets]
        self._area.copy(*(memory.content for memory in found if memory is not None))
        self._queue.rows.clear_marks()

    def _watched(
        self,
        memory: Memory,
        save: Callable[[str, str], None],
        again: str = "ctrl+s",
        kept: Callable[[], Iterable[str]] | None = None,
    ) -> Saving:
        """Save a text, unless the memory was changed while it was written; `again` is the key that saves.

        `kept` returns the records that were written, when it is not the memory itself.
        """
        return Saving(
            self._bench, memory.id, memory.content, save, lambda: self._bench.stream.get(memory.id).content, again, kept
        )

    def _candidate(self, done: str) -> tuple[Proposal, Memory] | None:
        """Return the candidate under the cursor, or say why there is none."""
        item = self.item_here()
        if item is not None and not self._kind(item[0]).is_candidate:
            self._app.say(f"Only a candidate can be {done}.")
            return None
        return item

    def _kind(self, proposal: Proposal) -> ProposalKind:
        return kind_of(proposal.kind)

    def item_here(self) -> tuple[Proposal, Memory] | None:
        """Return the item under the cursor and its memory, or say why there is none."""
        proposal = self._queue.current
        memory = None if proposal is None else self._bench.review.memory(proposal)
        if proposal is None or memory is None:
            self._app.say("No text here.")
            return None
        if self._seen.is_folded(proposal):
            self._app.say(keyed(FOLDED))
            return None
        return proposal, memory


def parts_told(text: str) -> Said:
    """Say how many parts a text has, and how they begin."""
    parts = parts_of(text)
    if len(parts) < 2:
        return f"1 part. {HOW}", MUTED
    opened = " · ".join(f"{n} {one_line(part, 24)}" for n, part in enumerate(parts[:4], 1))
    more = f" · {len(parts) - 4} more" if len(parts) > 4 else ""
    return f"{len(parts)} parts, each with all citations: {opened}{more}", "$text-accent"


def _cannot_part(text: str) -> str | None:
    try:
        check_parts(parts_of(text))
    except WorkbenchError as error:
        return str(error)
    return None
