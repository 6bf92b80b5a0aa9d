"""The Playbook: sections of bullets to vote on, edit, move and export."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from workbench.core.playbook.book import Bullet
from workbench.core.playbook.filter import HELP
from workbench.core.playbook.split import merged_from
from workbench.core.record import WorkbenchError
from workbench.core.text import one_line
from workbench.services.context import Touched
from workbench.services.files.exports.exporting import Written
from workbench.services.playbook.file_merge import book_id
from workbench.services.playbook.playbook import warning_of
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking
from workbench.tui.files.exports.dialog import ExportDialog, Guard
from workbench.tui.files.exports.preview import written_said
from workbench.tui.playbook.actions import PLAYBOOK
from workbench.tui.playbook.browser import EMPTY_STORE, BookBrowser, Targets, named
from workbench.tui.playbook.changes import Changes
from workbench.tui.playbook.pane import Row, bullets_in
from workbench.tui.records.links import links_of
from workbench.tui.widgets.content import MUTED, body, keyed, undo
from workbench.tui.widgets.dialog import Choice, Choose, Confirm
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.texts.editor import TextEditor
from workbench.tui.widgets.texts.prompt import Prompt

# Rules of a playbook that are let go of: deprecated, turned into warnings, or a merge of them taken apart.


class Rules:
    """Asks why and what takes their place, and lets go of the rules that are picked."""

    def __init__(self, area: AreaScreen, browser: BookBrowser, targets: Targets) -> None:
        self._area, self._app, self._bench = area, area.workbench_app, area.bench
        self._browser = browser
        self._targets = targets

    async def deprecate(self) -> None:
        """Deprecate bullets, with a reason and a replacement; again makes them count."""
        ids, book = self._targets.ids(), self._browser.book
        if not ids or self._browser.view is None:
            return
        if self._bench.rules.all_deprecated(book, ids):

            def restore() -> None:
                self._bench.rules.restore(book, ids)
                self._targets.done(f"{named(ids)} count{'s' if len(ids) == 1 else ''} again.", ids)

            self._app.change(restore)
            return
        from workbench.tui.playbook.budget import DeprecateDialog, Deprecation

        others = [b for b in self._browser.view.playbook.bullets if b.state != "deprecated" and b.id not in ids]
        masked = {b.id: self._bench.safety.masked(b.content) for b in others}
        preview = Preview(self._bench, again="enter", line=True)

        def deprecate(asked: Deprecation) -> None:
            with preview.writing(f"deprecate {named(ids)}"):
                self._bench.rules.deprecate(book, ids, asked.reason, asked.replacement)

        dialog = DeprecateDialog(f"Deprecate {named(ids)}", others, masked, preview, deprecate)
        if (done := await self._app.push_screen_wait(dialog)) is not None:
            instead = f", replaced by “{one_line(masked[done.replacement], 60)}”" if done.replacement else ""
            back = keyed("{playbook.deprecate} or {app.undo} brings back.")
            self._targets.done(f"Deprecated {named(ids)}{instead}: left out of exports. {back}", ids)

    async def avoid(self) -> None:
        """Deprecate harmful rules and warn of them in their own words; those of a single one can be edited first."""
        ids, book = self._targets.ids(), self._browser.book
        if len(ids) == 1 and (bullet := self._called(ids[0])) is not None:
            await self._avoid(bullet)
        elif ids:
            told = "Each is deprecated, and replaced by a warning that begins with “AVOID:”."
            told += f" {undo()} takes all back.\n\n"
            detail = Content.styled(told, MUTED) + body(", ".join(ids)[:400])
            ask = Confirm(
                f"Turn {named(ids)} into warnings?", clock=time.monotonic, detail=detail, yes="warn", no="keep"
            )
            if await self._app.push_screen_wait(ask):

                def avoid() -> None:
                    made = self._bench.rules.avoid_all(book, ids)
                    self._targets.done(f"{len(made)} warnings replace {named(ids)}. {undo()} takes them back.", ids)

                self._app.change(avoid)

    async def _avoid(self, bullet: Bullet) -> None:
        made: list[str] = []
        preview = Preview(self._bench, bullet.content)

        def save(text: str) -> str | None:
            if (first := preview(text)) is not None:
                return first
            with preview.writing(f"warn of {bullet.id}", lambda: [f"{bullet.book}/{made[-1]}"]):
                made.append(self._bench.rules.avoid(bullet.book, bullet.id, preview.text))
            return None

        place = one_line(self._bench.rules.warns_in(bullet.book), 60)
        title = f"Turn {bullet.id} into a warning under {place}; the rule itself is deprecated"
        await self._app.push_screen_wait(TextEditor(title, warning_of(bullet.content), check=save))
        if made:
            said = f"{made[0]} warns of {bullet.id}, which is deprecated. {undo()} takes both back."
            self._targets.done(said, [bullet.id])

    def split(self) -> None:
        """Take the latest merge of a bullet apart."""
        bullet = self._targets.one()
        if bullet is None:
            return
        if not merged_from(bullet):
            self._app.say(f"{bullet.id} was not made by a merge, so there is nothing to split.")
            return

        def part() -> None:
            parts = self._bench.bullet_duplicates.part(bullet.book, bullet.id)
            self._targets.done(f"{', '.join(parts)} are restored. {undo()} undoes it.")

        self._app.change(part)

    def _called(self, id: str) -> Bullet | None:
        """Return a bullet that is shown, by its id."""
        return next((bullet for bullet in self._browser.bullets if bullet.id == id), None)


# What a playbook as a whole is for: choosing one, its duplicates, its budget, what an agent sees, and its export.


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
        from workbench.tui.duplicates.dialog import BulletDuplicatesDialog

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
        from workbench.tui.playbook.budget import AgentDialog

        self._app.push_screen(AgentDialog(self._bench, self._browser.book, self._area.copy))

    async def suggestions(self) -> None:
        """Read what a Curator or a Reflector answered, from a file or pasted, or ask Claude; decide card by card."""
        if not self._has_book():
            return
        from workbench.tui.playbook.curation.ask import SourcePrompt

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


TABLES = frozenset({"books", "sections", "bullets", "votes", "tallies", "kept_pairs"})
"""What a playbook is made of."""


class PlaybookScreen(AreaScreen):
    """A browser over one playbook, and the keys for what a person does to it."""

    AREA = "playbook"
    BINDINGS: ClassVar[list[BindingType]] = bindings(PLAYBOOK)
    help_text = "The filter, and the symbols before a bullet\n" + "\n".join(f"  {what:<22} {why}" for what, why in HELP)
    DEFAULT_CSS = """
    PlaybookScreen {
        #book-filter-line { height: 1; padding: 0 1; }
        #book-filter { width: 1fr; background: $background; }
        #book-count { width: auto; color: $text-muted; padding-left: 2; }
        #outline { display: none; width: 44; border-right: solid $panel; scrollbar-size-vertical: 1; }
        #bullets { width: 5fr; }
        #bullet-side { width: 3fr; border-left: solid $panel; }
        #bullet-side:focus-within { border-left: solid $accent; }
        &.-wide #outline { display: block; }
        &.-narrow #bullet-side { display: none; border-left: none; }
        &.-narrow.-open #bullet-side { display: block; width: 1fr; }
        &.-narrow.-open #bullets { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        keys = {action.id: action.shown_key for action in self.as_mapped(PLAYBOOK)}
        self.browser = BookBrowser(self.bench, keys)
        self.browser.side.links = links_of(self, self.browser.side, self.browser.place, endless=True)
        self.targets = Targets(self, self.browser)
        self.changes = Changes(self, self.browser, self.targets)
        self.rules = Rules(self, self.browser, self.targets)
        self.tools = Tools(self, self.browser, self.targets)

    def contents(self) -> Iterable[Widget]:
        return (self.browser,)

    @property
    def rows(self) -> LineList[Row]:
        """The list of headings and bullets."""
        return self.browser.rows

    def show_store(self) -> None:
        """Show the open playbook as it is now; the first one when it is gone."""
        self.browser.show()

    def show_changes(self, touched: Touched) -> None:
        """Follow changes of playbooks; the cursor, the filter and the marks stay."""
        if any(table in TABLES for table, _ in touched.keys):
            self.show_store()

    @on(BookBrowser.Marked)
    def _marked(self) -> None:
        self.show_status()

    # Finding

    def go_back(self) -> None:
        """Close what is open in the browser."""
        self.browser.go_back()

    def action_search(self) -> None:
        """Go to the filter."""
        self.browser.search()

    def action_apply(self) -> None:
        """Let the next edit be for all marked rows; other keys that can be for them need nothing before."""
        self.arm(self.rows)

    @asking
    async def action_books(self) -> None:
        """Choose another playbook of this store."""
        await self.tools.choose()

    # Changing

    def action_helpful(self) -> None:
        """Vote helpful, or take that vote back."""
        self.changes.vote("helpful")

    def action_harmful(self) -> None:
        """Vote harmful, or take that vote back."""
        self.changes.vote("harmful")

    def action_pin(self) -> None:
        self.changes.pin()

    @asking
    async def action_edit(self) -> None:
        """Edit the bullet's text here."""
        await self.changes.edit()

    @asking
    async def action_external(self) -> None:
        """Edit the bullet's text in the person's own editor."""
        await self.changes.edit_externally()

    @asking
    async def action_add(self) -> None:
        """Write a new bullet for the section under the cursor."""
        await self.changes.add()

    @asking
    async def action_section(self) -> None:
        """Add a section; the first one begins a playbook."""
        await self.changes.section()

    @asking
    async def action_delete(self) -> None:
        """Delete bullets, several after a yes."""
        await self.changes.delete()

    @asking
    async def action_move(self) -> None:
        """Move bullets to the end of another section."""
        await self.changes.move()

    def action_lower(self) -> None:
        """Move the bullet one place down."""
        self.changes.shift(1)

    def action_higher(self) -> None:
        """Move the bullet one place up."""
        self.changes.shift(-1)

    # Letting go of rules

    @asking
    async def action_deprecate(self) -> None:
        """Deprecate bullets, with a reason and a replacement; again makes them count."""
        await self.rules.deprecate()

    @asking
    async def action_avoid(self) -> None:
        """Deprecate harmful rules and warn of them in their own words."""
        await self.rules.avoid()

    def action_split(self) -> None:
        """Take the latest merge of a bullet apart."""
        self.rules.split()

    # The playbook as a whole

    @asking
    async def action_duplicates(self) -> None:
        """Find bullets that say the same; merge them or keep them apart."""
        await self.tools.duplicates()

    @asking
    async def action_budget(self) -> None:
        """Set how many tokens the playbook may take, and see what fits."""
        await self.tools.budget()

    def action_agent_view(self) -> None:
        """Show the text that an agent would be given."""
        self.tools.agent_view()

    @asking
    async def action_suggestions(self) -> None:
        """Decide card by card on what a Curator or a Reflector suggests."""
        await self.tools.suggestions()

    @asking
    async def action_export(self) -> None:
        """Show the exact text and what it changes, then write it."""
        await self.tools.export()

    def action_copy(self) -> None:
        """Copy the bullet's text; of marked ones all texts, a line between them."""
        if ids := self.targets.ids():
            texts = {bullet.id: bullet.content for bullet in self.browser.bullets}
            self.copy(*(texts[id] for id in ids if id in texts))
            self.rows.clear_marks()

    def action_history(self) -> None:
        """Show every change of the bullet."""
        if (bullet := self.targets.one()) is not None:
            self.show_history(f"{bullet.book}/{bullet.id}")
