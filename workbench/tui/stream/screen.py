"""The Stream: browse, filter, vote, pin, edit, forget."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.record import InvalidQuery, WorkbenchError
from workbench.core.runtime import Stopped, stoppable
from workbench.core.stream.confidence import SCORE, Arranged, SavedView, ordered
from workbench.core.stream.filter import HELP
from workbench.core.stream.memory import Memory
from workbench.core.text import printable
from workbench.services.context import Touched
from workbench.services.folder import beside
from workbench.services.stream.stream import StreamView
from workbench.tui.actions import STREAM
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.host import TryDemo
from workbench.tui.app.waiting import asking
from workbench.tui.records.actions import MemoryActions, links_of
from workbench.tui.safety import FlaggedMemories
from workbench.tui.stream.memory_view import UNREAD, USUAL_COLUMNS, Columns, columns_of, detail, row
from workbench.tui.widgets.bars import factor_bar
from workbench.tui.widgets.content import BLANK, MUTED, fitted, keyed, undo
from workbench.tui.widgets.content import key_of as key_for
from workbench.tui.widgets.dialog import SafeInput
from workbench.tui.widgets.figures import amount, number, tell_apart
from workbench.tui.widgets.line_list import Cell, LineList
from workbench.tui.widgets.reading_pane import DetailPane

if TYPE_CHECKING:
    from workbench.services.stream.semantic import SemanticMatches

_BAR, WAITS = 8, "waits"
_WITH_BAR = 60
"""Columns from which a row has room for its score's bar."""


@dataclass(frozen=True, slots=True)
class Ruled:
    """The line between what holds the words and what is near them: how many are, and how many of
    them wait.

    They are ranked under the profile that is `used`.
    """

    count: int
    waiting: int = 0
    used: str = ""

    @property
    def text(self) -> str:
        waits = f", {self.waiting} of them {'waits' if self.waiting == 1 else 'wait'} in Review"
        return f"{self.count} by meaning{waits if self.waiting else ''}"

    def line(self, width: int) -> Content:
        """Return the line, exactly `width` cells; it heads the column of relevances."""
        text = f"── {self.text}{f', ranked under {printable(self.used)}' if self.used else ''} "
        return fitted(Content.styled(f"{text:─<{max(0, width - len(MATCH))}}{MATCH}", MUTED), width)


MATCH = " match"

Row = Memory | Ruled


def key_of(row: Row) -> str:
    """Name a row, so that the cursor stays on it; the line has no name."""
    return row.id if isinstance(row, Memory) else ""


def ruled_at(rows: Sequence[Row]) -> int | None:
    """Return where the line stands; `None` where there is none."""
    return next((at for at, row in enumerate(rows) if isinstance(row, Ruled)), None)


class SemanticRows:
    """What is near by meaning, and how the relevance of each memory looks in its row."""

    def __init__(self, found: "SemanticMatches") -> None:
        self.found = found
        self._scored = {scored.memory.id: scored for scored in found.rows}
        self._waiting = frozenset(waiting.memory.id for waiting in found.waiting)
        self._figures = len(WAITS)
        self._order = list(self._scored)
        for waiting in reversed(found.waiting):  # above the first that it is better than
            self._order.insert(waiting.above, waiting.memory.id)

    def rows(
        self, literal: Sequence[Memory], find: Callable[[str], Memory | None]
    ) -> Sequence[Row]:
        """Return what holds the words, and below the line what is only near them, as `find` returns
        it now.
        """
        holding = {memory.id for memory in literal}
        near = [
            memory for id in self._order if id not in holding and (memory := find(id)) is not None
        ]
        waiting = sum(memory.id in self._waiting for memory in near)
        return [*literal, Ruled(len(near), waiting, self.found.used), *near] if near else literal

    def cells(self, memory: Memory, width: int) -> list[Cell] | None:
        """Return the cells at the end of a memory's row: its relevance, with the bar of its score
        where there is room.

        One that waits says so instead. `None` for one that holds the words.
        """
        bar, scored = Cell("", _BAR), self._scored.get(memory.id)
        if scored is not None:
            share = self.found.relevances[memory.id]
            full = sum(scored.weighted.values()) / share if share > 0 else 1.0
            bar = Cell(factor_bar(scored.weighted, _BAR, full), _BAR)
        elif memory.id not in self._waiting:
            return None
        text = WAITS if scored is None else f"{share:.2f}"
        return [
            *([bar] if width >= _WITH_BAR else []),
            Cell(text, self._figures, MUTED, "right", MATCH.strip()),
        ]


