"""What a playbook as a whole is for: choosing one, its duplicates, its budget, what an agent sees, and its export."""

from pathlib import Path

from workbench.core.errors import WorkbenchError
from workbench.services.files.exports.exporting import Written
from workbench.services.playbook.file_merge import book_id
from workbench.tui.app.area import AreaScreen
from workbench.tui.files.exports.dialog import ExportDialog
from workbench.tui.files.exports.guard import Guard
from workbench.tui.files.exports.words import written_said
from workbench.tui.playbook.browser import EMPTY_STORE, BookBrowser
from workbench.tui.playbook.rows import bullets_in
from workbench.tui.playbook.targets import Targets
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.keys import keyed
from workbench.tui.widgets.texts.editor import TextEditor
from workbench.tui.widgets.texts.prompt import Prompt

PASTE = "Paste the reply of a Curator or a Reflector; {editor.save} reads it"
NEW_BOOK = "\0new"


class Tools:
    """Opens the views of the open playbook, and says what was done there."""

    def __init__(self, area: AreaScreen, browser: BookBrowser, targets: Targets) -> None:
        self._area, self._app, self._bench = area, area.workbench_app, area.bench
        self._browser = browser
        self._targets = targets
        self._exported: dict[str, Written] = {}

    def _has_book(self) -> bool:
        """Tell whether a playbook is open, or say how one is begun."""
        if self._browser.view is None:
            self._app.say(keyed(EMPTY_STORE))
        return self._browser.view is not None

    async def choose(self) -> None:
        """Choose another playbook of this store."""
        books = self._bench.playbooks.books()
        if not books:
            self._app.say(keyed(EMPTY_STORE))
            return
        choices = [
            Choice(line.book.id, self._bench.safety.masked(line.book.name or line.book.id), bullets_in(line.bullets))
            for line in books
        ]
        choices.append(Choice(NEW_BOOK, "＋ a new playbook", "empty"))
        chosen = await self._app.push_screen_wait(Choose("Playbooks of this store", choices, self._browser.book))
        chosen = await self._made() if chosen == NEW_BOOK else chosen
        if chosen is not None and chosen != self._browser.book:
            self._browser.open(chosen)

    async def _made(self) -> str | None:
        """Ask for the name of a new playbook, and make it."""
        names = {line.book.id for line in self._bench.playbooks.books()}

        def problem(name: str) -> str | None:
            id = book_id(Path(name))
            return "A playbook needs a name." if not name else f"There is a playbook {id}." if id in names else None

        def make(name: str) -> None:
            self._bench.playbooks.ensure(book_id(Path(name)))

        ask = Prompt("Name of the new playbook", placeholder="rules", check=problem, take=make)
        name = await self._app.push_screen_wait(ask)
        return book_id(Path(name)) if name else None

    async def duplicates(self) -> None:
        """Find bullets that say the same; merge them or keep them apart."""
        if not self._has_book():
            return
        from workbench.tui.duplicates.bullets import BulletDuplicatesDialog

        if said := await self._app.push_screen_wait(BulletDuplicatesDialog(self._bench, self._browser.book)):
            self._targets.done(said)

    async def budget(self) -> None:
        """Set how many tokens the playbook may take, and see what fits."""
        if not self._has_book():
            return
        from workbench.tui.playbook.budget import BudgetDialog

        said = await self._app.push_screen_wait(BudgetDialog(self._bench, self._browser.book))
        if said:
            self._targets.done(said)

    def agent_view(self) -> None:
        """Show the text that an agent would be given."""
        if not self._has_book():
            return
        from workbench.tui.playbook.agent import AgentDialog

        self._app.push_screen(AgentDialog(self._bench, self._browser.book, self._area.copy))

    async def suggestions(self) -> None:
        """Read what a Curator or a Reflector answered, from a file or pasted, or ask Claude; decide card by card."""
        if not self._has_book():
            return
        from workbench.tui.playbook.curation.sources import SourcePrompt

        book = self._browser.book
        prompt = SourcePrompt(can_ask=not self._bench.curation.missing, check=self._unreadable)
        name = await self._app.push_screen_wait(prompt)
        if prompt.wants_claude:
            await self._ask_claude(book)
        if name is None:
            return
        text = (
            self._text_of(name)
            if name
            else await self._app.push_screen_wait(TextEditor(keyed(PASTE), "", limit=1_000_000))
        )
        if text is None:
            return
        with self._app.reporting():
            reply = self._bench.curating.read(text)
            from workbench.tui.playbook.curation.cards import CardsDialog

            said = await self._app.push_screen_wait(CardsDialog(self._bench, book, reply))
            if said:
                self._targets.done(said)

    def _text_of(self, name: str) -> str:
        return self._bench.curating.text_of(Path(name).expanduser())

    def _unreadable(self, name: str) -> str | None:
        """Say why a file cannot be read; an empty name stands for pasting."""
        try:
            if name:
                self._text_of(name)
        except (WorkbenchError, RuntimeError) as error:
            return str(error)
        return None

    async def _ask_claude(self, book: str) -> None:
        """Let Claude suggest, by what was confirmed lately or is marked in the Stream."""
        from workbench.tui.playbook.curation.ask import AskDialog

        marked = self._app.marked("stream")
        said = await self._app.push_screen_wait(AskDialog(self._bench, book, marked))
        if said:
            self._targets.done(said)

    async def export(self) -> None:
        """Show the exact text and what it changes, then write it."""
        if (view := self._browser.view) is None:
            self._app.say(keyed(EMPTY_STORE))
            return
        book = self._browser.book
        title = f"Export {self._bench.safety.masked(view.playbook.book.name)}"
        guard = Guard(self._bench)
        written = await self._app.push_screen_wait(
            ExportDialog(title, self._bench.exporter, book, guard, self._area.copy, self._exported.get(book))
        )
        if written is not None:
            self._exported[book] = written
            self._app.say(written_said(written))
