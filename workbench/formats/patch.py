"""JSON texts with places, and with another value: every byte of what says the same is kept."""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from workbench.core.files.format import Layout
from workbench.core.record import UnreadableFile, as_object
from workbench.formats.shared.jsontext import JsonReader, skip
from workbench.formats.shared.report import Report

_NAMES = ("id", "label", "name")
"""The keys that may tell the elements of a list apart, whatever else they say."""


def alike(one: object, other: object) -> bool:
    """Whether two JSON values are the same and of the same kind (1, 1.0 and true are not)."""
    if isinstance(one, list) and isinstance(other, list):
        if {str}.issuperset(map(type, one)):
            return one == other
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


def paired(old: Sequence[Any], new: Sequence[Any]) -> Iterator[tuple[int | None, Any]]:
    """Yield every new element of a list with the index of the old one that it stands for, `None`
    for none.
    """
    key = next((name for name in _NAMES if _tells(old, name) and _tells(new, name)), None)
    a, b = (
        [one[key] if key else json.dumps(one, default=id) for one in items] for items in (old, new)
    )
    for kind, start, stop, begin, end in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        for step, value in enumerate(new[begin:end]):
            paired = kind == "equal" or (kind == "replace" and key is None and start + step < stop)
            yield start + step if paired else None, value


def _tells(items: Sequence[Any], key: str) -> bool:
    names = [as_object(one).get(key) for one in items]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


# JSON: how it is written, where its values stand, and the text with another value.


_INDENT = re.compile(r"[\[{][ \t]*(\r?\n|\r)([ \t]+)\S")
_COLON = re.compile(r'"[ \t]*:([ \t]*)\S')
_COMMA = re.compile(r'["\d\]}el],([ \t]*)\S')
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LOOKED_AT = 65_536
_ASCII_ESCAPE = re.compile(r"\\u(?!00[0-7][^f]|00[0-6]f)")
"""Escapes that only a writer makes that keeps to ASCII; control characters are escaped by all."""
_BEHIND = re.compile(r"[ \t]*(?://|/\*)[^\r\n]*(?=\r?\n)")
_LINE_END = re.compile(r"[ \t]*\r?\n")

Inside = frozenset[str] | None


def keeps_to_ascii(text: str) -> bool:
    """Whether the writer of `text` escaped every character beyond ASCII (false when there was none
    to escape).
    """
    return text.isascii() and _ASCII_ESCAPE.search(text) is not None


def layout_of(text: str) -> Layout:
    """Find out how `text` is written, by its first places that tell."""
    bare = _STRING.sub('""', text[:_LOOKED_AT])
    indent, colon, comma = _INDENT.search(bare), _COLON.search(bare), _COMMA.search(bare)
    ends = text.count("\n")
    is_windows = ends and text.count("\r\n") == ends
    return Layout(
        unit=indent[2] if indent else "",
        newline=indent[1] if indent else "\r\n" if is_windows else "\n",
        colon=f":{colon[1]}" if colon else ": ",
        comma=f",{comma[1]}" if comma else ", ",
        ascii_only=keeps_to_ascii(text),
        final_newline=text.endswith("\n") or not text,
    )


def dumps(value: object, style: Layout, outer: str = "", *, inline: bool = False) -> str:
    """Write `value` as it stands behind a key on a line indented by `outer`; with `inline`, on one
    line.
    """
    separators = (style.comma if inline or not style.unit else ",", style.colon)
    indent = None if inline or not style.unit else style.unit
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=style.ascii_only)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=True)
    # Line breaks inside strings are escaped, so every one that is left is layout.
    return text.replace("\n", style.newline + outer)


# A value on one line of YAML.


_PLAIN = re.compile(r"[^\W\d_][\w ,./()'’+-]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
SPECIAL = re.compile(
    "[^\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def scalar(value: object, style: str | None = '"') -> str:
    """Write a value on one line; text in double quotes, or plain or in single quotes where that is
    `style` and safe.
    """
    if not isinstance(value, str):
        return flow(value)
    if style == "'" and "\n" not in value and "\r" not in value and not SPECIAL.search(value):
        return "'" + value.replace("'", "''") + "'"
    safe = _PLAIN.fullmatch(value) and value == value.strip() and value.lower() not in _WORDS
    if style is None and safe:
        return value
    quoted = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return SPECIAL.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)


def flow(value: object) -> str:
    """Write any value on one line."""
    if isinstance(value, str):
        return scalar(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{scalar(str(key))}: {flow(item)}" for key, item in value.items())
            + "}"
        )
    return json.dumps(value)


class Entry(NamedTuple):
    """One element: its key (or index), where it starts (at its key), where its value starts and
    ends, and where its comma stands.

    `inner` is set where the value was taken apart itself; `value` is then None.
    """

    key: str | int
    start: int
    at: int
    end: int
    comma: int
    value: object = None
    changes: tuple[str, ...] = ()
    inner: "Node | None" = None

    @property
    def said(self) -> Any:
        return self.value if self.inner is None else self.inner.value


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

    @property
    def value(self) -> Any:
        """What it says; of a key that stands there twice, the first."""
        if self.kind == "[":
            return [entry.said for entry in self.entries]
        said: dict[str | int, Any] = {}
        for entry in self.entries:
            said.setdefault(entry.key, entry.said)
        return said

    def get(self, key: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.key == key), None)

    def inside(self, kind: str, *keys: str) -> "Node | None":
        """Return the list or object of the first of these keys that has one taken apart."""
        inner = (found.inner for key in keys if (found := self.get(key)) is not None)
        return next((node for node in inner if node is not None and node.kind == kind), None)


