"""Records that are the elements of a JSON list or object: writing back only those that changed."""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import PurePath
from typing import Any, Generic, TypeVar

from workbench.core.files.format import ReadContext
from workbench.core.playbook.book import Bullet
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import FILE_KEY, STATUSES, Memory, Status, broken_rule
from workbench.formats.shared import values
from workbench.formats.shared.jsonstream import keeps_to_ascii
from workbench.formats.shared.jsontext import JsonReader, skip
from workbench.formats.shared.nodes import slug
from workbench.formats.shared.values import Decode, Notes

# How a JSON file is written: indentation, separators, escapes; and writing new values the same way.


_INDENT = re.compile(r"[\[{][ \t]*(\r?\n|\r)([ \t]+)\S")
_COLON = re.compile(r'"[ \t]*:([ \t]*)\S')
_COMMA = re.compile(r'["\d\]}el],([ \t]*)\S')


@dataclass(frozen=True, slots=True)
class Style:
    """`unit` is one level of indentation, empty where everything stands on one line."""

    unit: str = "  "
    newline: str = "\n"
    colon: str = ": "
    comma: str = ", "
    ascii_only: bool = False


def style_of(text: str) -> Style:
    """Find out how `text` is written, by its first places that tell."""
    indent, colon, comma = _INDENT.search(text), _COLON.search(text), _COMMA.search(text)
    return Style(
        unit=indent[2] if indent else "",
        newline=indent[1] if indent else "\n",
        colon=f":{colon[1]}" if colon else ": ",
        comma=f",{comma[1]}" if comma else ", ",
        ascii_only=keeps_to_ascii(text),
    )


def dumps(value: object, style: Style, outer: str = "", *, inline: bool = False) -> str:
    """Write `value` as it stands behind a key on a line indented by `outer`; with `inline`, on one line."""
    separators = (style.comma if inline or not style.unit else ",", style.colon)
    indent = None if inline or not style.unit else style.unit
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=style.ascii_only)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=True)
    # Line breaks inside strings are escaped, so every one that is left is layout.
    return text.replace("\n", style.newline + outer)


def replacement(value: object, style: Style, old: str, outer: str = "") -> str:
    """Write a value in the place of `old`: on one line where that was, else indented."""
    return dumps(value, style, outer, inline="\n" not in old and "\r" not in old)


# Records of other tools' files: what a record cannot hold is kept with it, and only what changed is written.
#
# A reader keeps the keys it does not know in the metadata, and under `FILE_KEY` what a plain record of
# the format would not reproduce: `order` (the keys), `raw` (values written in another form) and
# `format`. A writer asks which keys two versions of a record differ in, and touches only those.


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_CONTEXT = ReadContext(now=_EPOCH, file="", importance=lambda *_: 5.0)
"""For reading a file that is about to be replaced, where times and ratings do not matter."""

R = TypeVar("R", Memory, Bullet)
Doc = dict[str, Any]


class Gone:
    """Stands for a key that is to be removed."""


GONE = Gone()


@dataclass(frozen=True, slots=True)
class Key(Generic[R]):
    """A key of a format, the JSON value that a record has there, and the value that needs no key."""

    name: str
    write: Callable[[R], Any]
    absent: Any = None


def take(doc: Mapping[str, Any], name: str, decode: Decode, default: Any, notes: Notes) -> Any:
    """Return the value of a key, `default` when it is absent, null or means nothing; changes go to `notes`."""
    raw = doc.get(name)
    if raw is None:
        return default
    try:
        value, note = decode(raw)
    except ValueError as problem:
        notes.append((name, f"left out: {problem}"))
        return default
    if note:
        notes.append((name, note))
    return value


def required_text(doc: Mapping[str, Any], name: str) -> str:
    """Return the text of a key. Raises `ValueError` when there is none."""
    value = doc.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"it has no {name}")
    return value


def remembered(
    record: R,
    doc: Mapping[str, Any],
    keys: Sequence[Key[R]],
    format: str,
    known: Sequence[str] = (),
    place: Mapping[str, Any] | None = None,
) -> R:
    """Return `record` with what `doc` says beyond it: unknown keys as metadata, the rest under `FILE_KEY`.

    `known` names keys that the record holds but that are never written; `place` says where in the
    file the record stood.
    """
    written: dict[str, Key[R]] = {key.name: key for key in keys}
    private = {*written, *known, FILE_KEY}
    raw = {
        name: value
        for name, value in doc.items()
        if name in private and (name not in written or not alike(value, written[name].write(record)))
    }
    extra = {name: value for name, value in doc.items() if name not in private}
    kept: Doc = {"format": format, "order": list(doc), "raw": raw, **(place or {})}
    return replace(record, metadata={**extra, **record.metadata, FILE_KEY: kept})


