"""The manual in the app: a page beside the list of pages, search in all of them, and links from one
to another.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import Any, TypeVar

from textual import events, on
from textual.app import App
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, Markdown, Static

from workbench.core.words import words
from workbench.services.manual import FIRST, Page, Section, links, pages, sections
from workbench.tui.actions import HELP, MANUAL, READ_ON
from workbench.tui.app.actions import Action, HelpGroup, bindings, help_groups
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import Area
from workbench.tui.widgets.content import BLANK, MUTED, assemble, body, fitted, joined
from workbench.tui.widgets.dialog import Choice, Choose, Dialog, SafeInput
from workbench.tui.widgets.line_list import Cell, LineView

R = TypeVar("R")

_BESIDE = 100
"""Columns from which on the list of pages stands beside the text."""

_NO_MATCH = "No page has these words."


def open_manual(app: App[Any], keys: Callable[[], None], page: str = "") -> None:
    """Open the manual at a page, or else at that of the area in sight or below; `keys` shows those
    of what is below.
    """

    def closed(wants_keys: bool | None) -> None:
        if wants_keys:
            keys()

    area = _area_of(app)
    app.push_screen(ManualScreen(page or (area.page if area else FIRST)), closed)


def _area_of(app: App[Any]) -> Area | None:
    """Return the area in sight or below."""
    screens = (screen for screen in reversed(app.screen_stack) if isinstance(screen, AreaScreen))
    return next((screen.area for screen in screens), None)


class SearchDialog(Dialog[R]):
    """A dialog with words to look for, out of sight until somebody does."""

    HINT = ""

    def __init__(self, title: str, offered: Iterable[Action]) -> None:
        super().__init__(title, offered)
        self.box = SafeInput(placeholder=self.HINT)
        self.box.display = False

    def action_find(self) -> None:
        """Go to the words to look for."""
        self.box.display = True
        self.set_focus(self.box)

    def let_go(self) -> bool:
        """Let go of the words; tell whether there were any to let go of."""
        was_shown = self.box.display
        self.box.value, self.box.display = "", False
        return was_shown


class ManualScreen(SearchDialog[bool]):
    """A page of the manual; the result is whether the keys of what is below are asked for."""

    HINT = "search all pages, such as budget export"
    BINDINGS = bindings((*MANUAL, READ_ON))
    DEFAULT_CSS = """
    ManualScreen {
        & > .dialog { width: 100%; max-width: 140; height: 100%; }
        & SafeInput { margin-bottom: 1; background: $background; }
        & Horizontal { height: 1fr; }
        & LineView { width: 32; margin-right: 1; }
        & VerticalScroll { width: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
        & Markdown { padding: 0; }
        & MarkdownH1, & MarkdownH2, & MarkdownH3, & MarkdownH4 { content-align: left middle; margin: 1 0; }
        & MarkdownH1 { margin-top: 0; }
        & MarkdownFence { margin: 0 0 1 0; }
        & MarkdownFence > Label { padding: 0 1; width: 1fr; text-wrap: wrap; }
        & MarkdownTableContent { keyline: none; grid-gutter: 0 1; }
        & MarkdownTableContent > .cell, & MarkdownTableContent > .header { padding: 0; }
    }
    ManualScreen.-narrow {
        & LineView { display: none; }
        &.-listing LineView { display: block; width: 1fr; margin-right: 0; }
        &.-listing VerticalScroll { display: none; }
    }
    """

    def __init__(self, page: str, title: str = "") -> None:
        """Open a page at the first section whose title begins so."""
        super().__init__("Manual", [action for action in MANUAL if action.show])
        self._page, self._title = _page(page), title
        self._past: list[Section] = []

    def contents(self) -> Iterable[Widget]:
        """Return the words to look for, the list of pages, and the page."""
        yield self.box
        places: LineView[Section] = LineView(
            self._draw, lambda row: (row.page.name, row.at), empty=Content(_NO_MATCH)
        )
        yield Horizontal(places, VerticalScroll(Markdown(open_links=False)))

    @on(events.Mount)
    async def _begin(self) -> None:
        self._text.focus()
        first, *others = sections(self._page)
        named = (one for one in others if self._title and one.title.startswith(self._title))
        await self._show(next(named, first))

    def on_resize(self, event: events.Resize) -> None:
        """Put the list beside the text where there is room for both."""
        self.set_class(event.size.width < _BESIDE, "-narrow")

    @property
    def _text(self) -> VerticalScroll:
        return self.query_one(VerticalScroll)

    @property
    def _words(self) -> list[str]:
        return self.box.value.casefold().split()

    def _draw(self, section: Section, width: int) -> list[Cell]:
        del width
        if self._words:
            where = f" · {section.page.title}" if section.at else ""
            return [Cell(Content.assemble(section.title, (where, MUTED)))]
        is_open = section.page == self._page
        return [
            Cell(
                Content.styled(
                    f"{'  ' if section.at else ''}{section.title}", "bold" if is_open else ""
                )
            )
        ]

    def _list(self) -> None:
        """List what holds the words; without words the pages, and the parts of the one that is
        shown.
        """
        words = self._words
        if words:
            found = [
                section for page in pages() for section in sections(page) if section.holds(words)
            ]
            found.sort(
                key=lambda section: not all(word in section.title.casefold() for word in words)
            )
            self.rows.set_rows(found, cursor=0)
            return
        rows: list[Section] = []
        for page in pages():
            first, *others = sections(page)
            rows += [
                first,
                *(part for part in others if page == self._page and part.level == first.level + 1),
            ]
        at = next(at for at, row in enumerate(rows) if row.page == self._page)
        self.rows.set_rows(rows, cursor=at)

    async def _show(self, section: Section) -> None:
        """Show a section of a page, from its heading on."""
        document = self.query_one(Markdown)
        if section.page != self._page or not document.source:
            self._page = section.page
            await document.update(section.page.text)
            if not self._words:
                self._list()
        heading = document.table_of_contents[section.at][2] if section.at else None
        self.call_after_refresh(self._scroll, heading)

    def _scroll(self, heading: str | None) -> None:
        if heading is None:
            self._text.scroll_home(animate=False)
        else:
            self._text.scroll_to_widget(self.query_one(f"#{heading}"), top=True, animate=False)

    async def _go(self, section: Section) -> None:
        """Show a section, from which `action_previous_page` leads back, and let it scroll."""
        self._past.append(sections(self._page)[0])
        self.remove_class("-listing")
        self._text.focus()
        await self._show(section)

    async def _follow(self, target: str) -> None:
        name, _, _ = target.partition("#")
        if any(page.name == PurePath(name).stem for page in pages()):
            await self._go(sections(_page(PurePath(name).stem))[0])

    @on(Markdown.LinkClicked)
    async def _link_clicked(self, event: Markdown.LinkClicked) -> None:
        event.stop()
        await self._follow(event.href)

    @on(LineView.Opened)
    async def _opened(self) -> None:
        if (section := self.rows.current) is not None:
            await self._go(section)

    @on(Input.Changed)
    def _typed(self) -> None:
        self.set_class(bool(self._words), "-listing")
        self._list()

    @on(Input.Submitted)
    def _found(self) -> None:
        if self._words:
            self.rows.focus()
        else:
            self.action_close()

    def action_contents(self) -> None:
        """Go to the list of pages, or from it back to the text."""
        to_list = not self.rows.has_focus
        self.set_class(to_list, "-listing")
        (self.rows if to_list else self._text).focus()

    def action_follow(self) -> None:
        """Ask which link of the page to follow."""

        async def follow(target: str | None) -> None:
            if target is not None:
                await self._follow(target)

        choices = [Choice(name, _page(name).title, "") for name in links(self._page)]
        self.app.push_screen(Choose("Follow a link", choices), follow)

    async def action_previous_page(self) -> None:
        """Go back to the page before."""
        if self._past:
            await self._show(self._past.pop())

    def action_page_down(self) -> None:
        """Read on."""
        self._text.scroll_page_down(animate=False)

    def action_keys(self) -> None:
        """Show the keys of what is below, in place of the manual."""
        self.dismiss(True)

    def action_close(self) -> None:
        """Let go of the words, or of the list where it hides the text, or close the manual."""
        if self.let_go():
            self._list()
        elif not (self.has_class("-narrow") and self.has_class("-listing")):
            self.dismiss(False)
            return
        self.remove_class("-listing")
        self._text.focus()


def _page(name: str) -> Page:
    return next(page for page in pages() if page.name == name)


# The help: every key of what is open, by group, and the words of the filter.


_TWO_COLUMNS = 76
NO_MATCH = "Nothing found. Ctrl+p searches the actions of all areas."
_KEYS = 9
_KEY = "key"
"""What a row knows of itself: the name of its key."""

_SECOND = re.compile(r" +\S.*?\s{2,}(?=\S)")
"""An indented line up to its second column."""


class HelpScreen(SearchDialog[None]):
    """Every action with its keys, in one or two columns, then `more` (such as the filter's words).

    A click on a row closes the help and presses its key, so that the mouse reaches every action.
    Words narrow it to the rows that hold them all, or other words for them.
    """

    HINT = "search, such as delete or sort"
    BINDINGS = bindings(HELP)
    DEFAULT_CSS = """
    HelpScreen {
        & > .dialog { width: 110; height: 90%; }
        & VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
        & SafeInput { margin-bottom: 1; background: $background; }
    }
    """

    def __init__(self, title: str, actions: Sequence[Action], more: str = "") -> None:
        super().__init__(f"{title} · a click on a row presses its key", HELP)
        self._groups = help_groups(actions)
        self._more = more

    def contents(self) -> Iterable[Widget]:
        """Return the words to look for, the scrolled table and the further text."""
        yield self.box
        yield VerticalScroll(Static(BLANK, id="keys"), Static(BLANK, id="more"))

    def on_mount(self) -> None:
        """Let the keys scroll."""
        self.query_one(VerticalScroll).focus()

    def on_resize(self, event: events.Resize) -> None:
        """Lay the table out for the width there is."""
        self._show(event.size.width)

    def on_input_changed(self) -> None:
        """Show what holds the words."""
        self._show(self.size.width)
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def on_input_submitted(self) -> None:
        """Let the keys scroll what was found."""
        self.query_one(VerticalScroll).focus()

    def _show(self, screen: int) -> None:
        width = min(110, screen) - 5
        groups, more = narrowed(self._groups, self._more, words(self.box.value))
        table = help_table(groups, width) if groups or more else Content(NO_MATCH)
        self.query_one("#keys", Static).update(table)
        self.query_one("#more", Static).update(body(hanging(more, width)))

    def action_symbols(self) -> None:
        """Open the page of the symbols over this, at those of the area."""
        area = _area_of(self.app)
        self.app.push_screen(ManualScreen("symbols", area.title if area else ""))

    def on_click(self, event: events.Click) -> None:
        """Press the key of the row under the mouse."""
        key = event.style.meta.get(_KEY)
        if isinstance(key, str):
            event.stop()
            self.dismiss(None)
            self.app.call_later(self.app.simulate_key, key)

    def action_close(self) -> None:
        """Let go of the words that are looked for, or close the help."""
        if self.let_go():
            self.query_one(VerticalScroll).focus()
        else:
            self.dismiss(None)


def narrowed(
    groups: Sequence[HelpGroup], more: str, asked: list[str]
) -> tuple[Sequence[HelpGroup], str]:
    """Return the rows, and the indented lines of the further text, that hold all words or others
    for them.

    The groups with the words themselves come first.
    """
    if not asked:
        return groups, more
    from workbench.tui.app.palette import described  # most people only look

    found: list[tuple[float, HelpGroup]] = []
    for group in groups:
        rows = zip(group.rows, group.keys, group.labels, strict=True)
        fits = [(described(asked, " ".join((*row[0], row[2]))), row) for row in rows]
        kept = [row for fit, row in fits if fit]
        if kept:
            found.append(
                (max(fit for fit, _ in fits), HelpGroup(group.title, *zip(*kept, strict=True)))
            )
    found.sort(key=lambda one: -one[0])
    return [group for _, group in found], "\n".join(
        line for line in more.split("\n") if line.startswith("  ") and described(asked, line)
    )


def hanging(text: str, width: int) -> str:
    """Return a text wrapped to `width`; what continues a line stands below the second column, where
    it has one.
    """
    wrapped: list[str] = []
    for row in text.split("\n"):
        column = _SECOND.match(row)
        indent = " " * (
            column.end() if column and column.end() <= width // 2 else len(row) - len(row.lstrip())
        )
        wrapped += textwrap.wrap(row, width, subsequent_indent=indent, break_on_hyphens=False) or [
            ""
        ]
    return "\n".join(wrapped)


def help_table(groups: Sequence[HelpGroup], width: int) -> Content:
    """Return the groups below each other, or in two columns of like length where the width allows."""
    blocks = [_block(group) for group in groups]
    if width < _TWO_COLUMNS:
        return joined(*[line for block in blocks for line in block])
    left: list[Content] = []
    right: list[Content] = []
    for block in blocks:
        (left if len(left) <= len(right) else right).extend(block)
    column = width // 2 - 1
    rows = max(len(left), len(right))
    pairs = zip(_filled(left, rows), _filled(right, rows), strict=True)
    return joined(
        *[fitted(one, column) + Content("  ") + fitted(two, column) for one, two in pairs]
    )


def _block(group: HelpGroup) -> list[Content]:
    rows = [
        assemble([(f"{keys:<{_KEYS}} ", "bold $text-accent"), (text, "")]).stylize(
            Style.from_meta({_KEY: key})
        )
        for (keys, text), key in zip(group.rows, group.keys, strict=True)
    ]
    return [Content.styled(group.title, "bold underline"), *rows, BLANK]


def _filled(lines: list[Content], rows: int) -> list[Content]:
    return lines + [BLANK] * (rows - len(lines))
