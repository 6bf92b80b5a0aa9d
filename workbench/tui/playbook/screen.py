"""The Playbook: sections of bullets to vote on, edit, move and export."""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

from textual import on, work
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.core.playbook.book import Bullet
from workbench.core.playbook.filter import HELP, Among, BookFilter, parse_book_filter
from workbench.core.playbook.operations import merged_from
from workbench.core.record import InvalidQuery, WorkbenchError
from workbench.core.text import one_line, printable
from workbench.services.context import Touched
from workbench.services.files.exporting import Written
from workbench.services.files.theirs import book_id
from workbench.services.playbook.playbook import MAIN, BookView, warning_of
from workbench.tui.actions import PLAYBOOK
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking
from workbench.tui.files.exports import ExportDialog, written_said
from workbench.tui.playbook.pane import (
    Columns,
    Row,
    bullets_in,
    cells,
    columns_of,
    row_text,
    rows_of,
    title_of,
)
from workbench.tui.records.actions import BulletActions, links_of
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    cut,
    fitted,
    key_of,
    keyed,
    muted,
    undo,
)
from workbench.tui.widgets.dialog import Choice, Choose, Prompt, SafeInput, sure
from workbench.tui.widgets.editor import TextEditor
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.line_list import Cell, LineList, LineView
from workbench.tui.widgets.reading_pane import DetailPane

EMPTY_STORE = (
    "No playbook yet. {playbook.section} adds a section and creates one, or `workbench import "
    "FILE` imports one."
)
EMPTY_BOOK = "This playbook is empty. {playbook.section} adds a section, then {playbook.add} adds a bullet to it."
NO_MATCH = "Nothing matches. Esc clears the filter, {app.help} explains it."
ON_HEADING = "The cursor is on a heading. {list.down} goes to a bullet."
HIDDEN = "The filter hides the neighbours. Esc clears it, then {playbook.lower} and {playbook.higher} reorder."
PASTE = "Paste the reply of a Curator or a Reflector; {editor.save} reads it"
NEW_BOOK = "\0new"

TABLES = frozenset({"books", "sections", "bullets", "votes", "tallies", "kept_pairs"})
"""What a playbook is made of."""


