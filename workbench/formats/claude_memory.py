"""Claude Code memory: `MEMORY.md` with its topic files; a `CLAUDE.md` only when somebody asks for
it.
"""

import contextlib
import re
from collections.abc import Container, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from workbench.core.files.format import Format, Parsed, ReadContext, Reason, Sure, Unread
from workbench.core.files.lint import Line, lines
from workbench.core.files.memory_md import MAX_LINES, front_matter, measure
from workbench.core.record import without
from workbench.core.stream.memory import FILE_KEY, Memory, Source
from workbench.core.text import MAX_KEPT, clean_for_store, counted
from workbench.formats.lifecycle import content_id
from workbench.formats.shared import markdown
from workbench.formats.shared.markdown import Statement
from workbench.formats.shared.records import (
    COUNTS,
    created_at,
    digest,
    joined,
    made,
    place,
    status_in,
    votes_in,
)
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import Notes, slug

# The memories of Claude Code: a topic file with front matter, or a statement in MEMORY.md or
# CLAUDE.md.


TOPIC_NAME = "claude-memory"
PREFIX = "cc"
"""How the ids of its records begin."""

LINK = (
    r"[-*+][ \t]+\[(?P<title>[^\]\n]{1,300})\]\((?P<target>[^()\s]{1,300}\.md)\)"
    r"(?:[ \t]*(?:[—–:|]|-{1,2})[ \t]*(?P<hook>(?:[^\n \t]|[ \t]++(?=[^\n \t]))*+))?[ \t]*$"
)
"""A link to a topic file to the end of its line; blanks are passed once, so that a line of them is
no work.
"""

INDEX_LINE = re.compile(rf"[ \t]*{LINK}")
KINDS = {"user": "general", "feedback": "correction", "project": "general", "reference": "general"}
"""The types of topic files, and what kind of observation each is."""


class Topic(NamedTuple):
    """A topic file: its name as the index has it, its text, and the front matter that takes `skip`
    lines of it.
    """

    name: str
    text: str
    facts: dict[str, str]
    skip: int

    @property
    def body(self) -> str:
        """The text below the front matter."""
        kept = (line.text for line in lines(self.text) if line.number > self.skip)
        return clean_for_store("\n".join(kept).strip())


def linked(target: str, context: ReadContext) -> Topic | None:
    """Return the topic file that an index line names, when it can be read."""
    text = context.beside(target)
    if text is None:
        return None
    facts, skip = front_matter(text)
    return Topic(target, text, facts, skip)


def topic(found: Topic, title: str, hook: str, context: ReadContext) -> tuple[Memory, Notes]:
    """Read a topic; `title` and `hook` are what the index says about it. Raises `ValueError`."""
    notes: Notes = []
    if len(found.body) > MAX_KEPT:
        raise Unread("the file {} has more than {} characters", found.name, f"{MAX_KEPT:,}")
    kind = found.facts.get("type", "")
    created = created_at(
        found.facts, ("created", "date", "created_at", "modified", "updated"), context, notes
    )
    kept = without(found.facts, *COUNTS)
    said = {"title": title, "hook": hook, "topic": found.name, **kept}
    helpful, harmful = votes_in(found.facts)
    name = slug(re.sub(r"\.md$", "", found.name, flags=re.IGNORECASE)) or digest(found.name)
    memory = made(
        context,
        notes,
        _id(name, context),
        found.body,
        created,
        KINDS.get(kind, "general"),
        summary=" ".join(
            (hook or found.facts.get("description") or title or found.facts.get("name", "")).split()
        ),
        memory_type="semantic",
        category=kind,
        status=status_in(found.facts),
        source=Source(file=found.name),
        helpful_imported=helpful,
        harmful_imported=harmful,
        metadata={
            **{name: value for name, value in said.items() if value},
            FILE_KEY: {"format": TOPIC_NAME, "name": found.name},
        },
    )
    return memory, notes