class Lines:
    """Finds the line of a place in a text; all of it may stand on one."""

    def __init__(self, text: str, only: int = 0) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._only = only

    def at(self, place: int) -> int:
        """Return the line, from 1, of the character at `place`."""
        return self._only or bisect_right(self._starts, place)

    def rows(self, node: "Node | None") -> Iterator[tuple[int, Any, tuple[str, ...]]]:
        """Yield the line of every element, its value, and what of it could not be kept as it was."""
        for entry in node.entries if node is not None else ():
            yield self.at(entry.start), entry.value, entry.changes


def scan(text: str, at: int, reader: JsonReader, inside: Inside = frozenset()) -> Node:
    """Take apart the list or object that starts at `at`; the values of the keys in `inside` are
    taken apart too, with `None` all values at any depth.

    Raises `ValueError` when neither a list nor an object starts there.
    """
    opening = text[at : at + 1]
    if opening not in ("[", "{"):
        raise ValueError("neither a JSON list nor an object")
    closing, place, entries = {"[": "]", "{": "}"}[opening], skip(text, at + 1), list[Entry]()
    while text[place : place + 1] != closing:
        try:
            place = place if not entries else _expect(text, place, ",")
            entry = _entry(text, place, len(entries) if opening == "[" else None, reader, inside)
        except ValueError as error:
            return Node(opening, at, len(text), tuple(entries), str(error), min(place, len(text)))
        entries.append(entry)
        if entry.inner is not None and entry.inner.damage:
            return Node(
                opening, at, len(text), tuple(entries), entry.inner.damage, entry.inner.damage_at
            )
        place = entry.comma
    return Node(opening, at, place + 1, tuple(entries))


def _entry(text: str, at: int, index: int | None, reader: JsonReader, inside: Inside) -> Entry:
    start, key = at, index if index is not None else ""
    if index is None:
        found, at = reader.decode_at(text, at)
        if not isinstance(found, str):
            raise ValueError("damaged from here on: a key is not a string")
        key, at = found, _expect(text, skip(text, at), ":")
    if (inside is None or key in inside) and text[at : at + 1] in ("[", "{"):
        node = scan(text, at, reader, frozenset() if inside else inside)
        return Entry(key, start, at, node.end, skip(text, node.end), inner=node)
    value, end = reader.decode_at(text, at)
    return Entry(key, start, at, end, skip(text, end), value, tuple(sorted(reader.changes)))


