"""What a person does to memories in the Stream: vote, pin, forget, edit."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from workbench.bench.safety.masking import masked_name
from workbench.core.stream.memory import Memory
from workbench.core.stream.vote import Verdict
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.saving import Saving

if TYPE_CHECKING:
    from workbench.tui.promotion.copies import CopyAsking


class Picked(NamedTuple):
    """What changes are for: the memory under the cursor, the ids of all that are meant, and how to let go of those."""

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
                self._done(ids, result.sentence if len(ids) == 1 else f"Voted {verdict} on {len(ids)} memories.")

            self._app.change(cast)

    def pin(self) -> None:
        """Pin or unpin."""
        ids = self.targets()
        if ids:

            def pin() -> None:
                pinned = self._bench.stream.pin(ids)
                self._done(ids, f"{'Pinned' if pinned else 'Unpinned'} {self._named(ids)}.")

            self._app.change(pin)

    async def forget(self) -> None:
        """Forget after a yes; archived memories are restored instead."""
        ids = self.targets()
        if not ids:
            return
        archived = [id for id in ids if self._bench.stream.get(id).status == "archived"]
        verb = "Restore" if archived else "Forget"
        from workbench.tui.widgets.confirm import Confirm

        question = f"{verb} {self._named(archived or ids)}?"
        text = Content("Undo (u) takes it back; nothing is erased.")

        def do() -> None:
            (self._bench.stream.restore if archived else self._bench.stream.forget)(archived or ids)
            self._done(ids, f"{'Restored' if archived else 'Forgot'} {self._named(archived or ids)}. u takes it back.")

        if await self._app.push_screen_wait(Confirm(question, clock=time.monotonic, detail=text, yes=verb.lower())):
            self._app.change(do)

    def _named(self, ids: Sequence[str]) -> str:
        return masked_name(ids[0], self._bench.safety.masked) if len(ids) == 1 else f"{len(ids)} memories"

    async def edit(self) -> None:
        """Edit here; the editor stays open when the text cannot be stored."""
        memory = self._picked.current()
        if memory is not None:
            copies = self._copies(memory)
            await self._edit(memory, None, self._saving(memory, copies), copies)

    async def edit_externally(self) -> None:
        """Edit in $EDITOR; a text that cannot be stored is kept in the editor here."""
        memory = self._picked.current()
        text = await self._area.edit_externally(memory.content) if memory else None
        if memory is None or text is None:
            return
        copies = self._copies(memory)
        save = self._saving(memory, copies)
        with self._app.reporting():
            asked = await copies.settled(self._bench.gate.preview(text, memory.content))
            problem = save.at_once(text) if asked else "It is not saved yet."
            if problem:
                self._app.say(f"{problem} Your text is kept here.", "warning")
                await self._edit(memory, text, save, copies)
            elif copies.told:
                self._say_saved(memory, copies)

    async def _edit(self, memory: Memory, text: str | None, save: Saving, copies: "CopyAsking") -> None:
        from workbench.tui.widgets.texts.editor import TextEditor

        draft = self._app.draft(f"memories/{memory.id}")
        editor = TextEditor(
            f"Edit {memory.id}", memory.content, check=save, typed=text, draft=draft, theirs=save.theirs
        )
        if await self._app.push_screen_wait(editor) is not None:
            self._say_saved(memory, copies)

    def _say_saved(self, memory: Memory, copies: "CopyAsking") -> None:
        note = self._area.flagged_note(self._bench.stream.get(memory.id).content)
        said = f"Saved {memory.id}.{copies.told} u takes it back.{note}"
        self._app.say(said, "warning" if note else "information")

    def _copies(self, memory: Memory) -> "CopyAsking":
        from workbench.bench.stream.fields import with_text
        from workbench.tui.promotion.copies import CopyAsking

        def corrected(text: str) -> list[tuple[Memory, Memory]]:
            now = self._bench.stream.get(memory.id)
            return [(now, with_text(now, text))]

        return CopyAsking(self._app, corrected)

    def _saving(self, memory: Memory, copies: "CopyAsking") -> Saving:
        stream, id = self._bench.stream, memory.id
        write = partial(stream.edit, id)
        return Saving(self._bench, id, memory.content, write, lambda: stream.get(id).content, copies=copies)

    def targets(self) -> list[str]:
        """Return what the next change is for: the marked memories after `;`, else the one under the cursor."""
        return self._picked.targets()

    def _done(self, ids: Sequence[str], sentence: str) -> None:
        """Say what was done, and let go of the marks it was done to."""
        if len(ids) > 1:
            self._picked.let_go()
        self._app.say(sentence)
