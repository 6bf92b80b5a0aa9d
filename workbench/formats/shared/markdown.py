"""Markdown as separate statements: list items, paragraphs and code under their headings."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from workbench.core.files.lint import (
    BLANKS,
    Edit,
    Line,
    Span,
    applied,
    heading_of,
    lines,
    newline_of,
    open_fence,
    raw,
    span,
)
from workbench.core.text import clean_for_store
from workbench.formats.shared.values import FreeNames, slug

_ITEM = re.compile(r"( {0,3})(?:[-*+]|[0-9]{1,9}[.)])([ \t]+)(?=\S)")
_RULE = re.compile(r" {0,3}(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*$")

Kind = Literal["item", "text", "code", "comment"]


@dataclass(frozen=True, slots=True)
class Statement:
    """One list item, paragraph, code block, comment or section, with the line it starts on and the
    heading above it.

    It stands from `start` to `end` of the file. `mark` characters stand before its text, and its
    further lines are indented as far as `indent`. Of a section, `head` characters are its own
    heading, which says its `title`.
    """

    kind: Kind
    line: int
    text: str
    section: str = ""
    start: int = 0
    end: int = 0
    mark: int = 0
    indent: int = 0
    head: int = 0
    title: str = ""


def statements(text: str, skip: int = 0) -> Iterator[Statement]:
    """Yield the statements of `text` after its first `skip` lines."""
    section = ""
    gathered: list[Line] = []
    opened: _Opened | None = None
    gap = comment = False
    for line in lines(text):
        if line.number <= skip:
            continue
        heading = None if line.code or comment else heading_of(line.text)
        if heading is not None or (
            opened is not None and not comment and _begins(line, opened, gathered[-1], gap)
        ):
            yield from _made(gathered, section, text)
            gathered, opened, comment = [], None, False
        if heading is not None:
            section = heading[1]
        elif line.text.strip() or (gathered and (line.code or comment)):
            if gap and gathered and gathered[-1].text.strip():
                gathered.append(Line(line.number, line.start, "", False, line.start))
            gathered.append(line)
            if opened is None:
                opened = _Opened.by(line)
                comment = opened.comment
            comment = comment and "-->" not in line.text
        gap = not line.text.strip()
    yield from _made(gathered, section, text)


class _Opened(NamedTuple):
    """What the first line of a statement is: how far its list item is indented, whether it is a
    comment or a rule.
    """

    item: int | None
    comment: bool
    rule: bool

    @classmethod
    def by(cls, line: Line) -> "_Opened":
        item = _ITEM.match(line.text)
        comment = line.text.lstrip().startswith("<!--")
        return cls(len(item[1]) if item else None, comment, _RULE.match(line.text) is not None)


def _begins(line: Line, opened: _Opened, last: Line, gap: bool) -> bool:
    """Whether `line` does not belong to the statement that was opened, and is no comment that goes
    on.
    """
    if (line.code and last.code) or not line.text.strip():
        return False
    if opened.rule or opened.comment:
        return True
    if line.text.lstrip().startswith("<!--") and not line.code:
        return True
    if _ITEM.match(line.text) and not line.code:
        return opened.item is None or len(line.text) - len(line.text.lstrip()) <= opened.item
    if _RULE.match(line.text) and not line.code:
        return True
    indented = line.text[:1] in (" ", "\t")
    return gap and not (opened.item is not None and indented)


def _made(gathered: list[Line], section: str, text: str) -> Iterator[Statement]:
    if not gathered or (len(gathered) == 1 and _RULE.match(gathered[0].text)):
        return
    first = gathered[0]
    item = None if first.code else _ITEM.match(first.text)
    kind: Kind = "item" if item else "text"
    if first.code:
        kind = "code"
    elif first.text.lstrip().startswith("<!--"):
        kind = "comment"
    width = item.end() if item else 0
    body = [first.text[width:], *(_outdented(line.text, width) for line in gathered[1:])]
    yield placed(kind, gathered, clean_for_store("\n".join(body).strip()), text, section, width)


def placed(
    kind: Kind, gathered: Sequence[Line], said: str, text: str, section: str = "", indent: int = 0
) -> Statement:
    """Return a statement that stands on some lines of `text`, of which none at either end is blank."""
    first = gathered[0]
    mark = indent or len(first.text) - len(first.text.lstrip())
    end = first.start + len(text[first.start : gathered[-1].end].rstrip(BLANKS))
    return Statement(kind, first.number, said, section, first.start, end, mark, indent)


def _outdented(text: str, width: int) -> str:
    margin = len(text) - len(text.lstrip(" "))
    return text[min(margin, width) :].rstrip()


# Markdown files whose sections are the memories: finding them, and writing one without touching the
# others.


_HIDING = re.compile(r"\A<!--|<!--(?=\s*META)", re.IGNORECASE)
_COMMENTS = re.compile(r"(?:\s*<!--.*?-->)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Part:
    """One section: its title (empty above the first one), a name no other has, where it stands, and
    its body.

    What a template says in comments below the heading is not part of the body; an empty body stands
    where one would be put.
    """

    title: str
    name: str
    line: int
    start: int
    end: int
    body: Span


def topic_of(text: str) -> str:
    """Return the title of the whole file, from its first `# ` heading."""
    return next(
        (
            line.text[2:].strip()
            for line in lines(text)
            if not line.code and line.text.startswith("# ")
        ),
        "",
    )


def parts(text: str, start: int = 0) -> Iterator[Part]:
    """Yield the sections below `##` headings from `start` on, and the texts above the first one."""
    found = [line for line in lines(text) if line.start >= start]
    heads = [line for line in found if not line.code and re.match(r"##?(?!#)(?:\s|$)", line.text)]
    stops = [*(line.start for line in heads), len(text)]
    names = FreeNames()
    if found and found[0].start < stops[0]:
        body = _body(text, found[0].start, stops[0], found[0].number)
        if body.text:
            yield Part("", names.give("top"), body.line, found[0].start, stops[0], body)
    for line, stop in zip(heads, stops[1:], strict=True):
        title = line.text.lstrip("#").strip() if line.text.startswith("##") else ""
        body = _body(text, line.end, stop, line.number)
        if not title and not body.text:
            continue
        yield Part(title, names.give(slug(title) or "top"), line.number, line.start, stop, body)


def _body(text: str, start: int, stop: int, line: int) -> Span:
    comments = _COMMENTS.match(text, start, stop)
    first = comments.end() if comments else start
    return span(text, first, stop, line + text.count("\n", start, first))


def rewritten(
    text: str,
    known: Mapping[str, Part],
    new: Mapping[str, str | None],
    added: Iterable[tuple[str, str]],
    keep: Collection[str] = (),
) -> str:
    """Return `text` with other bodies for some sections by name (None: without it), and new
    sections at the end.

    Bodies are as they stand in the file (`sections.body_of`). A section whose body goes keeps its
    heading when its title is one of `keep`; one without a body is filled.
    """
    newline = newline_of(text)
    edits: list[Edit] = []
    for name, value in new.items():
        part = known[name]
        if value and part.body.text:
            edits.append((part.body.start, part.body.end, value))
        elif value:
            edits.append((part.body.start, part.body.start, newline + value))
        elif part.title in keep or not part.title:
            after = text.find("\n", part.body.end, part.end) + 1
            edits.append((part.body.start, after or part.end, ""))
        else:
            edits.append((part.start, part.end, ""))
    end = [f"## {title}{newline}{newline}{value}" for title, value in added]
    return with_parts(applied(text, edits), end, newline)


def with_parts(text: str, added: Sequence[str], newline: str) -> str:
    """Return `text` with parts at its end, each below a blank line."""
    if not added:
        return text
    final = newline if text.endswith("\n") or not text else ""
    return (text.rstrip() + newline * 2 if text.strip() else "") + (newline * 2).join(added) + final


def body_of(value: str, newline: str) -> str:
    """Write a text as the body of a section: no line of it is a heading, no fence stays open, no
    comment hides it.
    """
    shown = _HIDING.sub(r"<\\!--", value.strip(BLANKS))
    fence = open_fence(shown)
    return raw(f"{shown}\n{fence}" if fence else shown, newline)
