"""The Stream: browse, filter, vote, pin, edit, forget."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.css.query import QueryType
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.core.record import InvalidQuery
from workbench.core.stream.filter import HELP
from workbench.core.stream.memory import Memory
from workbench.services.context import Touched
from workbench.services.stream.stream import StreamView
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.stillness import Stillness
from workbench.tui.app.waiting import asking
from workbench.tui.safety import FlaggedMemories
from workbench.tui.stream.actions import STREAM
from workbench.tui.stream.changes import Changes, Picked
from workbench.tui.stream.detail import DetailPane
from workbench.tui.stream.memory_view import UNREAD, USUAL_COLUMNS, Columns, Surroundings, detail, row, surroundings
from workbench.tui.stream.rows import Row, Ruled, is_ruled, key_of, memory_of, ruled_at, ruled_line
from workbench.tui.stream.semantic_search import SemanticSearch
from workbench.tui.widgets.content import keyed, undo
from workbench.tui.widgets.figures import amount, number, tell_apart
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.lists.reading_pane import LINKS_OF, Later
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.safe_input import FilterInput, SafeInput

if TYPE_CHECKING:
    from workbench.services.stream.semantic import SemanticMatches
    from workbench.tui.stream.arranging import Arranging
    from workbench.tui.stream.semantic import SemanticRows

IS_FLAGGED = ("is:flagged", "holds a secret, orders to an agent, or hidden characters")
"""What the Stream adds to the filter language."""

_TYPED_S = 0.1
"""How long no key comes before the detail of what was found is shown: who types on does not wait for it."""

_RESTED_S = 1.0
"""How long no key comes in the filter before garbage is collected: longer than between two keys of who types."""

_OWN = ("human", "cli", "import")
"""Who brings in what needs no mark: the person, by whatever door."""

EMPTY_STORE = (
    "No memories yet. {stream.new} writes one, `workbench import FILE` brings some in; agents add theirs with "
    "`workbench ingest`."
)
NO_MORE = "No more semantic matches."
NO_WORDS = "No semantic matches listed. {stream.search} searches by words and by meaning."
NO_MATCH = "Nothing matches. Esc clears the filter, {app.help} explains it."
LOOKING = "No memory has these words. Searching by meaning …"
NOTHING_NEAR = (
    "No memory has these words, and none is similar in meaning. Esc clears the filter, {app.help} explains it."
)


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
        #count.-wide-one { max-width: 86%; }
        #news { height: 1; padding: 0 1; color: $text-accent; display: none; }
        #found { width: 2fr; }
        #below { height: 1; padding: 0 2; color: $text-accent; display: none; }
        #side { width: 1fr; min-width: 42; padding: 0 1; border-left: solid $panel; scrollbar-size-vertical: 1; }
        #side:focus { border-left: solid $accent; }
        &.-narrow #side { display: none; border-left: none; }
        &.-narrow.-open #side { display: block; width: 1fr; }
        &.-narrow.-open #found { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._view: StreamView | None = None
        self._text = ""
        self._last_search = ""
        self._unread: frozenset[str] = frozenset()
        self._unseen: frozenset[str] = frozenset()
        self._nearby: SemanticRows | None = None
        self._arranging: Arranging | None = None
        self._columns = USUAL_COLUMNS
        self._detail_waits = False
        self._typing: Timer | None = None
        self._still = Stillness(self, after=_RESTED_S)
        empty = Content(keyed(EMPTY_STORE))
        self.rows: LineList[Row] = LineList(self._draw, key_of, is_heading=is_ruled, empty=empty, id="list")
        self._search = SemanticSearch(self, self._take_near, lambda: bool(self._arranging and self._arranging.by_score))
        self.flagged = FlaggedMemories(self)
        self.changes = Changes(self, Picked(lambda: self.memory, self._targets, self.rows.clear_marks))
        self._near_key = next(a.shown_key for a in self.as_mapped(STREAM) if a.id == "stream.near")

    def contents(self) -> Iterable[Widget]:
        """Return the filter line, the news, the list and the detail."""
        box = FilterInput(placeholder="/ filter: type:error since:7d auth", id="filter")
        yield Horizontal(box, Static(id="count"), id="filter-line")
        yield Static(id="news")
        below = Static(id="below")
        side = DetailPane(id="side")
        side.links = Later(LINKS_OF, self, side, self._place, True)
        yield Horizontal(Vertical(self.rows, below, id="found"), side)

    def on_mount(self) -> None:
        """Start in the list, with what is new since the last look."""
        self.rows.focus()
        self.watch(self.rows, "scroll_y", self._show_below, init=False)
        seen = self.workbench_app.options.seen
        if seen is not None:
            news = self.bench.overview.since(seen)
            self._unread = frozenset(news.arrived)
            if news.sentence:
                self.query_one("#news", Static).update(Content(f"{news.sentence} · esc closes this line"))
                self.query_one("#news").display = True

    def on_unmount(self) -> None:
        """Leave the collector as it was found."""
        self._still.release()

    # Showing

    @property
    def memory(self) -> Memory | None:
        """The memory under the cursor."""
        return memory_of(self.rows.current)

    @property
    def side(self) -> DetailPane:
        return self.query_one(DetailPane)

    def _place(self) -> tuple[str, str] | None:
        return None if self.memory is None else ("memories", self.memory.id)

    @property
    def memories(self) -> list[Memory]:
        return [found for found in self.rows.rows if isinstance(found, Memory)]

    def show_store(self) -> None:
        """Show what the filter lets through now."""
        self._show_filtered()

    def _show_filtered(self, *, at_top: bool = False) -> None:
        """Show what the filter lets through now; the cursor stays on its memory, or goes to the top."""
        try:
            view = self.bench.stream.view_at_once(self._text)
        except InvalidQuery as error:
            self._search.forget()  # what is under way is of another filter, and would say so over this
            self._count(Content.styled(f"✗ {error}", "$text-error"), wide=True)
            return
        self._show(view, at_top=at_top)

    def show_changes(self, touched: Touched) -> None:
        """Put what changed in its place; the cursor, the filter and the marks stay."""
        ids = [key for table, key in touched.keys if table == "memories"]
        if self._view is None or len(ids) > 1000:
            self.show_store()
        elif ids:
            here = {m.id for m in self._view.memories}
            before, view = self._view, self.bench.stream.updated(self._view, ids, self._text)
            near = {memory.id for memory in self.memories} - here
            said = [(one.memories, one.filter.words, one.total) for one in (before, view)]
            if said[0] == said[1] and near.isdisjoint(ids):
                self._draw_anew(frozenset(ids))
                if touched.kind != "access":
                    self._search.ask(before)  # what changed may be near now, or no more
                return
            self._show(view)
            if touched.kind == "undo" and touched.actor == self.bench.context.actor:
                self._go_back_to([id for id in ids if id not in here] or ids)
        elif self.memory is not None:
            self.show_detail()

    def follow(self, touched: Touched) -> None:
        """Note also what came in by another hand, out of sight too: it is marked, and told of until it was in sight."""
        ids = {key for table, key in touched.keys if table == "memories"}
        if ids and self._view is not None and touched.kind == "edit" and not touched.actor.startswith(_OWN):
            came = ids - {memory.id for memory in self._view.memories}
            self._unread |= came
            self._unseen |= came
        super().follow(touched)

    def _draw_anew(self, ids: frozenset[str]) -> None:
        """Draw some rows again that are the same: a text of theirs was looked at."""
        for place in [at for at, found in enumerate(self.rows.rows) if key_of(found) in ids]:
            self.rows.refresh_row(place)
        self.show_detail()

    def _go_back_to(self, ids: Sequence[str]) -> None:
        """Put the cursor on the first row that an undo brought back or changed, unless it is on one."""
        places = [place for id in ids if (place := self.rows.index_of(id)) is not None]
        if places and self.rows.cursor not in places:
            self.rows.cursor = min(places)

    def _show(self, view: StreamView, *, at_top: bool = False) -> None:
        # What was near stays in sight until it is ranked anew, unless something else is asked.
        asks_the_same = self._view is not None and self._view.question == view.question
        self._view = view
        asks = self._search.ask(view)
        if not asks or not asks_the_same:
            self._nearby = None
            if self._arranging is not None:
                self._arranging.scores = {}
        self._list(LOOKING if asks else keyed(NO_MATCH), at_top=at_top)

    def _take_near(self, view: StreamView, found: "SemanticMatches") -> None:
        """List what is near by meaning, unless other memories are shown by now."""
        known = self._nearby is not None and self._nearby.found == found
        from workbench.tui.stream.semantic import SemanticRows

        # Where nothing is listed, there is still to be said that nothing was found.
        if self._view is view and not (known and self.rows.rows):
            self._nearby = SemanticRows(found, view.memories)
            first = self.rows.cursor == 0
            if self._arranging is not None:
                self._arranging.scores = found.held
            self._list(keyed(NOTHING_NEAR if found.is_empty else NO_MATCH))
            if found.held and first:
                self.rows.cursor = 0  # by score it is the best that stands first, not what was found first

    def _list(self, nothing: str, *, at_top: bool = False) -> None:
        """List what was found; `nothing` says that nothing was."""
        view = self._view
        if view is None:
            return
        find = self.bench.library.memories.find
        found = view.memories if self._arranging is None else self._arranging.listed(view.memories)
        self._columns = self._columns_of(view.memories)
        rows = found if self._nearby is None else self._nearby.rows(found, find)
        self.rows.set_empty(Content(nothing if view.total else keyed(EMPTY_STORE)))
        # The line is no memory: where nothing holds the words, the cursor begins below it.
        top, place = self.rows.scroll_offset.y, self.rows.cursor
        first = 1 if rows and not view.memories else 0
        self.rows.set_rows(rows, cursor=first if at_top or (first and self.rows.cursor == 0) else None)
        if top and self.rows.cursor > place and self._unseen:
            # What came above pushes nothing down that somebody is reading.
            self.rows.scroll_to(y=top + self.rows.cursor - place, animate=False, force=True)
        self.rows.marked_first = 0 if self._nearby is None else len(view.memories)
        self._show_count()
        self._show_below()
        if not self._detail_waits:
            # Who types waits for what holds the words, and reads one of them when they stand: the list says a moment
            # after this one that it is to be painted.
            self._detail_waits = True
            self.call_after_refresh(self.call_after_refresh, self._show_detail_at_last)

    def _show_count(self) -> None:
        """Say how many memories there are, and how many came that were not in sight yet."""
        if (view := self._view) is None:
            return
        places = [at for at, row in enumerate(self.rows.rows) if key_of(row) in self._unseen] if self._unseen else []
        above = [at for at in places if at < self.rows.scroll_offset.y]
        self._unseen = frozenset(key_of(self.rows.rows[at]) for at in above)
        shown = Content(self._counted(view))
        if above:
            key = next(a for a in self.as_mapped(STREAM) if a.id == "stream.newest").shown_key
            news = f"{UNREAD} {number(len(above))} new, {key} goes there · "
            shown = Content.styled(news, "bold $text-accent") + shown
        self._count(shown, wide=bool(view.filter.unknown))

    def _counted(self, view: StreamView) -> str:
        shown = amount(view.total, "memory", "memories")
        order = "" if self._arranging is None else self._arranging.told(words=bool(view.question))
        return " · ".join(filter(None, (self._unknown(view), shown, self._found(view), order)))

    def _unknown(self, view: StreamView) -> str:
        """Say first, where it is in sight at every width, that a key is none and which one is meant perhaps."""
        if not view.filter.unknown:
            return ""
        key, near = view.filter.unknown[0]
        return f"“{key}:” is searched as a word; {near}: exists"

    def _found(self, view: StreamView) -> str:
        """Say how many of them the filter found."""
        if not self._text.strip():
            return ""
        shown = f"{number(len(view.memories))} {'with these words' if view.filter.words else 'shown'}"
        if view.is_partial:
            return f"{shown}, of the newest; reading the rest"
        at = self._ruled_at()
        return shown if at is None else f"{shown} · {len(self.rows.rows) - at - 1} by meaning"

    def _show_below(self) -> None:
        """Say what stands below the rows in sight, and which key goes there."""
        below, at = self.query_one("#below", Static), self._ruled_at()
        ends = self.rows.scroll_offset.y + self.rows.scrollable_content_region.height
        line = None if at is None or at < ends else self.rows.rows[at]
        if isinstance(line, Ruled):
            below.update(Content(f"{line.text} ↓ {self._near_key}"))
        below.display = line is not None

    def _ruled_at(self) -> int | None:
        """Return where the line above what is near stands; no rows are looked at but those that may be below it."""
        return None if self._nearby is None else ruled_at(self.rows.rows, self._nearby.most)

    def retriever_ready(self) -> None:
        """Rank what was typed before the model was there."""
        if self._view is not None and self._view.filter.words:
            self.show_store()

    def _count(self, content: Content, *, wide: bool = False) -> None:
        count = self.query_one("#count", Static)
        count.set_class(wide, "-wide-one")
        shown = count.content
        if not (isinstance(shown, Content) and shown.is_same(content)):
            count.update(content)

    def _draw(self, found: Row, width: int) -> list[Cell] | Content:
        if isinstance(found, Ruled):
            return ruled_line(found, width)
        ending = None if self._nearby is None else self._nearby.cells(found, width)
        spans = self._view.spans(found) if self._view and ending is None else ()
        now, unread, masked = self.bench.context.now(), found.id in self._unread, self.flagged.masked_line(found)
        columns = self._columns
        return row(found, width, now, unread=unread, spans=spans, masked=masked, ending=ending, columns=columns)

    @on(LineList.Highlighted)
    def _moved(self) -> None:
        if not self._detail_waits:
            self.show_detail()

    def _show_detail_at_last(self) -> None:
        self._detail_waits = False
        self.show_detail()

    def _show_what_waits(self) -> None:
        """Show the memory under the cursor before a key acts in its text: what waited was for who types on."""
        if self._detail_waits:
            self._show_detail_at_last()

    def show_detail(self) -> None:
        """Show the memory under the cursor in full."""
        memory = self.memory
        shown = Content("") if memory is None else detail(memory, self._around(memory))
        self.side.show(shown)

    def action_newest(self) -> None:
        """To the newest memory that came meanwhile."""
        places = [at for at, found in enumerate(self.rows.rows) if key_of(found) in self._unread]
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
        width = self.side.scrollable_content_region.width
        return surroundings(self.bench, memory, self.flagged.flags_of(memory), width)

    def _targets(self) -> list[str]:
        return [row.id for row in self.take_targets(self.rows) if isinstance(row, Memory)]

    # Filtering

    @on(Input.Changed, "#filter")
    def _filter(self, event: Input.Changed) -> None:
        self._text = event.value
        if event.value.strip():
            self._last_search = event.value
        self._still.hold()
        self._detail_waits = True
        # The best match of what is typed stands first; a cleared filter leaves the cursor on its memory.
        self._show_filtered(at_top=bool(event.value.strip()))
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(_TYPED_S, self._show_detail_at_last)

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
        self._to_match(-1)

    def _to_match(self, step: int) -> None:
        with self.workbench_app.reporting():
            search = self.bench.stream.view_at_once
            found = {m.id for m in search(self._last_search).memories} if self._last_search else set()
            places = [i for i, m in enumerate(self.rows.rows) if key_of(m) in found]
            ahead = [i for i in places if (i - self.rows.cursor) * step > 0]
            if not places:
                self.workbench_app.say(keyed("No search yet. {stream.search} starts one."))
            elif ahead:
                self.rows.cursor = ahead[0] if step > 0 else ahead[-1]
            else:
                self.rows.cursor = places[0] if step > 0 else places[-1]

    def action_near(self) -> None:
        """To what is near by meaning, or back to what holds the words."""
        at = self._ruled_at()
        if at is None:
            searched = self._view is not None and self._view.filter.words
            self.workbench_app.say(NO_MORE if searched else keyed(NO_WORDS))
        else:
            self.rows.focus()
            self.rows.cursor = 0 if self.rows.cursor > at > 0 else at + 1

    # Arranging

    @property
    def arranging(self) -> "Arranging":
        """The order of the list, its dates, and the saved views; loaded when it is first asked for."""
        if self._arranging is None:
            from workbench.tui.stream.arranging import Arranging

            self._arranging = Arranging(self, self._arrange)
        return self._arranging

    def _arrange(self, moved: bool) -> None:
        """List what is shown with other dates, or in another order: then the cursor goes to what stands first."""
        self.show_store()
        if moved:
            self.rows.cursor = 0

    def _columns_of(self, found: Sequence[Memory]) -> Columns:
        some, now = found[:: len(found) // 200 + 1], self.bench.context.now()
        if self._arranging is None:
            return Columns(absolute=not tell_apart([memory.created_at for memory in some], now))
        return self._arranging.columns(some, now)

    @asking
    async def action_views(self) -> None:
        """Choose a saved view or one that is ready made, or save what is shown as one."""
        wanted = await self.arranging.choose(self._text)
        if wanted is None:
            return
        self.query_one("#filter", SafeInput).value = wanted.filter
        self.arranging.arrange(wanted.arranged)
        try:
            self.bench.stream.view_at_once(wanted.filter)
        except InvalidQuery:
            self.action_search()  # why it cannot be shown stands beside it
        else:
            self.rows.focus()

    @asking
    async def action_sort(self) -> None:
        """Choose the order of the list."""
        await self.arranging.sort()

    def action_dates(self) -> None:
        """Write dates in full, or how long ago they were."""
        self.arranging.turn_dates(absolute=self._columns.absolute)

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

    def focus_next(self, selector: str | type[QueryType] = "*") -> Widget | None:
        """Put the focus on; from the rows it goes to the first link beside them."""
        self._show_what_waits()
        found = super().focus_next(selector)
        if isinstance(found, DetailPane) and found.links is not None:
            found.links.go(1)
        return found

    @on(LineList.Opened)
    def _open(self) -> None:
        self._show_what_waits()
        self.action_unfold()
        self.add_class("-open")
        self.side.focus()

    @on(LineList.MarksChanged)
    def _marked(self) -> None:
        self.show_status()

    # Changing

    def action_helpful(self) -> None:
        self.changes.vote("helpful")

    def action_harmful(self) -> None:
        self.changes.vote("harmful")

    def action_pin(self) -> None:
        self.changes.pin()

    def action_confirm(self) -> None:
        self.changes.confirm()

    @asking
    async def action_forget(self) -> None:
        """Forget, several after a yes; archived memories are restored instead."""
        await self.changes.forget()

    @asking
    async def action_edit(self) -> None:
        await self.changes.edit()

    @asking
    async def action_external(self) -> None:
        """Edit in $EDITOR, at the first line that holds what is looked for."""
        await self.changes.edit_externally(self._line_found())

    def _line_found(self) -> int:
        """Return the line of the text, from 1, that holds a word of the filter; 0 for none."""
        if self._view is None or self.memory is None:
            return 0
        wanted = [word.casefold() for word in (*self._view.filter.phrases, *self._view.filter.words)]
        lines = enumerate(self.memory.content.casefold().split("\n"), 1)
        return next((at for at, line in lines if any(word in line for word in wanted)), 0)

    @asking
    async def action_new(self) -> None:
        """Write a new memory, and go to it."""
        id = await self.changes.write()
        if id:
            self.call_after_refresh(self._go_to_new, id)

    def _go_to_new(self, id: str) -> None:
        """Put the cursor on a memory that was just written, or say that the filter hides it."""
        if self.rows.index_of(id) is None:
            self.show_anew()
        place = self.rows.index_of(id)
        if place is not None:
            self.rows.cursor = place
        hidden = "" if place is not None else " The filter hides it; esc clears the filter."
        self.workbench_app.say(f"Stored {id}. {undo()} takes it back.{hidden}")

    def action_unfold(self) -> None:
        """Show the text of a flagged memory, until another one was opened."""
        memory = self.memory
        if memory is not None and self.flagged.unfold(memory):
            self.show_detail()

    @asking
    async def action_allow(self) -> None:
        """Let a flagged memory be exported and promoted as it is, after asking why; again takes that back."""
        if self.memory is not None:
            await self.flagged.allow(self.memory)

    def action_copy(self) -> None:
        """Copy the text of the memory, or those of all marked ones."""
        self.changes.copy()

    def action_history(self) -> None:
        """Show who changed what."""
        if self.memory is not None:
            self.show_history(self.memory.id)

    def action_promote(self) -> None:
        """Promote it: written where agents read it, after a look at the text."""
        self.changes.promote()

    @asking
    async def action_replace(self) -> None:
        """Replace words in every record that holds them; what the filter looks for in words stands there already."""
        from workbench.tui.stream.replacing import ReplaceDialog

        words = "" if self._view is None else " ".join(self._view.filter.phrases or self._view.filter.words)
        count = await self.app.push_screen_wait(ReplaceDialog(self.bench, words))
        if count:
            self.workbench_app.say(
                f"Replaced in {count} {'record' if count == 1 else 'records'}. {undo()} takes it back."
            )

    def action_apply(self) -> None:
        """Say whether anything is marked; keys for marked rows do not need it."""
        self.arm(self.rows)
