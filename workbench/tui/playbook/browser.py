"""Looking through a playbook: its line, the filter, the outline, the list, and the bullet under the cursor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.playbook.book import Bullet, Section
from workbench.core.playbook.budget import helpful_share
from workbench.core.playbook.filter import Among, BookFilter, parse_book_filter
from workbench.core.record import InvalidQuery
from workbench.core.text import printable
from workbench.services.open import Workbench
from workbench.services.playbook.playbook import BookView
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.surviving import survives
from workbench.tui.playbook.pane import BulletPane, Columns, Row, bullets_in, cells, columns_of, rows_of, title_of
from workbench.tui.safety import masked_bullet
from workbench.tui.stream.detail import DetailPane
from workbench.tui.widgets.content import MUTED, assemble, cut, fitted, keyed
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_list import LineList, LineView
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.safe_input import FilterInput

# The line that says which playbook is open, how large it is and how it is written.


@dataclass(frozen=True, slots=True)
class BookFacts:
    """What the line shows; `others` counts the further playbooks of the store."""

    name: str
    dialect: str
    bullets: int
    sections: int
    tokens: int
    others: int = 0
    budget: int = 0


@survives
class BookBar(Widget):
    """One line: name on the left, figures on the right; the longest wording that fits."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    BookBar { height: 1; padding: 0 1; }
    """

    facts: reactive[BookFacts | None] = reactive[BookFacts | None](None)

    def render(self) -> Content:
        """Return the line, exactly as wide as the widget."""
        facts, width = self.facts, self.content_size.width
        if facts is None:
            return Content.styled("No playbook", MUTED)
        others = f"  b: {facts.others} more" if facts.others else ""
        name = Content.styled(printable(facts.name[:200]), "bold")
        room = width - len(others) - min(name.cell_length, width // 3) - 2
        figures = next((f for f in _wordings(facts) if len(f) <= room), _wordings(facts)[-1])
        room = max(8, width - len(figures) - len(others) - 2)
        left = cut(name, room) + assemble([(others, MUTED)])
        return fitted(left, max(0, width - len(figures) - 2)) + Content.styled(f"  {figures}", MUTED)


def _wordings(facts: BookFacts) -> list[str]:
    of = f" of {number(facts.budget)}" if facts.budget else ""
    over = " ✂ over" if 0 < facts.budget < facts.tokens else ""
    tokens = f"≈ {number(facts.tokens)}{of} tokens{over}"
    bullets = bullets_in(facts.bullets)
    form = "with counts" if facts.dialect == "counts" else facts.dialect
    sections = "1 section" if facts.sections == 1 else f"{facts.sections} sections"
    return [
        f"format: {form} · {bullets} in {sections} · {tokens} (estimated)",
        f"{form} · {bullets} · {tokens}",
        f"{bullets} · {tokens}",
    ]


class Outline(LineView[Row]):
    """The headings with their numbers of bullets and tokens; the keyboard stays in the list."""

    def __init__(self, id: str) -> None:
        super().__init__(_draw, lambda row: row.section.id, id=id)
        self.can_focus = False

    def follow(self, rows: Sequence[Row], section: str) -> None:
        """Show the headings of these rows, the cursor on one section, without a message."""
        headings = [row for row in rows if row.bullet is None and row.cut is None]
        place = next((i for i, row in enumerate(headings) if row.section.id == section), 0)
        with self.prevent(LineView.Highlighted):
            if headings != self.rows:
                self.set_rows(headings, cursor=place)
            else:
                self.cursor = place


def _draw(row: Row, width: int) -> list[Cell]:
    tokens = f"≈{number(row.tokens)}"
    return [
        Cell(printable(title_of(row.section)[: 4 * width])),
        Cell(str(row.count), 4, "", "right"),
        Cell(tokens, max(7, len(tokens)), MUTED, "right"),
    ]


EMPTY_STORE = (
    "No playbook yet. {playbook.section} adds a section and begins one, or `workbench import FILE` brings one in."
)
EMPTY_BOOK = "This playbook is empty. {playbook.section} adds a section, then {playbook.add} adds a bullet to it."
NO_MATCH = "Nothing matches. Esc clears the filter, {app.help} explains it."


@survives
class BookBrowser(Vertical):
    """The bullets of one playbook in file order, with the one under the cursor in full beside them.

    `book` is the id of the open playbook, `view` what it holds, and `filter` what is listed of it.
    """

    class Marked(Message):
        """Other bullets are marked than before."""

    def __init__(self, bench: Workbench, keys: Mapping[str, str]) -> None:
        super().__init__()
        self._bench = bench
        self.book = ""
        self.view: BookView | None = None
        self.filter = BookFilter()
        self.rows: LineList[Row] = LineList(
            self._draw, lambda row: row.key, is_heading=lambda row: row.bullet is None, id="bullets"
        )
        self._bar = BookBar()
        self._box = FilterInput(placeholder="/ filter: words is:unused section:api", id="book-filter")
        self._said = Static(id="book-count")
        self._outline = Outline(id="outline")
        self._detail = BulletPane(bench, keys)
        self._equal: tuple[int, frozenset[str]] = (-1, frozenset())
        self._share = lru_cache(maxsize=4096)(helpful_share)
        self._columns = Columns(0, 2, 2)

    def compose(self) -> ComposeResult:
        """Build the line of the book, the filter, the outline, the list and the detail."""
        yield self._bar
        yield Horizontal(self._box, self._said, id="book-filter-line")
        yield Horizontal(self._outline, self.rows, self._detail)

    def on_mount(self) -> None:
        """Start in the list."""
        self.rows.focus()

    def on_resize(self) -> None:
        """Break the lines of the detail where they end now."""
        self.call_after_refresh(self._show_detail)

    # Showing

    def show(self) -> None:
        """Show the open playbook as it is now; the first one when it is gone."""
        books = self._bench.playbooks.books()
        if self.book not in {line.book.id for line in books}:
            self.book = books[0].book.id if books else ""
        self.view = self._bench.playbooks.view(self.book) if self.book else None
        self._bar.facts = self._facts(len(books) - 1)
        self._show_rows()

    def open(self, book: str) -> None:
        """Show another playbook from its first bullet on; the marks were for the one before."""
        self.book = book
        self.rows.clear_marks()
        self.show()
        self.rows.cursor = _first_bullet(self.rows.rows)

    def go_to(self, key: tuple[str, str]) -> bool:
        """Put the cursor on a bullet or a section; return False where the filter hides it."""
        self.show()
        place = self.rows.index_of(key)
        if place is not None:
            self.rows.cursor = place
        return place is not None

    @property
    def side(self) -> DetailPane:
        """The text of what is under the cursor."""
        return self._detail.side

    def place(self) -> tuple[str, str] | None:
        """Return table and key of the bullet under the cursor; `None` for a heading."""
        row = self.rows.current
        return None if row is None or row.bullet is None else ("bullets", f"{row.bullet.book}/{row.bullet.id}")

    @property
    def bullets(self) -> tuple[Bullet, ...]:
        """All bullets of the open playbook."""
        return self.view.playbook.bullets if self.view else ()

    def _facts(self, others: int) -> BookFacts | None:
        if self.view is None:
            return None
        book, view = self.view.playbook, self.view
        sections = sum(bool(s.title.strip()) for s in book.sections)
        return BookFacts(
            self._bench.safety.masked(book.book.name),
            book.book.dialect,
            len(book.bullets),
            sections,
            view.tokens,
            others,
            book.book.budget,
        )

    def _show_rows(self) -> None:
        rows = rows_of(self.view, self.filter, self._among(self.view)) if self.view else []
        columns = columns_of(rows, self.filter.words)
        old = list(self.rows.rows)
        self.rows.set_empty(Content(self._nothing()))
        same = columns == self._columns and [r.key for r in old] == [r.key for r in rows] and bool(rows)
        self._columns = columns
        if same:
            self._refresh_rows(old, rows)
        else:
            self.rows.set_rows(rows, cursor=None if old else _first_bullet(rows))
        self._show_count(rows)
        self._show_detail()

    def _refresh_rows(self, old: Sequence[Row], rows: Sequence[Row]) -> None:
        """Repaint only the lines that differ; the list keeps its rows, which are this screen's."""
        shown = self.rows.rows
        assert isinstance(shown, list)
        for index, (before, now) in enumerate(zip(old, rows, strict=True)):
            if before != now:
                shown[index] = now
                self.rows.refresh_row(index)

    def _nothing(self) -> str:
        if self.view is None:
            return keyed(EMPTY_STORE)
        return keyed(NO_MATCH if self.filter and self.view.playbook.bullets else EMPTY_BOOK)

    def _show_count(self, rows: Sequence[Row]) -> None:
        shown = sum(row.bullet is not None for row in rows)
        self._count(Content(f"{shown} shown" if self.filter else ""))

    def _count(self, content: Content) -> None:
        self._said.update(content)

    def _draw(self, row: Row, width: int) -> list[Cell] | Content:
        masked = masked_bullet(self._bench.safety, row.bullet) if row.bullet else None
        return cells(row, self._columns, width, masked, self._share)

    @on(LineList.Highlighted, "#bullets")
    def _moved(self) -> None:
        self._show_detail()
        self._detail.side.scroll_home(animate=False)

    def _show_detail(self) -> None:
        row = self.rows.current
        self._detail.show(row, self.view, self.filter.words)
        self._outline.follow(self.rows.rows, row.section.id if row else "")

    def _among(self, view: BookView) -> Among:
        """Return the bullets for which only a look at the whole playbook tells whether the filter means them."""
        duplicates = self._duplicates() if self.filter.asks("duplicate") else frozenset()
        told = {verdict: view.found_to(verdict) for verdict in ("helps", "hurts")}
        return {"over": view.over, "disputed": view.disputed, "duplicate": duplicates, **told}

    def _duplicates(self) -> frozenset[str]:
        """Return bullets with the same text at once; near ones follow when they are compared."""
        rev = self._bench.library.revision
        if self._equal[0] != rev:
            self._equal = (
                rev,
                frozenset(id for group in self._bench.bullet_duplicates.same(self.book) for id in group.ids),
            )
            if self._bench.retriever.ready:
                self._compare(rev)
        return self._equal[1]

    @work(thread=True, exclusive=True, group="near", exit_on_error=False)
    def _compare(self, rev: int) -> None:
        worker = get_current_worker()
        groups = [group for group in self._bench.bullet_duplicates.groups(self.book) if group.ordinary]
        if not worker.is_cancelled:
            self.app.call_from_thread(self._compared, rev, frozenset(id for group in groups for id in group.ids))

    def _compared(self, rev: int, ids: frozenset[str]) -> None:
        self._equal = (rev, ids)
        self._show_rows()

    @on(Outline.Highlighted, "#outline")
    def _jump(self, event: Outline.Highlighted) -> None:
        heading = event.line_list.current
        place = None if heading is None else self.rows.index_of(heading.key)
        if place is not None:
            self.rows.cursor = place

    @on(LineList.MarksChanged)
    def _marked(self, event: LineList.MarksChanged) -> None:
        # What the list says while the filter is dealt with would end here: Textual lets nothing pass its sender.
        event.stop()
        self.post_message(self.Marked())

    # Finding

    @on(Input.Changed, "#book-filter")
    def _filtering(self, event: Input.Changed) -> None:
        try:
            self.filter = parse_book_filter(event.value)
        except InvalidQuery as error:
            self._count(Content.styled(f"✗ {error}", "$text-error"))
            return
        self._show_rows()

    @on(Input.Submitted, "#book-filter")
    def _filtered(self) -> None:
        self.rows.focus()

    def search(self) -> None:
        """Go to the filter."""
        self.screen.set_focus(self._box)

    def go_back(self) -> None:
        """Close the detail, leave the filter line, drop the marks, or clear the filter; the cursor stays."""
        if self.screen.has_class("-open"):
            self.screen.remove_class("-open")
            self.rows.focus()
        elif not self.rows.has_focus:
            self.rows.focus()
        elif self.rows.mark_count:
            self.rows.clear_marks()
        elif self._box.value:
            self._box.value = ""

    @on(LineList.Opened, "#bullets")
    def _open(self) -> None:
        self.screen.add_class("-open")
        self._detail.side.focus()
        self.call_after_refresh(self._show_detail)


