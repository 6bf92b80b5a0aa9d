"""The blocks of a .learnings file: headings, fields, sections, and where each value stands.

Three dialects stand side by side: `## 2026-02-22 — title` with `- **Category**: x | **Area**: y`,
`## [LRN-…] title` with the same fields, and `## [LRN-…] category` with `**Logged**:` lines and `###` sections.
The heading of an entry may stand one level deeper, and its id without brackets. Outside of entries a list item that
begins with a date is one, too.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from workbench.core.files.textedit import BLANKS, Line, Span, lines, plain, span

_NAMED = re.compile(r"##\s+\[(?P<id>[A-Za-z]+-[^\]\s]+)\]\s*(?P<title>.*)")
_BARE = re.compile(
    r"#{2,3}\s+(?:\[(?P<id>(?:LRN|ERR|FEAT)-[^\]\s]+)\]|(?P<bare>(?:LRN|ERR|FEAT)-[0-9][\w-]*))"
    r"\s*(?:[—–:-]+\s*)?(?P<title>.*)"
)
"""A heading one level deeper, or an id without brackets."""

_DATED = re.compile(r"##\s+(?P<id>[0-9]{4}-[0-9]{2}-[0-9]{2})(?![\w-])\s*(?:[—–:-]+\s*)?(?P<title>.*)")
_FIELD = re.compile(r"\*\*([^*:\n]{1,40}?)(?:\*\*:|:\*\*)[ \t]*")
_FIELDS = re.compile(r"[ \t]*(?:[-*][ \t]+)?\*\*[^*:\n]{1,40}?(?:\*\*:|:\*\*)")
_META = re.compile(r"[ \t]*[-*][ \t]+(?:\*\*)?([^:*\n]{1,40}?)(?:\*\*)?:(?:\*\*)?[ \t]*")
_DAY = r"(?P<id>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2})?Z?)?(?![\w-])"
_ITEM = re.compile(
    rf" ?[-*+][ \t]+(?:\[{_DAY}[ \t,|]*(?P<tag>[^\]\n]{{0,60}})\]|"
    rf"(?P<bold>\*\*|__)?[(`]?{_DAY.replace('<id>', '<day>')}[)`]?"
    r"(?(bold)(?:[ \t]*[—–:-]+[ \t]*(?P<title>[^*_\n]{1,80}?))?[ \t]*[—–:-]*(?P=bold)))"
    r"[ \t]*[—–:-]*[ \t]*(?<![0-9Z])(?=\S)"
)
_OWN = re.compile(r"[-*+#>|<`~]|[0-9]{1,9}[.)]|__")
"""How a line begins that does not go on with the item above it unless it is indented."""

METADATA = "Metadata"
BODY = "Text"
"""Stands for the text of an entry that is in neither a field nor a section."""


@dataclass(frozen=True, slots=True)
class Block:
    """One entry: from its heading to the next one. `id` is what stands in brackets, or the date.

    An `item` of a list has no fields; `under` is the heading that it stands below, `tag` what its brackets say more.
    """

    line: int
    start: int
    end: int
    id: str
    dated: bool
    title: Span
    fields: dict[str, Span] = field(default_factory=dict)
    sections: dict[str, Span] = field(default_factory=dict)
    meta: dict[str, Span] = field(default_factory=dict)
    fields_end: int = 0
    item: bool = False
    under: str = ""
    tag: str = ""


def blocks(text: str) -> Iterator[Block | Line]:
    """Yield the entries of a file, and the heading line of every section that is no entry."""
    found = list(lines(text))
    heads = [n for n, line in enumerate(found) if not line.code and _is_head(line.text)]
    yield from _items(text, found[: heads[0] if heads else len(found)], "")
    for head, stop in zip(heads, [*heads, len(found)][1:], strict=True):
        line, part = found[head], found[head:stop]
        end = found[stop].start if stop < len(found) else len(text)
        match = _NAMED.match(line.text) or _DATED.match(line.text) or _BARE.match(line.text)
        if match is not None:
            yield _block(text, part, end, match)
            continue
        items = list(_items(text, part[1:], line.text.strip("# \t") if line.text.startswith("##") else ""))
        yield from items
        if not items and line.text.startswith("##"):
            yield line


def _items(text: str, part: Sequence[Line], under: str) -> Iterator[Block]:
    """Yield the items of lists that begin with a day, each with what goes on with it."""
    at = 0
    while at < len(part):
        line, at = part[at], at + 1
        match = None if line.code else _ITEM.match(line.text)
        if match is None:
            continue
        last = at
        while at < len(part) and _goes_on(part, at):
            at += 1
            last = at if part[at - 1].text.strip() else last
        at = last
        end = part[last].start if last < len(part) else _after(text, part[last - 1].end)
        said = span(text, line.start + match.end(), part[last - 1].end, line.number)
        first, *more = said.text.split("\n")
        body = Span(said.start, said.end, said.line, "\n".join((first, *(other.strip(BLANKS) for other in more))))
        name = span(
            text, line.start + max(match.start("title"), 0), line.start + max(match.end("title"), 0), line.number
        )
        day, tag = match["id"] or match["day"], (match["tag"] or "").strip()
        yield Block(line.number, line.start, end, day, True, name, {}, {BODY: body}, item=True, under=under, tag=tag)


def _goes_on(part: Sequence[Line], at: int) -> bool:
    """Tell whether a line belongs to the item above it: it is indented, or nothing of its own; or blank before such."""
    line = part[at].text
    if not line.strip():
        return at + 1 < len(part) and part[at + 1].text.startswith(("  ", "\t")) and bool(part[at + 1].text.strip())
    return line.startswith(("  ", "\t")) or (bool(part[at - 1].text.strip()) and not _OWN.match(line.lstrip()))


def _after(text: str, at: int) -> int:
    """Return where the line after the one that ends at a place starts."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _is_head(line: str) -> bool:
    return re.match(r"##?(?:\s|$)", line) is not None or (line.startswith("###") and _BARE.match(line) is not None)


