"""Health: is a reflection due, what needs upkeep, what says the same, is the store sound, who did what."""

import time
from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget

from workbench.services.context import Touched
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import AREAS
from workbench.tui.app.asking import asking
from workbench.tui.health.actions import HEALTH
from workbench.tui.health.model import Facts, Found
from workbench.tui.health.parts import PartsList
from workbench.tui.records.acts import Acts, Place
from workbench.tui.records.links import links_of
from workbench.tui.widgets.actions import on_row
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane

NO_RECORD = "That key is for a memory or a bullet: a change of one in History, or a group of duplicates."

HELP = "\n".join(
    [
        "The parts",
        "  Settings     what is wrong with your settings, keys and themes; left out while nothing is",
        "  Reflection   how far each condition is; the first one to reach its limit makes it due",
        "  Upkeep       what the lifecycle would propose; nothing is archived by it",
        "  Duplicates   memories that say the same (= ~), and those that only look like it (≠)",
        "  Store        what the doctor says, and what another program changed",
        "  Files        what is wrong with the files this store has to do with, and how to fix it",
        "  History      the latest changes of everybody",
        "  Capture      what agents' sessions were followed, what was passed over, and hooks that failed",
        "  Trends       memories, decisions and votes by day, and how what the store holds is spread",
        "  What waits for you waits in Review; enter on the line that counts it goes there.",
    ]
)