IS_FLAGGED = ("is:flagged", "holds a secret, orders to an agent, or hidden characters")
"""What the Stream adds to the filter language."""

_SETTLED_S = 0.02
"""How long no key comes before a ranking begins: who types on does not wait for it."""

_OWN = ("human", "cli", "import")
"""Who brings in what needs no mark: the person, by whatever door."""

EMPTY_STORE = (
    "{stream.new} adds one, {app.import} imports a file, {stream.begin} lists other ways to begin."
)
NO_MORE = "No more semantic matches."
NO_WORDS = "No semantic matches listed. {stream.search} searches by words and by meaning."
NO_MATCH = "Nothing matches. Esc clears the filter, {app.help} explains it."
LOOKING = "No memory contains these words. Searching by meaning …"
NOTHING_NEAR = (
    "No memory contains these words, and none is similar in meaning. "
    "Esc clears the filter, {app.help} explains it."
)


class StreamList(LineList[Row]):
    """The list; while the store is empty, enter begins with what lies beside it."""

    def action_open(self) -> None:
        super().action_open()
        if isinstance(self.screen, StreamScreen) and self.screen.is_empty:
            self.call_later(self.screen.run_action, "begin")


class StreamScreen(AreaScreen):
    """The memory stream with the detail of the memory under the cursor beside it."""

    AREA = "stream"
    PANES = ("#list", "#side")
    BINDINGS = bindings(STREAM)
    help_text = "The filter\n" + "\n".join(
        f"  {what:<28} {means}" for what, means in (*HELP, IS_FLAGGED)
    )
    DEFAULT_CSS = """
    StreamScreen {
        #filter-line { height: 1; padding: 0 1; }
        #filter { width: 1fr; background: $background; }
        #count { width: auto; max-width: 70%; height: 1; color: $text-muted; padding-left: 2; }
        #count.-wide-one { max-width: 86%; }
        #news { height: 1; padding: 0 1; color: $text-accent; display: none; }
        #list { width: 2fr; }
        #side { width: 1fr; min-width: 40; }
        &.-narrow #side { display: none; }
        &.-narrow.-open #side { display: block; width: 1fr; }
        &.-narrow.-open #list { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._view: StreamView | None = None
        self._text = self._last_search = ""
        self._unread: frozenset[str] = frozenset()
        self._unseen: frozenset[str] = frozenset()
        self._nearby: SemanticRows | None = None
        self.arranged = Arranged()
        self.scores: Mapping[str, float] = {}
        """What the last ranking gave to the memories that hold the words, where the order is by
        score.
        """
        self._views = {view.name: view for view in self.bench.context.settings.views}
        self._columns = USUAL_COLUMNS
        self.rows: LineList[Row] = StreamList(
            self._draw,
            key_of,
            is_heading=lambda row: isinstance(row, Ruled),
            empty=BLANK,
            title="Memories",
            id="list",
        )
        self.side = DetailPane(id="side", title="Memory")
        self.side.links = links_of(self, self.side, self._place)
        self.flagged = FlaggedMemories(self)
        self.changes = MemoryActions(self, self._targets, self._here, self.rows.clear_marks)

    def contents(self) -> Iterable[Widget]:
        """Return the filter line, the news, the list and the detail."""
        box = SafeInput(placeholder="/ filter: type:error since:7d auth", id="filter")
        yield Horizontal(box, Static(id="count"), id="filter-line")
        yield Static(id="news")
        yield Horizontal(self.rows, self.side)

    def on_mount(self) -> None:
        """Start in the list, with what is new since the last look."""
        self.rows.focus()
        seen = self.workbench_app.options.seen
        if seen is not None:
            news = self.bench.overview.since(seen)
            self._unread = frozenset(news.arrived)
            if news.sentence:
                self.query_one("#news", Static).update(
                    Content(f"{news.sentence} · esc closes this line")
                )
                self.query_one("#news").display = True

    # Showing

    @property
    def memory(self) -> Memory | None:
        """The memory under the cursor; the line is none."""
        row = self.rows.current
        return row if isinstance(row, Memory) else None

    def _here(self) -> str | None:
        return None if self.memory is None else self.memory.id

    def _place(self) -> tuple[str, str] | None:
        return None if self.memory is None else ("memories", self.memory.id)

    @property
    def memories(self) -> list[Memory]:
        return [found for found in self.rows.rows if isinstance(found, Memory)]

    def show_store(self) -> None:
        """Show what the filter lets through now."""
        self._show_filtered()

    def _show_filtered(self, *, at_top: bool = False) -> None:
        """Show what the filter lets through now; the cursor stays on its memory, or goes to the
        top.
        """
        try:
            view = self.bench.stream.view_at_once(self._text)
        except InvalidQuery as error:
            self.workers.cancel_group(
                self, "near"
            )  # what is under way is of another filter, and would say so here
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
            if (
                before.memories == view.memories
                and before.total == view.total
                and near.isdisjoint(ids)
            ):
                self.show_detail()
                if touched.kind != "access":
                    self._ask_near(before)  # what changed may be near now, or no more
                return
            self._show(view)
            if touched.kind == "undo" and touched.actor == self.bench.context.actor:
                self._go_back_to([id for id in ids if id not in here] or ids)
        elif self.memory is not None:
            self.show_detail()

    def follow(self, touched: Touched) -> None:
        """Note also what came in by another hand, out of sight too: it is marked, and told of until
        it was in sight.
        """
        ids = {key for table, key in touched.keys if table == "memories"}
        if (
            ids
            and self._view is not None
            and touched.kind == "edit"
            and not touched.actor.startswith(_OWN)
        ):
            came = ids - {memory.id for memory in self._view.memories}
            self._unread |= came
            self._unseen |= came
        super().follow(touched)

    def _go_back_to(self, ids: Sequence[str]) -> None:
        """Put the cursor on the first row that an undo brought back or changed, unless it is on
        one.
        """
        places = [place for id in ids if (place := self.rows.index_of(id)) is not None]
        if places and self.rows.cursor not in places:
            self.rows.cursor = min(places)

    def _show(self, view: StreamView, *, at_top: bool = False) -> None:
        # What was near stays in sight until it is ranked anew, unless something else is asked.
        asks_the_same = self._view is not None and self._view.question == view.question
        self._view = view
        asks = self._ask_near(view)
        if not asks or not asks_the_same:
            self._nearby, self.scores = None, {}
        self._list(LOOKING if asks else keyed(NO_MATCH), at_top=at_top)

    def _list(self, nothing: str, *, at_top: bool = False) -> None:
        """List what was found; `nothing` says that nothing was."""
        view = self._view
        if view is None:
            return
        found = ordered(view.memories, self.arranged, self.scores)
        self._columns = self._columns_of(view.memories)
        rows = (
            found
            if self._nearby is None
            else self._nearby.rows(found, self.bench.library.memories.find)
        )
        self.rows.set_empty(Content(nothing) if view.total else self._begun())
        # The line is no memory: where nothing holds the words, the cursor begins below it.
        top, place = self.rows.scroll_offset.y, self.rows.cursor
        first = 1 if rows and not view.memories else 0
        self.rows.set_rows(rows, cursor=first if at_top or (first and place == 0) else None)
        if top and self.rows.cursor > place and self._unseen:
            # What came above pushes nothing down that somebody is reading.
            self.rows.scroll_to(y=top + self.rows.cursor - place, animate=False, force=True)
        self.rows.marked_first = 0 if self._nearby is None else len(view.memories)
        self._show_count()
        self.show_detail()

    def _begun(self) -> Content:
        """Return what an empty store says."""
        folder = _here() if self.bench.library.standpoint is None else None
        names = ", ".join(source.name for source in beside(folder, 1)) if folder else ""
        here = [f"Found here: {printable(names)}. enter imports from them."] if names else []
        return Content("\n\n".join(("No memories yet.", *here, keyed(EMPTY_STORE))))

    @property
    def is_empty(self) -> bool:
        """Whether the store holds no memories at all."""
        return self._view is not None and not self._view.total

    @asking
    async def action_begin(self) -> None:
        """Choose what the store begins with."""
        from workbench.tui.agents.connect import connect
        from workbench.tui.opening import BeginDialog

        app, here = self.workbench_app, _here()
        try:
            self.bench.library.require_present()
            if here is None:
                raise WorkbenchError("The working folder no longer exists.")
        except WorkbenchError as error:
            app.say(str(error), "error")
            return
        begin = BeginDialog(self.bench, here, is_own=not app.options.scratch)
        chosen = await app.push_screen_wait(begin)
        if chosen == "memory":
            await self.action_new()
        elif chosen == "connect":
            await connect(app, self.bench.library.folder)
        elif chosen == "demo":
            self.post_message(TryDemo())
        elif chosen:
            app.say(chosen)

    def _columns_of(self, found: Sequence[Memory]) -> Columns:
        by, dates = self.arranged.by, self.arranged.dates
        some = found[:: len(found) // 200 + 1]
        times = [memory.created_at for memory in some]
        absolute = dates == "absolute" or (
            not dates and not tell_apart(times, self.bench.context.now())
        )
        seen = [*found[:100], *some]  # of very many all would take longer than a key may
        return columns_of(seen, absolute, "" if by is None else by.id)

    def _show_count(self) -> None:
        """Say how many memories there are, and how many came that were not in sight yet."""
        view = self._view
        if view is None:
            return
        top = self.rows.scroll_offset.y if self._unseen else 0
        self._unseen = frozenset(map(key_of, self.rows.rows[:top])) & self._unseen
        shown = Content(" · ".join(filter(None, self._counted(view))))
        if self._unseen:
            news = f"{UNREAD} {number(len(self._unseen))} new, {key_for('stream.newest')} goes there · "
            shown = Content.styled(news, "bold $text-accent") + shown
        self._count(shown, wide=bool(view.filter.unknown))

    def _counted(self, view: StreamView) -> Iterable[str]:
        """Yield what is to be said of a view: first, where it is in sight at every width, that a
        key is none.
        """
        for key, near in view.filter.unknown[:1]:
            yield f"“{key}:” is searched as a word; {near}: exists"
        yield amount(view.total, "memory", "memories")
        if self._text.strip():
            yield f"{number(len(view.memories))} {'with these words' if view.filter.words else 'shown'}"
            at = self._ruled_at()
            if view.is_partial:
                yield "of the newest; reading the rest"
            elif at is not None:
                yield f"{len(self.rows.rows) - at - 1} by meaning ({key_for('stream.near')})"
        if (by := self.arranged.by) is not None and by.key is None and not view.question:
            yield "by score: needs words to rank for"
        elif by is not None:
            yield f"by {by.id}, {by.turned}" if self.arranged.is_turned else f"by {by.id}"

    def _count(self, content: Content, *, wide: bool = False) -> None:
        count = self.query_one("#count", Static)
        count.set_class(wide, "-wide-one")
        count.update(content)

    def _ruled_at(self) -> int | None:
        return None if self._nearby is None or self._view is None else ruled_at(self.rows.rows)

    def _draw(self, found: Row, width: int) -> list[Cell] | Content:
        if isinstance(found, Ruled):
            return found.line(width)
        ending = None if self._nearby is None else self._nearby.cells(found, width)
        shown, now = self.bench.safety.shown(found), self.bench.context.now()
        spans = (
            self._view.spans(found)
            if self._view and ending is None and shown.line == found.line
            else ()
        )
        unread, flagged = found.id in self._unread, bool(self.bench.safety.flags(found))
        columns = self._columns
        return row(
            shown,
            width,
            now,
            unread=unread,
            flagged=flagged,
            spans=spans,
            ending=ending,
            columns=columns,
        )

    @on(LineList.Highlighted)
    def show_detail(self) -> None:
        """Show the memory under the cursor in full, and tell no more of what has come into sight."""
        memory, width = self.memory, self.side.scrollable_content_region.width or 60
        flags = None if memory is None else self.flagged.flags_of(memory)
        shown = (
            BLANK
            if memory is None or flags is None
            else detail(self.bench, memory, flags, width, unread=memory.id in self._unread)
        )
        if shown.plain != self.side.plain:
            self.side.show(shown)
        if self._unseen:
            self.call_after_refresh(self._show_count)

    def on_resize(self) -> None:
        """Draw the detail for the width there is."""
        self.call_after_refresh(self.show_detail)

    # By meaning

    def retriever_ready(self) -> None:
        """Rank what was typed before the model was there."""
        if self._view is not None and self._view.filter.words:
            self.show_store()

    def _ask_near(self, view: StreamView) -> bool:
        """Rank for a view's words in place of whatever was asked before; tell whether it has any to
        rank for.
        """
        self.workers.cancel_group(self, "near")
        asks = bool(view.question) and not view.is_partial and self.bench.retriever.ready
        if asks:
            self._rank(view, worth=self.arranged.by is not None and self.arranged.by.id == SCORE)
        return asks

    @work(thread=True, group="near", description="near", exit_on_error=False)
    def _rank(self, view: StreamView, *, worth: bool) -> None:
        worker, bench = get_current_worker(), self.bench
        time.sleep(_SETTLED_S)
        try:
            with stoppable(lambda: worker.is_cancelled):
                if not worker.is_cancelled:
                    from workbench.services.stream.semantic import (
                        semantic_matches,
                    )  # numeric libraries

                    ids = {memory.id for memory in view.memories}
                    now = bench.context.now()
                    near = semantic_matches(
                        bench.tuning, view.question, view.tests, ids, now, worth=worth
                    )
                    self.call_later(self._take_near, view, near)
        except Stopped:
            pass
        except WorkbenchError as error:
            self.call_later(self.say, str(error), "error")

    def _take_near(self, view: StreamView, found: "SemanticMatches") -> None:
        """List what is near by meaning, unless other memories are shown by now."""
        known = self._nearby is not None and self._nearby.found == found
        # Where nothing is listed, there is still to be said that nothing was found.
        if self._view is view and not (known and self.rows.rows):
            first = self.rows.cursor == 0
            self._nearby, self.scores = SemanticRows(found), found.held
            self._list(keyed(NOTHING_NEAR if found.is_empty else NO_MATCH))
            if found.held and first:
                self.rows.cursor = (
                    0  # by score it is the best that stands first, not what was found first
                )

    def action_near(self) -> None:
        """To what is near by meaning, or back to what holds the words."""
        at = self._ruled_at()
        if at is None:
            searched = self._view is not None and self._view.filter.words
            self.say(NO_MORE if searched else keyed(NO_WORDS))
        else:
            self.rows.focus()
            self.rows.cursor = 0 if self.rows.cursor > at > 0 else at + 1

    # Filtering

    @on(Input.Changed, "#filter")
    def _filter(self, event: Input.Changed) -> None:
        self._text = event.value
        self._last_search = event.value if event.value.strip() else self._last_search
        # The best match of what is typed stands first; a cleared filter leaves the cursor on its
        # memory.
        self._show_filtered(at_top=bool(event.value.strip()))

    @on(Input.Submitted, "#filter")
    def _filtered(self) -> None:
        self.rows.focus()

    def action_search(self) -> None:
        """Go to the filter."""
        self.set_focus(self.query_one("#filter"))

    def action_match(self, step: int) -> None:
        with self.workbench_app.reporting():
            search = self.bench.stream.view_at_once
            found = (
                {m.id for m in search(self._last_search).memories} if self._last_search else set()
            )
            places = [i for i, m in enumerate(self.rows.rows) if key_of(m) in found]
            ahead = [i for i in places if (i - self.rows.cursor) * step > 0]
            if places:
                self.rows.cursor = (ahead or places)[0 if step > 0 else -1]
            else:
                self.hint("No search yet. {stream.search} starts one.")

    def action_newest(self) -> None:
        """To the newest memory that came meanwhile."""
        place = next(
            (at for at, found in enumerate(self.rows.rows) if key_of(found) in self._unread), None
        )
        if place is None:
            self.say("Nothing new since you last looked.")
            return
        self.rows.cursor = place
        self.rows.focus()

    # Arranging

    def _arrange(self, arranged: Arranged) -> None:
        """List what is shown with other dates, or in another order: then the cursor goes to what
        stands first.
        """
        before, self.arranged = self.arranged, arranged
        if before != arranged:
            self.show_store()
            self.rows.cursor = self.rows.cursor if before.order == arranged.order else 0

    @asking
    async def action_views(self) -> None:
        """Choose a saved view or one that is ready made, or save what is shown as one."""
        from workbench.tui.stream.replacing import choose_view

        wanted = await choose_view(self, self._views, SavedView("", self._text, self.arranged))
        if wanted is None:
            return
        self.query_one("#filter", SafeInput).value = wanted.filter
        self._arrange(wanted.arranged)
        try:
            self.bench.stream.view_at_once(wanted.filter)
        except InvalidQuery:
            self.action_search()  # why it cannot be shown stands beside it
        else:
            self.rows.focus()

    @asking
    async def action_sort(self) -> None:
        """Choose the order of the list."""
        from workbench.tui.stream.replacing import choose_order

        self._arrange(await choose_order(self, self.arranged))

    def action_dates(self) -> None:
        """Write dates in full, or how long ago they were."""
        self._arrange(
            self.arranged._replace(dates="relative" if self._columns.absolute else "absolute")
        )

    # Going about

    def go_back(self) -> None:
        """Close the detail, leave the filter line, or clear the filter; the cursor stays on its
        memory.
        """
        box, news = self.query_one("#filter", SafeInput), self.query_one("#news")
        if news.display and not self.has_class("-open"):
            news.display = False
        else:
            self.leave(self.rows, box)

    @on(LineList.Opened)
    def _open(self) -> None:
        self.action_unfold()
        self.open_text()

    # Changing

    def _targets(self) -> list[str]:
        return [row.id for row in self.take_targets(self.rows) if isinstance(row, Memory)]

    @asking
    async def action_external(self) -> None:
        """Edit in $EDITOR, at the first line that holds what is looked for."""
        line = 0
        if self._view is not None and self.memory is not None:
            wanted = [
                word.casefold() for word in (*self._view.filter.phrases, *self._view.filter.words)
            ]
            lines = enumerate(self.memory.content.casefold().split("\n"), 1)
            line = next((at for at, text in lines if any(word in text for word in wanted)), 0)
        await self.changes.external(line)

    @asking
    async def action_new(self) -> None:
        """Write a new memory, and go to it."""
        from workbench.services.forms import MemoryForm
        from workbench.tui.forms import FormSaving, fill_in

        form = MemoryForm(self.bench)
        await fill_in(
            self, FormSaving(self.workbench_app, form), self.workbench_app.draft("new/memory")
        )
        if form.ids:
            self.call_after_refresh(self._go_to_new, form.ids[0])

    def _go_to_new(self, id: str) -> None:
        """Put the cursor on a memory that was just written, or say that the filter hides it."""
        if self.rows.index_of(id) is None:
            self.show_anew()
        place = self.rows.index_of(id)
        if place is not None:
            self.rows.cursor = place
        hidden = "" if place is not None else " The filter hides it; esc clears the filter."
        self.say(f"Stored {id}. {undo()} takes it back.{hidden}")

    def action_unfold(self) -> None:
        """Show the text of a flagged memory, until another one was opened."""
        memory = self.memory
        if memory is not None and self.flagged.unfold(memory):
            self.show_detail()

    @asking
    async def action_allow(self) -> None:
        """Let a flagged memory be exported and promoted as it is, after asking why; again takes
        that back.
        """
        if self.memory is not None:
            await self.flagged.allow(self.memory)

    @asking
    async def action_replace(self) -> None:
        """Replace words in every record that holds them; what the filter looks for in words stands
        there already.
        """
        from workbench.tui.stream.replacing import ReplaceDialog

        words = (
            ""
            if self._view is None
            else " ".join(self._view.filter.phrases or self._view.filter.words)
        )
        count = await self.app.push_screen_wait(ReplaceDialog(self.bench, words))
        if count:
            self.say(f"Replaced in {amount(count, 'record')}. {undo()} takes it back.")


def _here() -> Path | None:
    """Return the working folder, unless it is gone."""
    try:
        return Path.cwd()
    except OSError:
        return None
