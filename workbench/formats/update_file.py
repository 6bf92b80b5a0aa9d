"""Putting another text in the place of one in a file: lines that say the same keep every byte."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from workbench.core.files.format import ReadContext
from workbench.core.files.lint import BLANKS, Edit, Line, applied, lines, newline_of
from workbench.core.files.memory_md import FRONT
from workbench.core.stream.memory import Memory
from workbench.core.text import begun_alike, clean_for_store
from workbench.formats import notes
from workbench.formats.claude_memory import Link, line_record, links, own_statements, read_topic
from workbench.formats.patch import scalar
from workbench.formats.shared.markdown import Statement
from workbench.formats.shared.records import COUNTS
from workbench.formats.shared.values import flat
from workbench.formats.yaml_patch import DamagedYaml, Unfitting, patch_yaml, tree

LONGEST = 2_000
"""Lines up to which each is looked for anywhere; of longer texts only what differs in the middle is
replaced.
"""


class Unplaced(ValueError):
    """What a text says is not what was read of it, so that nobody can tell which of its lines are
    meant.
    """


class _Unit(NamedTuple):
    """The lines of a file that are one line of what is read: (text, line end); more than one where
    some are blank.
    """

    lines: tuple[tuple[str, str], ...]
    is_first: bool = False


def merge_lines(raw: str, old: str, new: str, newline: str, mark: int = 0, indent: int = 0) -> str:
    """Return `raw`, which says `old`, so that it says `new`: only lines change that say something
    else.

    `mark` is how many characters stand before its text, as the dash of a list item, and `indent`
    how far its further lines are indented. Blank lines of which only one counts stay. Raises
    `Unplaced` when `raw` does not say `old`.
    """
    units, prefix = _units(raw, old.split("\n"), mark, indent), raw[:mark]
    out: list[tuple[str, str]] = []
    for kept, added, ends in _parts(old.split("\n"), new.split("\n"), units):
        for unit in kept:
            first, *more = unit.lines
            text = first[0]
            if unit.is_first != (not out):
                text = prefix + _outdented(text, indent) if not out else " " * indent + text[mark:]
            out += [(text, first[1]), *more]
        for line, end in zip_longest(added, ends[: len(added)], fillvalue=newline):
            before = prefix if not out else " " * indent if line.strip() else ""
            out.append((before + line, end))
    last = len(out) - 1
    return "".join(
        text if at == last else text + (end or newline) for at, (text, end) in enumerate(out)
    )


def _parts(
    old: list[str], new: list[str], units: Sequence[_Unit]
) -> Iterator[tuple[Sequence[_Unit], list[str], list[str]]]:
    """Yield what stays, and what comes in place of other lines, with the line ends that those had."""
    for tag, i, j, m, n in _changes(old, new):
        if tag == "equal":
            yield units[i:j], [], []
        else:
            yield (), new[m:n], [unit.lines[-1][1] for unit in units[i:j]]


def _changes(old: list[str], new: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    if len(old) + len(new) <= LONGEST:
        return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    start = begun_alike(old, new)
    end = begun_alike(old[start:][::-1], new[start:][::-1])
    return [
        ("equal", 0, start, 0, start),
        ("replace", start, len(old) - end, start, len(new) - end),
        ("equal", len(old) - end, len(old), len(new) - end, len(new)),
    ]


def _units(raw: str, old: Sequence[str], mark: int, indent: int) -> list[_Unit]:
    """Return for every line that was read the lines of the file that it stands on."""
    lines = raw.split("\n")
    found: list[_Unit] = []
    for at, line in enumerate(lines):
        last = at == len(lines) - 1
        text = line if last else line.removesuffix("\r")
        pair = (text, "" if last else line[len(text) :] + "\n")
        said = clean_for_store(text[mark:] if not at else _outdented(text, indent)).rstrip()
        if len(found) < len(old) and said == old[len(found)].rstrip():
            found.append(_Unit((pair,), not at))
        elif found and not said:
            found[-1] = _Unit((*found[-1].lines, pair), found[-1].is_first)
        else:
            raise Unplaced("its lines are not those that were read")
    if len(found) != len(old):
        raise Unplaced("it has fewer lines than were read")
    return found


def _outdented(text: str, width: int) -> str:
    margin = len(text) - len(text.lstrip(" "))
    return text[min(margin, width) :]


# What a store says of the records that stand in a file, and what of it a file has a place for.


@dataclass(frozen=True, slots=True)
class Stored:
    """The records of a file as a store has them, by the id each has in the file, and the ids of
    those that went.

    Of an index `linked` are those of the files that it names, by the name it has for them; `None`
    where a file goes. A note without front matter gets some for what has its place there, with
    `makes_front`.
    """

    memories: Mapping[str, Memory] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    linked: Mapping[str, Memory | None] = field(default_factory=dict)
    makes_front: bool = False

    def __bool__(self) -> bool:
        return bool(self.memories or self.gone or self.linked)


def differing(before: Memory, after: Memory) -> tuple[str, ...]:
    """Return in what a stored record differs from what its file says: text, title, type, tags,
    votes.
    """
    sides = (
        ("text", before.content, after.content), ("title", before.summary, after.summary),
        ("type", before.category, after.category), ("tags", before.tags, after.tags),
        ("votes", (before.helpful_count, before.harmful_count), (after.helpful_count, after.harmful_count)),
    )  # fmt: skip
    return tuple(what for what, old, new in sides if old != new)


# Claude Code's memory with what a store says of it now: topic files, and the lines of their index.


# Changing single values of the front matter that a Markdown file begins with; every other byte of
# it stays.


Value = str | int | Sequence[str]
"""What front matter says of a name: a text, a number, or a list of texts."""


def has_front(text: str) -> bool:
    """Tell whether a text begins with front matter in which values can be changed."""
    found = FRONT.match(text)
    try:
        return found is not None and not tree(found[1]).damage
    except DamagedYaml:
        return False


def placed(text: str, values: Mapping[str, Value], *, makes_front: bool) -> str:
    """Return a text whose front matter says these values where it has some, or is to get some; else
    the text.
    """
    if values and has_front(text):
        return with_facts(text, values)
    if not values or not makes_front or FRONT.match(text) is not None:
        return text
    mark, newline = text[: text.startswith("\ufeff")], newline_of(text)
    plain = (
        (name, value if isinstance(value, str | int) else list(value))
        for name, value in values.items()
    )
    lines = "".join(f"{name}: {scalar(value)}{newline}" for name, value in plain)
    return f"{mark}---{newline}{lines}---{newline}{text[len(mark) :]}"


def with_facts(text: str, values: Mapping[str, Value]) -> str:
    """Return a text whose front matter says these values; a new name gets a line at its end, a list
    keeps its form.

    Raises `Unplaced` when there is no front matter, or none that can be read.
    """
    found = FRONT.match(text)
    if found is None:
        raise Unplaced("it has no front matter")
    try:
        whole = tree(found[1])
        if whole.damage:
            raise Unplaced(f"its front matter is {whole.damage}")
        said = whole.value
        for name, value in values.items():
            is_list = name not in said or isinstance(said[name], list)
            joined = (
                value
                if isinstance(value, str | int)
                else list(value)
                if is_list
                else ", ".join(value)
            )
            said[name] = joined
        front = patch_yaml(found[1], said, whole)
    except (DamagedYaml, Unfitting) as error:
        raise Unplaced(f"its front matter is {error}") from None
    return text[: found.start(1)] + front + text[found.end(1) :]


# Notes with what a store says of them now: the text below the front matter, entries of a day,
# values in front.


def weave(text: str, context: ReadContext, name: str, stored: Stored) -> str:
    """Return the text of a note with its records as they are stored; what a note has no place for
    stays out.

    Raises `Unplaced` when a record cannot be put where it stands.
    """
    pairs = list[tuple[Statement, Memory]]()
    for entry, read in notes.entries_of(text, context, name):
        with suppress(ValueError):
            pairs.append((entry, read()[0]))
    edits = [edit for entry, before in pairs for edit in entry_edits(text, entry, before, stored)]
    woven = applied(text, edits)
    if notes.is_day(name) or not pairs:
        return woven
    before = pairs[0][1]
    after = stored.memories.get(before.id, before)
    return placed(woven, note_facts(before, after), makes_front=stored.makes_front)


def entry_edits(text: str, entry: Statement, before: Memory, stored: Stored) -> list[Edit]:
    """Return the edits that make an entry of a file say what its record says now."""
    after = stored.memories.get(before.id)
    if before.id in stored.gone:
        return [_without(text, entry)]
    if after is None or after.content == before.content:
        return []
    old, new, newline = before.content, after.content.strip(BLANKS), newline_of(text)
    raw = text[entry.start : entry.end]
    if not entry.head:
        return [
            (entry.start, entry.end, merge_lines(raw, old, new, newline, entry.mark, entry.indent))
        ]
    title, _, said = (part.strip(BLANKS) for part in new.partition("\n"))
    return [(entry.start, entry.end, _section(raw, entry, old, title, said, newline))]


def _section(raw: str, entry: Statement, old: str, title: str, said: str, newline: str) -> str:
    """Return a section of a day with a title and what is said below it."""
    head, body = raw[: entry.head], raw[entry.head :]
    was = old.partition("\n")[2].strip(BLANKS)
    if title != entry.title:
        head = head.replace(entry.title, title, 1) if entry.title else f"## {title}"
    if not said:
        return head
    if not was:
        return head + newline + newline + said.replace("\n", newline)
    start = len(body) - len(body.lstrip(BLANKS))
    return head + body[:start] + merge_lines(body[start:], was, said, newline)


def _without(text: str, entry: Statement) -> Edit:
    """Return the edit that takes an entry out, with its line and the blank lines below it where
    some stand above.
    """
    start = text.rfind("\n", 0, entry.start) + 1
    end = text.find("\n", entry.end)
    end = len(text) if end < 0 else end + 1
    above = text[:start].rstrip(" \t\r\n")
    blank = text[len(above) : start].count("\n") > 1
    while blank and end < len(text) and not text[end : _next(text, end)].strip(BLANKS):
        end = _next(text, end)
    return (start, end, "")


def _next(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def note_facts(before: Memory, after: Memory) -> dict[str, Value]:
    """Return the values of a note's front matter that a stored record has otherwise."""
    values: dict[str, Value] = {}
    if after.summary != before.summary:
        named = next((key for key in notes.TITLES if before.metadata.get(key)), notes.TITLES[0])
        values[named] = after.summary
    if after.category != before.category:
        values["type"] = after.category
    if after.tags != before.tags:
        values["tags"] = after.tags
    return values | _counts(before, after)


