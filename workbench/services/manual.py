"""The manual: its pages, how one is found by a word, and a page as plain text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from textwrap import wrap
from typing import NamedTuple

from workbench.config.paths import PACKAGE
from workbench.core.record import WorkbenchError

FIRST = "index"
"""The page that leads to the others."""

FOLDER = PACKAGE / "help"

_ABOUT = re.compile(
    r"^- \[.+?\]\(([\w-]+)\.md\): (.+(?:\n  .+)*)|^\| `\d` \| .+? \| (.+?) \| \[.+?\]\(([\w-]+)\.md\)",
    re.M,
)
_COMMENT = re.compile(r"<!-- .*? -->\n*", re.DOTALL)
_PICTURE = re.compile(r"^!\[.*?\]\(.*?\)\n*", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
_EMPHASIS = re.compile(r"(?<![\w`*])(\*\*|\*)(?=\S)(.+?)(?<=\S)\1(?![\w*])")
_ITEM = re.compile(r"( *)(- |\d+\. )")
_LONGEST = 30
"""Cells of a word that a column of a table keeps whole."""

_MENTIONED = 4
"""Pages that are named for a word, at most."""


class Page(NamedTuple):
    """A page of the manual: the name of its file, its title, and what it is about in a few words."""

    name: str
    title: str
    about: str = ""

    @property
    def text(self) -> str:
        """Return its Markdown, without comments and pictures."""
        return _PICTURE.sub("", _COMMENT.sub("", (FOLDER / f"{self.name}.md").read_text("utf-8")))


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of a page with the text below it; `at` counts the headings from 0, the title."""

    page: Page
    at: int
    level: int
    title: str
    text: str = ""

    def holds(self, words: Sequence[str]) -> bool:
        """Tell whether all words are in it, or in the title of its page."""
        text = f"{self.page.title}\n{self.title}\n{self.text}".casefold()
        return all(word in text for word in words)


def sections(page: Page) -> list[Section]:
    """Return the sections of a page, in their order."""
    found: list[Section] = []
    fenced = False
    parts: list[list[str]] = []
    for line in page.text.splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("#") and not fenced:
            parts.append([line])
        elif parts:
            parts[-1].append(line)
    for at, (heading, *lines) in enumerate(parts):
        marks, _, title = heading.partition(" ")
        found.append(Section(page, at, len(marks), title, "\n".join(lines)))
    return found


def links(page: Page) -> list[str]:
    """Return the names of the pages that a page leads to, each once."""
    names = {other.name for other in pages()}
    return [
        name for name in dict.fromkeys(re.findall(r"\]\(([\w-]+)\.md", page.text)) if name in names
    ]


