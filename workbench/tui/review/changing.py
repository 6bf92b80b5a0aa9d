"""What Review does to the words of an item: edit, merge, split, refine, promote; and the preview of its impact."""

from collections.abc import Callable, Iterable
from functools import partial

from textual import work
from textual.content import Content
from textual.worker import get_current_worker

from workbench.bench.review.rewriting import parts_of
from workbench.bench.safety.masking import masked
from workbench.config.drafts import digest
from workbench.core.errors import Conflict, WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.tui.app.asking import asking
from workbench.tui.app.drafting import Drafting
from workbench.tui.app.saving import Preview, Saving
from workbench.tui.review.view import ReviewView
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.texts.editor import TextEditor

FOUND = 50
"""How many memories the search for one to merge into lists at most."""


class ReviewChanging(ReviewView):
    """The queue, and the keys that change what an item says."""

    def decided(self, ids: list[str], following: str | None) -> None:
        """Count decisions and send the cursor on at once, so that a key typed ahead is for the next item.

        The rest of the list follows when the store says what changed.
        """
        self.go_to = following
        self.progress = self.progress.with_decided(ids, self.bench.context.now())
        left = [p for p in self.rows.rows if p.id not in ids]
        self.rows.set_rows(left, cursor=next((at for at, p in enumerate(left) if p.id == following), None))

    def settle_reasons(self) -> None:
        """Go on without a reason for the last rejection; for subclasses."""

    @asking
    async def action_edit(self) -> None:
        """Edit here; saving approves, and the editor stays open when that is refused."""
        if item := self._one_with_text():
            await self._edit(*item, None, self._saving(*item))

    @asking
    async def action_external(self) -> None:
        """Edit in $EDITOR; a text that cannot be approved is kept in the editor here."""
        item = self._one_with_text()
        text = await self.edit_externally(item[1].content) if item else None
        if item is not None and text is not None:
            save = self._saving(*item)
            if problem := save.at_once(text):
                self.workbench_app.say(f"{problem} Your text is kept here.", "warning")
                await self._edit(*item, text, save)
            else:
                self._say_flagged(item[1], text)

    async def _edit(self, proposal: Proposal, memory: Memory, text: str | None, save: Saving) -> None:
        """Edit the text of an item; what is typed of a candidate is what the Stream would go on with too."""
        about = f"memories/{memory.id}"
        draft = self.workbench_app.draft(about, "text" if proposal.kind == "reflection" else proposal.kind)
        title = f"Edit and approve {proposal.id}"
        editor = TextEditor(title, memory.content, check=save, typed=text, draft=draft)
        saved = await self.app.push_screen_wait(editor)
        if saved is not None:
            self._say_flagged(memory, saved)

    def _say_flagged(self, memory: Memory, text: str) -> None:
        if note := self.flagged_note(text):
            self.workbench_app.say(f"Approved {memory.id} as edited. u takes it back.{note}", "warning")

    def _saving(self, proposal: Proposal, memory: Memory) -> Saving:
        """Approve with another text, unless the memory was changed while that was written."""

        def approve(text: str, expected: str) -> None:
            following = self.after([proposal.id])
            self.bench.review.edit_and_approve(proposal.id, text, expected)
            self.decided([proposal.id], following)

        return self._watched(memory, approve)

    @asking
    async def action_merge(self) -> None:
        """Choose a memory to merge into, after a look at both."""
        item = self._one_with_text()
        if item is None:
            return
        proposal, memory = item
        if proposal.kind != "reflection":
            what = (
                "This is a merge already: approve makes it." if proposal.kind == "merge" else "Only candidates merge."
            )
            self.workbench_app.say(what)
            return
        from workbench.tui.review.merge import MergeChoice, Merging, Refused, Target

        evidence = self.shown.evidence if self.shown is not None else None
        near = [Target(*found) for found in evidence.near] if evidence is not None else []

        def take(chosen: Merging) -> Refused | None:
            into, following = chosen.into, self.after([proposal.id])
            expected = None if chosen.text is None else into.content
            try:
                label = f"merge {proposal.id} into {into.id}"
                with self.bench.safety.keeping(label, chosen.typed, lambda: [into.id]):
                    self.bench.review.merge_into(proposal.id, into.id, chosen.text, expected)
            except Conflict as error:
                return Refused(f"{error} It says this now; y merges all the same.", self.bench.stream.get(into.id))
            self.decided([proposal.id], following)
            self.workbench_app.say(f"Merged into {into.id}. u parts them again.")
            return None

        def draft(into: str) -> Drafting:
            return self.workbench_app.draft(f"memories/{memory.id}", f"merge-{digest(into)[:12]}")

        preview = partial(Preview, self.bench)
        await self.app.push_screen_wait(MergeChoice(memory, near, self._living, take, draft, preview))

    def _living(self, words: str) -> list[Memory]:
        """Return the memories that match free words best, archived ones left out."""
        try:
            found = self.bench.stream.view(words).memories
        except WorkbenchError:
            return []
        return [m for m in found if m.status != "archived"][:FOUND]

    @asking
    async def action_split(self) -> None:
        """Part a candidate into several; each of them waits for its own decision."""
        item = self._candidate("split")
        if item is None:
            return
        from workbench.tui.review.split import SplitEditor

        proposal, memory = item

        made: list[str] = []

        def save(text: str, expected: str) -> None:
            made[:] = self.bench.review.split(proposal.id, parts_of(text), expected)
            self.decided([proposal.id], made[0])

        draft = self.workbench_app.draft(f"memories/{memory.id}", "split")
        saving = self._watched(memory, save, kept=lambda: made)
        await self.app.push_screen_wait(SplitEditor(f"Split {proposal.id}", memory.content, saving, draft))

    @asking
    async def action_refine(self) -> None:
        """Write better words, round by round; it stays a candidate."""
        item = self._candidate("refined")
        if item is None:
            return
        from workbench.tui.review.refine import RefineDialog

        memory, refine = item[1], self.bench.review.refine
        rounds: list[tuple[str, ...]] = []
        saving = self._watched(memory, lambda text, expected: refine(memory.id, rounds[-1], text, expected), "enter")

        def take(texts: tuple[str, ...], chosen: str) -> str | None:
            rounds.append(texts)
            problem = saving(chosen)
            if problem is None:
                self.workbench_app.say(f"{memory.id} says this round now, and waits on. u takes it back.")
            return problem

        draft = self.workbench_app.draft(f"memories/{memory.id}", "round")
        await self.app.push_screen_wait(RefineDialog(memory, self.bench.refining, take, draft))

    def action_promote(self) -> None:
        """Put it where agents read it; after `;` all marked ones."""
        self.settle_reasons()
        found = [(p, self.bench.review.memory(p)) for p in self.take_targets(self.rows) if p.kind != "merge"]
        ids = [memory.id for _, memory in found if memory is not None]
        if not ids:
            self.workbench_app.say("There is nothing here to promote.")
        elif any(self.is_folded(proposal) for proposal, _ in found):
            self.workbench_app.say("Its text is folded. o opens it first.")
        else:
            from workbench.tui.promotion.dialog import open_promote

            self.awaited = found[0][0].id
            open_promote(self, ids)

    def action_impact(self) -> None:
        """Show what approving would do to the saved queries."""
        proposal = self.rows.current
        if proposal is None:
            self.workbench_app.say("Nothing waits here.")
            return
        from workbench.tui.review.impact import NO_QUERIES, ImpactDialog, in_full

        impact = self.shown.evidence.impact if self.shown is not None and self.shown.evidence is not None else None
        count, text = len(self.bench.library.queries), Content.styled("Ranking the saved queries …", MUTED)
        if not count:
            text = Content(NO_QUERIES)
        elif impact is not None:
            text = in_full(masked(impact, self.bench.safety.masked))
        elif not self.bench.retriever.ready:
            text = Content("The model is still loading. Ask again in a moment.")
        dialog = ImpactDialog(f"If {self.bench.safety.masked(proposal.id)} is approved", text)
        self.app.push_screen(dialog)
        if count and impact is None and self.bench.retriever.ready:
            self._preview(proposal, dialog.show)

    @work(thread=True, exclusive=True, group="impact", exit_on_error=False, description="preview")
    def _preview(self, proposal: Proposal, show: Callable[[Content], None]) -> None:
        """Rank every saved query twice, away from the keyboard."""
        from workbench.tui.review.impact import in_full

        worker = get_current_worker()
        try:
            impact = self.bench.impact.of(proposal, lambda: worker.is_cancelled)
            text = (
                Content("It is about no memory, so no query changes.")
                if impact is None
                else in_full(masked(impact, self.bench.safety.masked))
            )
        except WorkbenchError as error:
            text = Content(str(error))
        if not worker.is_cancelled:
            self.app.call_from_thread(show, text)

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
            self.bench, memory.id, memory.content, save, lambda: self.bench.stream.get(memory.id).content, again, kept
        )

    def _candidate(self, done: str) -> tuple[Proposal, Memory] | None:
        """Return the candidate under the cursor, or say why there is none."""
        item = self._one_with_text()
        if item is not None and item[0].kind != "reflection":
            self.workbench_app.say(f"Only a candidate can be {done}.")
            return None
        return item

    def _one_with_text(self) -> tuple[Proposal, Memory] | None:
        """Return the item under the cursor and its memory, or say why there is none."""
        self.settle_reasons()
        proposal = self.rows.current
        memory = None if proposal is None else self.bench.review.memory(proposal)
        if proposal is None or memory is None:
            self.workbench_app.say("There is no text here.")
            return None
        if self.is_folded(proposal):
            self.workbench_app.say("Its text is folded. o opens it first.")
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