def statement(one: Statement, context: ReadContext) -> tuple[Memory, Notes]:
    """Read a statement that links to no file. Raises `ValueError`."""
    notes: Notes = []
    name, at = content_id(one.text).removeprefix("imp-"), created_at({}, (), context, notes)
    memory = made(
        context,
        notes,
        _id(name, context),
        one.text,
        at,
        "instruction",
        memory_type="procedural",
        section=one.section,
    )
    return memory, notes


def _id(name: str, context: ReadContext) -> str:
    return joined(PREFIX, place(context), name)


NAME = TOPIC_NAME
BEGIN, END = "<!-- memory-workbench:begin -->", "<!-- memory-workbench:end -->"
_INDEX = frozenset({"MEMORY.MD"})
_RULES = frozenset({"CLAUDE.MD", "CLAUDE.LOCAL.MD"})
_FILE = re.compile(r"\[[^\]\n]{1,300}\]\([^()\s]{1,300}\.md\)|`?[\w./-]{1,300}\.md`?")
_SIGN = "§"
_LINKS = re.compile(LINK, re.MULTILINE)


def detect(head: str, path: str) -> Sure | None:
    """Sure by name, by a topic's front matter, or when most lines link to Markdown files."""
    name = PurePath(path).name.upper()
    facts, _ = front_matter(head)
    if facts.get("type") in KINDS and "description" in facts:
        return (0.9, "front matter with a memory's name, description and type")
    if name in _INDEX:
        return (0.9, "named MEMORY.md")
    links = len(_LINKS.findall(head))
    written = sum(bool(line.text.strip()) and not line.text.startswith("#") for line in lines(head))
    if links and links > written / 2:
        return (0.5, "a list of links to Markdown files with a word on each")
    return None


class Link(NamedTuple):
    """A line of an index: the file that it names, as it names it, and what it says of it. `line`
    counts from 1.
    """

    line: int
    target: str
    title: str
    hook: str


def is_index(path: str) -> bool:
    """Tell whether a file is called as an index of topic files."""
    return PurePath(path).name.upper() in _INDEX


def links(text: str) -> Iterator[Link]:
    """Yield the lines of an index that name a topic file, those of a table, too."""
    _, skip = front_matter(text)
    for one in _parted(text, skip):
        if (found := _link(one)) is not None:
            yield Link(one.line, found["target"], found["title"], found["hook"] or "")


def read(text: str, context: ReadContext, elsewhere: Container[str] = ()) -> Parsed:
    """Read the index lines with the files they name, and every other statement; or a single topic
    file. Topics that are read `elsewhere`, by the names an index has for them, are left out.
    """
    report = Report(context.file)
    facts, skip = front_matter(text)
    if facts.get("type") in KINDS or ("name" in facts and "description" in facts):
        name = PurePath(context.path or context.file).name
        return _one_topic(Topic(name, text, facts, skip), Link(0, name, "", ""), context)
    rows = (
        (one.line, one, ())
        for one in _own(text, skip, report)
        if (link := _link(one)) is None or link["target"] not in elsewhere
    )
    found = report.every(rows, lambda one: _memory(one, context, report), by_text=True)
    if PurePath(context.path or context.file).name.upper() not in _RULES:
        _mark_cut(text, report)
    return report.parsed(NAME, memories=found)


def read_topic(text: str, link: Link, context: ReadContext) -> Parsed:
    """Read the topic file that a line of an index names; `context` is that of the index."""
    facts, skip = front_matter(text)
    return _one_topic(Topic(link.target, text, facts, skip), link, context)


def line_record(link: Link, context: ReadContext) -> Memory:
    """Return the record of a line of an index alone, as it is read where the file that it names is
    not there.
    """
    alone = Topic(link.target, link.hook or link.title, {}, 0)
    return topic(alone, link.title, link.hook, context)[0]


def own_statements(text: str, context: ReadContext) -> Iterator[tuple[Statement, Memory]]:
    """Yield the statements of an index that name no file, with the records of them."""
    _, skip = front_matter(text)
    for one in _own(text, skip, Report(context.file)):
        if _link(one) is None:
            with contextlib.suppress(ValueError):
                yield one, statement(one, context)[0]


