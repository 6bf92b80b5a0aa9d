"""What a person does to the bullets of a playbook: vote, pin, edit, add, delete, move."""

import time
from collections.abc import Sequence
from typing import Protocol

from textual.content import Content

from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import Verdict
from workbench.services.forms.document import Values
from workbench.services.playbook.playbook import MAIN
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.host import Drafting
from workbench.tui.app.saving import Preview
from workbench.tui.forms.form import fill_in, fill_in_elsewhere
from workbench.tui.forms.saving import FormSaving, of_bullet, of_bullets, of_new_bullet
from workbench.tui.playbook.browser import EMPTY_BOOK, EMPTY_STORE, BookBrowser, Targets, named, title_in
from workbench.tui.playbook.pane import bullets_in, title_of
from workbench.tui.promotion.copies import CopyAsking
from workbench.tui.widgets.content import MUTED, body, key_of, keyed, undo
from workbench.tui.widgets.dialog import Choice, Choose, Confirm
from workbench.tui.widgets.texts.prompt import Prompt


class PickedBullets(Protocol):
    """What changes are for: bullets of one playbook."""

    @property
    def book(self) -> str:
        """The id of their playbook."""

    def ids(self) -> list[str]:
        """Return the ids of all that are meant."""

    def one(self) -> Bullet | None:
        """Return the one that is meant, or `None` after saying why there is none."""

    def done(self, sentence: str, ids: Sequence[str] = (), /) -> None:
        """Say what happened to them, and let go of them."""


class BulletChanges:
    """Changes the bullets that are picked, after asking where that is due, and says what was done."""

    def __init__(self, area: AreaScreen, targets: PickedBullets) -> None:
        self._area, self._app, self._bench = area, area.workbench_app, area.bench
        self._targets = targets

    # Deciding

    def vote(self, verdict: Verdict) -> None:
        """Vote, or take that vote back."""
        ids, book = self._targets.ids(), self._targets.book
        if ids:

            def cast() -> None:
                result = self._bench.playbooks.vote(book, ids, verdict)
                self._targets.done(
                    result.told(ids[0]) if len(ids) == 1 else f"Voted {verdict} on {len(ids)} bullets.", ids
                )

            self._app.change(cast)

    def pin(self) -> None:
        ids, book = self._targets.ids(), self._targets.book
        if ids:

            def pin() -> None:
                pinned = self._bench.playbooks.pin(book, ids)
                self._targets.done(f"{'Pinned' if pinned else 'Unpinned'} {named(ids)}.", ids)

            self._app.change(pin)

    # Changing

    async def edit(self) -> None:
        """Edit in a form, which stays open when it cannot be saved."""
        bullet = self._targets.one()
        if bullet is not None:
            saving, copies = self._saving(bullet)
            self._say_changed(bullet, await fill_in(self._area, saving, self._draft(bullet)), copies)

    async def edit_externally(self) -> None:
        """Edit all of a bullet in the person's own editor; what cannot be saved opens as a form."""
        bullet = self._targets.one()
        if bullet is not None:
            saving, copies = self._saving(bullet)
            saved = await fill_in_elsewhere(self._area, saving, self._draft(bullet), copies)
            self._say_changed(bullet, saved, copies)

    def _saving(self, bullet: Bullet) -> tuple[FormSaving, CopyAsking]:
        forms = self._bench.bullet_forms
        copies = CopyAsking(self._app, lambda values: [forms.corrected(bullet.book, bullet.id, values)])
        return FormSaving(self._bench, of_bullet(self._bench, bullet), copies), copies

    def _draft(self, bullet: Bullet) -> Drafting:
        return self._app.draft(f"bullets/{bullet.book}/{bullet.id}")

    def _say_changed(self, bullet: Bullet, saved: Values | None, copies: CopyAsking) -> None:
        if saved:
            self._targets.done(f"Changed {bullet.id}.{copies.told}")

    async def delete(self) -> None:
        """Delete bullets, several after a yes."""
        ids, book = self._targets.ids(), self._targets.book

        def delete() -> None:
            self._bench.playbooks.delete(book, ids)
            self._targets.done(f"Deleted {named(ids)}. {undo()} takes it back.", ids)

        if ids and (len(ids) == 1 or await self._agreed(ids)):
            self._app.change(delete)

    async def _agreed(self, ids: Sequence[str]) -> bool:
        back = Content.styled(f"{undo()} brings them back, with their votes.", MUTED)
        detail = body(", ".join(ids)[:400]) + Content("\n\n") + back
        question = f"Delete {named(ids)} from the playbook?"
        ask = Confirm(question, clock=time.monotonic, detail=detail, yes="delete", no="keep")
        return await self._app.push_screen_wait(ask)


