"""Markdown as separate statements: list items, paragraphs and code under their headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workbench.core.text import clean_for_store
from workbench.formats.shared.textedit import Line, lines

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_ITEM = re.compile(r"( {0,3})(?:[-*+]|[0-9]{1,9}[.)])([ \t]+)(?=\S)")
_RULE = re.compile(r" {0,3}(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*$")

Kind = Literal["item", "text", "code", "comment"]


@dataclass(frozen=True, slots=True)
class Statement:
    """One list item, paragraph, code block or comment, with the line it starts on and the heading above it."""

    kind: Kind
    line: int
    text: str
    section: str = ""


def front_matter(text: str) -> tuple[dict[str, str], int]:
    """Return the `key: value` lines between the dashes a text begins with, and how many lines they take."""
    found = list(lines(text))
    if not found or found[0].text.strip() != "---":
        return {}, 0
    out: dict[str, str] = {}
    for count, line in enumerate(found[1:200], 2):
        if line.text.strip() == "---":
            return out, count
        key, colon, value = line.text.partition(":")
        if colon and value.strip():
            out.setdefault(clean_for_store(key.strip()), clean_for_store(value.strip().strip("\"'")))
    return {}, 0


def statements(text: str, skip: int = 0) -> Iterator[Statement]:
    """Yield the statements of `text` after its first `skip` lines."""
    section = ""
    gathered: list[Line] = []
    gap = comment = False
    for line in lines(text):
        if line.number <= skip:
            continue
        heading = None if line.code or comment else _HEADING.match(line.text)
        if heading or _begins(line, gathered, gap, comment):
            yield from _made(gathered, section)
            gathered = []
        if heading:
            section = heading[2] or ""
        elif line.text.strip() or (gathered and (line.code or comment)):
            if gap and gathered and gathered[-1].text.strip():
                gathered.append(Line(line.number, line.start, ""))
            gathered.append(line)
            comment = _in_comment(gathered)
        gap = not line.text.strip()
    yield from _made(gathered, section)


def _begins(line: Line, gathered: list[Line], gap: bool, comment: bool) -> bool:
    """Whether `line` does not belong to the statement that is being gathered."""
    if not gathered or comment or (line.code and gathered[-1].code) or not line.text.strip():
        return False
    item = _ITEM.match(gathered[0].text)
    if _RULE.match(gathered[0].text) or gathered[0].text.lstrip().startswith("<!--"):
        return True
    if line.text.lstrip().startswith("<!--") and not line.code:
        return True
    if _ITEM.match(line.text) and not line.code:
        return item is None or len(line.text) - len(line.text.lstrip()) <= len(item[1])
    if _RULE.match(line.text) and not line.code:
        return True
    indented = line.text[:1] in (" ", "\t")
    return gap and not (item is not None and indented)


def _in_comment(gathered: list[Line]) -> bool:
    first = gathered[0].text.lstrip()
    return first.startswith("<!--") and not any("-->" in line.text for line in gathered)


def _made(gathered: list[Line], section: str) -> Iterator[Statement]:
    if not gathered or (len(gathered) == 1 and _RULE.match(gathered[0].text)):
        return
    first = gathered[0]
    item = None if first.code else _ITEM.match(first.text)
    kind: Kind = "item" if item else "text"
    if first.code:
        kind = "code"
    elif first.text.lstrip().startswith("<!--"):
        kind = "comment"
    start = item.end() if item else 0
    body = [first.text[start:], *(_outdented(line.text, start) for line in gathered[1:])]
    yield Statement(kind, first.number, clean_for_store("\n".join(body).strip()), section)


def _outdented(text: str, width: int) -> str:
    margin = len(text) - len(text.lstrip(" "))
    return text[min(margin, width) :].rstrip()
