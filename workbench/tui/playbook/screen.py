"""The Playbook: sections of bullets to vote on, edit, move and export."""

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget

from workbench.core.playbook.filter import HELP
from workbench.services.context import Touched
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.asking import asking
from workbench.tui.playbook.actions import PLAYBOOK
from workbench.tui.playbook.browser import BookBrowser
from workbench.tui.playbook.changes import Changes
from workbench.tui.playbook.rows import Row
from workbench.tui.playbook.rules import Rules
from workbench.tui.playbook.targets import Targets
from workbench.tui.playbook.tools import Tools
from workbench.tui.records.links import links_of
from workbench.tui.widgets.lists.line_list import LineList

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
        #bullet-side Side { padding: 0 1; scrollbar-size-vertical: 1; }
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
        """Return the browser."""
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
        """Pin or unpin."""
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
