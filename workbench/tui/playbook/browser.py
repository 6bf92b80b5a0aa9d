"""Looking through a playbook: the list, the filter, the detail beside it, the choice among several."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from textual import on, work
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.bench.playbook.changes import LastChange
from workbench.bench.playbook.file_merge import book_id
from workbench.bench.playbook.playbook import BookView
from workbench.bench.playbook.rules import REPLACED_BY
from workbench.core.errors import InvalidQuery
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.filter import HELP, Among, BookFilter, parse_book_filter
from workbench.core.playbook.interval import helpful_share
from workbench.store.library import Touched
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.asking import asking
from workbench.tui.playbook.bar import BookBar, BookFacts
from workbench.tui.playbook.detail import Around, bullet_detail, cut_detail, section_detail
from workbench.tui.playbook.outline import Outline
from workbench.tui.playbook.rows import Columns, Row, bullets_in, cells, columns_of, rows_of
from workbench.tui.safety.flag_view import flags_of, masked_bullet
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.lists.long_text import LongText
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.prompt import Prompt
from workbench.tui.widgets.texts.safe_input import SafeInput

EMPTY_STORE = "No playbook yet. O adds a section and begins one, or `workbench import FILE` brings one in."
EMPTY_BOOK = "This playbook is empty. O adds a section, then o adds a bullet to it."
NO_MATCH = "Nothing matches. Esc clears the filter, ? explains it."
NEW_BOOK = "\0new"
TABLES = frozenset({"books", "sections", "bullets", "votes", "tallies", "kept_pairs"})


class PlaybookBrowser(AreaScreen):
    """The bullets of one playbook in file order, with the one under the cursor in full beside them."""

    AREA = "playbook"
    help_text = "The filter, and the symbols before a bullet\n" + "\n".join(f"  {what:<22} {why}" for what, why in HELP)
    DEFAULT_CSS = """
    PlaybookBrowser {
        #book-filter-line { height: 1; padding: 0 1; }
        #book-filter { width: 1fr; background: $background; }
        #book-count { width: auto; color: $text-muted; padding-left: 2; }
        #outline { display: none; width: 44; border-right: solid $panel; scrollbar-size-vertical: 1; }
        #bullets { width: 5fr; }
        #bullet-side { width: 3fr; padding: 0 1; border-left: solid $panel; scrollbar-size-vertical: 1; }
        #bullet-side:focus { border-left: solid $accent; }
        &.-wide #outline { display: block; }
        &.-narrow #bullet-side { display: none; border-left: none; }
        &.-narrow.-open #bullet-side { display: block; width: 1fr; }
        &.-narrow.-open #bullets { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.book = ""
        self.view: BookView | None = None
        self._filter = BookFilter()
        self._twins: tuple[int, frozenset[str]] = (-1, frozenset())
        self._share = lru_cache(maxsize=4096)(helpful_share)
        self._columns = Columns(0, 2, 2)

    def contents(self) -> Iterable[Widget]:
        """Return the line of the book, the filter, the outline, the list and the detail."""
        yield BookBar()
        yield Horizontal(
            SafeInput(placeholder="/ filter: words is:unused section:api", id="book-filter"),
            Static(id="book-count"),
            id="book-filter-line",
        )
        rows: LineList[Row] = LineList(
            self._draw, lambda row: row.key, is_heading=lambda row: row.bullet is None, id="bullets"
        )
        yield Horizontal(Outline(id="outline"), rows, VerticalScroll(LongText(id="bullet-detail"), id="bullet-side"))

    def on_mount(self) -> None:
        """Start in the list."""
        self.rows.focus()

    def on_resize(self) -> None:
        """Break the lines of the detail where they end now."""
        self.call_after_refresh(self._show_detail)

    @property
    def rows(self) -> LineList[Row]:
        """The list of headings and bullets."""
        return self.query_one("#bullets", LineList)

    # Showing

    def show_store(self) -> None:
        """Show the open playbook as it is now; the first one when it is gone."""
        books = self.bench.playbooks.books()
        if self.book not in {line.book.id for line in books}:
            self.book = books[0].book.id if books else ""
        self.view = self.bench.playbooks.view(self.book) if self.book else None
        self.query_one(BookBar).facts = self._facts(len(books) - 1)
        self._show_rows()

    def show_changes(self, touched: Touched) -> None:
        """Follow changes of playbooks; the cursor, the filter and the marks stay."""
        if any(table in TABLES for table, _ in touched.keys):
            self.show_store()

    def _facts(self, others: int) -> BookFacts | None:
        if self.view is None:
            return None
        book, view = self.view.playbook, self.view
        sections = sum(bool(s.title.strip()) for s in book.sections)
        return BookFacts(
            self.bench.safety.masked(book.book.name),
            book.book.dialect,
            len(book.bullets),
            sections,
            view.tokens,
            others,
            book.book.budget,
        )

    def _show_rows(self) -> None:
        rows = rows_of(self.view, self._filter, self._among(self.view)) if self.view else []
        columns = columns_of(rows, self._filter.words)
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
            return EMPTY_STORE
        return NO_MATCH if self._filter and self.view.playbook.bullets else EMPTY_BOOK

    def _show_count(self, rows: Sequence[Row]) -> None:
        shown = sum(row.bullet is not None for row in rows)
        self._count(Content(f"{shown} shown" if self._filter else ""))

    def _count(self, content: Content) -> None:
        self.query_one("#book-count", Static).update(content)

    def _draw(self, row: Row, width: int) -> list[Cell] | Content:
        masked = masked_bullet(self.bench.safety, row.bullet) if row.bullet else None
        return cells(row, self._columns, width, masked, self._share)

    @on(LineList.Highlighted, "#bullets")
    def _moved(self) -> None:
        self._show_detail()
        self.query_one("#bullet-side").scroll_home(animate=False)

    def _show_detail(self) -> None:
        row = self.rows.current
        self.query_one("#bullet-detail", Static).update(self._detail(row) if row else Content(""))
        self.query_one(Outline).follow(self.rows.rows, row.section.id if row else "")

    def _detail(self, row: Row) -> Content:
        assert self.view is not None
        keys = {action.id: action.shown_key for action in self.as_mapped(self.area.actions)}
        if row.cut is not None:
            return cut_detail(row.cut, self.view.tokens, keys)
        siblings = self.view.playbook.in_section(row.section.id)
        if row.bullet is None:
            return section_detail(row, len(siblings) - row.count)
        around = Around(
            now=self.bench.context.now(),
            place=1 + next((i for i, b in enumerate(siblings) if b.id == row.bullet.id), 0),
            siblings=len(siblings),
            changed=self._last_change(row.bullet),
            words=self._filter.words,
            flags=flags_of(self.bench.safety, row.bullet),
            masked=self.bench.safety.masked,
            usage=self.view.usage.get(row.bullet.id),
            replacement=self._text_of(row.bullet.metadata.get(REPLACED_BY)),
            keys=keys,
            width=self.query_one("#bullet-side").content_size.width or 60,
        )
        return bullet_detail(row, row.bullet, around)

    def _last_change(self, bullet: Bullet) -> LastChange | None:
        """Return a bullet's latest change; the first look into the journal happens away from the keyboard."""
        if self.bench.playbooks.changes.begun:
            return self.bench.playbooks.last_change(self.book, bullet.id)
        self._look_back()
        return None

    @work(thread=True, exclusive=True, group="changes", exit_on_error=False)
    def _look_back(self) -> None:
        worker = get_current_worker()
        self.bench.playbooks.changes.catch_up()
        if not worker.is_cancelled and self.bench.playbooks.changes.begun:
            self.app.call_from_thread(self._show_detail)

    def _text_of(self, id: object) -> str:
        bullets = self.view.playbook.bullets if self.view else ()
        return next((self.bench.safety.masked(b.content) for b in bullets if b.id == id), "")

    def _among(self, view: BookView) -> Among:
        """Return the bullets for which only a look at the whole playbook tells whether the filter means them."""
        twins = self._equal() if self._filter.asks("duplicate") else frozenset()
        told = {verdict: view.found_to(verdict) for verdict in ("helps", "hurts")}
        return {"over": view.over, "disputed": view.disputed, "duplicate": twins, **told}

    def _equal(self) -> frozenset[str]:
        """Return bullets with the same text at once; near ones follow when they are compared."""
        rev = self.bench.library.revision
        if self._twins[0] != rev:
            self._twins = (rev, frozenset(id for group in self.bench.refiner.same(self.book) for id in group.ids))
            if self.bench.retriever.ready:
                self._compare(rev)
        return self._twins[1]

    @work(thread=True, exclusive=True, group="near", exit_on_error=False)
    def _compare(self, rev: int) -> None:
        worker = get_current_worker()
        groups = [group for group in self.bench.refiner.groups(self.book) if group.ordinary]
        if not worker.is_cancelled:
            self.app.call_from_thread(self._compared, rev, frozenset(id for group in groups for id in group.ids))

    def _compared(self, rev: int, ids: frozenset[str]) -> None:
        self._twins = (rev, ids)
        self._show_rows()

    @on(Outline.Highlighted, "#outline")
    def _jump(self, event: Outline.Highlighted) -> None:
        heading = event.line_list.current
        place = None if heading is None else self.rows.index_of(heading.key)
        if place is not None:
            self.rows.cursor = place

    # Finding

    @on(Input.Changed, "#book-filter")
    def _filtering(self, event: Input.Changed) -> None:
        try:
            self._filter = parse_book_filter(event.value)
        except InvalidQuery as error:
            self._count(Content.styled(f"✗ {error}", "$text-error"))
            return
        self._show_rows()

    @on(Input.Submitted, "#book-filter")
    def _filtered(self) -> None:
        self.rows.focus()

    def action_search(self) -> None:
        """Go to the filter."""
        self.query_one("#book-filter").focus()

    @asking
    async def action_books(self) -> None:
        """Choose another playbook of this store."""
        books = self.bench.playbooks.books()
        if not books:
            self.workbench_app.say(EMPTY_STORE)
            return
        choices = [
            Choice(line.book.id, self.bench.safety.masked(line.book.name or line.book.id), bullets_in(line.bullets))
            for line in books
        ]
        choices.append(Choice(NEW_BOOK, "＋ a new playbook", "empty"))
        chosen = await self.app.push_screen_wait(Choose("Playbooks of this store", choices, self.book))
        chosen = await self._made() if chosen == NEW_BOOK else chosen
        if chosen is not None and chosen != self.book:
            self.book = chosen
            self.rows.clear_marks()
            self.show_store()
            self.rows.cursor = _first_bullet(self.rows.rows)

    async def _made(self) -> str | None:
        """Ask for the name of a new playbook, and make it."""
        names = {line.book.id for line in self.bench.playbooks.books()}

        def problem(name: str) -> str | None:
            id = book_id(Path(name))
            return "A playbook needs a name." if not name else f"There is a playbook {id}." if id in names else None

        def make(name: str) -> None:
            self.bench.playbooks.ensure(book_id(Path(name)))

        ask = Prompt("Name of the new playbook", placeholder="rules", check=problem, take=make)
        name = await self.app.push_screen_wait(ask)
        return book_id(Path(name)) if name else None

    def go_back(self) -> None:
        """Close the detail, leave the filter line, drop the marks, or clear the filter; the cursor stays."""
        box = self.query_one("#book-filter", SafeInput)
        if self.has_class("-open"):
            self.remove_class("-open")
            self.rows.focus()
        elif self.focused is not self.rows:
            self.rows.focus()
        elif self.rows.mark_count:
            self.rows.clear_marks()
        elif box.value:
            box.value = ""

    @on(LineList.Opened, "#bullets")
    def _open(self) -> None:
        self.add_class("-open")
        self.query_one("#bullet-side").focus()
        self.call_after_refresh(self._show_detail)

    @on(LineList.MarksChanged)
    def _marked(self) -> None:
        self.show_status()


def _first_bullet(rows: Sequence[Row]) -> int:
    return next((i for i, row in enumerate(rows) if row.bullet is not None), 0)
