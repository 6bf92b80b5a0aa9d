"""JSON with places: where each element of a list or object stands in the text, so that one can be replaced alone.

Only the levels asked for are taken apart; the values in them are decoded as a whole. A damaged
text gives what stands before the damage, and can still be rewritten up to there.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.core.errors import UnreadableFile
from workbench.formats.shared.jsonstyle import Style
from workbench.formats.shared.jsontext import JsonReader

BOM = "\ufeff"
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Entry:
    """One element: its key (or index), where it starts (at its key), where its value starts and ends.

    `inner` is set where the value was taken apart itself; `value` is then None.
    """

    key: str | int
    start: int
    at: int
    end: int
    value: object = None
    changes: tuple[str, ...] = ()
    inner: "Node | None" = None


@dataclass(frozen=True, slots=True)
class Node:
    """A list (`kind` “[”) or an object (“{”) from `start` to `end`.

    `damage` says what ended it early, at `damage_at`.
    """

    kind: str
    start: int
    end: int
    entries: tuple[Entry, ...]
    damage: str = ""
    damage_at: int = 0

    def get(self, key: str) -> Entry | None:
        """Return the first entry of that key."""
        return next((entry for entry in self.entries if entry.key == key), None)

    def inside(self, key: str, kind: str) -> "Node | None":
        """Return the list or object of that key, if it was taken apart."""
        found = self.get(key)
        return found.inner if found is not None and found.inner is not None and found.inner.kind == kind else None


class Lines:
    """Finds the line of a place in a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def at(self, place: int) -> int:
        """Return the line, from 1, of the character at `place`."""
        return bisect_right(self._starts, place)


def scan(text: str, at: int, reader: JsonReader, inside: frozenset[str] = frozenset()) -> Node:
    """Take apart the list or object that starts at `at`; the values of the keys in `inside` are taken apart too.

    Raises `ValueError` when neither a list nor an object starts there.
    """
    opening = text[at : at + 1]
    if opening not in ("[", "{"):
        raise ValueError("neither a JSON list nor an object")
    closing, place, entries = {"[": "]", "{": "}"}[opening], _skip(text, at + 1), list[Entry]()
    while text[place : place + 1] != closing:
        try:
            place = place if not entries else _expect(text, place, ",")
            entry = _entry(text, place, len(entries) if opening == "[" else None, reader, inside)
        except ValueError as error:
            return Node(opening, at, len(text), tuple(entries), str(error), min(place, len(text)))
        entries.append(entry)
        if entry.inner is not None and entry.inner.damage:
            return Node(opening, at, len(text), tuple(entries), entry.inner.damage, entry.inner.damage_at)
        place = _skip(text, entry.end)
    return Node(opening, at, place + 1, tuple(entries))


def _entry(text: str, at: int, index: int | None, reader: JsonReader, inside: frozenset[str]) -> Entry:
    start, key = at, index if index is not None else ""
    if index is None:
        found, at = reader.decode_at(text, at)
        if not isinstance(found, str):
            raise ValueError("damaged from here on: a key is not a string")
        key, at = found, _expect(text, _skip(text, at), ":")
    if key in inside and text[at : at + 1] in ("[", "{"):
        node = scan(text, at, reader)
        return Entry(key, start, at, node.end, inner=node)
    value, end = reader.decode_at(text, at)
    return Entry(key, start, at, end, value, tuple(sorted(reader.changes)))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _expect(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        missing = f"damaged from here on: “{sign}” is missing"
        raise ValueError(missing if at < len(text) else "cut off: the end is missing")
    return _skip(text, at + 1)


def scan_file(text: str, file: str, inside: frozenset[str] = frozenset(), start: int | None = None) -> Node:
    """Take apart a whole file. Raises `UnreadableFile` for no list or object, or nothing before the damage."""
    at = _skip(text, len(BOM) if text.startswith(BOM) else 0) if start is None else start
    try:
        node = scan(text, at, JsonReader(), inside)
    except ValueError as error:
        raise UnreadableFile(f"{file} cannot be read: {error} (line 1).", "Nothing was read from it.") from None
    if node.damage and not any(entry.inner is None or entry.inner.entries for entry in node.entries):
        reason = f"{file} cannot be read: {node.damage} (line {Lines(text).at(node.damage_at)})."
        raise UnreadableFile(reason, "Nothing was read from it.")
    rest = _skip(text, node.end)
    if not node.damage and rest < len(text):
        return Node(node.kind, node.start, node.end, node.entries, "more text after the end of the JSON value", rest)
    return node


def rewrite(text: str, node: Node, values: Mapping[int, str | None], added: Sequence[str], style: Style) -> str:
    """Return the text of `node` with other values at some indices of its entries (None: without the entry).

    `added` are whole entries for the end.
    """
    if not values and not added:
        return text[node.start : node.end]
    whole, bodies = _parts(text, node), list[tuple[str, str, str]]()
    for index, (entry, (before, after)) in enumerate(zip(node.entries, whole, strict=True)):
        value = values.get(index, text[entry.at : entry.end])
        if value is not None:
            bodies.append((before, text[entry.start : entry.at] + value, after))
    margin = style.newline + indentation(text, node.start) + style.unit if style.unit else ""
    first = whole[0][0] if whole else margin
    if whole:
        margin = whole[-1][0] if len(whole) > 1 or "\n" in first else style.comma[1:]
    bodies += [(margin, body, "") for body in added]
    tail = text[node.entries[-1].end if whole else node.start + 1 : node.end]
    if bodies:
        bodies[0], bodies[-1] = (first, *bodies[0][1:]), (*bodies[-1][:2], "")
        if not whole and "\n" not in tail:
            tail = margin[: len(margin) - len(style.unit)] + tail.lstrip(" \t")
    return text[node.start] + ",".join(a + body + b for a, body, b in bodies) + tail


def _parts(text: str, node: Node) -> list[tuple[str, str]]:
    """Return for each entry the white space before it and between it and its comma."""
    parts, place = [], node.start + 1
    for index, entry in enumerate(node.entries, 1):
        comma = _skip(text, entry.end) if index < len(node.entries) else entry.end
        parts.append((text[place : entry.start], text[entry.end : comma]))
        place = comma + 1
    return parts


def indentation(text: str, at: int) -> str:
    """Return the white space that the line of the character at `at` begins with."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    found = re.match(r"[ \t]*", text[start:at])
    return found.group() if found else ""