def _link(one: Statement) -> re.Match[str] | None:
    return (
        INDEX_LINE.match(f"- {one.text}") if one.kind == "item" and "\n" not in one.text else None
    )


def _one_topic(found: Topic, link: Link, context: ReadContext) -> Parsed:
    report = Report(context.file)
    read = report.every([(1, found, ())], lambda one: topic(one, link.title, link.hook, context))
    return report.parsed(NAME, memories=read)


def _own(text: str, skip: int, report: Report) -> Iterator[Statement]:
    """Yield the statements that a person or the agent wrote; what this product wrote there is only
    counted.
    """
    managed = 0
    inside = False
    for one in _parted(text, skip):
        if one.kind == "comment":
            inside = BEGIN in one.text or (inside and END not in one.text)
            if BEGIN not in one.text and END not in one.text:
                report.remark(one.line, "a comment: not read")
        elif inside:
            managed += 1
        elif one.text.startswith("@") and one.kind != "code" and " " not in one.text.strip():
            report.remark(
                one.line,
                Reason("{} is brought in by the tool: import that file itself", (shown(one.text),)),
            )
        else:
            yield one
    if managed:
        what = counted(managed, "statement")
        report.remark(1, f"{what} in the block that this program wrote: not read again")


def _parted(text: str, skip: int) -> Iterator[Statement]:
    """Yield the statements of a text, the rows of an index that is a table, or what stands between
    the signs “§”.
    """
    if not any(line.text.strip() == _SIGN for line in lines(text)):
        for one in markdown.statements(text, skip):
            rows = list(_rows(one)) if one.kind == "text" and one.text.startswith("|") else []
            yield from rows or (one,)
        return
    gathered: list[Line] = []
    for line in lines(text):
        if line.number > skip and line.text.strip() == _SIGN:
            yield from _entry(gathered, text)
            gathered = []
        elif line.number > skip:
            gathered.append(line)
    yield from _entry(gathered, text)


def _entry(gathered: Sequence[Line], text: str) -> Iterator[Statement]:
    written = [n for n, line in enumerate(gathered) if line.text.strip()]
    if written:
        kept = gathered[written[0] : written[-1] + 1]
        said = clean_for_store("\n".join(line.text for line in kept).strip())
        yield from (markdown.placed("text", kept, said, text),) if said else ()


def _rows(table: Statement) -> Iterator[Statement]:
    """Yield the rows of a table that name a Markdown file, as the items of a list would."""
    for number, row in enumerate(table.text.split("\n")):
        cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
        at = next((n for n, cell in enumerate(cells) if _FILE.fullmatch(cell)), None)
        if at is None:
            continue
        named = (
            cells[at]
            if cells[at].startswith("[")
            else f"[{cells[at].strip('`')}]({cells[at].strip('`')})"
        )
        hook = " — ".join(cell for n, cell in enumerate(cells) if n != at and cell)
        said = f"{named} — {hook}" if hook else named
        yield Statement("item", table.line + number, said, table.section)


def _memory(one: Statement, context: ReadContext, report: Report) -> tuple[Memory, Notes]:
    link = _link(one)
    if link is None:
        return statement(one, context)
    found = linked(link["target"], context)
    if found is None:
        report.remark(
            one.line,
            Reason("the file {} was not found: only its line is read", (shown(link["target"]),)),
        )
        found = Topic(link["target"], link["hook"] or link["title"], {}, 0)
    elif not found.body:
        report.remark(
            one.line,
            Reason("the file {} is empty: only its line is read", (shown(link["target"]),)),
        )
        found = Topic(link["target"], link["hook"] or link["title"], found.facts, 0)
    return topic(found, link["title"], link["hook"] or "", context)


def _mark_cut(text: str, report: Report) -> None:
    """Remark on every line that Claude Code does not load."""
    cut = measure(text)
    for line in cut.below:
        over = f"line {MAX_LINES}" if line.number > MAX_LINES else cut.limit
        report.remark(line.number, f"below {over}: Claude Code does not load this line")


FORMAT = Format(NAME, "Claude Code memory (Markdown)", detect, read)