@cache
def pages() -> tuple[Page, ...]:
    """Return all pages, in the order in which the first one names them."""
    titles = {path.stem: _title(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.md"))}
    first = (FOLDER / f"{FIRST}.md").read_text("utf-8")
    abouts = {
        FIRST: "where to begin",
        **{found[1] or found[4]: found[2] or found[3] for found in _ABOUT.finditer(first)},
    }
    order = [name for name in abouts if name in titles]
    order += [name for name in titles if name not in abouts]
    return tuple(
        Page(name, titles[name], " ".join(abouts.get(name, "").split()).rstrip("."))
        for name in order
    )


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def find_page(topic: str) -> Page:
    """Return the page of a name or a title, or of the beginning of one. Raises `WorkbenchError` for
    none or several.
    """
    asked = _folded(topic)
    named = [page for page in pages() if asked in (page.name, _folded(page.title))]
    begun = [
        page
        for page in pages()
        if page.name.startswith(asked) or _folded(page.title).startswith(asked)
    ]
    found = named or begun
    if len(found) == 1:
        return found[0]
    if found and asked:
        raise WorkbenchError(
            f"Several pages begin with “{topic}”.",
            f"Choose one: {', '.join(p.name for p in found)}.",
        )
    raise WorkbenchError(
        f"There is no page “{topic}” in the manual.", _nearest(asked, topic.strip().casefold())
    )


def _nearest(asked: str, words: str) -> str:
    """Return which pages may be meant: by their names, else those that hold the words, the most
    often first.
    """
    import difflib

    names = {
        name: page.name
        for page in pages()
        for name in (page.name, *page.name.split("-"), _folded(page.title))
    }
    near = list(dict.fromkeys(names[name] for name in difflib.get_close_matches(asked, names, n=3)))
    if near:
        return f"Did you mean {' or '.join(near)}?"
    held = {page.name: page.text.casefold().count(words) for page in pages()}
    most = [name for name, times in sorted(held.items(), key=lambda one: -one[1]) if times][
        :_MENTIONED
    ]
    return (
        f"These pages mention it: {', '.join(most)}."
        if most and words
        else "`workbench help` lists the pages."
    )


def _folded(text: str) -> str:
    return "-".join(re.split(r"[\s_-]+", text.strip().casefold().removesuffix(".md")))


def plain(page: Page, width: int) -> str:
    """Return a page as plain text, wrapped to `width` cells."""
    lines: list[str] = []
    for block in _blocks(page.text):
        lines += [*_drawn(block, width), ""]
    return "\n".join(lines)


def _blocks(text: str) -> list[list[str]]:
    """Return the blocks of a page: headings, paragraphs, tables, lists as a whole, and fenced
    texts.
    """
    blocks: list[list[str]] = [[]]
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if line or fenced:
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _drawn(block: list[str], width: int) -> list[str]:
    first = block[0]
    if first.startswith("```"):
        return [f"  {line}".rstrip() for line in block[1:-1]]
    if first.startswith("#"):
        marks, _, title = first.partition(" ")
        rule = {1: "=", 2: "-"}.get(len(marks))
        return [title, rule * len(title)] if rule else [title]
    if first.startswith("|"):
        rows = [_cells(row) for row in block]
        return _table([row for row in rows if not set(row[0]) <= set("-")], width)
    items: list[str] = []
    for line in block:
        if _ITEM.match(line) or not items:
            items.append(line)
        else:
            items[-1] += f" {line.strip()}"
    return [line for item in items for line in _wrapped(item, width)]


def _wrapped(item: str, width: int) -> list[str]:
    mark = _ITEM.match(item)
    indent = " " * (mark.end() if mark else 0)
    return wrap(
        _inline(item),
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _inline(text: str) -> str:
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text))


def _cells(row: str) -> list[str]:
    parts = re.split(r"(?<!\\)\|", row.strip().removeprefix("|").removesuffix("|"))
    return [_inline(part.strip().replace("\\|", "|")) for part in parts]


def _table(rows: list[list[str]], width: int) -> list[str]:
    """Return a table in aligned columns; the widest ones are wrapped where it would be wider than
    `width`.
    """
    columns = [max(map(len, column)) for column in zip(*rows, strict=True)]
    least = [
        min(_LONGEST, max(len(w) for cell in column for w in (cell.split() or [""])))
        for column in zip(*rows, strict=True)
    ]
    while sum(columns) + 2 * (len(columns) - 1) > width and columns != least:
        at = max(range(len(columns)), key=lambda at: columns[at] - least[at])
        columns[at] -= 1
    lines: list[str] = []
    for row in rows:
        cells = [
            wrap(cell, wide, break_on_hyphens=False) or [""]
            for cell, wide in zip(row, columns, strict=True)
        ]
        for at in range(max(map(len, cells))):
            parts = (cell[at] if at < len(cell) else "" for cell in cells)
            lines.append(
                "  ".join(
                    f"{part:<{wide}}" for part, wide in zip(parts, columns, strict=True)
                ).rstrip()
            )
    return [lines[0], "-" * min(width, max(map(len, lines))), *lines[1:]]
