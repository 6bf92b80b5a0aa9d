"""agent-playbook semantic memory: `semantic-patterns.json`, `{patterns: {slug: {…}}, meta}`."""

import re
from collections.abc import Mapping
from functools import partial

from workbench.core.errors import UnreadableFile
from workbench.core.files.format import Detection, Format, Parsed, ReadContext
from workbench.core.files.reason import Unread
from workbench.core.free_names import FreeNames
from workbench.core.stream.memory import Memory
from workbench.formats.memory_streams.nodes import slug
from workbench.formats.patterns import entry as pattern_entry
from workbench.formats.patterns.entry import NAME
from workbench.formats.shared.jsonrecords import edited_object, member, rewritten
from workbench.formats.shared.jsonstyle import Style, dumps, style_of
from workbench.formats.shared.jsontree import Entry, Lines, Node, indentation, rewrite, scan_file
from workbench.formats.shared.records import read_again
from workbench.formats.shared.report import Report, shown

_INSIDE = frozenset({"patterns"})
_PATTERNS = re.compile(r'"patterns"\s*:\s*\{')
_MARKS = re.compile(r'"(pattern|problem|solution|applications|confidence|category|quality_rules|target_skills)"\s*:')


def detect(head: str, path: str) -> Detection:
    """Sure when an object holds `patterns` by name and they say what they solve."""
    del path
    if head.removeprefix("\ufeff").lstrip().startswith("{") and _PATTERNS.search(head):
        marks = len(set(_MARKS.findall(head))) + ('"total_patterns"' in head)
        return Detection(NAME, min(0.25 + 0.15 * marks, 0.95), "a JSON object of “patterns” by name")
    return Detection(NAME, 0.0, "no JSON object of patterns")


def read(text: str, context: ReadContext) -> Parsed:
    """Read every pattern that can be read. Raises `UnreadableFile` when the text holds no object of patterns."""
    report, root, lines = Report(context.file), scan_file(text, context.file, _INSIDE), Lines(text)
    node = _patterns(root)
    if node is None:
        reason = f"{context.file} has no “patterns” object" + (f": {root.damage}." if root.damage else ".")
        raise UnreadableFile(reason, "Nothing was read from it.")
    found, seen = list[Memory](), dict[str, int]()
    for entry in node.entries:
        line = lines.at(entry.start)
        try:
            memory, notes = pattern_entry.pattern(str(entry.key), entry.value, context)
            if memory.id in seen:
                raise Unread("the id {} was already used on line {}", shown(memory.id), seen[memory.id])
        except ValueError as reason:
            report.skip(line, reason)
            continue
        seen[memory.id] = line
        found.append(memory)
        report.mapped_all(notes, entry.changes)
    if root.damage:
        report.skip(lines.at(root.damage_at), root.damage)
    return report.parsed(NAME, memories=tuple(found))


def _patterns(root: Node) -> Node | None:
    return root.inside("patterns", "{")


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the memories as patterns; with `original`, only patterns that changed are new."""
    if original is not None:
        return _woven(parsed, original)
    keys = FreeNames(joined="_")
    patterns = {keys.give(pattern_entry.key_of(memory)): pattern_entry.document(memory) for memory in parsed.memories}
    return dumps({"patterns": patterns, "meta": {"total_patterns": len(patterns)}}, Style()) + "\n"


def _woven(parsed: Parsed, original: str) -> str:
    root, style = scan_file(original, "the file", _INSIDE), style_of(original)
    node = _patterns(root)
    if node is None:
        return original
    new = {memory.id: memory for memory in parsed.memories}
    old, keys = _old(node, new), FreeNames((str(entry.key) for entry in node.entries), joined="_")

    def entry(memory: Memory, outer: str) -> str:
        return member(keys.give(pattern_entry.key_of(memory)), pattern_entry.document(memory), style, outer)

    values: dict[int, str | None] = {}
    grown = len(new.keys() - {m.id for m in old.values()}) - len({m.id for m in old.values()} - new.keys())
    for index, found in enumerate(root.entries):
        if found.inner is node:
            values[index] = rewritten(original, node, old, new, pattern_entry.keys_of, entry, style)
        elif found.key == "meta" and grown:
            values[index] = _counted(original, found, len(node.entries), grown, style)
    return original[: root.start] + rewrite(original, root, values, (), style) + original[root.end :]


def written_back(
    changed: Mapping[str, Mapping[str, object]], whole: Mapping[str, Mapping[str, object]], original: str | None
) -> str:
    """Return a file in which entries, by their ids, have other keys; those that it does not have come whole at the end.

    Without an `original` it is a new one. Raises `UnreadableFile` for a text that holds no patterns.
    """
    if original is None:
        keys = FreeNames(joined="_")
        made = {keys.give(_slug(entry, id)): dict(entry) for id, entry in whole.items()}
        return dumps({"patterns": made, "meta": {"total_patterns": len(made)}}, Style()) + "\n"
    root, style = scan_file(original, "the file", _INSIDE), style_of(original)
    node = _patterns(root)
    if node is None:
        raise UnreadableFile("The file has no “patterns” object.", "Nothing was written.")
    keys = FreeNames((str(entry.key) for entry in node.entries), joined="_")
    there = {_id(entry): index for index, entry in enumerate(node.entries)}
    edited: dict[int, str | None] = {
        there[id]: edited_object(original, node.entries[there[id]], entry, style)
        for id, entry in changed.items() if id in there and entry
    }  # fmt: skip
    outer = indentation(original, node.start) + style.unit
    new = {id: entry for id, entry in whole.items() if id not in there}
    added = [member(keys.give(_slug(entry, id)), dict(entry), style, outer) for id, entry in new.items()]
    values: dict[int, str | None] = {}
    for index, found in enumerate(root.entries):
        if found.inner is node:
            values[index] = rewrite(original, node, edited, added, style)
        elif found.key == "meta" and added:
            values[index] = _counted(original, found, len(node.entries), len(added), style)
    return original[: root.start] + rewrite(original, root, values, (), style) + original[root.end :]


def _id(entry: Entry) -> str:
    """Return the id of an entry as it is read (see `pattern_entry.pattern`)."""
    said = entry.value.get("id") if isinstance(entry.value, dict) else None
    return said if isinstance(said, str) and said else f"pattern-{slug(str(entry.key)) or 'unnamed'}"


def _slug(entry: Mapping[str, object], id: str) -> str:
    return slug(str(entry.get("name", id))).replace("-", "_") or id


def _old(node: Node, new: dict[str, Memory]) -> dict[int, Memory]:
    """Return the patterns of the file by the index of their entry."""
    found, seen = dict[int, Memory](), set[str]()
    for index, entry in enumerate(node.entries):
        try:
            memory = read_again(new, partial(_one, entry))
        except ValueError:
            continue
        if memory.id not in seen:
            seen.add(memory.id)
            found[index] = memory
    return found


def _one(entry: Entry, context: ReadContext) -> Memory:
    return pattern_entry.pattern(str(entry.key), entry.value, context)[0]


def _counted(text: str, meta: Entry, before: int, grown: int, style: Style) -> str | None:
    """Return the file's `meta` with the number of patterns, where it counts them."""
    if isinstance(meta.value, dict) and meta.value.get("total_patterns") == before:
        return edited_object(text, meta, {"total_patterns": before + grown}, style)
    return text[meta.at : meta.end]


FORMAT = Format(NAME, "agent-playbook patterns (JSON)", detect, read, write, suffix=".json")