class PlaybookScreen(AreaScreen):
    """The bullets of one playbook in file order, and the one under the cursor in full beside them."""

    AREA = "playbook"
    PANES = ("#bullets", "#bullet-side")
    BINDINGS = bindings(PLAYBOOK)
    help_text = "The filter, and the symbols before a bullet\n" + "\n".join(
        f"  {what:<22} {why}" for what, why in HELP
    )
    DEFAULT_CSS = """
    PlaybookScreen {
        #book-bar { height: 1; padding: 0 1; }
        #book-filter-line { height: 1; padding: 0 1; }
        #book-filter { width: 1fr; background: $background; }
        #book-count { width: auto; color: $text-muted; padding-left: 2; }
        #outline { display: none; width: 44; border-right: solid $panel; scrollbar-size-vertical: 1; }
        #bullets { width: 5fr; }
        #bullet-side { width: 3fr; }
        &.-wide #outline { display: block; }
        &.-narrow #bullet-side { display: none; }
        &.-narrow.-open #bullet-side { display: block; width: 1fr; }
        &.-narrow.-open #bullets { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.book = ""
        self.view: BookView | None = None
        self._filter = BookFilter()
        self._equal: tuple[int, frozenset[str]] = (-1, frozenset())
        self._columns = Columns(0, 2, 2)
        self._exported: dict[str, Written] = {}
        self.rows: LineList[Row] = LineList(
            lambda row, width: cells(self.bench, row, self._columns, width),
            lambda row: row.key,
            is_heading=lambda row: row.bullet is None,
            title="Bullets",
            id="bullets",
        )
        self.outline: LineView[Row] = LineView(
            _outlined, lambda row: row.key, title="Sections", id="outline"
        )
        self.outline.can_focus = False
        self.side = DetailPane(id="bullet-side", title="Bullet")
        self.side.links = links_of(self, self.side, self._place)
        self.changes = BulletActions(self, self._targets, self._here, self._done)

    def contents(self) -> Iterable[Widget]:
        """Return the line of the book, the filter, the outline, the list and the detail."""
        box = SafeInput(placeholder="/ filter: words is:unused section:api", id="book-filter")
        yield Static(id="book-bar")
        yield Horizontal(box, Static(id="book-count"), id="book-filter-line")
        yield Horizontal(self.outline, self.rows, self.side)

    def on_mount(self) -> None:
        """Start in the list, and look up who changed what last, away from the keyboard."""
        self.rows.focus()
        self._look_back()

    @work(group="changes", exit_on_error=False)
    async def _look_back(self) -> None:
        await asyncio.to_thread(self.bench.playbooks.changes.catch_up)
        self._show_detail()

    def on_resize(self) -> None:
        """Break lines where they end now."""
        self.call_after_refresh(self._show_detail)
        self.call_after_refresh(self._show_bar)

    # Showing

    def show_store(self) -> None:
        """Show the open playbook as it is now; the first one when it is gone."""
        books = self.bench.playbooks.books()
        if self.book not in {line.book.id for line in books}:
            self.book = books[0].book.id if books else ""
        self.view = self.bench.playbooks.view(self.book) if self.book else None
        self._show_bar()
        self._show_rows()

    def show_changes(self, touched: Touched) -> None:
        """Follow changes of playbooks; the cursor, the filter and the marks stay."""
        if any(table in TABLES for table, _ in touched.keys):
            self.show_store()

    def _show_bar(self) -> None:
        """Say which playbook is open, how large it is and how it is written: the longest wording
        that fits.
        """
        bar, text = self.query_one("#book-bar", Static), muted("No playbook")
        if self.view is not None:
            book, width = self.view.playbook, bar.content_size.width
            more = len(self.bench.playbooks.books()) - 1
            others = f"  {key_of('playbook.books')}: {more} more" if more else ""
            name = Content.styled(printable(self.bench.safety.masked(book.book.name)[:200]), "bold")
            room = width - len(others) - min(name.cell_length, width // 3) - 2
            wordings = _wordings(self.view)
            figures = next((f for f in wordings if len(f) <= room), wordings[-1])
            left = cut(name, max(8, width - len(figures) - len(others) - 2)) + assemble(
                [(others, MUTED)]
            )
            text = fitted(left, max(0, width - len(figures) - 2)) + muted(f"  {figures}")
        bar.update(text)

    def _show_rows(self) -> None:
        view, filter, old = self.view, self._filter, self.rows.rows
        rows = rows_of(view, filter, self._among(view)) if view else []
        self._columns = columns_of(rows, filter.words)
        no_match = filter and view is not None and view.playbook.bullets
        nothing = EMPTY_STORE if view is None else NO_MATCH if no_match else EMPTY_BOOK
        self.rows.set_empty(Content(keyed(nothing)))
        self.rows.set_rows(rows, cursor=None if old else _first_bullet(rows))
        shown = sum(row.bullet is not None for row in rows)
        self.query_one("#book-count", Static).update(f"{shown} shown" if filter else "")
        self._show_detail()

    def _show_detail(self) -> None:
        row, width, text = (
            self.rows.current,
            self.side.scrollable_content_region.width or 60,
            BLANK,
        )
        if row is not None and self.view is not None:
            text = row_text(self.bench, self.view, row, width, self._filter.words)
        if text.plain != self.side.plain:
            self.side.show(text, keep_place=True)
        headings = [row for row in self.rows.rows if row.bullet is None and row.cut is None]
        here = row.section.id if row else ""
        with self.outline.prevent(LineView.Highlighted):
            place = next((i for i, each in enumerate(headings) if each.section.id == here), 0)
            self.outline.set_rows(headings, cursor=place)

    @on(LineList.Highlighted, "#bullets")
    def _moved(self) -> None:
        self._show_detail()
        self.side.scroll_home(animate=False)

    @on(LineView.Highlighted, "#outline")
    def _jump(self) -> None:
        heading = self.outline.current
        place = None if heading is None else self.rows.index_of(heading.key)
        if place is not None:
            self.rows.cursor = place

    # Finding

    def _among(self, view: BookView) -> Among:
        """Return the bullets for which only a look at the whole playbook tells whether the filter
        means them.
        """
        duplicates = self._duplicates() if self._filter.asks("duplicate") else frozenset()
        told = {verdict: view.found_to(verdict) for verdict in ("helps", "hurts")}
        return {"over": view.over, "disputed": view.disputed, "duplicate": duplicates, **told}

    def _duplicates(self) -> frozenset[str]:
        """Return bullets with the same text at once; near ones follow when they are compared."""
        rev = self.bench.library.revision
        if self._equal[0] != rev:
            same = self.bench.bullet_duplicates.same(self.book)
            self._equal = rev, frozenset(id for group in same for id in group.ids)
            if self.bench.retriever.ready:
                self._compare(rev)
        return self._equal[1]

    @work(exclusive=True, group="near", exit_on_error=False)
    async def _compare(self, rev: int) -> None:
        duplicates, book = self.bench.bullet_duplicates, self.book

        def look() -> frozenset[str]:
            groups = (group for group in duplicates.groups(book) if group.ordinary)
            return frozenset(id for group in groups for id in group.ids)

        self._equal = rev, await asyncio.to_thread(look)
        self._show_rows()

    @on(Input.Changed, "#book-filter")
    def _filtering(self, event: Input.Changed) -> None:
        try:
            self._filter = parse_book_filter(event.value)
        except InvalidQuery as error:
            self.query_one("#book-count", Static).update(
                Content.styled(f"✗ {error}", "$text-error")
            )
            return
        self._show_rows()

    @on(Input.Submitted, "#book-filter")
    def _filtered(self) -> None:
        self.rows.focus()

    def action_search(self) -> None:
        """Go to the filter."""
        self.set_focus(self.query_one("#book-filter"))

    def go_back(self) -> None:
        """Close the detail, leave the filter line, drop the marks, or clear the filter; the cursor
        stays.
        """
        self.leave(self.rows, self.query_one("#book-filter", SafeInput))

    @on(LineList.Opened, "#bullets")
    def _open(self) -> None:
        self.open_text()
        self.call_after_refresh(self._show_detail)

    # What a change is for: the bullet under the cursor, or all marked ones

    @property
    def bullet(self) -> Bullet | None:
        """The bullet under the cursor."""
        return self.rows.current.bullet if self.rows.current else None

    def _place(self) -> tuple[str, str] | None:
        return None if self.bullet is None else ("bullets", f"{self.book}/{self.bullet.id}")

    def _here(self) -> str | None:
        """Return the key of the bullet under the cursor, or say that there is none."""
        if self.bullet is None and self.rows.current is not None:
            self.hint(ON_HEADING)
        return None if self.bullet is None else f"{self.book}/{self.bullet.id}"

    def _ids(self) -> list[str]:
        """Return the ids of the bullets that the next change is for, or say that there is none."""
        ids = [row.bullet.id for row in self.take_targets(self.rows) if row.bullet]
        if not ids and self.rows.current is not None:
            self.hint(ON_HEADING)
        return ids

    def _targets(self) -> list[str]:
        return [f"{self.book}/{id}" for id in self._ids()]

    def _done(self) -> None:
        self.rows.clear_marks()
        self.show_status()

    # Adding and moving

    @asking
    async def action_add(self) -> None:
        """Write a new bullet for the section under the cursor."""
        from workbench.services.forms import BulletForm
        from workbench.tui.forms import FormSaving, fill_in

        row, app = self.rows.current, self.workbench_app
        if row is None:
            app.hint(EMPTY_BOOK if self.view else EMPTY_STORE)
            return
        form = BulletForm(self.bench, self.book, section=row.section)
        await fill_in(
            self,
            FormSaving(app, form),
            app.draft(f"sections/{self.book}/{row.section.id}", "new-bullet"),
        )
        if form.ids:
            self._go_to(("bullet", form.ids[0]))

    @asking
    async def action_section(self) -> None:
        """Add a section; the first one begins a playbook."""
        book, added = self.book or MAIN, list[str]()
        preview = Preview(self.bench, again="enter", line=True)

        def add(_: str) -> None:
            with preview.writing("add a section"):
                added.append(
                    self.bench.playbooks.add_section(book, preview.text, kept=preview.kept)
                )

        def problem(title: str) -> str | None:
            return None if title.strip().strip("#").strip() else "A section needs a name."

        hint = "its heading, such as COMMON MISTAKES"
        ask = Prompt("New section", placeholder=hint, check=problem, preview=preview, take=add)
        await self.app.push_screen_wait(ask)
        if added:
            self.book = book
            self._go_to(("section", added[0]))

    def _go_to(self, key: tuple[str, str]) -> None:
        """Put the cursor on what was just added, or say that the filter hides it."""
        self.show_store()
        place = self.rows.index_of(key)
        if place is not None:
            self.rows.cursor = place
        hidden = " The filter hides it; esc clears the filter." if place is None else ""
        self.say(f"Added the {key[0]} {key[1]}.{hidden}")

    @asking
    async def action_move(self) -> None:
        """Move bullets to the end of another section."""
        ids, view = self._ids(), self.view
        if not ids or view is None:
            return
        titles = {s.id: title_of(s) for s in view.playbook.sections if s.title.strip()}
        choices = [
            Choice(id, title, bullets_in(len(view.playbook.in_section(id))))
            for id, title in titles.items()
        ]
        here = self.rows.current.section.id if self.rows.current else ""
        chosen = await self.app.push_screen_wait(
            Choose(f"Move {self.changes.named(ids)} to the end of", choices, here)
        )
        if chosen is not None:

            def move(_: Sequence[str]) -> str:
                self.bench.playbooks.move(self.book, ids, chosen)
                return f"Moved {self.changes.named(ids)} to {titles[chosen]}."

            self.changes.change(move, ids)

    def action_shift(self, step: int) -> None:
        app, bullet = self.workbench_app, self.bullet
        if self._here() is None or bullet is None:
            return
        if self._filter:
            app.hint(HIDDEN)
            return

        def shift() -> None:
            if not self.bench.playbooks.shift(bullet.book, bullet.id, step):
                place, move = "last" if step > 0 else "first", key_of("playbook.move")
                app.say(
                    f"{bullet.id} is the {place} of its section. {move} moves it to another one."
                )

        app.change(shift)

    # Letting go of rules

    @asking
    async def action_deprecate(self) -> None:
        """Deprecate bullets, with a reason and a replacement; again makes them count."""
        ids, book, books = self._ids(), self.book, self.bench.playbooks
        if not ids or self.view is None:
            return
        if books.all_deprecated(book, ids):

            def restore(_: Sequence[str]) -> str:
                books.restore(book, ids)
                return f"{self.changes.named(ids)} count{'s' if len(ids) == 1 else ''} again."

            self.changes.change(restore, ids)
            return
        preview = Preview(self.bench, again="enter", line=True)
        ask = Prompt(
            f"Deprecate {self.changes.named(ids)}: reason (optional)",
            placeholder="out of date since v2",
            preview=preview,
        )
        if await self.app.push_screen_wait(ask) is None:
            return
        others = [
            b for b in self.view.playbook.bullets if b.state != "deprecated" and b.id not in ids
        ]
        texts = {b.id: one_line(self.bench.safety.shown(b).content, 200) for b in others}
        choices = [Choice("", "none"), *(Choice(id, f"{id}  {text}") for id, text in texts.items())]
        instead = await self.app.push_screen_wait(Choose("Replaced by (optional)", choices))
        if instead is None:
            return

        def deprecate(_: Sequence[str]) -> str:
            with preview.writing(f"deprecate {self.changes.named(ids)}"):
                books.deprecate(book, ids, preview.text, instead)
            replaced = f", replaced by “{one_line(texts[instead], 60)}”" if instead else ""
            back = keyed("{playbook.deprecate} or {app.undo} restores.")
            return f"Deprecated {self.changes.named(ids)}{replaced}: left out of exports. {back}"

        self.changes.change(deprecate, ids)

    @asking
    async def action_avoid(self) -> None:
        """Deprecate harmful rules and warn of them in their own words; those of a single one can be
        edited first.
        """
        ids, book, books = self._ids(), self.book, self.bench.playbooks
        if len(ids) == 1:
            await self._avoid(self.bench.playbooks.bullet(book, ids[0]))
        elif ids:
            told = "Each is deprecated, and replaced by a warning that begins with “AVOID:”."
            detail = muted(f"{told} {undo()} takes all of it back.\n\n") + body(
                ", ".join(ids)[:400]
            )
            question = f"Turn {self.changes.named(ids)} into warnings?"
            if await sure(self, question, detail, "warn", "keep"):

                def avoid(_: Sequence[str]) -> str:
                    made = books.avoid(book, ids)
                    return f"{len(made)} warnings replace {self.changes.named(ids)}. {undo()} takes them back."

                self.changes.change(avoid, ids)

    async def _avoid(self, bullet: Bullet) -> None:
        made: list[str] = []
        preview, books = Preview(self.bench, bullet.content), self.bench.playbooks

        def save(text: str) -> str | None:
            if (first := preview(text)) is not None:
                return first
            with preview.writing(f"warn of {bullet.id}", lambda: [f"{bullet.book}/{made[-1]}"]):
                made.extend(books.avoid(bullet.book, [bullet.id], preview.text))
            return None

        place = one_line(books.warns_in(bullet.book), 60)
        title = f"Turn {bullet.id} into a warning under {place}; the rule itself is deprecated"
        await self.app.push_screen_wait(TextEditor(title, warning_of(bullet.content), check=save))
        if made:
            self.changes.said(
                f"{made[0]} warns of {bullet.id}, which is deprecated. {undo()} takes both back."
            )

    def action_split(self) -> None:
        """Take the latest merge of a bullet apart."""
        bullet = self.bullet
        if self._here() is None or bullet is None:
            return
        if not merged_from(bullet):
            self.say(f"{bullet.id} was not made by a merge, so there is nothing to split.")
            return

        def part(_: Sequence[str]) -> str:
            parts = self.bench.bullet_duplicates.part(bullet.book, bullet.id)
            return f"{', '.join(parts)} are restored. {undo()} undoes it."

        self.changes.change(part, [bullet.id])

    # The playbook as a whole

    def _has_book(self) -> bool:
        """Tell whether a playbook is open, or say how one is begun."""
        if self.view is None:
            self.hint(EMPTY_STORE)
        return self.view is not None

    @asking
    async def action_books(self) -> None:
        """Choose another playbook of this store, or begin a new one."""
        if not self._has_book():
            return
        books, mask = self.bench.playbooks.books(), self.bench.safety.masked
        named = {line.book.id: mask(line.book.name or line.book.id) for line in books}
        choices = [
            Choice(line.book.id, named[line.book.id], bullets_in(line.bullets)) for line in books
        ]
        choices.append(Choice(NEW_BOOK, "＋ a new playbook", "empty"))
        chosen = await self.app.push_screen_wait(
            Choose("Playbooks of this store", choices, self.book)
        )
        if chosen == NEW_BOOK:

            def problem(name: str) -> str | None:
                id = book_id(Path(name))
                return (
                    "A playbook needs a name."
                    if not name
                    else f"A playbook {id} already exists."
                    if id in named
                    else None
                )

            def make(name: str) -> None:
                self.bench.playbooks.ensure(book_id(Path(name)))

            ask = Prompt("Name of the new playbook", placeholder="rules", check=problem, take=make)
            name = await self.app.push_screen_wait(ask)
            chosen = book_id(Path(name)) if name else None
        if chosen is not None and chosen != self.book:
            self.book = chosen
            self.rows.clear_marks()  # they were for the one before
            self.show_store()
            self.rows.cursor = _first_bullet(self.rows.rows)

    @asking
    async def action_duplicates(self) -> None:
        """Find bullets that say the same; merge them or keep them apart."""
        from workbench.tui.duplicates import BulletDuplicatesDialog

        if self._has_book():
            self._tell(
                await self.app.push_screen_wait(BulletDuplicatesDialog(self.bench, self.book))
            )

    @asking
    async def action_budget(self) -> None:
        """Set how many tokens the playbook may take, and see what fits."""
        from workbench.tui.playbook.budget import BudgetDialog

        if self._has_book():
            self._tell(await self.app.push_screen_wait(BudgetDialog(self.bench, self.book)))

    def action_agent_view(self) -> None:
        """Show the text that an agent would be given."""
        from workbench.tui.playbook.budget import AgentDialog

        if self._has_book():
            self.app.push_screen(AgentDialog(self.bench, self.book, self.copy))

    @asking
    async def action_suggestions(self) -> None:
        """Read what a Curator or a Reflector answered, from a file or pasted, or ask Claude; decide
        card by card.
        """
        from workbench.tui.playbook.curation import AskDialog, CardsDialog, SourcePrompt

        if not self._has_book():
            return
        app, said, text = self.workbench_app, None, None
        prompt = SourcePrompt(can_ask=not self.bench.curation.missing, check=self._unreadable)
        name = await app.push_screen_wait(prompt)
        if prompt.wants_claude:
            said = await app.push_screen_wait(
                AskDialog(self.bench, self.book, app.marked("stream"))
            )
        elif name:
            text = self._text_of(name)
        elif name is not None:
            text = await app.push_screen_wait(TextEditor(keyed(PASTE), "", limit=1_000_000))
        with app.reporting():
            if text is not None:
                reply = self.bench.curating.read(text)
                said = await app.push_screen_wait(CardsDialog(self.bench, self.book, reply))
        self._tell(said)

    def _tell(self, said: str | None) -> None:
        """Say what was done in a dialog."""
        if said:
            self.say(said)

    def _text_of(self, name: str) -> str:
        return self.bench.curating.text_of(Path(name).expanduser())

    def _unreadable(self, name: str) -> str | None:
        """Say why a file cannot be read; an empty name stands for pasting."""
        try:
            if name:
                self._text_of(name)
        except (WorkbenchError, RuntimeError) as error:
            return str(error)
        return None

    @asking
    async def action_export(self) -> None:
        """Show the exact text and what it changes, then write it."""
        if not self._has_book() or self.view is None:
            return
        book = self.book
        dialog = ExportDialog(self.bench, book, self.copy, self._exported.get(book))
        written = await self.app.push_screen_wait(dialog)
        if written is not None:
            self._exported[book] = written
            self.say(written_said(written))


def _wordings(view: BookView) -> list[str]:
    book = view.playbook.book
    of = f" of {number(book.budget)}" if book.budget else ""
    over = " ✂ over" if 0 < book.budget < view.tokens else ""
    tokens = f"≈ {number(view.tokens)}{of} tokens{over}"
    bullets = bullets_in(len(view.playbook.bullets))
    form = "with counts" if book.dialect == "counts" else book.dialect
    sections = amount(
        sum(bool(section.title.strip()) for section in view.playbook.sections), "section"
    )
    return [
        f"format: {form} · {bullets} in {sections} · {tokens} (estimated)",
        f"{form} · {bullets} · {tokens}",
        f"{bullets} · {tokens}",
    ]


def _outlined(row: Row, width: int) -> list[Cell]:
    """Return a heading with its numbers of bullets and tokens."""
    title, tokens = printable(title_of(row.section)[: 4 * width]), f"≈{number(row.tokens)}"
    return [
        Cell(title),
        Cell(str(row.count), 4, "", "right"),
        Cell(tokens, max(7, len(tokens)), MUTED, "right"),
    ]


def _first_bullet(rows: Sequence[Row]) -> int:
    return next((i for i, row in enumerate(rows) if row.bullet is not None), 0)