def restored(record: R, keys: Sequence[Key[R]], format: str, read: Callable[[Doc], R]) -> Doc | None:
    """Return the document `record` was read from, with its changes; None when it is from no file of `format`.

    `read` makes a record of a document.
    """
    kept = file_part(record, format)
    if kept is None:
        return None
    order, raw = _listed(kept.get("order")), _object(kept.get("raw"))
    written: dict[str, Key[R]] = {key.name: key for key in keys}
    doc: Doc = {}
    for name in order:
        if name in raw:
            doc[name] = raw[name]
        elif name in written:
            doc[name] = written[name].write(record)
        elif name in record.metadata:
            doc[name] = record.metadata[name]
    try:
        old = read(doc)
    except ValueError:
        return None
    return updated(doc, changes(old, record, keys))


def file_part(record: R, format: str) -> Mapping[str, Any] | None:
    """Return what the reader of `format` kept under `FILE_KEY`; None when another one, or none, did."""
    kept = _object(record.metadata.get(FILE_KEY))
    return kept if kept.get("format") == format else None


def changes(old: R, new: R, keys: Sequence[Key[R]]) -> dict[str, Any]:
    """Return the keys in which two versions of a record differ, with the new value or `GONE`.

    Of the metadata, only what the file had is compared: notes that the workbench adds stay in the store. A record
    that came from elsewhere does not know the file's other keys: they stay.
    """
    found: dict[str, Any] = {}
    for key in keys:
        value = key.write(new)
        if not alike(value, key.write(old)):
            found[key.name] = GONE if value is None else value
    place, other = (_object(record.metadata.get(FILE_KEY)).get("format") for record in (old, new))
    if place != other:
        return found
    for name in old.metadata.keys() - {FILE_KEY}:
        if name not in new.metadata:
            found[name] = GONE
        elif new.metadata[name] != old.metadata[name]:
            found[name] = new.metadata[name]
    return found


def updated(doc: Doc, changed: Mapping[str, Any]) -> Doc:
    """Return `doc` with the changed keys; new ones follow at the end."""
    out = {**doc, **changed}
    return {name: value for name, value in out.items() if value is not GONE}


def fresh(record: R, keys: Sequence[Key[R]]) -> Doc:
    """Return a document for a record that is from no file: every key that says something."""
    return {key.name: value for key in keys if (value := key.write(record)) != key.absent}


def at_time_of(record: R) -> ReadContext:
    """Return a context that gives a record without times those that this one has, so that they do not differ."""
    created = record.created_at
    importance = record.importance_score if isinstance(record, Memory) else 5.0
    return ReadContext(now=created or _EPOCH, file="", importance=lambda *_: importance)


def read_again(new: Mapping[str, R], read: Callable[[ReadContext], R]) -> R:
    """Read a record of the file that is being replaced; what the file leaves open is as in its new version.

    Raises what `read` raises. Its id must not depend on the context.
    """
    first = read(NO_CONTEXT)
    return read(at_time_of(new[first.id])) if first.id in new else first


def alike(one: object, other: object) -> bool:
    """Whether two JSON values are the same and of the same kind (1, 1.0 and true are not)."""
    if isinstance(one, list) and isinstance(other, list):
        if {str}.issuperset(map(type, one)):
            return one == other
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


# JSON with places: where each element of a list or object stands in the text, so that one can be replaced alone.
#
# Only the levels asked for are taken apart; the values in them are decoded as a whole. A damaged
# text gives what stands before the damage, and can still be rewritten up to there.


BOM = "\ufeff"


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
    closing, place, entries = {"[": "]", "{": "}"}[opening], skip(text, at + 1), list[Entry]()
    while text[place : place + 1] != closing:
        try:
            place = place if not entries else _expect(text, place, ",")
            entry = _entry(text, place, len(entries) if opening == "[" else None, reader, inside)
        except ValueError as error:
            return Node(opening, at, len(text), tuple(entries), str(error), min(place, len(text)))
        entries.append(entry)
        if entry.inner is not None and entry.inner.damage:
            return Node(opening, at, len(text), tuple(entries), entry.inner.damage, entry.inner.damage_at)
        place = skip(text, entry.end)
    return Node(opening, at, place + 1, tuple(entries))


