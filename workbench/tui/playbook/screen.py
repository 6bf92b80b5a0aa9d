"""The Playbook: sections of bullets to vote on, edit, move and export."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from workbench.bench.playbook.playbook import MAIN
from workbench.core.playbook.book import Bullet
from workbench.core.stream.vote import Verdict
from workbench.tui.app.actions import bindings
from workbench.tui.app.areas import PLAYBOOK
from workbench.tui.app.asking import asking
from workbench.tui.app.saving import Preview, Saving
from workbench.tui.files.exports.dialog import ExportDialog
from workbench.tui.files.exports.guard import Guard
from workbench.tui.files.exports.words import written_said
from workbench.tui.playbook.browser import EMPTY_BOOK, EMPTY_STORE
from workbench.tui.playbook.rows import bullets_in, title_of
from workbench.tui.playbook.targets import named, title_in
from workbench.tui.playbook.tools import PlaybookTools
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.confirm import Confirm
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.texts.editor import TextEditor
from workbench.tui.widgets.texts.prompt import Prompt


class PlaybookScreen(PlaybookTools):
    """The playbook with everything a person does to it: vote, edit, add, delete, move, export."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(PLAYBOOK)

    def __init__(self) -> None:
        super().__init__()
        self._exported: dict[str, Path] = {}

    # Deciding

    def action_helpful(self) -> None:
        """Vote helpful, or take that vote back."""
        self._vote("helpful")

    def action_harmful(self) -> None:
        """Vote harmful, or take that vote back."""
        self._vote("harmful")

    def _vote(self, verdict: Verdict) -> None:
        ids, book = self.targets(), self.book
        if ids:

            def cast() -> None:
                result = self.bench.playbooks.vote(book, ids, verdict)
                self.done(result.told(ids[0]) if len(ids) == 1 else f"Voted {verdict} on {len(ids)} bullets.", ids)

            self.workbench_app.change(cast)

    def action_pin(self) -> None:
        """Pin or unpin."""
        ids, book = self.targets(), self.book
        if ids:

            def pin() -> None:
                pinned = self.bench.playbooks.pin(book, ids)
                self.done(f"{'Pinned' if pinned else 'Unpinned'} {named(ids)}.", ids)

            self.workbench_app.change(pin)

    # Changing

    @asking
    async def action_edit(self) -> None:
        """Edit the bullet's text here; a text that cannot be saved stays in the editor."""
        bullet = self.bullet_here()
        if bullet is not None:
            await self._edit(bullet, None, self._saving(bullet))

    def _saving(self, bullet: Bullet) -> Saving:
        books, book, id = self.bench.playbooks, bullet.book, bullet.id
        name, write = f"{book}/{id}", partial(books.edit, book, id)
        return Saving(self.bench, name, bullet.content, write, lambda: books.bullet(book, id).content)

    async def _edit(self, bullet: Bullet, text: str | None, save: Saving) -> None:
        draft = self.workbench_app.draft(f"bullets/{bullet.book}/{bullet.id}")
        editor = TextEditor(f"Edit {bullet.id}", bullet.content, check=save, typed=text, draft=draft)
        written = await self.app.push_screen_wait(editor)
        if written is not None and written != bullet.content:
            self.done(f"Changed {bullet.id}.")

    @asking
    async def action_external(self) -> None:
        """Edit the bullet's text in the person's own editor; what cannot be saved opens in this one."""
        bullet = self.bullet_here()
        text = None if bullet is None else await self.edit_externally(bullet.content)
        if bullet is None or text is None:
            return
        save = self._saving(bullet)
        problem = save.at_once(text)
        if problem is None:
            self.done(f"Changed {bullet.id}.")
        else:
            self.workbench_app.say(f"{problem} Your text is kept here.", "warning")
            await self._edit(bullet, text, save)

    @asking
    async def action_add(self) -> None:
        """Write a new bullet for the section under the cursor."""
        row, book = self.rows.current, self.book
        if row is None:
            self.workbench_app.say(EMPTY_BOOK if self.view else EMPTY_STORE)
            return
        added: list[str] = []

        def write(text: str, _: str) -> None:
            added.append(self.bench.playbooks.add(book, row.section.id, text))

        save = Saving(self.bench, title_of(row.section), "", write, str, kept=lambda: [f"{book}/{added[-1]}"])
        draft = self.workbench_app.draft(f"sections/{book}/{row.section.id}", "new-bullet")
        title = f"New bullet in {title_of(row.section)}"
        await self.app.push_screen_wait(TextEditor(title, "", check=save, draft=draft))
        if added:
            self._go_to(("bullet", added[0]))

    @asking
    async def action_section(self) -> None:
        """Add a section; the first one begins a playbook."""
        book, added = self.book or MAIN, list[str]()

        preview = Preview(self.bench, again="enter", line=True)

        def add(_: str) -> None:
            with preview.writing("add a section"):
                added.append(self.bench.playbooks.add_section(book, preview.text, kept=preview.kept))

        hint = "its heading, such as COMMON MISTAKES"
        ask = Prompt("New section", placeholder=hint, check=_only_on_enter, preview=preview, take=add)
        await self.app.push_screen_wait(ask)
        if added:
            self.book = book
            self._go_to(("section", added[0]))

    def _go_to(self, key: tuple[str, str]) -> None:
        """Put the cursor on what was just added, or say that the filter hides it."""
        self.show_store()
        place = self.rows.index_of(key)
        if place is not None:
            self.rows.cursor = place
        hidden = "" if place is not None else " The filter hides it; esc clears the filter."
        self.done(f"Added the {key[0]} {key[1]}.{hidden}")

    @asking
    async def action_delete(self) -> None:
        """Delete bullets after a yes."""
        ids, book = self.targets(), self.book
        if not ids:
            return
        question = f"Delete {named(ids)} from the playbook?"
        ask = Confirm(question, clock=time.monotonic, detail=self._what_goes(ids), yes="delete", no="keep")
        if await self.app.push_screen_wait(ask):

            def delete() -> None:
                self.bench.playbooks.delete(book, ids)
                self.done(f"Deleted {named(ids)}. u takes it back.", ids)

            self.workbench_app.change(delete)

    def _what_goes(self, ids: Sequence[str]) -> Content:
        """Return the text of one bullet, or the ids of several, and the way back."""
        back = Content.styled("u brings it back, with its votes." if len(ids) == 1 else "u brings them back.", MUTED)
        if len(ids) > 1:
            return body(", ".join(ids)[:400]) + Content("\n\n") + back
        bullets = self.view.playbook.bullets if self.view else ()
        text = next((bullet.content for bullet in bullets if bullet.id == ids[0]), "")
        return body(text[:400]) + Content("\n\n") + back

    @asking
    async def action_move(self) -> None:
        """Move bullets to the end of another section."""
        ids, book = self.targets(), self.book
        if not ids or self.view is None:
            return
        playbook = self.view.playbook
        choices = [
            Choice(s.id, title_of(s), bullets_in(len(playbook.in_section(s.id))))
            for s in playbook.sections
            if s.title.strip()
        ]
        here = self.rows.current.section.id if self.rows.current else ""
        chosen = await self.app.push_screen_wait(Choose(f"Move {named(ids)} to the end of", choices, here))
        if chosen is not None:

            def move() -> None:
                self.bench.playbooks.move(book, ids, chosen)
                self.done(f"Moved {named(ids)} to {title_in(playbook.sections, chosen)}.", ids)

            self.workbench_app.change(move)

    def action_lower(self) -> None:
        """Move the bullet one place down."""
        self._shift(1)

    def action_higher(self) -> None:
        """Move the bullet one place up."""
        self._shift(-1)

    def _shift(self, step: int) -> None:
        bullet = self.bullet_here()
        if bullet is None:
            return
        if self._filter:
            self.workbench_app.say("The filter hides the neighbours. Esc clears it, then J and K reorder.")
            return

        def shift() -> None:
            if not self.bench.playbooks.shift(bullet.book, bullet.id, step):
                place = "last" if step > 0 else "first"
                self.workbench_app.say(f"{bullet.id} is the {place} of its section. M moves it to another one.")

        self.workbench_app.change(shift)

    # Taking out

    def action_copy(self) -> None:
        """Copy the bullet's text; of marked ones all texts, a line between them."""
        ids = self.targets()
        if ids and self.view is not None:
            texts = {bullet.id: bullet.content for bullet in self.view.playbook.bullets}
            self.copy("\n\n".join(texts[id] for id in ids if id in texts))

    def action_history(self) -> None:
        """Show every change of the bullet."""
        bullet = self.bullet_here()
        if bullet is not None:
            self.show_history(f"{self.book}/{bullet.id}")

    @asking
    async def action_export(self) -> None:
        """Show the exact text and what it changes, then write it."""
        if self.view is None:
            self.workbench_app.say(EMPTY_STORE)
            return
        book = self.book
        target = self._exported.get(book) or self.bench.exporter.target(book)
        title = f"Export {self.bench.safety.masked(self.view.playbook.book.name)}"
        guard = Guard(self.bench)
        written = await self.app.push_screen_wait(
            ExportDialog(title, self.bench.exporter, book, target, guard, self.copy)
        )
        if written is not None:
            self._exported[book] = written.path
            self.workbench_app.say(written_said(written))


def _only_on_enter(title: str) -> str | None:
    return None if title.strip().strip("#").strip() else "A section needs a name."