def _first_bullet(rows: Sequence[Row]) -> int:
    return next((i for i, row in enumerate(rows) if row.bullet is not None), 0)


# What a change in the playbook is for: the bullet under the cursor, or all marked ones.


ON_HEADING = "The cursor is on a heading. {list.down} goes to a bullet."


class Targets:
    """Picks the bullets of a browser that the next key is for, and says what was done to them."""

    def __init__(self, area: AreaScreen, browser: BookBrowser) -> None:
        self._area = area
        self._browser = browser

    @property
    def book(self) -> str:
        """The id of the open playbook."""
        return self._browser.book

    def ids(self) -> list[str]:
        """Return the bullets the next change is for: the marked ones, else the one under the cursor."""
        rows = self._browser.rows
        ids = [row.bullet.id for row in self._area.take_targets(rows) if row.bullet]
        if not ids and rows.current is not None:
            self._area.workbench_app.say(keyed(ON_HEADING))
        return ids

    def one(self) -> Bullet | None:
        """Return the bullet under the cursor, or say that there is none."""
        row = self._browser.rows.current
        if row is not None and row.bullet is None:
            self._area.workbench_app.say(keyed(ON_HEADING))
        return row.bullet if row else None

    def done(self, sentence: str, ids: Sequence[str] = ()) -> None:
        """Say what happened; the marks of what it was done to (`ids`) go."""
        if ids:
            self._browser.rows.clear_marks()
        self._area.show_status()
        self._area.workbench_app.say(sentence)


def named(ids: Sequence[str]) -> str:
    """Return one bullet's id, or how many there are."""
    return ids[0] if len(ids) == 1 else f"{len(ids)} bullets"


def title_in(sections: Sequence[Section], id: str) -> str:
    return next((title_of(s) for s in sections if s.id == id), id)