class Changes(BulletChanges):
    """Changes also the playbook that is open: adds, moves, and puts bullets in another order."""

    def __init__(self, area: AreaScreen, browser: BookBrowser, targets: Targets) -> None:
        super().__init__(area, targets)
        self._browser = browser

    async def edit(self) -> None:
        """Edit the bullet under the cursor; after `;` set what is touched of all marked ones."""
        if not self._area.disarm(self._browser.rows):
            await super().edit()
            return
        ids, book = self._targets.ids(), self._targets.book
        saved = await fill_in(self._area, FormSaving(self._bench, of_bullets(self._bench, book, ids)))
        if saved:
            self._targets.done(f"Set {', '.join(saved)} of {len(ids)} bullets. {undo()} takes it back.", ids)

    async def add(self) -> None:
        """Write a new bullet for the section under the cursor."""
        row, book = self._browser.rows.current, self._browser.book
        if row is None:
            self._app.say(keyed(EMPTY_BOOK if self._browser.view else EMPTY_STORE))
            return
        added: list[str] = []
        subject = of_new_bullet(self._bench, book, row.section, added.append)
        draft = self._app.draft(f"sections/{book}/{row.section.id}", "new-bullet")
        await fill_in(self._area, FormSaving(self._bench, subject), draft)
        if added:
            self._go_to(("bullet", added[0]))

    async def section(self) -> None:
        """Add a section; the first one begins a playbook."""
        book, added = self._browser.book or MAIN, list[str]()

        preview = Preview(self._bench, again="enter", line=True)

        def add(_: str) -> None:
            with preview.writing("add a section"):
                added.append(self._bench.playbooks.add_section(book, preview.text, kept=preview.kept))

        hint = "its heading, such as COMMON MISTAKES"
        ask = Prompt("New section", placeholder=hint, check=_only_on_enter, preview=preview, take=add)
        await self._app.push_screen_wait(ask)
        if added:
            self._browser.book = book
            self._go_to(("section", added[0]))

    def _go_to(self, key: tuple[str, str]) -> None:
        """Put the cursor on what was just added, or say that the filter hides it."""
        hidden = "" if self._browser.go_to(key) else " The filter hides it; esc clears the filter."
        self._targets.done(f"Added the {key[0]} {key[1]}.{hidden}")

    async def move(self) -> None:
        """Move bullets to the end of another section."""
        ids, book = self._targets.ids(), self._browser.book
        if not ids or self._browser.view is None:
            return
        playbook = self._browser.view.playbook
        choices = [
            Choice(s.id, title_of(s), bullets_in(len(playbook.in_section(s.id))))
            for s in playbook.sections
            if s.title.strip()
        ]
        here = self._browser.rows.current.section.id if self._browser.rows.current else ""
        chosen = await self._app.push_screen_wait(Choose(f"Move {named(ids)} to the end of", choices, here))
        if chosen is not None:

            def move() -> None:
                self._bench.playbooks.move(book, ids, chosen)
                self._targets.done(f"Moved {named(ids)} to {title_in(playbook.sections, chosen)}.", ids)

            self._app.change(move)

    def shift(self, step: int) -> None:
        """Move the bullet one place down (1) or up (-1)."""
        bullet = self._targets.one()
        if bullet is None:
            return
        if self._browser.filter:
            self._app.say(
                keyed(
                    "The filter hides the neighbours. Esc clears it, then {playbook.lower} and "
                    "{playbook.higher} reorder."
                )
            )
            return

        def shift() -> None:
            if not self._bench.playbooks.shift(bullet.book, bullet.id, step):
                place = "last" if step > 0 else "first"
                self._app.say(
                    f"{bullet.id} is the {place} of its section. {key_of('playbook.move')} moves it to another one."
                )

        self._app.change(shift)


def _only_on_enter(title: str) -> str | None:
    return None if title.strip().strip("#").strip() else "A section needs a name."