def _expect(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        missing = f"damaged from here on: “{sign}” is missing"
        raise ValueError(missing if at < len(text) else "cut off: the end is missing")
    return skip(text, at + 1)


def scan_file(text: str, file: str, inside: Inside = frozenset()) -> Node:
    """Take apart a whole file. Raises `UnreadableFile` for no list or object, or nothing before the
    damage.
    """
    try:
        node = scan(text, skip(text, int(text.startswith("\ufeff"))), JsonReader(), inside)
    except ValueError as error:
        raise UnreadableFile(
            f"{file} cannot be read: {error} (line 1).", "Nothing was read from it."
        ) from None
    if node.damage and not any(
        entry.inner is None or entry.inner.entries for entry in node.entries
    ):
        reason = f"{file} cannot be read: {node.damage} (line {Lines(text).at(node.damage_at)})."
        raise UnreadableFile(reason, "Nothing was read from it.")
    rest = skip(text, node.end)
    if not node.damage and rest < len(text):
        return replace(node, damage="more text after the end of the JSON value", damage_at=rest)
    return node


def opened(
    text: str,
    report: Report,
    inside: Collection[str],
    find: Callable[[Node], Node | None],
    what: str,
    lines: Lines | None = None,
) -> tuple[Node, Lines]:
    """Take apart a file that has `what` as `find` finds it; damage becomes an issue. Raises
    `UnreadableFile`.
    """
    root, lines = scan_file(text, report.file, frozenset(inside)), lines or Lines(text)
    if find(root) is None:
        reason = f"{report.file} has no {what}" + (f": {root.damage}." if root.damage else ".")
        raise UnreadableFile(reason, "Nothing was read from it.")
    if root.damage:
        report.skip(lines.at(root.damage_at), root.damage)
    return root, lines


def count_unread(root: Node, lines: Lines, report: Report, lists: Mapping[str, str]) -> None:
    """Note the lists of a file, by their keys, of which no record is made."""
    for name, what in lists.items():
        found = root.inside("[", name)
        if found is not None and (number := len(found.entries)):
            told = f"{what} are not read ({number:,} of them)"
            report.skip(lines.at(found.start), told, number)


def indentation(text: str, at: int) -> str:
    """Return the white space that the line of the character at `at` begins with."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    found = re.match(r"[ \t]*", text[start:at])
    return found.group() if found else ""


def patch(text: str, value: object, root: Node | None = None) -> str:
    """Return the text with another value of its object or list, or of that at `root`."""
    return changed(text, root or scan_file(text, "the file"), value, layout_of(text))


def changed(text: str, node: Node, value: object, style: Layout) -> str:
    """Return the text with another value of the object or list `node`."""
    return text[: node.start] + _container(text, node, value, style) + text[node.end :]


def patched(text: str, at: int, value: object, style: Layout) -> str:
    """Return the object or list that begins at `at`, with another value."""
    return _container(text, scan(text, at, JsonReader()), value, style, last=True)


def member(key: str, value: object, style: Layout, outer: str, *, inline: bool = False) -> str:
    return dumps(key, style, inline=True) + style.colon + dumps(value, style, outer, inline=inline)


def _container(text: str, node: Node, new: Any, style: Layout, *, last: bool = False) -> str:
    """Return the text of `node` with a new value; of a key that stands twice, its first or its
    `last` place counts.
    """
    found = list(enumerate(node.entries))
    sample = text[node.entries[-1].at : node.entries[-1].end] if found else "\n"
    is_flat = "\n" not in sample and (
        sample[:1] in ("[", "{") or "\n" not in text[node.start : node.end]
    )
    outer = indentation(text, node.start) + style.unit
    parts: list[tuple[int | None, str]] = []
    if node.kind == "[":
        for index, value in paired(node.value, new):
            if index is None:
                parts.append((None, dumps(value, style, outer, inline=is_flat)))
            else:
                parts.append((index, _value(text, node.entries[index], value, style)))
        return _joined(text, node, parts, style)
    at = {entry.key: index for index, entry in (found if last else reversed(found))}
    for index, entry in found:
        if entry.key in new:
            is_own = at[entry.key] == index
            parts.append(
                (
                    index,
                    _value(text, entry, new[entry.key], style)
                    if is_own
                    else text[entry.at : entry.end],
                )
            )
    for key in (key for key in new if key not in at):
        parts.append((None, member(key, new[key], style, outer, inline=is_flat)))
    return _joined(text, node, parts, style)


def _value(text: str, entry: Entry, new: Any, style: Layout) -> str:
    old, raw = entry.said, text[entry.at : entry.end]
    if alike(old, new):
        return raw
    if entry.inner is not None:
        return _container(text, entry.inner, new, style)
    if old and new and isinstance(new, dict | list) and type(old) is type(new):
        return patched(text, entry.at, new, style)
    is_inline = "\n" not in raw and "\r" not in raw and raw not in ("[]", "{}")
    return dumps(new, style, indentation(text, entry.start), inline=is_inline)


def _joined(text: str, node: Node, parts: Sequence[tuple[int | None, str]], style: Layout) -> str:
    """Return the text of `node` with these values, each in the place of an old entry or (`None`) a
    whole new one. Comments stay, also those of entries that go.
    """
    old, line = node.entries, style.newline + indentation(text, node.start)
    starts = [node.start + 1, *(entry.comma + 1 for entry in old[:-1])]
    gaps = [text[start : entry.start] for start, entry in zip(starts, old, strict=False)]
    tail = text[old[-1].end if old else node.start + 1 : node.end]
    margin = line + style.unit if style.unit else ""
    if old:
        margin = gaps[-1] if len(old) > 1 or "\n" in gaps[0] else style.comma[1:]
        margin = line + style.unit if margin.strip() else margin
    out, at, held, gaps = text[node.start], 0, "", [*gaps, tail]
    for number, (index, body) in enumerate(parts):
        gap = margin
        if index is None and number and (behind := _BEHIND.match(gaps[at])):
            # A comment behind an entry stays on its line.
            held, gaps[at] = behind[0], gaps[at][behind.end() :]
        elif index is not None:
            held += "".join(map(_comment, gaps[at:index]))
            gap, body, at = gaps[index], text[old[index].start : old[index].at] + body, index + 1
        if not number and old and not (held + gap + gaps[0]).strip():
            gap = gaps[0]
        out += held + (gap if "\n" in gap or not held else line + style.unit) + body
        held = ""
        if number < len(parts) - 1:
            has_comma = index is not None and index < len(old) - 1
            out += (text[old[at - 1].end : old[at - 1].comma] if has_comma else "") + ","
    held += "".join(map(_comment, gaps[at : len(old)]))
    tail = gaps[-1]
    if held:
        tail = held + ("" if _LINE_END.match(tail) else line) + tail.lstrip(" \t")
    elif parts and not old and "\n" not in tail:
        tail = margin[: len(margin) - len(style.unit)] + tail.lstrip(" \t")
    elif not parts and not tail[:-1].strip():
        tail = tail[-1]
    return out + tail


def _comment(gap: str) -> str:
    return gap.rstrip() if gap.strip() else ""
