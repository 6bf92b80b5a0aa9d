"""Notes in folders: one record of each Markdown file, or of each entry of a file that is named by a
day.

So agents keep memory banks, Serena its memories, basic-memory and other programs their vaults, and
the memory tool its folder. Front matter is kept; what a note links to is told by name, for whoever
knows the other notes.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import PurePath

from workbench.core.files.format import Clues, Format, Parsed, ReadContext
from workbench.core.files.lint import BLANKS, heading_of, lines
from workbench.core.files.memory_md import FRONT, facts
from workbench.core.stream.memory import FILE_KEY, Memory, Source
from workbench.core.text import clean_for_store
from workbench.formats.lifecycle import content_id
from workbench.formats.shared.markdown import Statement, statements
from workbench.formats.shared.records import (
    COUNTS,
    created_at,
    joined,
    made,
    place,
    status_in,
    unique_id,
    votes_in,
)
from workbench.formats.shared.report import Report
from workbench.formats.shared.values import Notes, flat

NAME = "notes"
CHANGED = "changed"
"""The name under which a reader of folders tells when a file was written last."""

_IN_MEMORY = re.compile(r"(?i)(?:^|/)(?:memory|memories)(?:/[^/]+)*/[^/]+\.(?:md|txt|xml)$")
_TAGS = re.compile(
    r"^tags:[ \t]*(?:\[(?P<inside>[^\]\n]*)\]|(?P<line>[^\n]+)|(?P<below>(?:\r?\n[ \t]*- [^\n]+)+))",
    re.M,
)
_DAY = re.compile(r"(?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}")
_WIKI = re.compile(r"\[\[([^\]|#\n]{1,200})(?:#[^\]|\n]*)?(?:\|[^\]\n]*)?\]\]")
_LINK = re.compile(
    r"\]\(([^()\s#]{1,300}\.(?:md|markdown|mdx|txt|xml))(?:#[^()\s]*)?\)", re.IGNORECASE
)
_TIMES = ("created", "created_at", "date", "modified", "updated", "updated_at", CHANGED)
TITLES = ("title", "name", "label", "description")
"""The names in front matter that call a note something, in the order of asking."""


_FRONT = r"\A---[ \t]*\r?\n(?:(?!---).*\n)*?"
detect = Clues((
    (0.6, "front matter with a permalink", rf"{_FRONT}permalink:(?s:.*?)^---", ""),
    (0.5, "in a folder that an agent keeps its memory in", "",
     r"/(?i:\.serena/memories|memory-bank|\.claude/agent-memory)(?:/[^/]+)*/[^/]+\.(?i:md)$"),
    (0.4, "a note in a folder called memory", "", _IN_MEMORY.pattern),
    (0.35, "Markdown with front matter", rf"{_FRONT}---[ \t]*\r?$", r"\.(?i:md|markdown|mdx)$"),
))  # fmt: skip


def read(text: str, context: ReadContext) -> Parsed:
    """Read a file that is looked at alone: under its own name."""
    return read_note(text, context, PurePath(context.path or context.file).name)


def read_note(
    text: str, context: ReadContext, name: str, changed: datetime | None = None
) -> Parsed:
    """Read a note of a folder; `name` is its path there, and `changed` when it was written last."""
    report = Report(context.file)
    rows = ((entry.line, read, ()) for entry, read in entries_of(text, context, name, changed))
    found = report.every(rows, lambda read: read(), by_text=True)
    return report.parsed(NAME, memories=found)


def entries_of(
    text: str, context: ReadContext, name: str, changed: datetime | None = None
) -> Iterator[tuple[Statement, Callable[[], tuple[Memory, Notes]]]]:
    """Yield what a note says with the reader of its record; a day's titles that come again are
    counted.
    """
    front = FRONT.match(text)
    said = facts(front[1]) if front else {}
    if changed is not None:
        said[CHANGED] = changed.isoformat()
    tags, at = (
        _tags(front[1]) if front else (),
        front.end() if front else int(text.startswith("\ufeff")),
    )
    day, titles = _DAY.match(PurePath(name).stem), Counter[str]()
    for one in _entries(text, at) if day else (_whole(text, at),):
        titles[one.title] += 1
        again = f"#{titles[one.title]}" if titles[one.title] > 1 else ""
        yield one, partial(_memory, one, name, said, context, day[0] if day else "", again, tags)


def is_note(path: PurePath) -> bool:
    """Tell whether a document of a folder is one of its notes: XML is only in a folder called
    memory.
    """
    return path.suffix.lower() != ".xml" or _IN_MEMORY.search(path.as_posix()) is not None


def is_day(name: str) -> bool:
    """Tell whether a note is the file of a day, and so read entry by entry."""
    return _DAY.match(PurePath(name).stem) is not None


def _whole(text: str, at: int) -> Statement:
    body = text[at:].strip(BLANKS)
    start = text.index(body, at)
    return Statement("text", 1, text[at:], start=start, end=start + len(body))


def _memory(
    one: Statement,
    name: str,
    said: dict[str, str],
    context: ReadContext,
    day: str,
    again: str,
    tags: tuple[str, ...],
) -> tuple[Memory, Notes]:
    content = clean_for_store(one.text.replace("\r\n", "\n")).strip(BLANKS)
    if not content:
        raise ValueError("it says nothing below its front matter")
    notes: Notes = []
    title = one.title if day else _titled(said, content, name)
    created = created_at(
        {**said, "date": said.get("date", day)} if day else said, _TIMES, context, notes
    )
    known = {
        key: value for key, value in said.items() if value and key not in ("tags", CHANGED, *COUNTS)
    }
    helpful, harmful = (0, 0) if day else votes_in(said)
    key = f"{name}#{one.title + again if one.title else content_id(content)}" if day else name
    memory = made(
        context,
        notes,
        id_of(key, context),
        content,
        created,
        summary=flat(title)[:200],
        memory_type="episodic" if day else "semantic",
        category=said.get("type", "").strip("\"'"),
        tags=tags,
        status="signal" if day else status_in(said),
        helpful_imported=helpful,
        harmful_imported=harmful,
        source=Source(file=name),
        metadata={**known, FILE_KEY: {"format": NAME, "name": name}},
    )
    return memory, notes


def id_of(key: str, context: ReadContext) -> str:
    """Return the id of a note's record; `key` is the note's path in its folder, of an entry of a
    daily note with `#` and the entry behind it.
    """
    where = joined("note", place(context))
    return unique_id(where, re.sub(r"\.\w+(?=#|$)", "", key, count=1))


def _titled(said: dict[str, str], content: str, name: str) -> str:
    """Return what a note is called: in its front matter, by its heading, or by its file."""
    named = next((said[key].strip("\"'") for key in TITLES if said.get(key)), "")
    if named:
        return named
    heading = next(
        (
            found[1]
            for line in content.split("\n")[:5]
            if (found := heading_of(line)) and found[0] == 1
        ),
        None,
    )
    return heading or PurePath(name).stem.replace("-", " ").replace("_", " ")


def _tags(front: str) -> tuple[str, ...]:
    found = _TAGS.search(front)
    if found is None:
        return ()
    listed = found["inside"] or found["line"] or ""
    parts = (
        listed.split(",")
        if listed
        else [line.partition("- ")[2] for line in (found["below"] or "").split("\n")]
    )
    return tuple(
        dict.fromkeys(tag for part in parts if (tag := clean_for_store(part).strip(" \t\r\"'#")))
    )


def _entries(text: str, at: int) -> Iterator[Statement]:
    """Yield what a day's note says from `at` on: its sections where it has some, else its list
    items and paragraphs.
    """
    found = list(lines(text))
    first = next((n for n, line in enumerate(found) if line.start >= at), len(found))
    heads = [line for line in found[first:] if not line.code and line.text.startswith("## ")]
    if not heads:
        for one in statements(text, first):
            if one.kind in ("item", "text", "code") and not one.text.startswith("# "):
                yield one
        return
    for head, stop in zip(heads, [*(line.start for line in heads[1:]), len(text)], strict=True):
        title = head.text.lstrip("# ").strip()
        said = text[head.end : stop].strip(BLANKS)
        last = head.start + len(text[head.start : stop].rstrip(BLANKS))
        yield Statement(
            "text", head.number, f"{title}\n\n{said}" if said else title, start=head.start,
            end=last, head=min(head.end, last) - head.start, title=title,
        )  # fmt: skip


def links_in(content: str) -> Iterator[str]:
    """Yield the names that a note links to: what stands in double brackets, and files beside it."""
    yield from (found[1].strip() for found in _WIKI.finditer(content))
    yield from (found[1] for found in _LINK.finditer(content) if "://" not in found[1])


FORMAT = Format(NAME, "notes (Markdown, one record a file)", detect, read)
