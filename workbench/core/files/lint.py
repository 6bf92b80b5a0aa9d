"""One thing that is wrong with a file, and how it could be put right."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from workbench.core.text import clean_for_store

# Places in a text and changes to it, for formats that are Markdown.


_LINE = re.compile(r"[^\n]*(?:\n|$)")
_FENCES = ("```", "~~~")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_HASH = re.compile(r"^(\\*#{1,6}(?:\s|$))", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(\\*#{1,6}(?:\s|$))", re.MULTILINE)
_RULE = re.compile(r"^([ \t\r]*\\*)(---|\*\*\*)[ \t]*\Z", re.MULTILINE)
_ESCAPED_RULE = re.compile(r"^([ \t\r]*\\*)\\(---|\*\*\*)[ \t]*\Z", re.MULTILINE)
_ENDS = re.compile(r"\r+\n")

BLANKS = " \t\r\n"
"""What stands around a text in a file and is no part of it; other white space is somebody's."""

Edit = tuple[int, int, str]
"""Start, end and the text between them from now on."""


class Line(NamedTuple):
    """One line: its number, where it starts, its text without the line end, whether it is code in a
    fence, and where the next line starts.
    """

    number: int
    start: int
    text: str
    code: bool
    stop: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def lines(text: str) -> Iterator[Line]:
    """Yield the lines of `text`; a byte order mark belongs to none."""
    for line, _ in _fenced(text):
        yield line


def open_fence(text: str) -> str:
    """Return the mark of the code fence that is still open at the end of `text`, empty when none
    is.
    """
    fence = ""
    if any(map(text.__contains__, _FENCES)):
        for _, mark in _fenced(text):
            fence = mark
    return fence


def _fenced(text: str) -> Iterator[tuple[Line, str]]:
    """Yield the lines of `text`, each with the fence that is open after it."""
    at, fence = 1 if text.startswith("\ufeff") else 0, ""
    for number, found in enumerate(_LINE.finditer(text, at), 1):
        if found.start() == len(text) and number > 1:
            return
        body = found.group().rstrip("\r\n")
        mark = _FENCE.match(body)
        inside = bool(fence)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not body.strip().strip(fence[0]):
            fence = ""
        yield Line(number, found.start(), body, inside or mark is not None, found.end()), fence


_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_TITLE = re.compile(r" {0,3}[^\s\-*+#>|<\d:]")
"""How a line begins that signs below it may make a heading; no list item, quote or table."""


class Heading(NamedTuple):
    """A heading: its line, how deep it is (1–6), and what it says."""

    line: Line
    depth: int
    title: str


def heading_of(line: str) -> tuple[int, str] | None:
    """Return how deep a heading is and its text, without the signs that close it; `None` for none."""
    found = _HEADING.match(line)
    if found is None:
        return None
    text = (found[2] or "").rstrip(" \t")
    bare = text.rstrip("#")
    is_closed = bare != text and bare.endswith((" ", "\t"))
    return len(found[1]), bare.rstrip(" \t") if is_closed else text


def headings(found: Iterable[Line]) -> Iterator[Heading]:
    """Yield the headings among some lines, also those that are underlined."""
    above: Line | None = None
    for line in found:
        said = None if line.code else heading_of(line.text)
        mark = None if line.code else _UNDERLINE.match(line.text)
        if said is not None:
            yield Heading(line, *said)
        elif mark and above is not None and not above.text.rstrip().endswith((".", ":")):
            yield Heading(above, 1 if mark[1][0] == "=" else 2, above.text.strip())
        is_title = said is None and not line.code and _TITLE.match(line.text)
        above = line if is_title else None


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text from `start` to `end`, on which line it starts, and what it says."""

    start: int
    end: int
    line: int
    text: str


def span(text: str, start: int, end: int, line: int) -> Span:
    """Return the part of `text` between two places without the white space around it."""
    raw = text[start:end]
    body = raw.strip(BLANKS)
    first = start + len(raw) - len(raw.lstrip(BLANKS)) if body else start
    return Span(first, first + len(body), line + text.count("\n", start, first), plain(body))


def plain(raw: str) -> str:
    """Return the meaning of a raw text: line feeds only, no escapes of what would be a heading or a
    rule, no NUL.
    """
    return clean_for_store(
        _ESCAPED_RULE.sub(r"\1\2", _ESCAPED.sub(r"\1", raw.replace("\r\n", "\n")))
    )


def raw(value: str, newline: str) -> str:
    """Write a text such that none of its lines is a heading, and the last one no rule, which ends
    an entry.
    """
    text = _ENDS.sub("\n", value.strip(BLANKS))
    return _RULE.sub(r"\1\\\2", _HASH.sub(r"\\\1", text)).replace("\n", newline)


def newline_of(text: str) -> str:
    """Return the line end that `text` uses first."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def applied(text: str, edits: list[Edit]) -> str:
    """Return `text` with all edits made; one inside an earlier one is left out, an overlap is taken
    once.
    """
    out: list[str] = []
    at = 0
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
        if start < at and end <= at:
            continue
        out += [text[at : max(start, at)], new]
        at = end
    return "".join(out) + text[at:]


Rule = Literal[
    "duplicate-id", "duplicate-text", "wrong-slug", "orphan-line", "text-above", "deep-heading", "loose-bullet",
    "bad-counts", "no-others", "over-cap", "broken-link", "unindexed", "dangling-reference", "unreadable",
]  # fmt: skip
RULES: tuple[Rule, ...] = get_args(Rule)

COMPARED = 100
"""Records with one text that another one with it is compared with at most; they may all be about
other things.
"""


@dataclass(frozen=True, slots=True)
class Fix:
    """What a person can let happen: said in a few words, as edits of the file and as other files to
    write.

    `beside` are pairs of a file's name, relative to the one looked at, and its whole text.
    """

    label: str
    edits: tuple[Edit, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()

    def applied(self, text: str) -> str:
        """Return the file's text with the edits made."""
        return applied(text, list(self.edits))


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing that is wrong: where (`line` counts from 1), by which rule, and in one sentence.

    `kind` is what findings of one rule share that are of several kinds.
    """

    file: str
    line: int
    rule: Rule
    message: str
    fix: Fix | None = None
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"