def _counts(before: Memory, after: Memory) -> dict[str, Value]:
    pairs = (
        (after.helpful_count, before.helpful_count),
        (after.harmful_count, before.harmful_count),
    )
    return {name: new for name, (new, old) in zip(COUNTS, pairs, strict=True) if new != old}


_NAMED = re.compile(r"\][(\[][^)\]]*")
"""What a link of Markdown names, from the end of its text on."""


def weave_topic(text: str, context: ReadContext, link: Link, stored: Stored) -> str:
    """Return the text of a topic file as its record is stored; what the index says of it stays
    there.

    Raises `Unplaced` when its text is not where it was read.
    """
    for before in read_topic(text, link, context).memories:
        after = stored.memories.get(before.id, before)
        woven = _with_body(text, before, after)
        return placed(woven, _facts(before, after, link), makes_front=stored.makes_front)
    return text


def weave_index(text: str, context: ReadContext, stored: Stored) -> str:
    """Return the text of an index as its statements are stored, and the lines of the files it names
    as those are.
    """
    found, edits = list(lines(text)), list[Edit]()
    for one, before in own_statements(text, context):
        edits += entry_edits(text, one, before, stored)
    for link in links(text):
        if link.target in stored.linked:
            edits += _line_edits(found[link.line - 1], link, stored.linked[link.target])
        else:
            edits += _said_edits(found[link.line - 1], link, line_record(link, context), stored)
    return applied(text, edits)


