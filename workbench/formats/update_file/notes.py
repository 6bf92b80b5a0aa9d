"""Notes with what a store says of them now: the text below the front matter, entries of a day, values in front."""

from workbench.core.files.format import ReadContext
from workbench.core.files.textedit import BLANKS, Edit, applied, newline_of
from workbench.core.stream.memory import Memory
from workbench.formats.notes import note
from workbench.formats.notes.note import Entry
from workbench.formats.shared.reading import COUNTS
from workbench.formats.update_file.front import Value, placed
from workbench.formats.update_file.merge_lines import merge_lines
from workbench.formats.update_file.stored import Stored


def weave(text: str, context: ReadContext, name: str, stored: Stored) -> str:
    """Return the text of a note with its records as they are stored; what a note has no place for stays out.

    Raises `Unplaced` when a record cannot be put where it stands.
    """
    pairs = [(entry, made[0]) for entry, made in note.entries_of(text, context, name) if isinstance(made, tuple)]
    edits = [edit for entry, before in pairs for edit in entry_edits(text, entry, before, stored)]
    woven = applied(text, edits)
    if note.is_day(name) or not pairs:
        return woven
    before = pairs[0][1]
    after = stored.memories.get(before.id, before)
    return placed(woven, note_facts(before, after), makes_front=stored.makes_front)


def entry_edits(text: str, entry: Entry, before: Memory, stored: Stored) -> list[Edit]:
    """Return the edits that make an entry of a file say what its record says now."""
    after = stored.memories.get(before.id)
    if before.id in stored.gone:
        return [_without(text, entry)]
    if after is None or after.content == before.content:
        return []
    old, new, newline = before.content, after.content.strip(BLANKS), newline_of(text)
    raw = text[entry.start : entry.end]
    if not entry.head:
        return [(entry.start, entry.end, merge_lines(raw, old, new, newline, entry.mark, entry.indent))]
    title, _, said = (part.strip(BLANKS) for part in new.partition("\n"))
    return [(entry.start, entry.end, _section(raw, entry, old, title, said, newline))]


def _section(raw: str, entry: Entry, old: str, title: str, said: str, newline: str) -> str:
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


def _without(text: str, entry: Entry) -> Edit:
    """Return the edit that takes an entry out, with its line and the blank lines below it where some stand above."""
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
        named = next((key for key in note.TITLES if before.metadata.get(key)), note.TITLES[0])
        values[named] = after.summary
    if after.category != before.category:
        values["type"] = after.category
    if after.tags != before.tags:
        values["tags"] = after.tags
    counts = ((after.helpful_count, before.helpful_count), (after.harmful_count, before.harmful_count))
    values |= {name: new for name, (new, old) in zip(COUNTS, counts, strict=True) if new != old}
    return values
