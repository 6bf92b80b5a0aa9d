"""`.learnings` files: LEARNINGS.md, ERRORS.md and FEATURE_REQUESTS.md, three dialects in one file."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from workbench.core.files.format import Clues, Format, Parsed, ReadContext, Reason
from workbench.core.files.lint import (
    BLANKS,
    Edit,
    Line,
    Span,
    applied,
    lines,
    newline_of,
    plain,
    raw,
    span,
)
from workbench.core.record import iso
from workbench.core.stream.memory import FILE_KEY, Memory, Status
from workbench.formats.shared import values
from workbench.formats.shared.markdown import with_parts
from workbench.formats.shared.records import (
    NO_CONTEXT,
    at_time_of,
    digest,
    kept,
    made,
)
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import FreeNames, Notes, flat, slug

# The blocks of a .learnings file: headings, fields, sections, and where each value stands.
#
# Three dialects stand side by side: `## 2026-02-22 — title` with `- **Category**: x | **Area**: y`,
# `## [LRN-…] title` with the same fields, and `## [LRN-…] category` with `**Logged**:` lines and
# `###` sections. The heading of an entry may stand one level deeper, and its id without brackets.
# Outside of entries a list item that begins with a date is one, too.


_NAMED = re.compile(r"##\s+\[(?P<id>[A-Za-z]+-[^\]\s]+)\]\s*(?P<title>.*)")
_BARE = re.compile(
    r"#{2,3}\s+(?:\[(?P<id>(?:LRN|ERR|FEAT)-[^\]\s]+)\]|(?P<bare>(?:LRN|ERR|FEAT)-[0-9][\w-]*))"
    r"\s*(?:[—–:-]+\s*)?(?P<title>.*)"
)
"""A heading one level deeper, or an id without brackets."""

_DATED = re.compile(
    r"##\s+(?P<id>[0-9]{4}-[0-9]{2}-[0-9]{2})(?![\w-])\s*(?:[—–:-]+\s*)?(?P<title>.*)"
)
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

    An `item` of a list has no fields; `under` is the heading that it stands below, `tag` what its
    brackets say more.
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
        match = _NAMED.match(line.text) or _DATED.match(line.text) or _BARE.match(line.text)
        if match is not None:
            yield _block(text, part, match)
            continue
        under = line.text.strip("# \t") if line.text.startswith("##") else ""
        items = list(_items(text, part[1:], under))
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
        at, end = last, part[last - 1]
        said = span(text, line.start + match.end(), end.end, line.number)
        first, *more = said.text.split("\n")
        body = replace(said, text="\n".join((first, *(row.strip(BLANKS) for row in more))))
        yield Block(
            line.number, line.start, end.stop, match["id"] or match["day"], True, _title(text, line, match),
            sections={BODY: body}, item=True, under=under, tag=(match["tag"] or "").strip(),
        )  # fmt: skip


def _title(text: str, line: Line, match: re.Match[str]) -> Span:
    start, end = (line.start + max(at, 0) for at in match.span("title"))
    return span(text, start, end, line.number)


def _goes_on(part: Sequence[Line], at: int) -> bool:
    """Tell whether a line belongs to the item above it: it is indented, or nothing of its own; or
    blank before such.
    """
    line = part[at].text
    if not line.strip():
        return (
            at + 1 < len(part)
            and part[at + 1].text.startswith(("  ", "\t"))
            and bool(part[at + 1].text.strip())
        )
    return line.startswith(("  ", "\t")) or (
        bool(part[at - 1].text.strip()) and not _OWN.match(line.lstrip())
    )


def _is_head(line: str) -> bool:
    return re.match(r"##?(?:\s|$)", line) is not None or (
        line.startswith("###") and _BARE.match(line) is not None
    )


def _block(text: str, part: Sequence[Line], match: re.Match[str]) -> Block:
    head, *rest = part
    starts = [at for at, line in enumerate(rest) if not line.code and line.text.startswith("###")]
    stops = [*starts, len(rest)]
    above = rest[: stops[0]]
    fields = _fields(text, above)
    fields_end = max((value.end for value in fields.values()), default=head.end)
    sections, meta = dict[str, Span](), dict[str, Span]()
    for at, stop in zip(starts, stops[1:], strict=True):
        name = rest[at].text.lstrip("#").strip()
        if name == METADATA:
            meta.update(_meta(text, rest[at + 1 : stop]))
        else:
            sections.setdefault(name, _body(text, rest[at + 1 : stop], rest[at]))
    loose = [line for line in above if not fields or line.start >= fields_end]
    body = _body(text, loose, head)
    if body.text:
        sections.setdefault(BODY, body)
    return Block(
        head.number, head.start, part[-1].stop, match["id"] or match["bare"], match.re is _DATED,
        _title(text, head, match), fields, sections, meta, fields_end,
    )  # fmt: skip


def _body(text: str, part: Sequence[Line], head: Line) -> Span:
    """Return the text of some lines without blank lines around it and a rule below it."""
    kept = list(part)
    while kept and kept[-1].text.strip(BLANKS) in ("", "---", "***"):
        kept.pop()
    if not kept:
        return Span(head.end, head.end, head.number, "")
    return span(text, kept[0].start, kept[-1].end, kept[0].number)


def _fields(text: str, part: Sequence[Line]) -> dict[str, Span]:
    """Read `**Name**: value` lines; several may share a line, and indented lines go on with the
    last one.
    """
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


# One .learnings entry: from a block to a memory, and the edits that make the block say what a
# memory says.


NAME = "learnings"
_SAYS = (
    "Summary",
    "Requested Capability",
    "Context",
    "Learning",
    "Details",
    "Error",
    "User Context",
    BODY,
)
_TYPES = {
    "correction": "correction", "insight": "insight", "knowledge_gap": "discovery", "best_practice": "convention",
    "ERR": "failure",
}  # fmt: skip
_PRIORITIES = {"low": 3.0, "medium": 5.0, "high": 7.0, "critical": 9.0}
_STATUSES: dict[str, Status] = {
    "pending": "candidate", "in_progress": "candidate", "resolved": "confirmed", "promoted": "promoted",
    "promoted_to_skill": "promoted", "wont_fix": "archived",
}  # fmt: skip
_WRITTEN = {"signal": "pending", "candidate": "pending", "confirmed": "resolved", "promoted": "promoted",
            "archived": "wont_fix"}  # fmt: skip
_HELD = ("Status", "Priority", "Category")
_WRITES = frozenset((*_HELD, "Logged", "Summary", METADATA, BODY))
"""What a new block says by other means than the notes of a memory."""
_LONG = frozenset({
    "Details", "Suggested Action", "Resolution", "Requested Capability", "Context", "Learning", "Error", "User Context",
    "Suggested Fix", "Complexity Estimate", "Suggested Implementation",
})  # fmt: skip
"""The parts of an entry that are sections, however short they are."""
_PART = re.compile(r"[A-Z][\w&/-]*(?: [\w&/-]+){0,5}")
"""How the parts of an entry are called; notes of other kinds are not written."""
_ID_DATE = re.compile(r"-((?:19|20)[0-9]{2})([0-9]{2})([0-9]{2})(?:-|$)")


def entry(block: Block, name: str, text: str, context: ReadContext) -> tuple[Memory, Notes]:
    """Read one block as the memory called `name`. Raises `ValueError` when it does not say
    anything.
    """
    notes: Notes = []
    said, content = content_of(block)
    field = {key: value.text for key, value in block.fields.items()}
    title = block.title.text if said != "" else ""
    category = field.get("Category", "")
    if not category and re.fullmatch(r"[\w.-]+", title) and not block.dated:
        category, title = title, ""
    kind = _TYPES.get(block.id.partition("-")[0]) or _TYPES.get(category.lower(), "general")
    created = _created(block, context, notes)
    tags = (field.get("Area", ""), block.tag)
    status = _status(field.get("Status"), notes)
    memory = made(
        context,
        notes,
        name,
        content.text,
        created,
        kind,
        score=_importance(field.get("Priority"), notes),
        summary=title,
        memory_type="semantic",
        category=category,
        tags=tuple(tag for tag in tags if tag),
        section=block.under,
        status=status,
        archived_reason="rejected" if status == "archived" else None,
        metadata={
            **_rest(block, said),
            FILE_KEY: {
                "format": NAME,
                "name": title,
                "block": text[block.start : block.end].rstrip(),
            },
        },
    )
    return memory, notes


def content_of(block: Block) -> tuple[str, Span]:
    """Return which part of a block is the content (empty: its title) and where that stands."""
    for name in _SAYS:
        found = block.sections.get(name) or block.fields.get(name)
        if found is not None and found.text:
            return name, found
    return "", block.title


def _rest(block: Block, said: str) -> dict[str, object]:
    """Return the parts of a block that a memory has no field for."""
    out: dict[str, object] = {}
    for part in (block.fields, block.sections, block.meta):
        for name, value in part.items():
            if name != said and name not in _HELD and name not in out and value.text:
                out[name] = value.text
    return out


def _created(block: Block, context: ReadContext, notes: Notes) -> datetime:
    found = _ID_DATE.search(block.id)
    logged = (
        block.fields.get("Logged") or block.meta.get("First-Seen") or block.fields.get("First-Seen")
    )
    named = block.id if block.dated else "-".join(found.groups()) if found else ""
    for text in (logged.text if logged else "", named):
        try:
            at, _ = values.time(text)
        except ValueError:
            continue
        if isinstance(at, datetime):
            return at
    notes.append(("created_at", "set to the time of the import, the entry has none"))
    return context.now


def _status(text: str | None, notes: Notes) -> Status:
    known = _STATUSES.get((text or "").strip().lower())
    if text and known is None:
        notes.append(("Status", f"unknown status {shown(text)} read as candidate"))
    elif known is not None:
        notes.append(("Status", f"“{text}” read as “{known}”"))
    return known or ("candidate" if text else "signal")


def _importance(text: str | None, notes: Notes) -> float | None:
    known = _PRIORITIES.get((text or "").strip().lower())
    if known is not None:
        notes.append(("Priority", "low, medium, high, critical read as importance 3, 5, 7, 9"))
    return known


def edits(block: Block, text: str, old: Memory, new: Memory) -> list[Edit]:
    """Return what to change in `text` so that a block that said `old` says `new`."""
    out, newline = list[Edit](), newline_of(text)
    said, content = content_of(block)
    if new.content != old.content:
        out.append((content.start, content.end, _fitted(new.content, block, said, newline)))
    if block.item:
        return out  # a list's item says nothing else
    if new.summary != old.summary and said and old.summary:
        out.append((block.title.start, block.title.end, flat(new.summary)))
    if new.status != old.status:
        out.append(_field(block, "Status", _WRITTEN[new.status], newline))
    if new.importance_score != old.importance_score:
        out.append(_field(block, "Priority", _priority(new.importance_score), newline))
    if new.category != old.category:
        place = (
            block.title
            if "Category" not in block.fields and old.category == block.title.text
            else None
        )
        said = flat(new.category)
        out.append(
            (place.start, place.end, said) if place else _field(block, "Category", said, newline)
        )
    for part in (block.fields, block.sections, block.meta):
        for name, value in part.items():
            now = new.metadata.get(name)
            if old.metadata.get(name) == value.text and isinstance(now, str) and now != value.text:
                written = raw(now, newline) if part is block.sections else flat(now)
                out.append((value.start, value.end, written))
    return out


def _fitted(content: str, block: Block, said: str, newline: str) -> str:
    if block.item:
        parts = re.sub(r"\n\s*\n", "\n\n", content.strip().replace("\r", "")).split("\n")
        return newline.join(
            (parts[0], *(f"  {part.strip()}" if part.strip() else "" for part in parts[1:]))
        )
    if said in block.sections:
        return raw(content, newline)
    if said:
        return (newline + "  ").join(
            part.strip() for part in content.strip().split("\n") if part.strip()
        )
    return flat(content)


def _field(block: Block, name: str, value: str, newline: str) -> Edit:
    found = block.fields.get(name)
    if found is not None:
        return (found.start, found.end, value)
    dash = "" if not block.fields or "Logged" in block.fields else "- "
    gap = newline if block.fields else newline * 2
    return (block.fields_end, block.fields_end, f"{gap}{dash}**{name}**: {value}")


def _priority(score: float) -> str:
    return min(_PRIORITIES, key=lambda name: abs(_PRIORITIES[name] - score))


def name_of(block: Block) -> str:
    """Name the memory of a block: what stands in its brackets, or its date and title, or date and
    first words.
    """
    if block.item:
        said = block.title.text or block.sections[BODY].text
        return f"lrn-{block.id}-{slug(said) or digest(said)}"
    return f"lrn-{block.id}-{slug(block.title.text) or 'untitled'}" if block.dated else block.id


def rendered(memory: Memory) -> str:
    """Write a memory without a block of its own as one of the newest dialect, with the notes that
    name its parts.
    """
    day = iso(memory.created_at)[:10]
    known = re.fullmatch(r"[A-Z]+-[\w-]+", memory.id)
    name = memory.id if known else f"LRN-{day.replace('-', '')}-{digest(memory.id).upper()}"
    title = flat(memory.category) or memory.observation_type
    return "\n".join(
        (
            f"## [{name}] {title}", "", f"**Logged**: {iso(memory.created_at)}",
            f"**Priority**: {_priority(memory.importance_score)}", f"**Status**: {_WRITTEN[memory.status]}",
            *_noted(memory),
        )
    )  # fmt: skip


def _noted(memory: Memory) -> Iterator[str]:
    """Yield the lines of a new block below its status: the area, the content, what else it holds."""
    notes = {
        name: value for name, value in memory.metadata.items()
        if isinstance(value, str) and value.strip(BLANKS) and name not in _WRITES and _PART.fullmatch(name)
    }  # fmt: skip
    area = flat(notes.pop("Area", ""))
    yield from (f"**Area**: {area}",) if area else ()
    yield from ("", "### Summary", raw(memory.content, "\n"))
    short = {
        name: value
        for name, value in notes.items()
        if name not in _LONG and "\n" not in value and value.strip()
    }
    for name in (name for name in notes if name not in short):
        yield from ("", f"### {name}", raw(notes[name], "\n"))
    if short:
        yield from (
            "",
            f"### {METADATA}",
            *(f"- {name}: {flat(value)}" for name, value in short.items()),
        )


_HEAD = "# Learnings\n\n---\n\n"
_RULE = "---"
_TITLED = r"\A[ \r\n]*#"
_NAMES = r"(?i:(?:LEARNINGS|ERRORS|FEATURE_REQUESTS)\.MD)$"
detect = Clues((
    (0.96, "headings with [LRN-…], [ERR-…] or [FEAT-…]",
     r"^###?[ \t]+(?:\[(?:LRN|ERR|FEAT)-|(?:LRN|ERR|FEAT)-[0-9])", ""),
    (0.85, "dated headings with **Category** or **Context** below",
     r"^##[ \t]+[0-9]{4}-[0-9]{2}-[0-9]{2}\b.*\r?\n\s*[-*][ \t]+\*\*(?:Category|Context|Status)", ""),
    (0.8, "named as a .learnings file", _TITLED, rf"(?:^|/)\.learnings/{_NAMES}"),
    (0.5, "named as a .learnings file", _TITLED, rf"(?:^|/){_NAMES}"),
    (0.5, "the beginning of one without entries", r"\A\s*# Learnings\s+---\s*\Z", ""),
))  # fmt: skip


def read(text: str, context: ReadContext) -> Parsed:
    """Read every entry that can be read; other sections are kept in the file and remarked upon."""
    report = Report(context.file)
    rows = ((block.line, (block, name), ()) for block, name in _named(text, report))
    found = report.every(rows, lambda row: entry(*row, text, context))
    return report.parsed(NAME, memories=found)


def _named(text: str, report: Report) -> Iterator[tuple[Block, str]]:
    """Yield the entries with their ids; an id used before is numbered."""
    names, first = FreeNames(), dict[str, int]()
    for block in blocks(text):
        if not isinstance(block, Block):
            report.kept(block.number, "a section that is no entry")
            continue
        name = name_of(block)
        unique = names.give(name)
        if unique != name:
            report.remark(
                block.line,
                Reason(
                    "the id {} was already used on line {}: read as {}",
                    (
                        shown(name),
                        first[name],
                        unique,
                    ),
                ),
            )
        first[unique] = block.line
        yield block, unique


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the memories as entries; with `original`, only what changed in them is new."""
    if original is None:
        return (
            _HEAD
            + "".join(f"{_text(memory)}\n\n{_RULE}\n\n" for memory in parsed.memories).rstrip("\n")
            + "\n"
        )
    new = {memory.id: memory for memory in parsed.memories}
    out: list[Edit] = []
    known: set[str] = set()
    for block, name in _named(original, Report("")):
        after = new.get(name)
        try:
            before, _ = entry(block, name, original, at_time_of(after) if after else NO_CONTEXT)
        except ValueError:
            continue
        known.add(name)
        out += edits(block, original, before, after) if after else [(block.start, block.end, "")]
    added = [_text(memory) for name, memory in new.items() if name not in known]
    return _with(applied(original, out), added)


def _text(memory: Memory) -> str:
    """Return the text of an entry without an original: the block it had, changed as the memory was."""
    text = kept(memory, NAME, "block", "")
    block = next((found for found in blocks(text) if isinstance(found, Block)), None)
    if block is None:
        return rendered(memory)
    try:
        before, _ = entry(block, memory.id, text, at_time_of(memory))
    except ValueError:
        return rendered(memory)
    lines = (
        applied(text, edits(block, text, before, memory)).rstrip().replace("\r\n", "\n").split("\n")
    )
    while lines and lines[-1].strip() in ("", _RULE):
        lines.pop()
    return "\n".join(lines)


def _with(text: str, added: list[str]) -> str:
    """Put entries at the end, parted by rules where the file has them."""
    newline = newline_of(text)
    rule = f"{newline * 2}{_RULE}" if text.rstrip().endswith(_RULE) else ""
    return with_parts(text, [part.replace("\n", newline) + rule for part in added], newline)


FORMAT = Format(NAME, ".learnings file (Markdown)", detect, read, write, suffix=".md")
