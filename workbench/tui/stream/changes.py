"""What a person does to memories in the Stream: vote, pin, forget, edit."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from workbench.core.stream.memory import Memory, Verdict
from workbench.services.safety.masking import masked_name
from workbench.tui.app.area import AreaScreen
from workbench.tui.widgets.content import undo

if TYPE_CHECKING:
    from workbench.tui.app.host import Drafting
    from workbench.tui.forms.saving import FormSaving
    from workbench.tui.promotion.copies import CopyAsking


class Picked(NamedTuple):
    """What changes are for: the memory under the cursor, the ids of all that are meant, and how to unmark those."""

    current: Callable[[], Memory | None]
    targets: Callable[[], list[str]]
    let_go: Callable[[], None]


class Changes:
    """Changes the memories that are picked, after asking where that is due, and says what was done."""

    def __init__(self, area: AreaScreen, picked: Picked) -> None:
        self._area, self._app, self._bench = area, area.workbench_app, area.bench
        self._picked = picked

    def vote(self, verdict: Verdict) -> None:
        """Vote, or take that vote back."""
        ids = self.targets()
        if ids:

            def cast() -> None:
                result = self._bench.stream.vote(ids, verdict)
                self._done(result.sentence if len(ids) == 1 else f"Voted {verdict} on {len(ids)} memories.")

            self._app.change(cast)

    def pin(self) -> None:
        ids = self.targets()
        if ids:

            def pin() -> None:
                pinned = self._bench.stream.pin(ids)
                self._done(f"{'Pinned' if pinned else 'Unpinned'} {self._named(ids)}.")

            self._app.change(pin)

    def confirm(self) -> None:
        ids = self.targets()
        if ids:

            def confirm() -> None:
                confirmed = self._bench.stream.confirm(ids)
                others = len(ids) - len(confirmed)
                rest = f" {others} {'was no signal' if others == 1 else 'were no signals'}." if others else ""
                self._done(f"Confirmed {self._named(confirmed)}. {undo()} takes it back.{rest}")

            self._app.change(confirm)

    async def forget(self) -> None:
        """Forget, several after a yes; archived memories are restored instead."""
        ids = self.targets()
        if not ids:
            return
        archived = [id for id in ids if self._bench.stream.get(id).status == "archived"]
        verb, meant = "Restore" if archived else "Archive", archived or ids

        def do() -> None:
            (self._bench.stream.restore if archived else self._bench.stream.forget)(meant)
            self._done(f"{'Restored' if archived else 'Archived'} {self._named(meant)}. {undo()} takes it back.")

        if len(meant) == 1 or await self._agreed(verb, meant):
            self._app.change(do)

    async def _agreed(self, verb: str, ids: Sequence[str]) -> bool:
        from workbench.tui.widgets.dialog import Confirm

        text = Content(f"Undo ({undo()}) takes it back; nothing is erased.")
        question = f"{verb} {self._named(ids)}?"
        asked = Confirm(question, clock=time.monotonic, detail=text, yes=verb.lower())
        return await self._app.push_screen_wait(asked)

    def promote(self) -> None:
        """Write where agents read, after a look at the text."""
        if ids := self.targets():
            from workbench.tui.promotion.dialog import open_promote

            open_promote(self._area, ids, then=self._picked.let_go)

    def copy(self) -> None:
        if ids := self.targets():
            self._area.copy(*(self._bench.stream.get(id).content for id in ids))
            self._picked.let_go()

    def _named(self, ids: Sequence[str]) -> str:
        return masked_name(ids[0], self._bench.safety.masked) if len(ids) == 1 else f"{len(ids)} memories"

    async def edit(self) -> None:
        """Edit in a form, which stays open when it cannot be saved; of several memories only what is touched is set."""
        ids = self.targets()
        if len(ids) > 1:
            await self._edit_all(ids)
        elif ids:
            from workbench.tui.forms.form import fill_in

            saving, copies = self._saving(ids[0])
            if await fill_in(self._area, saving, self._draft(ids[0])) is not None:
                self._picked.let_go()
                self._say_saved(ids[0], copies)

    async def edit_externally(self, line: int = 0) -> None:
        """Edit the memory under the cursor in $EDITOR, from a line of its text on; else it opens as a form."""
        memory = self._picked.current()
        if memory is None:
            return
        from workbench.tui.forms.form import fill_in_elsewhere

        saving, copies = self._saving(memory.id)
        saved = await fill_in_elsewhere(self._area, saving, self._draft(memory.id), copies, line)
        if saved is not None:
            self._say_saved(memory.id, copies)

    async def _edit_all(self, ids: Sequence[str]) -> None:
        from workbench.tui.forms.form import fill_in
        from workbench.tui.forms.saving import FormSaving, of_memories

        changed: list[int] = []
        saved = await fill_in(self._area, FormSaving(self._bench, of_memories(self._bench, ids, changed.append)))
        if saved:
            had = len(ids) - changed[-1]
            others = f" The other {had} had that already." if had and changed[-1] else ""
            back = f" {undo()} takes it back." if changed[-1] else ""
            self._done(f"Set {', '.join(saved)} of {changed[-1]} memories.{others}{back}")

    async def write(self) -> str:
        """Write a new memory; return its id, or nothing."""
        from workbench.tui.forms.form import fill_in
        from workbench.tui.forms.saving import FormSaving, of_new_memory

        made: list[str] = []
        saving = FormSaving(self._bench, of_new_memory(self._bench, made.append))
        await fill_in(self._area, saving, self._app.draft("new/memory"))
        return made[-1] if made else ""

    def _draft(self, id: str) -> "Drafting":
        return self._app.draft(f"memories/{id}")

    def _say_saved(self, id: str, copies: "CopyAsking") -> None:
        note = self._area.flagged_note(self._bench.stream.get(id).content)
        named = masked_name(id, self._bench.safety.masked)
        self._app.say(
            f"Saved {named}.{copies.told} {undo()} takes it back.{note}", "warning" if note else "information"
        )

    def _saving(self, id: str) -> "tuple[FormSaving, CopyAsking]":
        from workbench.tui.forms.saving import FormSaving, of_memory
        from workbench.tui.promotion.copies import CopyAsking

        subject = of_memory(self._bench, id)
        copies = CopyAsking(self._app, lambda values: [self._bench.memory_forms.corrected(id, values)])
        return FormSaving(self._bench, subject, copies), copies

    def targets(self) -> list[str]:
        """Return what the next change is for: the marked memories, else the one under the cursor."""
        return self._picked.targets()

    def _done(self, sentence: str) -> None:
        """Say what was done, and unmark what it was done to."""
        self._picked.let_go()
        self._app.say(sentence)