def _entry(text: str, at: int, index: int | None, reader: JsonReader, inside: frozenset[str]) -> Entry:
    start, key = at, index if index is not None else ""
    if index is None:
        found, at = reader.decode_at(text, at)
        if not isinstance(found, str):
            raise ValueError("damaged from here on: a key is not a string")
        key, at = found, _expect(text, skip(text, at), ":")
    if key in inside and text[at : at + 1] in ("[", "{"):
        node = scan(text, at, reader)
        return Entry(key, start, at, node.end, inner=node)
    value, end = reader.decode_at(text, at)
    return Entry(key, start, at, end, value, tuple(sorted(reader.changes)))


def _expect(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        missing = f"damaged from here on: “{sign}” is missing"
        raise ValueError(missing if at < len(text) else "cut off: the end is missing")
    return skip(text, at + 1)


def scan_file(text: str, file: str, inside: frozenset[str] = frozenset(), start: int | None = None) -> Node:
    """Take apart a whole file. Raises `UnreadableFile` for no list or object, or nothing before the damage."""
    at = skip(text, len(BOM) if text.startswith(BOM) else 0) if start is None else start
    try:
        node = scan(text, at, JsonReader(), inside)
    except ValueError as error:
        raise UnreadableFile(f"{file} cannot be read: {error} (line 1).", "Nothing was read from it.") from None
    if node.damage and not any(entry.inner is None or entry.inner.entries for entry in node.entries):
        reason = f"{file} cannot be read: {node.damage} (line {Lines(text).at(node.damage_at)})."
        raise UnreadableFile(reason, "Nothing was read from it.")
    rest = skip(text, node.end)
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
        comma = skip(text, entry.end) if index < len(node.entries) else entry.end
        parts.append((text[place : entry.start], text[entry.end : comma]))
        place = comma + 1
    return parts


def indentation(text: str, at: int) -> str:
    """Return the white space that the line of the character at `at` begins with."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    found = re.match(r"[ \t]*", text[start:at])
    return found.group() if found else ""


# What every reader of other tools' memories does: name them, date them, rate them, check them.


_LONGEST_COUNT = 6
_PLAIN_FOLDERS = frozenset({"memory", "detail", "working-memory", ".claude"})


def digest(*parts: str) -> str:
    """Return six hexadecimal digits that tell texts apart."""
    return sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:6]


def unique_id(prefix: str, name: str) -> str:
    """Make a readable id of a name; different names never share one."""
    return "-".join(part for part in (prefix, slug(name), digest(name)) if part)


def place(context: ReadContext) -> str:
    """Return the project or session folder that a file belongs to, as part of an id; empty when unknown."""
    folders = list(PurePath(context.path).parts[1:-1])
    while folders and folders[-1] in _PLAIN_FOLDERS:
        folders.pop()
    return slug(folders[-1]) if folders else ""


def created_at(
    doc: Mapping[str, Any], names: Sequence[str], context: ReadContext, notes: Notes, decode: Decode = values.time
) -> datetime:
    """Return the first time among some keys, or the time of the import; `decode` reads one."""
    for name in names:
        found = take(doc, name, decode, None, notes)
        if isinstance(found, datetime):
            return found
    notes.append(("created_at", "set to the time of the import, the record has none"))
    return context.now


def rating(context: ReadContext, observation_type: str, content: str, notes: Notes) -> float:
    """Return the importance of a record that brings none."""
    notes.append(("importance", "rated from type and content, the record has none"))
    return min(max(float(context.importance(observation_type, content)), 0.0), 10.0)


COUNTS = ("helpful", "harmful")
"""The names in front matter under which votes are counted."""


def votes_in(facts: Mapping[str, str]) -> tuple[int, int]:
    """Return how often a file's front matter says that its record helped and harmed; what is no count is none."""
    helpful, harmful = (facts.get(name, "").strip() for name in COUNTS)
    return _votes(helpful), _votes(harmful)


def _votes(said: str) -> int:
    return int(said) if said.isascii() and said.isdigit() and len(said) <= _LONGEST_COUNT else 0


def status_in(facts: Mapping[str, Any]) -> Status:
    """Return the status that a file states for its record; a signal where it states none that is known."""
    said = str(facts.get("status", "")).strip("\"'")
    return next((status for status in STATUSES if status == said), "signal")


def checked(memory: Memory) -> Memory:
    """Return `memory`. Raises `ValueError` with the rule of the data model that it breaks."""
    problem = broken_rule(memory)
    if problem:
        raise ValueError(problem)
    return memory


def member(key: str, value: object, style: Style, outer: str, *, inline: bool = False) -> str:
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
