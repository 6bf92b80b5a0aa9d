"""The list of Health: every part below the other, each with what it found out on a thread of its own."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from textual.content import Content
from textual.message import Message
from textual.worker import Worker, WorkerState, get_current_worker

from workbench.core.errors import WorkbenchError
from workbench.services.open import Workbench
from workbench.tui.health.model import FIGURE, Facts, Found, Row, Section, Watch
from workbench.tui.health.sections import SECTIONS
from workbench.tui.widgets.keys import keyed
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.row import Cell

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
        """A part is so far."""

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
        """Return a part by its id."""
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