def _block(text: str, part: Sequence[Line], end: int, match: re.Match[str]) -> Block:
    head = part[0]
    title = span(text, head.start + match.start("title"), head.end, head.number)
    cut = next((n for n, line in enumerate(part) if n and _is_section(line)), len(part))
    fields = _fields(text, part[1:cut])
    name = match["id"] or match["bare"]
    block = Block(head.number, head.start, end, name, match.re is _DATED, title, fields, {}, {},
                  max((value.end for value in fields.values()), default=head.end))  # fmt: skip
    for first, last in _parts(part, cut):
        name = part[first].text.lstrip("#").strip()
        if name == METADATA:
            block.meta.update(_meta(text, part[first + 1 : last]))
            continue
        block.sections.setdefault(name, _body(text, part[first + 1 : last], part[first]))
    loose = [line for line in part[1:cut] if not fields or line.start >= block.fields_end]
    body = _body(text, loose, head)
    if body.text:
        block.sections.setdefault(BODY, body)
    return block


def _body(text: str, part: Sequence[Line], head: Line) -> Span:
    """Return the text of some lines without blank lines around it and a rule below it."""
    kept = list(part)
    while kept and kept[-1].text.strip(BLANKS) in ("", "---", "***"):
        kept.pop()
    if not kept:
        return Span(head.end, head.end, head.number, "")
    return span(text, kept[0].start, kept[-1].end, kept[0].number)


def _is_section(line: Line) -> bool:
    return not line.code and line.text.startswith("###")


def _parts(part: Sequence[Line], cut: int) -> Iterator[tuple[int, int]]:
    starts = [n for n in range(cut, len(part)) if _is_section(part[n])]
    yield from zip(starts, [*starts, len(part)][1:], strict=True)


def _fields(text: str, part: Sequence[Line]) -> dict[str, Span]:
    """Read `**Name**: value` lines; several may share a line, and indented lines go on with the last one."""
    out: dict[str, Span] = {}
    going_on: dict[str, list[Line]] = {}
    last = ""
    for line in part:
        if _FIELDS.match(line.text):
            for name, value in _values(text, line):
                out.setdefault(name, value)
                last = name
        elif last and line.text[:1] in (" ", "\t") and line.text.strip():
            going_on.setdefault(last, []).append(line)
        else:
            last = ""
    for name, more in going_on.items():
        old = out[name]
        said = "\n".join((old.text, *(plain(line.text.strip()) for line in more)))
        out[name] = Span(old.start, more[-1].end, old.line, said)
    return out


def _values(text: str, line: Line) -> Iterator[tuple[str, Span]]:
    marks = list(_FIELD.finditer(line.text))
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        value = line.text[mark.end() : following.start() if following else len(line.text)]
        if following:
            value = value.rstrip(" \t|")
        start = line.start + mark.end()
        yield mark[1].strip(), span(text, start, start + len(value), line.number)


def _meta(text: str, part: Sequence[Line]) -> Iterator[tuple[str, Span]]:
    for line in part:
        mark = _META.match(line.text)
        if mark:
            yield mark[1].strip(), span(text, line.start + mark.end(), line.end, line.number)
