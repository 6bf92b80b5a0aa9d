"""What Review does to the words of an item: edit, merge, split, refine; and promoting it."""

from collections.abc import Callable, Iterable
from functools import partial

from workbench.config.drafts import digest
from workbench.core.errors import Conflict, WorkbenchError
from workbench.core.review.kinds import ProposalKind, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import MAX_CONTENT, Memory
from workbench.core.text import one_line
from workbench.services.forms.values import TEXT, Values
from workbench.services.review.evidence import Evidence
from workbench.services.review.rewriting import check_parts, parts_of
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.drafting import Drafting
from workbench.tui.app.saving import Preview, Saving
from workbench.tui.forms.opening import fill_in, fill_in_elsewhere
from workbench.tui.forms.saving import FormSaving
from workbench.tui.forms.subjects import of_proposal
from workbench.tui.review.queue import Queue
from workbench.tui.review.seen import Seen
from workbench.tui.review.views import view_of
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.keys import key_of, keyed, undo
from workbench.tui.widgets.texts.editor import Said, TextEditor

HOW = "A blank line, or a line of ---, begins the next part."
"""How a candidate is parted."""

FOLDED = "A text is folded. {review.unfold} opens it first."

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
            said = keyed("Saved; it still waits. {review.approve} approves it, {app.undo} takes the edit back.")
            self._app.say(f"{said}{note}", "warning" if note else "information")

    def _saving(self, proposal: Proposal) -> FormSaving:
        return FormSaving(self._bench, of_proposal(self._bench, proposal))

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
                    f"{error} It says this now; {key_of('merge.yes')} merges all the same.",
                    self._bench.stream.get(into.id),
                )
            self._queue.decided([proposal.id], following, "merged")
            self._app.say(f"Merged into {into.id}. {undo()} parts them again.")
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
                self._app.say(f"{memory.id} says this round now, and waits on. {undo()} takes it back.")
            return problem

        draft = self._app.draft(f"memories/{memory.id}", "round")
        await self._app.push_screen_wait(RefineDialog(memory, self._bench.refinement, take, draft))

    def promote(self) -> None:
        """Put it where agents read it; after `;` all marked ones."""
        targets = [p for p in self._queue.targets(self._area) if view_of(self._kind(p)).promotable]
        found = [(p, self._bench.review.memory(p)) for p in targets]
        ids = [memory.id for _, memory in found if memory is not None]
        if not ids:
            self._app.say("There is nothing here to promote.")
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
            self._app.say("There is no text here.")
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
