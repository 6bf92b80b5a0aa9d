"""Records that are the elements of a JSON list or object: writing back only those that changed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.formats.shared.jsonstyle import Style, dumps, replacement
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.jsontree import Entry, Node, indentation, rewrite, scan
from workbench.formats.shared.records import GONE, Key, R, changes


def member(key: str, value: object, style: Style, outer: str, *, inline: bool = False) -> str:
    """Write one key and its value."""
    return dumps(key, style, inline=True) + style.colon + dumps(value, style, outer, inline=inline)


def edited_object(text: str, entry: Entry, changed: Mapping[str, Any], style: Style) -> str:
    """Return the object that is the value of `entry`, with some keys changed, added or `GONE`."""
    node = scan(text, entry.at, JsonReader())
    last = {found.key: index for index, found in enumerate(node.entries)}
    values: dict[int, str | None] = {}
    added: list[str] = []
    inline = "\n" not in text[node.start : node.end]
    outer = indentation(text, node.start) + style.unit
    for key, value in changed.items():
        if key not in last:
            added += [member(key, value, style, outer, inline=inline)] if value is not GONE else []
            continue
        index = last[key]
        found = node.entries[index]
        old = text[found.at : found.end]
        values[index] = None if value is GONE else replacement(value, style, old, indentation(text, found.start))
    return rewrite(text, node, values, added, style)


def rewritten(
    text: str,
    node: Node,
    old: Mapping[int, R],
    new: Mapping[str, R],
    keys: Callable[[R], Sequence[Key[R]]],
    entry: Callable[[R, str], str],
    style: Style,
) -> str:
    """Return the text of `node` with the records of `new` (by id) in the place of those of `old` (by index).

    What is no record of `old` stays. `entry` writes a whole new element, given its indentation.
    """
    values: dict[int, str | None] = {}
    for index, before in old.items():
        after = new.get(before.id)
        if after is None:
            values[index] = None
            continue
        changed = changes(before, after, keys(before))
        if changed:
            values[index] = edited_object(text, node.entries[index], changed, style)
    known = {record.id for record in old.values()}
    outer = indentation(text, node.start) + style.unit
    added = [entry(record, outer) for name, record in new.items() if name not in known]
    return rewrite(text, node, values, added, style)
