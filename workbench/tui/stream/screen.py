"""The Stream: browse, filter, vote, pin, edit, forget."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.bench.context import Touched
from workbench.bench.stream.stream import StreamView
from workbench.core.errors import InvalidQuery
from workbench.core.stream.filter import HELP
from workbench.core.stream.memory import Memory
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.asking import asking
from workbench.tui.safety.flagged import FlaggedMemories
from workbench.tui.stream.actions import STREAM
from workbench.tui.stream.around import surroundings
from workbench.tui.stream.changes import Changes, Picked
from workbench.tui.stream.memory_view import UNREAD, Surroundings, detail, row
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.lists.long_text import LongText, same
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.safe_input import SafeInput

VIEWS = (
    Choice("", "Everything", "newest first"),
    Choice("type:error,failure since:7d", "Errors and failures of the last week", "type:error,failure since:7d"),
    Choice("status:confirmed,promoted", "What is known", "status:confirmed,promoted"),
    Choice("is:reflection", "Reflections", "is:reflection"),
    Choice("pinned:yes", "Pinned", "pinned:yes"),
    Choice("is:harmful", "Voted harmful", "is:harmful"),
    Choice("is:flagged", "Flagged: secrets, orders, hidden characters", "is:flagged"),
    Choice("status:archived", "Archived and forgotten", "status:archived"),
)

IS_FLAGGED = ("is:flagged", "holds a secret, orders to an agent, or hidden characters")
"""What the Stream adds to the filter language."""

_OWN = ("human", "cli", "import")
"""Who brings in what needs no mark: the person, by whatever door."""

EMPTY_STORE = "No memories yet. `workbench import FILE` brings some in; agents add theirs with `workbench ingest`."
NO_MATCH = "Nothing matches. Esc clears the filter, ? explains it."


class StreamScreen(AreaScreen):
    """The memory stream with the detail of the memory under the cursor beside it."""

    AREA = "stream"
    BINDINGS: ClassVar[list[BindingType]] = bindings(STREAM)
    help_text = "The filter\n" + "\n".join(f"  {what:<28} {means}" for what, means in (*HELP, IS_FLAGGED))
    DEFAULT_CSS = """
    StreamScreen {
        #filter-line { height: 1; padding: 0 1; }
        #filter { width: 1fr; background: $background; }
        #count { width: auto; max-width: 70%; height: 1; color: $text-muted; padding-left: 2; }
        #news { height: 1; padding: 0 1; color: $text-accent; display: none; }
        #list { width: 2fr; }
        #side { width: 1fr; min-width: 42; padding: 0 1; border-left: solid $panel; scrollbar-size-vertical: 1; }
        #side:focus { border-left: solid $accent; }
        &.-narrow #side { display: none; border-left: none; }
        &.-narrow.-open #side { display: block; width: 1fr; }
        &.-narrow.-open #list { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._view: StreamView | None = None
        self._text = ""
        self._last_search = ""
        self._unread: frozenset[str] = frozenset()
        self._unseen: frozenset[str] = frozenset()
        self.rows: LineList[Memory] = LineList(self._draw, lambda m: m.id, empty=Content(EMPTY_STORE), id="list")
        self.flagged = FlaggedMemories(self)
        self.changes = Changes(self, Picked(lambda: self.rows.current, self._targets, self.rows.clear_marks))

    def contents(self) -> Iterable[Widget]:
        """Return the filter line, the news, the list and the detail."""
        box = SafeInput(placeholder="/ filter: type:error since:7d auth", id="filter")
        yield Horizontal(box, Static(id="count"), id="filter-line")
        yield Static(id="news")
        yield Horizontal(self.rows, VerticalScroll(LongText(id="detail"), id="side"))

    def on_mount(self) -> None:
        """Start in the list, with what is new since the last look."""
        self.rows.focus()
        seen = self.workbench_app.options.seen
        if seen is not None:
            news = self.bench.overview.since(seen)
            self._unread = frozenset(news.arrived)
            if news.sentence:
                self.query_one("#news", Static).update(Content(f"{news.sentence} · esc closes this line"))
                self.query_one("#news").display = True

    # Showing

    def show_store(self) -> None:
        """Show what the filter lets through now."""
        try:
            view = self.bench.stream.view(self._text)
        except InvalidQuery as error:
            self._count(Content.styled(f"✗ {error}", "$text-error"))
            return
        self._show(view)

    def show_changes(self, touched: Touched) -> None:
        """Put what changed in its place; the cursor, the filter and the marks stay."""
        ids = [key for table, key in touched.keys if table == "memories"]
        if self._view is None or len(ids) > 1000:
            self.show_store()
        elif ids:
            here = {m.id for m in self._view.memories}
            before, view = self._view, self.bench.stream.updated(self._view, ids, self._text)
            if (view.memories, view.spans, view.total) == (before.memories, before.spans, before.total):
                self._draw_anew(frozenset(ids))
                return
            self._show(view)
            if touched.kind == "undo" and touched.actor == self.bench.context.actor:
                self._go_back_to([id for id in ids if id not in here] or ids)
        elif self.rows.current is not None:
            self.show_detail()

    def follow(self, touched: Touched) -> None:
        """Note also what came in by another hand, out of sight too: it is marked, and told of until it was in sight."""
        if self._view is not None and touched.kind == "edit" and not touched.actor.startswith(_OWN):
            here = {memory.id for memory in self._view.memories}
            came = frozenset(key for table, key in touched.keys if table == "memories" and key not in here)
            self._unread |= came
            self._unseen |= came
        super().follow(touched)

    def _draw_anew(self, ids: frozenset[str]) -> None:
        """Draw some rows again that are the same: a text of theirs was looked at."""
        for place in [at for at, memory in enumerate(self.rows.rows) if memory.id in ids]:
            self.rows.refresh_row(place)
        self.show_detail()

    def _go_back_to(self, ids: Sequence[str]) -> None:
        """Put the cursor on the first row that an undo brought back or changed, unless it is on one."""
        places = [place for id in ids if (place := self.rows.index_of(id)) is not None]
        if places and self.rows.cursor not in places:
            self.rows.cursor = min(places)

    def _show(self, view: StreamView) -> None:
        self._view = view
        self.rows.set_empty(Content(NO_MATCH if view.total else EMPTY_STORE))
        top, place = self.rows.scroll_offset.y, self.rows.cursor
        self.rows.set_rows(view.memories)
        if top and self.rows.cursor > place and self._unseen:
            # What came above pushes nothing down that somebody is reading.
            self.rows.scroll_to(y=top + self.rows.cursor - place, animate=False, force=True)
        self._show_count()
        self.show_detail()

    def _show_count(self) -> None:
        """Say how many memories there are, and how many came that were not in sight yet."""
        view = self._view
        if view is None:
            return
        shown = f"{number(view.total)} {'memory' if view.total == 1 else 'memories'}"
        if self._text.strip():
            shown += f" · {number(len(view.memories))} shown"
        places = [at for at, memory in enumerate(view.memories) if memory.id in self._unseen] if self._unseen else []
        above = [at for at in places if at < self.rows.scroll_offset.y]
        self._unseen = frozenset(view.memories[at].id for at in above)
        if above:
            key = next(a for a in self.as_mapped(STREAM) if a.id == "stream.newest").shown_key
            news = Content.styled(f"{UNREAD} {number(len(above))} new, {key} goes there · ", "bold $text-accent")
            self._count(news + Content(shown))
        else:
            self._count(Content(shown))

    def _count(self, content: Content) -> None:
        count = self.query_one("#count", Static)
        if not same(content, count.content):
            count.update(content)

    def _draw(self, memory: Memory, width: int) -> list[Cell]:
        spans = self._view.spans.get(memory.id, ()) if self._view else ()
        now, unread = self.bench.context.now(), memory.id in self._unread
        return row(memory, width, now, unread=unread, spans=spans, masked=self.flagged.masked_line(memory))

    @on(LineList.Highlighted)
    def show_detail(self) -> None:
        """Show the memory under the cursor in full."""
        memory = self.rows.current
        shown = Content("") if memory is None else detail(memory, self._around(memory))
        self.query_one("#detail", Static).update(shown)
        self.query_one("#side").scroll_home(animate=False)

    def action_newest(self) -> None:
        """To the newest memory that came meanwhile."""
        places = [at for at, memory in enumerate(self.rows.rows) if memory.id in self._unread]
        if not places:
            self.workbench_app.say("Nothing new came since you looked.")
            return
        self.rows.cursor = places[0]
        self.rows.focus()

    @on(LineList.Highlighted)
    def _seen(self) -> None:
        """Tell no more of what has come into sight."""
        if self._unseen:
            self.call_after_refresh(self._show_count)

    def _around(self, memory: Memory) -> Surroundings:
        width = self.query_one("#detail").size.width
        return surroundings(self.bench, memory, self.flagged.flags_of(memory), width)

    def _targets(self) -> list[str]:
        return [memory.id for memory in self.take_targets(self.rows)]

    # Filtering

    @on(Input.Changed, "#filter")
    def _filter(self, event: Input.Changed) -> None:
        self._text = event.value
        if event.value.strip():
            self._last_search = event.value
        self.show_store()
        # The best match of what is typed stands first; a cleared filter leaves the cursor on its memory.
        if event.value.strip():
            self.rows.cursor = 0

    @on(Input.Submitted, "#filter")
    def _filtered(self) -> None:
        self.rows.focus()

    def action_search(self) -> None:
        """Go to the filter."""
        self.set_focus(self.query_one("#filter"))

    def action_next(self) -> None:
        """To the next match of the last search, also when the filter was cleared."""
        self._to_match(1)

    def action_previous(self) -> None:
        """To the previous match."""
        self._to_match(-1)

    def _to_match(self, step: int) -> None:
        with self.workbench_app.reporting():
            found = {m.id for m in self.bench.stream.view(self._last_search).memories} if self._last_search else set()
            places = [i for i, m in enumerate(self.rows.rows) if m.id in found]
            ahead = [i for i in places if (i - self.rows.cursor) * step > 0]
            if not places:
                self.workbench_app.say("No search yet. / starts one.")
            elif ahead:
                self.rows.cursor = ahead[0] if step > 0 else ahead[-1]
            else:
                self.rows.cursor = places[0] if step > 0 else places[-1]

    @asking
    async def action_views(self) -> None:
        """Choose one of the ready-made filters."""
        chosen = await self.app.push_screen_wait(Choose("Views", VIEWS, self._text))
        if chosen is not None:
            self.query_one("#filter", SafeInput).value = chosen
            self.rows.focus()

    def go_back(self) -> None:
        """Close the detail, leave the filter line, or clear the filter; the cursor stays on its memory."""
        box = self.query_one("#filter", SafeInput)
        if self.has_class("-open"):
            self.remove_class("-open")
            self.rows.focus()
        elif self.query_one("#news").display:
            self.query_one("#news").display = False
        elif self.focused is not self.rows:
            self.rows.focus()
        elif self.rows.mark_count:
            self.rows.clear_marks()
        elif box.value:
            box.value = ""

    def on_resize(self) -> None:
        """Draw the detail for the width there is."""
        self.call_after_refresh(self.show_detail)

    @on(LineList.Opened)
    def _open(self) -> None:
        self.action_unfold()
        self.add_class("-open")
        self.query_one("#side").focus()

    @on(LineList.MarksChanged)
    def _marked(self) -> None:
        self.show_status()

    # Changing

    def action_helpful(self) -> None:
        """Vote helpful."""
        self.changes.vote("helpful")

    def action_harmful(self) -> None:
        """Vote harmful."""
        self.changes.vote("harmful")

    def action_pin(self) -> None:
        """Pin or unpin."""
        self.changes.pin()

    @asking
    async def action_forget(self) -> None:
        """Forget after a yes; archived memories are restored instead."""
        await self.changes.forget()

    @asking
    async def action_edit(self) -> None:
        """Edit here."""
        await self.changes.edit()

    @asking
    async def action_external(self) -> None:
        """Edit in $EDITOR."""
        await self.changes.edit_externally()

    def action_unfold(self) -> None:
        """Show the text of a flagged memory, until another one was opened."""
        memory = self.rows.current
        if memory is not None and self.flagged.unfold(memory):
            self.show_detail()

    @asking
    async def action_allow(self) -> None:
        """Let a flagged memory be exported and promoted as it is, after asking why; again takes that back."""
        if self.rows.current is not None:
            await self.flagged.allow(self.rows.current)

    def action_copy(self) -> None:
        """Copy the text of the memory."""
        if self.rows.current is not None:
            self.copy(self.rows.current.content)

    def action_history(self) -> None:
        """Show who changed what."""
        if self.rows.current is not None:
            self.show_history(self.rows.current.id)

    def action_promote(self) -> None:
        """Promote it: written where agents read it, after a look at the text."""
        if ids := self.changes.targets():
            from workbench.tui.promotion.dialog import open_promote

            open_promote(self, ids)

    def action_apply(self) -> None:
        """Let the next key apply to all marked rows."""
        self.arm(self.rows)