def retitled(text: str, linked: Mapping[str, Memory]) -> dict[str, bool]:
    """Return which lines of an index say of their file what its record no longer says, by the file
    that each names.

    The value tells whether the line has a place for what it says now.
    """
    found, said = list(lines(text)), dict[str, bool]()
    for link in links(text):
        topic = linked.get(link.target)
        if topic is not None and _new_hook(link, topic):
            has_place = bool(_line_edits(found[link.line - 1], link, topic))
            said[link.target] = has_place and said.get(link.target, True)
    return said


def _with_body(text: str, before: Memory, after: Memory) -> str:
    if after.content == before.content:
        return text
    front = FRONT.match(text)
    start = front.end() if front else 0
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
    return values | _counts(before, after)


def _line_edits(line: Line, link: Link, topic: Memory | None) -> list[Edit]:
    if topic is None:
        return [(line.start, line.stop, "")]
    new = _new_hook(link, topic)
    return _said_in_place_of(line, link, link.hook, new) if new else []


def _new_hook(link: Link, topic: Memory) -> str:
    """Return what a line is to say of its file; nothing where it says that, or something of
    somebody's own.
    """
    new, old = flat(topic.summary), flat(link.hook)
    # What the index says otherwise than when it was read is somebody's own.
    return "" if new == old or topic.metadata.get("hook") != link.hook else new


def _said_edits(line: Line, link: Link, before: Memory, stored: Stored) -> list[Edit]:
    """Return the edits of a line of which only itself was read, as the file that it names is not
    there.
    """
    if before.id in stored.gone:
        return [(line.start, line.stop, "")]
    after = stored.memories.get(before.id)
    if after is None or "\n" in after.content:
        return []
    return _said_in_place_of(line, link, before.content, after.content)


def _said_in_place_of(line: Line, link: Link, old: str, new: str) -> list[Edit]:
    """Return the edit of a line that says something else of its file; none where it would name
    another one as well.
    """
    at = line.text.rfind(old)
    if at < 0:
        return []
    again = line.text[:at] + new + line.text[at + len(old) :]
    said = [(one.target, one.hook or one.title) for one in links(again)]
    if said != [(link.target, new)] or not set(_NAMED.findall(new)) <= set(_NAMED.findall(old)):
        return []
    return [(line.start + at, line.start + at + len(old), new)]