class HealthScreen(AreaScreen):
    """Every part below the other, with the text of the row under the cursor beside them."""

    AREA = "health"
    help_text = HELP
    BINDINGS: ClassVar[list[BindingType]] = bindings((*HEALTH, *on_row("p")))
    DEFAULT_CSS = """
    HealthScreen {
        #work { height: 1fr; }
        #parts { width: 52%; max-width: 96; }
        #detail { width: 1fr; border-left: solid $panel; }
        #detail:focus { border-left: solid $accent; }
        &.-narrow #parts { width: 1fr; max-width: 100%; }
        &.-narrow #detail { display: none; }
        &.-narrow.-open #parts { display: none; }
        &.-narrow.-open #detail { display: block; border-left: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        keys = {action.id: action.shown_key for action in self.as_mapped(AREAS.scope(self.AREA))}
        self.rows = PartsList(self.bench, keys, self._show_detail)
        self.detail = ReadingPane(id="detail")
        self.detail.links = links_of(self, self.detail, lambda: self._record_here(""))
        self._shown: tuple[str, str] | None = None
        self.acts = Acts(lambda: self, self._record_here, missing=NO_RECORD)

    def contents(self) -> Iterable[Widget]:
        """Return the list and the text beside it."""
        yield Horizontal(self.rows, self.detail, id="work")

    def on_mount(self) -> None:
        """Go to the list."""
        self.rows.focus()

    @property
    def facts(self) -> Facts:
        """What is known so far."""
        return self.rows.facts

    def gather(self, id: str) -> None:
        """Let a part find out what it shows."""
        self.rows.gather(id)

    def seconds(self) -> float:
        """Return seconds that never go back, for questions."""
        return time.monotonic()

    # Showing

    def show_store(self) -> None:
        """Look at what may have changed."""
        self.rows.look()

    def show_changes(self, touched: Touched) -> None:
        """Follow a change of the store; reads by agents change nothing here."""
        if touched.kind != "access":
            self.show_store()

    def retriever_ready(self) -> None:
        """Look again at what the model is needed for, and at the caches that loading it made."""
        if self._in_sight:
            self.show_store()
            self.gather("store")
        else:
            self._stale = True

    @on(PartsList.Gathered)
    def _gathered(self) -> None:
        """Count what a part found among what waits."""
        self.show_status()

    @on(LineView.Highlighted)
    def _show_detail(self) -> None:
        row = self.rows.current
        if row is None:
            self.detail.show(Content(""))
            return
        text = self.rows.detail(row, self._room())
        if text.plain != self.detail.plain:
            self.detail.show(text, keep_place=row.key == self._shown)
        self._shown = row.key

    def _room(self) -> int:
        """Return the cells of the text, where it takes the place of the list also before it is in sight."""
        return self.detail.scrollable_content_region.width or self.size.width - self.detail.gutter.width - 1

    def on_resize(self) -> None:
        """Show the text for the width there is."""
        self.call_after_refresh(self._show_detail)

    def learn(self, id: str, found: Found) -> None:
        """Take what was found out for a part."""
        self.rows.learn(id, found)

    def go_to(self, id: str, item: object = None) -> None:
        """Move the cursor to the heading of a part, or to its row about an item."""
        self.rows.go_to(id, item)

    def open_detail(self) -> None:
        """Show the text instead of the list where there is no room for both, and let the keys scroll it."""
        self.add_class("-open")
        self.detail.focus()

    def go_back(self) -> None:
        """Stop what is under way, or close what is open."""
        if stopped := self.rows.stop():
            self.workbench_app.say(stopped)
            return
        self.remove_class("-open")
        self.rows.focus()

    # Doing

    async def _do(self, verb: str, otherwise: str, section: str = "") -> None:
        """Let the part under the cursor, or a certain one, do something; `otherwise` is said when it cannot."""
        row = self.rows.current
        if section:
            row = next((r for r in self.rows.rows if r.section == section), None)
        action = None if row is None else self.rows.section(row.section).verbs.get(verb)
        if row is None or action is None:
            self.workbench_app.say(otherwise)
            return
        with self.workbench_app.reporting():
            await action(self, row)

    @on(LineView.Opened)
    def _opened(self) -> None:
        row = self.rows.current
        if row is not None and "open" in self.rows.section(row.section).verbs:
            self.run_worker(self._do("open", ""))
        else:
            self.open_detail()

    def _record_here(self, _what: str) -> Place | None:
        row = self.rows.current
        return None if row is None else self.rows.section(row.section).record(row)

    @asking
    async def action_apply(self) -> None:
        """Put into Review what the part proposes, or take over an outside edit."""
        await self._do("apply", "Nothing is proposed here. Go to Upkeep or Duplicates first.")

    @asking
    async def action_merge(self) -> None:
        """Merge the group under the cursor."""
        await self._do("merge", "Go to a group of duplicates first.")

    @asking
    async def action_refuse(self) -> None:
        """Keep the group under the cursor apart, or turn an outside edit down."""
        await self._do("refuse", "Go to a group of duplicates first.")

    @asking
    async def action_compare(self) -> None:
        """Look for duplicates, wherever the cursor is."""
        await self._do("compare", "", "duplicates")

    @asking
    async def action_still_true(self) -> None:
        """Look for what memories name in the working tree, wherever the cursor is."""
        await self._do("still_true", "", "still-true")

    @asking
    async def action_prune(self) -> None:
        """Accept every prune after a look at all, wherever the cursor is."""
        await self._do("prune", "", "upkeep")

    @asking
    async def action_compact(self) -> None:
        """Pack the journal, wherever the cursor is."""
        await self._do("compact", "", "store")

    @asking
    async def action_backup(self) -> None:
        """Write the store into one file, wherever the cursor is."""
        await self._do("backup", "", "store")

    @asking
    async def action_take_back(self) -> None:
        """Take back the change under the cursor."""
        await self._do("take_back", "Go to a change in History first.")

    @asking
    async def action_add_file(self) -> None:
        """Look over a file that is named, wherever the cursor is."""
        await self._do("add_file", "", "files")

    @asking
    async def action_write_back(self) -> None:
        """Write changed notes back into their folder: that of the file under the cursor, or the only one."""
        row = self.rows.current
        await self._do("write_back", "", "" if row is not None and row.section == "files" else "files")

    def action_check(self) -> None:
        """Look at everything again."""
        self.rows.check()

    def action_unfold(self) -> None:
        """Show a text that is folded as unsafe."""
        if self.rows.current is not None:
            self.rows.unfold(self.rows.current)

    def action_next_section(self) -> None:
        """To the heading below."""
        self._jump(1)

    def action_last_section(self) -> None:
        """To the heading above."""
        self._jump(-1)

    def _jump(self, step: int) -> None:
        if self.focused is not self.rows:
            self.go_back()
        self.rows.jump(step)

    def action_read_on(self) -> None:
        """Scroll the text."""
        self.detail.read(1)

    def action_read_back(self) -> None:
        """Scroll the text back."""
        self.detail.read(-1)
