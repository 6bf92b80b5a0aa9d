"""Health: is a reflection due, what needs upkeep, what says the same, is the store sound, who did
what.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from textual import on
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget

from workbench.services.context import Touched
from workbench.tui.actions import HEALTH, on_row
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.waiting import started
from workbench.tui.files.section import Files
from workbench.tui.health.sections import (
    Better,
    Captures,
    History,
    InReview,
    Reflection,
    Row,
    Section,
    Settings,
    StillTrue,
    TrendsOfWeeks,
)
from workbench.tui.health.store import Store
from workbench.tui.health.upkeep import Consolidation, Duplicates, Upkeep
from workbench.tui.records.actions import Acts, Place, links_of
from workbench.tui.widgets.content import BLANK, joined
from workbench.tui.widgets.line_list import Cell, LineView
from workbench.tui.widgets.reading_pane import ReadingPane

SECTIONS: tuple[type[Section[Any]], ...] = (
    Settings, Better, Reflection, Upkeep, Duplicates, Store, Files, History, Captures, TrendsOfWeeks, StillTrue,
    Consolidation,
)  # fmt: skip

NO_RECORD = (
    "That key is for a memory or a bullet: a change of one in History, or a group of duplicates."
)

OTHERWISE = {
    "apply": "Nothing is proposed here. Go to Upkeep or Duplicates first.",
    "merge": "Go to a group of duplicates first.",
    "refuse": "Go to a group of duplicates first.",
    "take_back": "Go to a change in History first.",
}
"""What is said where the part under the cursor cannot do it."""

HELP = "\n".join(
    [
        "The parts",
        "  Settings     problems in your settings, keys and themes; hidden when there are none",
        "  Better?      what agents got out of memory, week by week, and whether that improves",
        "  Reflection   progress of each condition; the first to reach its limit makes a reflection due",
        "  Upkeep       proposals of the lifecycle rules",
        "  Duplicates   duplicate memories (= ~), and similar but different pairs (≠)",
        "  Store        results of the doctor, and changes by other programs",
        "  Files        problems in files of this store, and fixes",
        "  History      latest changes by everyone",
        "  Capture      followed agent sessions, skipped items and failed hooks",
        "  Trends       memories, decisions and votes by day, and their distribution",
        "  Proposals wait in Review; enter on their line goes there.",
    ]
)


class HealthScreen(AreaScreen):
    """Every part below the other, with the text of the row under the cursor beside them."""

    AREA = "health"
    PANES = ("#parts", "#detail")
    help_text = HELP
    BINDINGS = bindings((*HEALTH, *on_row("p")))
    DEFAULT_CSS = """
    HealthScreen {
        #work { height: 1fr; }
        #parts { width: 52%; max-width: 120; }
        #detail { width: 1fr; }
        &.-narrow #parts { width: 1fr; max-width: 100%; }
        &.-narrow #detail { display: none; }
        &.-narrow.-open #parts { display: none; }
        &.-narrow.-open #detail { display: block; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.rows: LineView[Row] = LineView(
            _draw,
            lambda row: row.key,
            is_heading=lambda row: row.heading,
            title="Health",
            id="parts",
        )
        self.sections = {kind.ID: kind(self, self.rows) for kind in SECTIONS}
        self.detail = ReadingPane(id="detail", title="Details")
        self.detail.links = links_of(self, self.detail, self._record_here)
        self._shown: tuple[str, str] | None = None
        self.acts = Acts(self, self._record_here, missing=NO_RECORD)

    def contents(self) -> Iterable[Widget]:
        """Return the list and the text beside it."""
        yield Horizontal(self.rows, self.detail, id="work")

    def on_mount(self) -> None:
        """Go to the list."""
        self.rows.focus()

    @property
    def working(self) -> list[Section[Any]]:
        """The parts that are finding out what they show."""
        return [section for section in self.sections.values() if section.worker is not None]

    # Finding out

    def show_store(self) -> None:
        """Look at what may have changed; what takes long only when it was not looked at yet."""
        for section in self.sections.values():
            if section.WHEN == "always" or (section.WHEN == "once" and not section.known):
                section.gather()
            section.make()
        self.show()

    def action_check(self) -> None:
        """Look at everything again; at what is only done when asked for, if it was asked for
        before.
        """
        for section in self.sections.values():
            if section.WHEN != "asked" or section.known:
                section.gather()

    def show_changes(self, touched: Touched) -> None:
        """Follow a change of the store; reads by agents change nothing here."""
        if touched.kind != "access":
            self.show_store()

    def retriever_ready(self) -> None:
        """Look again at what the model is needed for, and at the caches that loading it made."""
        if self._in_sight:
            self.show_store()
            self.sections["store"].gather()
            self.sections["better"].gather()
        else:
            self._stale = True

    # Showing

    @on(Section.Changed)
    def _changed(self, event: Section.Changed) -> None:
        event.section.make()
        self.show()
        self.show_status()

    def show(self) -> None:
        """List the rows of every part, as far as they are known."""
        rows: list[Row] = []
        for section in self.sections.values():
            if rows and section.lines:
                rows.append(Row(section.ID, "gap", lambda _: BLANK))
            rows += section.lines
        self.rows.set_rows(rows)
        self._show_detail()

    @on(LineView.Highlighted)
    def _show_detail(self) -> None:
        row = self.rows.current
        if row is None:
            self.detail.show(BLANK)
            return
        # Where it takes the place of the list its width is known before it is in sight.
        room = (
            self.detail.scrollable_content_region.width
            or self.size.width - self.detail.gutter.width - 1
        )
        text = self._text(row, room)
        if text.plain != self.detail.plain:
            self.detail.show(text, keep_place=row.key == self._shown)
        self._shown = row.key

    def _text(self, row: Row, width: int) -> Content:
        """Return what stands beside a row; beside a heading the texts of its rows, too, as far as
        there is room.
        """
        section, height = self.sections[row.section], self.detail.scrollable_content_region.height
        texts = [section.text(row, width)]
        left = height - len(texts[0].wrap(width))
        for below in section.lines[1:] if row.heading else ():
            text = section.text(below, width)
            if left > 0 and text.plain not in (known.plain for known in texts):
                texts += [BLANK, text]
                left -= len(text.wrap(width)) + 1
        return joined(*texts)

    def on_resize(self) -> None:
        """Show the text for the width there is."""
        self.call_after_refresh(self._show_detail)

    def open_detail(self) -> None:
        """Show the text instead of the list where there is no room for both, and let the keys
        scroll it.
        """
        self.add_class("-open")
        self.detail.focus()

    def go_back(self) -> None:
        """Stop what is under way, or close what is open."""
        waited_for = [section for section in self.working if section.progress is not None]
        for section in waited_for:
            if section.worker is not None:
                section.worker.cancel()
        if waited_for:
            self.hint(" ".join(dict.fromkeys(section.STOPPED for section in waited_for)))
            return
        self.remove_class("-open")
        self.rows.focus()

    # Doing

    async def action_verb(self, verb: str, where: str = "") -> None:
        """Let the part under the cursor, or a certain one, do something."""
        await started(self, self._do(verb, where))

    async def _do(self, verb: str, where: str) -> None:
        row = self.rows.current
        if where and (row is None or row.section != where):
            row = next((r for r in self.rows.rows if r.section == where and r.heading), None)
        do = None if row is None else getattr(self.sections[row.section], verb, None)
        if do is None:
            self.say(OTHERWISE[verb])
            return
        with self.workbench_app.reporting():
            await do(row)

    @on(LineView.Opened)
    async def _opened(self) -> None:
        row = self.rows.current
        if row is not None:
            await started(self, self._open(row))

    async def _open(self, row: Row) -> None:
        with self.workbench_app.reporting():
            if isinstance(row.item, InReview):
                await self.workbench_app.go(area="review", place=row.item.group)
            elif not await self.sections[row.section].open(row):
                self.open_detail()

    def _record_here(self) -> Place | None:
        row = self.rows.current
        return None if row is None else self.sections[row.section].record(row)

    def action_unfold(self) -> None:
        """Show a text that is folded as unsafe."""
        if (row := self.rows.current) is not None:
            self.sections[row.section].unfolded.add(row.name)
            self._show_detail()

    def action_jump(self, step: int) -> None:
        """To the next heading below (1) or above (-1), round the end."""
        if self.focused is not self.rows:
            self.go_back()
        at = self.rows.cursor
        places = [n for n, row in enumerate(self.rows.rows) if row.heading]
        ahead = [n for n in places if (n > at if step > 0 else n < at)]
        if places:
            self.rows.cursor = (ahead or places)[0 if step > 0 else -1]

    def action_read_on(self) -> None:
        """Scroll the text."""
        self.detail.read(1)

    def action_read_back(self) -> None:
        """Scroll the text back."""
        self.detail.read(-1)


def _draw(row: Row, width: int) -> Sequence[Cell] | Content:
    return row.draw(width)
