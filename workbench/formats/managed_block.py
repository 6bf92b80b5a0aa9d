"""The managed block: the part of a person's Markdown file that is written from the store.

It stands between two marker lines and holds one list item per entry, under a heading of its own
where the file has headings: else it would be read as part of the last one's. All functions are from
text to text; what is outside the markers stays as it is, character by character.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from workbench.core.files.lint import (
    BLANKS,
    Heading,
    Line,
    headings,
    lines,
    newline_of,
    open_fence,
)
from workbench.core.files.memory_md import front_matter
from workbench.core.record import WorkbenchError
from workbench.core.text import clean_for_store
from workbench.formats.claude_memory import BEGIN, END

HEADING = "Learned"
"""What stands above the entries of a block in a file with headings."""

_MARKER = re.compile(rf" {{0,3}}({re.escape(BEGIN)}|{re.escape(END)})[ \t]*\Z")
_ITEM = re.compile(r"-(?: |\Z)")
_OWN_HEADING = re.compile(rf"#{{1,2}} {HEADING}\s*\Z")
_BOM = "\ufeff"
_NAMED = 12


class BrokenBlock(WorkbenchError):
    """The markers in a file do not make one block, so nobody can tell what is inside."""


class Block(NamedTuple):
    """A block in a text, from `start` to `end` (the line end after its last marker is not part of
    it).

    `line` is the number of its first line; `items` are its list items as written, with `\\n`
    between their lines; what stands above the first item is one of them.
    """

    start: int
    end: int
    line: int
    items: tuple[str, ...]

    @property
    def entries(self) -> tuple[str, ...]:
        """The items, without empty ones and the heading that every block brings along."""
        return tuple(part for part in self.items if part.strip() and not _OWN_HEADING.match(part))


def item(text: str) -> str:
    """Return an entry as a list item: its further lines indented, unable to hold a marker or to
    leave a fence open.
    """
    plain = clean_for_store(text).replace("\r\n", "\n").replace("\r", "\n").strip()
    first, *rest = plain.replace("<!--", "&lt;!--").split("\n")
    body = [f"  {line}" if line.strip() else "" for line in (first, *rest)]
    # A fence that opens on the line of the dash would not be seen as one.
    head = ["-"] if open_fence(first) else []
    if not head:
        body[0] = f"- {first}"
    fence = open_fence("\n".join(body))
    return "\n".join((*head, *body, *([f"  {fence}"] if fence else [])))


def same(one: str, other: str) -> bool:
    """Tell whether two items say the same, but for blank lines around them and white space at line
    ends.
    """
    return _trimmed(one) == _trimmed(other)


def render(items: Sequence[str], newline: str = "\n") -> str:
    """Return a whole block, without a line end after it."""
    return "\n".join((BEGIN, *items, END)).replace("\n", newline)


def find(text: str) -> Block | None:
    """Return the block of a text, or `None`; raises `BrokenBlock` for markers that make no single
    block.

    A marker is a line of its own, not inside fenced code.
    """
    markers = [line for line in lines(text) if not line.code and _MARKER.match(line.text)]
    if not markers:
        return None
    kinds = [BEGIN in line.text for line in markers]
    if kinds != [True, False]:
        raise BrokenBlock(
            _complaint(markers, kinds), "Nothing was written; leave one begin and one end marker."
        )
    begin, end = markers
    body = text[begin.stop : end.start]
    return Block(begin.start, end.end, begin.number, tuple(_items(body)))


@dataclass(frozen=True, slots=True)
class Place:
    """A heading of a text: its line, its depth (1–6), the titles that lead to it, and where its own
    text ends.
    """

    line: int
    depth: int
    path: tuple[str, ...]
    end: int

    @property
    def name(self) -> str:
        """How it is called with those above it."""
        return " › ".join(self.path)


def places(text: str) -> tuple[Place, ...]:
    """Return the headings of a text, those in front matter and code left out, in their order."""
    found, out, above = list(_headings(text)), list[Place](), list[Heading]()
    stops = [*(one.line.start for one in found), len(text)]
    for one, stop in zip(found, stops[1:], strict=True):
        above = [*(other for other in above if other.depth < one.depth), one]
        # A block of ours at the end of a section is no part of its text.
        end = one.line.start + len(text[one.line.start : stop].rstrip(BLANKS))
        out.append(Place(one.line.number, one.depth, tuple(each.title for each in above), end))
    return tuple(out)


def _headings(text: str) -> Iterator[Heading]:
    _, skip = front_matter(text)
    return headings(line for line in lines(text) if line.number > skip)


def section_of(text: str, name: str, shown: Callable[[str], str] = str) -> Place:
    """Return the heading that a person means: its title, or the titles that lead to it parted by
    `›` or `>`.

    Raises `WorkbenchError` when there is none, or more than one; it names those there are as they
    may be `shown`.
    """
    wanted = [part.strip(" #").casefold() for part in re.split(r"[›>]", name)]
    every = places(text)
    found = [
        one for one in every if [part.casefold() for part in one.path[-len(wanted) :]] == wanted
    ]
    if len(found) == 1:
        return found[0]
    known = ", ".join(f"{shown(one.name)} (line {one.line})" for one in (found or every)[:_NAMED])
    if found:
        raise WorkbenchError(
            f"{len(found)} sections are called “{shown(name)}”.",
            f"Choose one by its path: {known}.",
        )
    raise WorkbenchError(
        f"There is no section “{shown(name)}”.",
        f"There are: {known or 'none'}. Nothing was written.",
    )


def lead_of(text: str) -> int:
    """Return how many line ends go between a text and a block at its end: so many that a blank line
    parts them.
    """
    plain = text.removeprefix(_BOM).replace("\r\n", "\n")
    if not plain:
        return 0
    return (
        2
        if not plain.endswith("\n")
        else 1
        if plain.strip("\n") and not plain.endswith("\n\n")
        else 0
    )


def written(text: str, items: Sequence[str], lead: int = 0, section: str = "") -> str:
    """Return a text whose block holds these items; without items, its heading aside, it has no
    block.

    A block that is not there yet goes to the end, `lead` line ends below (see `lead_of`), with a
    heading where the text has any; or to the end of a `section`, parted by a blank line. One that
    is taken out takes as many along. Raises `BrokenBlock`, also when the end of the text is code,
    and `WorkbenchError` when there is no such section.
    """
    block = find(text)
    kept = [part for part in items if part.strip()]
    kept = [] if all(map(_OWN_HEADING.match, kept)) else kept
    newline = newline_of(text)
    if block is not None and kept:
        return text[: block.start] + render(items, newline) + text[block.end :]
    if block is not None:
        return _without(text, block, lead, inside=bool(section))
    if not kept:
        return text
    if section and (place := section_of(text, section).end) < len(text.rstrip(BLANKS)):
        out = text[:place] + newline * 2 + render(items, newline) + text[place:]
        _require_in_sight(text, out)
        return out
    final = newline if not text.removeprefix(_BOM) or text.endswith("\n") else ""
    heading = () if section else _heading(text)
    out = text + newline * lead + render((*heading, *items), newline) + final
    _require_in_sight(text, out)
    return out


def _heading(text: str) -> Iterator[str]:
    """Yield the heading of a new block: as deep as what parts the text, none where nothing does."""
    depths = [one.depth for one in _headings(text)]
    if depths:
        yield f"{'#' if depths.count(1) > 1 else '##'} {HEADING}\n"


def _without(text: str, block: Block, lead: int, *, inside: bool) -> str:
    before = text[: block.start]
    after = text[block.end :]
    if inside and after.strip(BLANKS):
        for end in ("\r\n\r\n", "\n\n"):
            if before.endswith(end):
                return before.removesuffix(end) + after
    for end in ("\r\n", "\n"):
        if after.startswith(end):
            after = after.removeprefix(end)
            break
    for _ in range(min(lead, 2) if not after else 0):
        before = (
            before.removesuffix("\r\n") if before.endswith("\r\n") else before.removesuffix("\n")
        )
    return before + after


def _require_in_sight(text: str, out: str) -> None:
    """Refuse to put a block where its own markers would be taken for code."""
    if find(out) is not None:
        return
    opened, inside = 0, False
    for line in lines(text):
        opened = line.number if line.code and not inside else opened
        inside = line.code
    raise BrokenBlock(
        f"The code fence of line {opened} is never closed.", "Nothing was written; close it first."
    )


def _items(body: str) -> Iterator[str]:
    gathered: list[str] = []
    for line in lines(body) if body else ():
        if _ITEM.match(line.text) and gathered:
            yield "\n".join(gathered)
            gathered = []
        gathered.append(line.text)
    if gathered:
        yield "\n".join(gathered)


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _complaint(markers: Sequence[Line], kinds: Sequence[bool]) -> str:
    places = ", ".join(
        f"{'begin' if kind else 'end'} on line {line.number}"
        for line, kind in zip(markers, kinds, strict=True)
    )
    return f"The markers of the managed block are not one pair: {places}."
