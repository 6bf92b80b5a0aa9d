"""Claude Code's memory with what a store says of it now: topic files, and the lines of their index."""

import re
from collections.abc import Mapping

from workbench.core.files.format import ReadContext
from workbench.core.files.textedit import BLANKS, Edit, Line, applied, lines, newline_of
from workbench.core.stream.memory import Memory
from workbench.formats.claude_memory.claude_memory import Link, line_record, links, own_statements, read_topic
from workbench.formats.notes.note import Entry
from workbench.formats.shared import markdown
from workbench.formats.shared.markdown import Statement
from workbench.formats.shared.reading import COUNTS
from workbench.formats.update_file.front import Value, placed
from workbench.formats.update_file.merge_lines import merge_lines
from workbench.formats.update_file.notes import entry_edits
from workbench.formats.update_file.stored import Stored

_NAMED = re.compile(r"\][(\[][^)\]]*")
"""What a link of Markdown names, from the end of its text on."""


def weave_topic(text: str, context: ReadContext, link: Link, stored: Stored) -> str:
    """Return the text of a topic file as its record is stored; what the index says of it stays there.

    Raises `Unplaced` when its text is not where it was read.
    """
    for before in read_topic(text, link, context).memories:
        after = stored.memories.get(before.id, before)
        woven = _with_body(text, before, after)
        return placed(woven, _facts(before, after, link), makes_front=stored.makes_front)
    return text


def weave_index(text: str, context: ReadContext, stored: Stored) -> str:
    """Return the text of an index as its statements are stored, and the lines of the files it names as those are."""
    found, edits = list(lines(text)), list[Edit]()
    for one, before in own_statements(text, context):
        edits += entry_edits(text, _entry(one, text, found), before, stored)
    for link in links(text):
        if link.target in stored.linked:
            edits += _line_edits(text, found[link.line - 1], link, stored.linked[link.target])
        else:
            edits += _said_edits(text, found[link.line - 1], link, line_record(link, context), stored)
    return applied(text, edits)


def retitled(text: str, linked: Mapping[str, Memory]) -> dict[str, bool]:
    """Return which lines of an index say of their file what its record no longer says, by the file that each names.

    The value tells whether the line has a place for what it says now.
    """
    found, said = list(lines(text)), dict[str, bool]()
    for link in links(text):
        topic = linked.get(link.target)
        if topic is not None and _new_hook(link, topic):
            has_place = bool(_line_edits(text, found[link.line - 1], link, topic))
            said[link.target] = has_place and said.get(link.target, True)
    return said


def _with_body(text: str, before: Memory, after: Memory) -> str:
    if after.content == before.content:
        return text
    _, skip = markdown.front_matter(text)
    start = next((line.start for line in lines(text) if line.number == skip + 1), len(text))
    body = text[start:].strip(BLANKS)
    at = text.index(body, start)
    new = merge_lines(body, before.content, after.content.strip(BLANKS), newline_of(text))
    return text[:at] + new + text[at + len(body) :]


def _facts(before: Memory, after: Memory, link: Link) -> dict[str, Value]:
    values: dict[str, Value] = {}
    if after.summary != before.summary and not link.hook:
        values["description"] = after.summary
    if after.category != before.category:
        values["type"] = after.category
    counts = ((after.helpful_count, before.helpful_count), (after.harmful_count, before.harmful_count))
    return values | {name: new for name, (new, old) in zip(COUNTS, counts, strict=True) if new != old}


def _line_edits(text: str, line: Line, link: Link, topic: Memory | None) -> list[Edit]:
    if topic is None:
        return [_line_out(text, line)]
    new = _new_hook(link, topic)
    return _said_in_place_of(line, link, link.hook, new) if new else []


def _new_hook(link: Link, topic: Memory) -> str:
    """Return what a line is to say of its file; nothing where it says that, or something of somebody's own."""
    new, old = " ".join(topic.summary.split()), " ".join(link.hook.split())
    # What the index says otherwise than when it was read is somebody's own.
    return "" if new == old or topic.metadata.get("hook") != link.hook else new


def _said_edits(text: str, line: Line, link: Link, before: Memory, stored: Stored) -> list[Edit]:
    """Return the edits of a line of which only itself was read, as the file that it names is not there."""
    if before.id in stored.gone:
        return [_line_out(text, line)]
    after = stored.memories.get(before.id)
    if after is None or "\n" in after.content:
        return []
    return _said_in_place_of(line, link, before.content, after.content)


def _said_in_place_of(line: Line, link: Link, old: str, new: str) -> list[Edit]:
    """Return the edit of a line that says something else of its file; none where it would name another one as well."""
    at = line.text.rfind(old)
    if at < 0:
        return []
    again = line.text[:at] + new + line.text[at + len(old) :]
    said = [(one.target, one.hook or one.title) for one in links(again)]
    if said != [(link.target, new)] or not set(_NAMED.findall(new)) <= set(_NAMED.findall(old)):
        return []
    return [(line.start + at, line.start + at + len(old), new)]


def _line_out(text: str, line: Line) -> Edit:
    """Return the edit that takes a line out."""
    end = text.find("\n", line.end)
    return (line.start, len(text) if end < 0 else end + 1, "")


def _entry(one: Statement, text: str, found: list[Line]) -> Entry:
    """Return where a statement stands in its file."""
    first, last = found[one.line - 1], found[one.last - 1]
    is_item = one.kind == "item"
    mark = markdown.mark_of(first.text) if is_item else len(first.text) - len(first.text.lstrip())
    end = first.start + len(text[first.start : last.end].rstrip(BLANKS))
    return Entry(one.line, one.text, start=first.start, end=end, mark=mark, indent=mark if is_item else 0)
