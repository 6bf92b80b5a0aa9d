"""Health: is a reflection due, what needs upkeep, what says the same, is the store sound, who did what."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.worker import Worker, WorkerState, get_current_worker

from workbench.core.record import WorkbenchError
from workbench.services.context import Touched
from workbench.services.open import Workbench
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import AREAS
from workbench.tui.app.waiting import asking
from workbench.tui.health.actions import HEALTH
from workbench.tui.health.reflection import FIGURE, Facts, Found, Row, Section, Watch
from workbench.tui.health.sections import SECTIONS
from workbench.tui.records.links import Acts, Place, links_of
from workbench.tui.widgets.actions import on_row
from workbench.tui.widgets.content import keyed
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell

# The list of Health: every part below the other, each with what it found out on a thread of its own.


GROUP = "health-"
"""What the groups of the workers begin with; the id of the part follows."""

SHOWN_EVERY = 0.1
"""Seconds between two pictures of how far a part is."""

WAITING = "Looking …"


class PartsList(LineView[Row]):
    """Lets each part find out what it shows, and lists it. `facts` is what is known so far.

    `learned` is called when that has changed, in the turn in which the rows have.
    """

    class Gathered(Message):
        """A part found out what it shows."""

        def __init__(self, section: str, found: Found) -> None:
            super().__init__()
            self.section = section
            self.found = found

    class Went(Message):
        def __init__(self, section: str, done: int, total: int) -> None:
            super().__init__()
            self.section = section
            self.done = done
            self.total = total

    def __init__(self, bench: Workbench, keys: Mapping[str, str], learned: Callable[[], None]) -> None:
        super().__init__(_draw, lambda row: row.key, is_heading=lambda row: row.heading, id="parts")
        self._bench = bench
        self._learned = learned
        self._made: dict[str, tuple[object, list[Row]]] = {}
        self._again: set[str] = set()
        self.facts = Facts(bench, bench.context.now(), keys=keys)
        self.working: dict[str, Worker[None]] = {}

    # Finding out

    def look(self) -> None:
        """Look at what may have changed; what takes long only when it was not looked at yet."""
        for section in SECTIONS:
            if section.when == "always" or (section.when == "once" and section.id not in self.facts.found):
                self.gather(section.id)
        self.show()

    def check(self) -> None:
        """Look at everything again; duplicates only when they were compared before."""
        for section in SECTIONS:
            if section.when != "asked" or section.id in self.facts.found:
                self.gather(section.id)

    def gather(self, id: str) -> None:
        """Let a part find out what it shows; one that is at it already is asked again when it is through."""
        if id in self.working:
            self._again.add(id)
            return
        section = self.section(id)
        self._again.discard(id)
        if section.when == "asked":
            self._know(running={**self.facts.running, id: (0, 0)})
        self.working[id] = self.run_worker(
            partial(self._find_out, section), thread=True, group=GROUP + id, exit_on_error=False
        )
        self.show()

    def _find_out(self, section: Section) -> None:
        worker, told = get_current_worker(), [0.0]

        def tell(done: int, total: int) -> None:
            now = time.monotonic()
            if not worker.is_cancelled and (now - told[0] >= SHOWN_EVERY or done == total):
                told[0] = now
                self.post_message(self.Went(section.id, done, total))

        try:
            before = self.facts.found.get(section.id, Found()).value
            found = Found(section.gather(self._bench, Watch(tell, lambda: worker.is_cancelled, before)))
        except WorkbenchError as error:
            found = Found(problem=str(error))
        if not worker.is_cancelled:
            self.post_message(self.Gathered(section.id, found))

    def on_parts_list_went(self, event: Went) -> None:
        """Show how far a part is."""
        if event.section in self.facts.running:
            self._know(running={**self.facts.running, event.section: (event.done, event.total)})
            self.show()

    def on_parts_list_gathered(self, event: Gathered) -> None:
        """Show what a part found out."""
        self.learn(event.section, event.found)

    def learn(self, id: str, found: Found) -> None:
        """Take what was found out for a part."""
        self._know(found={**self.facts.found, id: found})
        self.show()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Note that a part is through, however it ended, and let it look again where that was asked for."""
        id = event.worker.group.removeprefix(GROUP)
        if not event.worker.is_finished or self.working.get(id) is not event.worker:
            return
        del self.working[id]
        self._know(running={name: at for name, at in self.facts.running.items() if name != id})
        if event.state is WorkerState.ERROR:
            problem = f"This could not be looked at: {event.worker.error!r}. Everything else works."
            self._know(found={**self.facts.found, id: Found(problem=problem)})
        if id in self._again and event.state is not WorkerState.CANCELLED:
            self.gather(id)
        self._again.discard(id)
        self.show()
        self._let_see(id)

    def _let_see(self, id: str) -> None:
        """Bring what a person asked for from its heading into sight, where that stands low in the list."""
        row, low = self.current, self.cursor - self.scroll_offset.y > self.scrollable_content_region.height // 2
        if low and row is not None and row.heading and row.section == id and self.section(id).when == "asked":
            self.call_after_refresh(self.scroll_to, y=self.cursor, animate=False, force=True)

    def _know(self, **changed: object) -> None:
        self.facts = replace(self.facts, now=self._bench.context.now(), **changed)  # type: ignore[arg-type]

    def stop(self) -> str:
        """Stop what a person waits for, and return what is to be said of it; empty when there was nothing."""
        running = [id for id in self.facts.running if id in self.working]
        for id in running:
            self.working[id].cancel()
        return keyed(" ".join(dict.fromkeys(self.section(id).stopped for id in running)))

    def unfold(self, row: Row) -> None:
        """Show a text that is folded as unsafe."""
        self._know(unfolded=self.facts.unfolded | {row.key})
        self._learned()

    # Showing

    def show(self) -> None:
        """List the rows of every part, as far as they are known."""
        rows: list[Row] = []
        for section in SECTIONS:
            below = self._rows_of(section) if self._is_shown(section) else []
            if section.quiet and not below:
                continue
            if rows:
                rows.append(Row(section.id, "gap", lambda _: Content("")))
            rows += [_heading(section), *below]
        self.set_rows(rows)
        self._learned()

    def _is_shown(self, section: Section) -> bool:
        return not section.quiet or section.id in self.facts.found

    def _rows_of(self, section: Section) -> list[Row]:
        found = self.facts.found.get(section.id)
        if found is not None and found.problem:
            return [_sentence(section.id, "problem", f"✗ {found.problem}", "$text-error")]
        if found is None and section.when != "asked":
            return [_sentence(section.id, "waiting", WAITING, "$text-muted")]
        # One part that looks again makes the rows of all; those of the others stay as they are.
        waits = self._bench.review.found()
        made_of = (self._bench.library.revision, found, self.facts.running.get(section.id), waits)
        known = self._made.get(section.id)
        if known is None or known[0] != made_of:
            known = self._made[section.id] = (made_of, list(section.rows(self.facts)))
        return known[1]

    def detail(self, row: Row, width: int) -> Content:
        """Return what stands beside a row, in so many cells."""
        section, found = self.section(row.section), self.facts.found.get(row.section)
        if found is not None and found.problem:
            return Content.styled(found.problem, "$text-error")
        if found is None and section.when != "asked":
            return Content.styled(WAITING, "$text-muted")
        return section.detail(row, replace(self.facts, width=width))

    def section(self, id: str) -> Section:
        return next(section for section in SECTIONS if section.id == id)

    # Going

    def go_to(self, id: str, item: object = None) -> None:
        """Move the cursor to the heading of a part, or to its row about an item."""
        rows = ((n, row) for n, row in enumerate(self.rows) if row.section == id)
        place = next((n for n, row in rows if (row.heading if item is None else row.item == item)), None)
        if place is not None:
            self.cursor = place

    def jump(self, step: int) -> None:
        """To the next heading below (1) or above (-1), round the end."""
        places = [n for n, row in enumerate(self.rows) if row.heading]
        ahead = [n for n in places if (n > self.cursor if step > 0 else n < self.cursor)]
        if places:
            self.cursor = (ahead or places)[0 if step > 0 else -1]


def _draw(row: Row, width: int) -> list[Cell] | Content:
    drawn = row.draw(width)
    return drawn if isinstance(drawn, Content) else list(drawn)


def _heading(section: Section) -> Row:
    return Row(section.id, "", lambda _: Content.styled(section.title, "$text-accent"), None, True)


def _sentence(section: str, name: str, text: str, style: str) -> Row:
    return Row(section, name, lambda _: [Cell("", FIGURE), Cell(text, 0, style)])


NO_RECORD = "That key is for a memory or a bullet: a change of one in History, or a group of duplicates."

HELP = "\n".join(
    [
        "The parts",
        "  Settings     what is wrong with your settings, keys and themes; left out while nothing is",
        "  Reflection   how far each condition is; the first one to reach its limit makes it due",
        "  Upkeep       what the lifecycle would propose; nothing is archived by it",
        "  Duplicates   duplicate memories (= ~), and pairs that only look alike (≠)",
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
