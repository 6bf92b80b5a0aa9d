"""Health: is a reflection due, what needs upkeep, what says the same, is the store sound, who did what."""

import time
from collections.abc import Iterable
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

from workbench.core.errors import WorkbenchError
from workbench.store.library import Touched
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import HEALTH, scope
from workbench.tui.app.asking import asking
from workbench.tui.health.model import FIGURE, Facts, Found, Row, Section, Watch
from workbench.tui.health.sections import SECTIONS
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell

GROUP = "health-"
"""What the groups of the workers begin with; the id of the part follows."""

SHOWN_EVERY = 0.1
"""Seconds between two pictures of how far a part is."""

WAITING = "Looking …"
HELP = "\n".join(
    [
        "The parts",
        "  Reflection   how far each condition is; the first one to reach its limit makes it due",
        "  Upkeep       what the lifecycle would propose; nothing is archived by it",
        "  Duplicates   memories that say the same (= ~), and those that only look like it (≠)",
        "  Store        what the doctor says, and what another program changed",
        "  Files        what is wrong with the files this store has to do with, and how to fix it",
        "  History      the latest changes of everybody",
    ]
)


class HealthScreen(AreaScreen):
    """Every part below the other, with the text of the row under the cursor beside them."""

    AREA = "health"
    help_text = HELP
    BINDINGS: ClassVar[list[BindingType]] = bindings(HEALTH)
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

    class Gathered(Message):
        """A part found out what it shows."""

        def __init__(self, section: str, found: Found) -> None:
            super().__init__()
            self.section = section
            self.found = found

    class Went(Message):
        """A part is so far."""

        def __init__(self, section: str, done: int, total: int) -> None:
            super().__init__()
            self.section = section
            self.done = done
            self.total = total

    def __init__(self, sections: tuple[Section, ...] = SECTIONS) -> None:
        super().__init__()
        self.sections = sections
        self._facts: Facts | None = None
        self._shown: tuple[str, str] | None = None
        self._made: dict[str, tuple[object, list[Row]]] = {}
        self._again: set[str] = set()
        self._working: dict[str, Worker[None]] = {}

    def contents(self) -> Iterable[Widget]:
        """Return the list and the text beside it."""
        rows: LineView[Row] = LineView(_draw, lambda row: row.key, is_heading=lambda row: row.heading, id="parts")
        yield Horizontal(rows, ReadingPane(id="detail"), id="work")

    def on_mount(self) -> None:
        """Go to the list."""
        self.rows.focus()

    @property
    def rows(self) -> LineView[Row]:
        """The list."""
        return self.query_one("#parts", LineView)

    @property
    def facts(self) -> Facts:
        """What is known so far."""
        if self._facts is None:
            keys = {action.id: action.shown_key for action in self.as_mapped(scope(self.AREA))}
            self._facts = Facts(self.bench, self.bench.context.now(), keys=keys)
        return self._facts

    def seconds(self) -> float:
        """Return seconds that never go back, for questions."""
        return time.monotonic()

    # Finding out

    def show_store(self) -> None:
        """Look at what may have changed; what takes long only when it was not looked at yet."""
        for section in self.sections:
            if section.when == "always" or (section.when == "once" and section.id not in self.facts.found):
                self.gather(section.id)
        self._rebuild()

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

    def gather(self, id: str) -> None:
        """Let a part find out what it shows; one that is at it already is asked again when it is through."""
        if id in self._working:
            self._again.add(id)
            return
        section = self._section(id)
        self._again.discard(id)
        if section.when == "asked":
            self._know(running={**self.facts.running, id: (0, 0)})
        self._working[id] = self.run_worker(
            partial(self._find_out, section), thread=True, group=GROUP + id, exit_on_error=False
        )
        self._rebuild()

    def _find_out(self, section: Section) -> None:
        worker, told = get_current_worker(), [0.0]

        def tell(done: int, total: int) -> None:
            now = self.seconds()
            if not worker.is_cancelled and (now - told[0] >= SHOWN_EVERY or done == total):
                told[0] = now
                self.post_message(self.Went(section.id, done, total))

        try:
            before = self.facts.found.get(section.id, Found()).value
            found = Found(section.gather(self.bench, Watch(tell, lambda: worker.is_cancelled, before)))
        except WorkbenchError as error:
            found = Found(problem=str(error))
        if not worker.is_cancelled:
            self.post_message(self.Gathered(section.id, found))

    def on_health_screen_went(self, event: Went) -> None:
        """Show how far a part is."""
        if event.section in self.facts.running:
            self._know(running={**self.facts.running, event.section: (event.done, event.total)})
            self._rebuild()

    def on_health_screen_gathered(self, event: Gathered) -> None:
        """Show what a part found out."""
        self._know(found={**self.facts.found, event.section: event.found})
        self._rebuild()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Note that a part is through, however it ended, and let it look again where that was asked for."""
        id = event.worker.group.removeprefix(GROUP)
        if not event.worker.is_finished or self._working.get(id) is not event.worker:
            return
        del self._working[id]
        self._know(running={name: at for name, at in self.facts.running.items() if name != id})
        if event.state is WorkerState.ERROR:
            problem = f"This could not be looked at: {event.worker.error!r}. Everything else works."
            self._know(found={**self.facts.found, id: Found(problem=problem)})
        if id in self._again and event.state is not WorkerState.CANCELLED:
            self.gather(id)
        self._again.discard(id)
        self._rebuild()

    def _know(self, **changed: object) -> None:
        self._facts = replace(self.facts, now=self.bench.context.now(), **changed)  # type: ignore[arg-type]

    # Showing

    def _rebuild(self) -> None:
        rows: list[Row] = []
        for number, section in enumerate(self.sections):
            if number:
                rows.append(Row(section.id, "gap", lambda _: Content("")))
            rows += [_heading(section), *self._rows_of(section)]
        self.rows.set_rows(rows)
        self._show_detail()

    def _rows_of(self, section: Section) -> list[Row]:
        found = self.facts.found.get(section.id)
        if found is not None and found.problem:
            return [_sentence(section.id, "problem", f"✗ {found.problem}", "$text-error")]
        if found is None and section.when != "asked":
            return [_sentence(section.id, "waiting", WAITING, "$text-muted")]
        # One part that looks again makes the rows of all; those of the others stay as they are.
        made_of = (self.bench.library.revision, found, self.facts.running.get(section.id))
        known = self._made.get(section.id)
        if known is None or known[0] != made_of:
            known = self._made[section.id] = (made_of, list(section.rows(self.facts)))
        return known[1]

    @on(LineView.Highlighted)
    def _show_detail(self) -> None:
        row = self.rows.current
        pane = self.query_one("#detail", ReadingPane)
        if row is None:
            pane.show(Content(""))
            return
        text = self._detail(row)
        if text.plain != pane.plain:
            pane.show(text, keep_place=row.key == self._shown)
        self._shown = row.key

    def _detail(self, row: Row) -> Content:
        section, found = self._section(row.section), self.facts.found.get(row.section)
        if found is not None and found.problem:
            return Content.styled(found.problem, "$text-error")
        if found is None and section.when != "asked":
            return Content.styled(WAITING, "$text-muted")
        return section.detail(row, self.facts)

    def _section(self, id: str) -> Section:
        return next(section for section in self.sections if section.id == id)

    def go_to(self, id: str) -> None:
        """Move the cursor to the heading of a part."""
        place = next((n for n, row in enumerate(self.rows.rows) if row.section == id and row.heading), None)
        if place is not None:
            self.rows.cursor = place

    def open_detail(self) -> None:
        """Show the text instead of the list where there is no room for both, and let the keys scroll it."""
        self.add_class("-open")
        self.query_one("#detail").focus()

    def go_back(self) -> None:
        """Stop what is under way, or close what is open."""
        running = [id for id in self.facts.running if id in self._working]
        if running:
            for id in running:
                self._working[id].cancel()
            self.workbench_app.say("Stopped. Nothing was changed.")
            return
        self.remove_class("-open")
        self.rows.focus()

    # Doing

    async def _do(self, verb: str, otherwise: str, section: str = "") -> None:
        """Let the part under the cursor, or a certain one, do something; `otherwise` is said when it cannot."""
        row = self.rows.current
        if section:
            row = next((r for r in self.rows.rows if r.section == section), None)
        action = None if row is None else self._section(row.section).verbs.get(verb)
        if row is None or action is None:
            self.workbench_app.say(otherwise)
            return
        with self.workbench_app.reporting():
            await action(self, row)

    @on(LineView.Opened)
    def _opened(self) -> None:
        row = self.rows.current
        if row is not None and "open" in self._section(row.section).verbs:
            self.run_worker(self._do("open", ""))
        else:
            self.open_detail()

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

    def action_check(self) -> None:
        """Look at everything again; duplicates only when they were compared before."""
        for section in self.sections:
            if section.when != "asked" or section.id in self.facts.found:
                self.gather(section.id)

    def action_unfold(self) -> None:
        """Show a text that is folded as unsafe."""
        row = self.rows.current
        if row is not None:
            self._know(unfolded=self.facts.unfolded | {row.key})
            self._show_detail()

    def action_next_section(self) -> None:
        """To the heading below."""
        self._jump(1)

    def action_last_section(self) -> None:
        """To the heading above."""
        self._jump(-1)

    def _jump(self, step: int) -> None:
        if self.focused is not self.rows:
            self.go_back()
        places = [n for n, row in enumerate(self.rows.rows) if row.heading]
        ahead = [n for n in places if (n > self.rows.cursor if step > 0 else n < self.rows.cursor)]
        if places:
            self.rows.cursor = (ahead or places)[0 if step > 0 else -1]

    def action_read_on(self) -> None:
        """Scroll the text."""
        self.query_one(ReadingPane).read(1)

    def action_read_back(self) -> None:
        """Scroll the text back."""
        self.query_one(ReadingPane).read(-1)


def _draw(row: Row, width: int) -> list[Cell] | Content:
    drawn = row.draw(width)
    return drawn if isinstance(drawn, Content) else list(drawn)


def _heading(section: Section) -> Row:
    return Row(section.id, "", lambda _: Content.styled(section.title, "$text-accent"), None, True)


def _sentence(section: str, name: str, text: str, style: str) -> Row:
    return Row(section, name, lambda _: [Cell("", FIGURE), Cell(text, 0, style)])
