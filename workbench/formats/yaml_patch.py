"""YAML texts with places, and with another value: every byte of what says the same is kept.

Imported late, as the parser takes long to load.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.scanner import Scanner
from ruamel.yaml.tokens import Token

from workbench.core.files.lint import Edit, applied, newline_of
from workbench.core.record import UnreadableFile
from workbench.core.text import clean_for_store
from workbench.formats.patch import SPECIAL, alike, flow, paired, scalar
from workbench.formats.shared.jsontext import MAX_DEPTH

_MAX_VALUES = 100_000
_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"[+-]?[0-9]{1,18}")
_TRIES = 4
_LONG_KEY = 1024
"""From so many characters on a key needs a mark of its own."""
_ITEM = re.compile(r"^[ \t]*- ", re.MULTILINE)
_ALIAS = re.compile(r"\s*:\s*(\*[^\s,\]}]+)")


class DamagedYaml(ValueError):
    """A YAML text is damaged at `line`."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


class Unfitting(ValueError):
    """A text is laid out in a way that a change cannot be fitted into."""


class _Scanner(Scanner):
    """Gives up where brackets are nested too deeply: with each more that is open every sign takes
    longer to read.
    """

    def fetch_flow_collection_start(self, TokenClass: type[Token], to_push: str) -> None:  # noqa: N803
        super().fetch_flow_collection_start(TokenClass, to_push)
        if self.flow_level > MAX_DEPTH:
            raise DamagedYaml(f"nested more than {MAX_DEPTH} levels deep", self.reader.line + 1)


def compose(text: str) -> Node | None:
    """Return the tree of one document. Raises `DamagedYaml`."""
    parser = YAML(typ="safe", pure=True)
    parser.Scanner = _Scanner
    try:
        found = parser.compose(text)
    except DamagedYaml:
        raise
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise DamagedYaml(
            f"not YAML: {error.problem or error.context}", mark.line + 1 if mark else 1
        ) from None
    except YAMLError as error:
        reason = str(getattr(error, "reason", "")) or "it cannot be parsed"
        at = getattr(error, "position", 0)
        raise DamagedYaml(f"not YAML: {reason}", text.count("\n", 0, at) + 1) from None
    except RecursionError:
        raise DamagedYaml("nested too deeply to be read", 1) from None
    except (ValueError, IndexError, AttributeError) as error:
        # The parser stumbles over some malformed directives and escapes instead of refusing them.
        raise DamagedYaml(f"not YAML: {error}", 1) from None
    return found if isinstance(found, Node) else None


def entries(node: Node) -> Iterator[tuple[str, Node, Node]]:
    """Yield the keys of a mapping as text, with the nodes of key and value; a key used twice counts
    once, the last.
    """
    if isinstance(node, MappingNode):
        last = {
            key.value: index
            for index, (key, _) in enumerate(node.value)
            if isinstance(key, ScalarNode)
        }
        yield from ((key.value, key, value) for index, (key, value) in enumerate(node.value)
                    if isinstance(key, ScalarNode) and last[key.value] == index)  # fmt: skip


def plain(node: Node) -> object:
    """Return the value of a node as JSON has it; times stay text. Raises `ValueError` when it grows
    out of hand.
    """
    return _Plain().value(node, 0)


class _Plain:
    """Counts what it makes, as a few aliases can stand for billions of values."""

    def __init__(self) -> None:
        self.made = 0

    def value(self, node: Node, depth: int) -> object:
        self.made += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
        if self.made > _MAX_VALUES:
            raise ValueError(f"more than {_MAX_VALUES:,} values in one record")
        if isinstance(node, SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        if isinstance(node, MappingNode):
            return {
                clean_for_store(key): self.value(value, depth + 1)
                for key, _, value in entries(node)
            }
        return _scalar(node)


def _scalar(node: Node) -> object:
    text, tag = clean_for_store(str(node.value)), str(node.tag).removeprefix(_TAG)
    if tag == "null":
        return None
    if tag == "bool":
        return text.lower() == "true"
    if tag == "int" and _INT.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    if tag == "float":
        try:
            number = float(text)
        except ValueError:
            return text
        return number if number - number == 0 else None
    return text


def end_of(node: Node, text: str) -> int:
    """Return where the last character of a node stands, without the white space and comments that
    follow it.
    """
    if isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        last = node.value[-1][1] if isinstance(node, MappingNode) else node.value[-1]
        if last.start_mark.index >= node.start_mark.index:
            return max(
                end_of(last, text),
                node.value[-1][0].end_mark.index if isinstance(node, MappingNode) else 0,
            )
    start, end = node.start_mark.index, node.end_mark.index
    return int(start + len(text[start:end].rstrip()))


def line_end(text: str, at: int) -> int:
    """Return where the line of `at` ends, before its line end."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return end - 1 if end > at and text[end - 1] == "\r" else end


@dataclass(frozen=True, slots=True)
class Tree:
    """A mapping as a tree: its keys with their nodes, and the damage that ended it early."""

    root: MappingNode
    top: dict[str, tuple[Node, Node]]
    damage: str = ""
    line: int = 0

    @property
    def value(self) -> dict[str, Any]:
        """What it says; a value, or an element of a list, that grows out of hand is the
        `ValueError` of that.
        """
        return {name: _said(node) for name, (_, node) in self.top.items()}

    def listed(self, name: str) -> list[Node]:
        """Return the elements of a list."""
        return self.top[name][1].value if isinstance(self.top[name][1], SequenceNode) else []


def tree(text: str) -> Tree:
    """Return the tree of a mapping; of a damaged one, what stands above the damage. Raises
    `DamagedYaml`.
    """
    first: DamagedYaml | None = None
    for _ in range(_TRIES):
        try:
            root = compose(text)
        except DamagedYaml as error:
            first = first or error
            text = _before(text, error.line)
            continue
        if isinstance(root, MappingNode):
            top = {name: (key, value) for name, key, value in entries(root)}
            return Tree(root, top, str(first) if first else "", first.line if first else 0)
        break
    raise first or DamagedYaml("it has no names and values", 0)


def _before(text: str, line: int) -> str:
    """Cut a text before the list item that the damaged line belongs to."""
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1 or len(text)
    starts = [found.start() for found in _ITEM.finditer(text, 0, at)]
    return text[: starts[-1]] if starts else ""


def records(text: str, file: str, name: str) -> Tree:
    """Return the tree of a file with a list of that name. Raises `UnreadableFile` when it is no
    YAML, or has none.
    """
    try:
        found = tree(text)
        damage, line = found.damage, found.line
        is_list = name in found.top and (
            found.listed(name) or (not damage and _said(found.top[name][1]) in (None, []))
        )
    except DamagedYaml as error:
        damage, line, is_list = str(error) if error.line else "", error.line, False
    if is_list:
        return found
    where = f" (line {line})" if line else ""
    reason = damage or f"it has no list of “{name}”"
    raise UnreadableFile(f"{file} cannot be read: {reason}{where}.", "Nothing was read from it.")


def _said(node: Node) -> Any:
    if isinstance(node, SequenceNode):
        return list(map(_plain_or, node.value))
    return _plain_or(node)


def _plain_or(node: Node) -> object:
    try:
        return plain(node)
    except ValueError as reason:
        return reason


def patch_yaml(text: str, value: dict[str, Any], whole: Tree | None = None) -> str:
    """Return the text of a mapping with another value. Raises `Unfitting` where the text has no
    place for that.
    """
    edits = _mapping(text, (whole or tree(text)).root, value)
    if not edits:
        return text
    new = applied(text, edits)
    try:
        again = tree(new).value
    except DamagedYaml as error:
        raise Unfitting(str(error)) from None
    if _bare(again) != _bare(value):
        raise Unfitting("it would say something else")
    return new


def _bare(value: object) -> object:
    """Return a value without the line ends after its texts, about which the style of a block
    decides.
    """
    if isinstance(value, dict):
        return {key: _bare(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_bare, value))
    return value.rstrip("\n") if isinstance(value, str) else str(value)


def _mapping(text: str, node: MappingNode, new: dict[str, Any]) -> list[Edit]:
    edits, known = list[Edit](), set[str]()
    kept = [
        max(end_of(old, text), key.end_mark.index)
        for name, key, old in entries(node)
        if name in new
    ]
    end = max(kept, default=end_of(node, text))
    for name, key, old in entries(node):
        known.add(name)
        edits += (
            _value(text, key, old, new[name])
            if name in new
            else [_without_key(text, node, key, old)]
        )
    added = [
        f"{scalar(name, None)}: {flow(value)}" for name, value in new.items() if name not in known
    ]
    if added and node.flow_style:
        at = len(text[:end].rstrip("}").rstrip())
        edits.append((at, at, "".join(f", {item}" for item in added)))
    elif added:
        margin, at = newline_of(text) + " " * node.start_mark.column, line_end(text, end)
        edits.append((at, at, "".join(margin + item for item in added)))
    return edits


def _value(text: str, key: Node, old: Any, new: Any) -> list[Edit]:
    """Return the edits that give a key another value."""
    said, alias = _said(old), _ALIAS.match(text, key.end_mark.index)
    if alike(said, new):
        return []
    if alias and old.start_mark.index != alias.start(1):
        return [(alias.start(1), alias.end(1), flow(new))]
    if isinstance(new, list) and (said is None or isinstance(old, SequenceNode)):
        return _sequence(text, key, old, new)
    if isinstance(new, dict) and new and isinstance(old, MappingNode) and old.value:
        return _mapping(text, old, new)
    start, end = old.start_mark.index, end_of(old, text)
    if end <= start:
        start = end = text.index(":", key.end_mark.index) + 1
        return [(start, end, f" {_styled(new, old.style)}")]
    return [(start, end, _spelled(text, old, new))]


def _spelled(text: str, old: Node, new: object) -> str:
    """Write a value as the one that it replaces."""
    if not isinstance(old, ScalarNode) or not isinstance(new, str):
        return flow(new)
    return (
        _block(text, old.start_mark.index, new)
        if old.style in ("|", ">")
        else _styled(new, old.style)
    )


def _styled(value: object, style: str | None) -> str:
    """Write a value in the style of another one; a comma may stand between brackets here."""
    return scalar(value, '"' if style is None and "," in str(value) else style)


def _sequence(text: str, key: Node, node: Any, new: list[Any]) -> list[Edit]:
    items = node.value if isinstance(node, SequenceNode) else []
    old = list(map(_plain_or, items))
    pairs = list(paired(old, new))
    inner = {at: _element(text, items[at], old[at], value) for at, value in pairs if at is not None}
    gone = [item for at, item in enumerate(items) if at not in inner]
    if not inner or node.flow_style:
        return [_rebuilt(text, key, node, pairs, inner)]
    newline, margin = newline_of(text), " " * node.start_mark.column
    edits = [edit for found in inner.values() for edit in found] + [
        _without_item(text, item) for item in gone
    ]
    place = -1
    for at, value in pairs:
        if at is not None:
            place = line_end(text, end_of(items[at], text))
        elif place >= 0:
            edits.append((place, place, newline + _item(value, margin, newline)))
        else:
            start = text.rfind("\n", 0, items[min(inner)].start_mark.index) + 1
            edits.append((start, start, _item(value, margin, newline) + newline))
    return edits


def _element(text: str, item: Node, old: Any, new: Any) -> list[Edit]:
    if alike(old, new):
        return []
    if (
        isinstance(new, dict)
        and isinstance(item, MappingNode)
        and (item.flow_style or item.value[0][0].value in new)
    ):
        return _mapping(text, item, new)
    start, end = item.start_mark.index, end_of(item, text)
    if isinstance(new, dict) and isinstance(item, MappingNode):
        # The dash of the element stands on the line of its first key.
        return [
            (
                start,
                end,
                _item(new, " " * (item.start_mark.column - 2), newline_of(text)).lstrip(" -"),
            )
        ]
    return [(start, end, _spelled(text, item, new))]


def _rebuilt(
    text: str,
    key: Node,
    node: Any,
    pairs: list[tuple[int | None, Any]],
    inner: dict[int, list[Edit]],
) -> Edit:
    """Return the edit that writes a whole list: one in brackets, an empty one, or one that becomes
    empty.
    """
    start = text.index(":", key.end_mark.index) + 1
    end = max(end_of(node, text), start) if node.end_mark.index > node.start_mark.index else start
    if pairs and not inner and any(isinstance(value, dict) for _, value in pairs):
        margin = " " * (
            node.start_mark.column
            if node.value and not node.flow_style
            else key.start_mark.column + 2
        )
        return (
            start,
            end,
            "".join(
                newline_of(text) + _item(value, margin, newline_of(text)) for _, value in pairs
            ),
        )
    parts = []
    for at, value in pairs:
        item = None if at is None else node.value[at]
        if item is None:
            parts.append(flow(value))
        elif inner[at or 0]:
            parts.append(_spelled(text, item, value))
        else:
            parts.append(text[item.start_mark.index : item.end_mark.index])
    return (start, end, f" [{', '.join(parts)}]")


def _item(value: object, margin: str, newline: str) -> str:
    """Write a new element of a list, without a line end."""
    if not isinstance(value, dict):
        return f"{margin}- {scalar(value, None)}"
    lines = list[str]()
    for key, item in value.items():
        name = scalar(str(key), None)
        lines += (
            [f"{name}: {flow(item)}"] if len(name) < _LONG_KEY else [f"? {name}", f": {flow(item)}"]
        )
    return f"{margin}- " + f"{newline}{margin}  ".join(lines)


def _without_item(text: str, item: Node) -> Edit:
    """Return the edit that removes an element from its dash to the end of its last line."""
    start = text.rfind("\n", 0, text.rindex("-", 0, item.start_mark.index)) + 1
    stop = text.find("\n", line_end(text, end_of(item, text)))
    if stop < 0 and start:
        # The last line goes with the line end before it.
        return (start - 1 - (text[start - 2 : start - 1] == "\r"), len(text), "")
    return (start, len(text) if stop < 0 else stop + 1, "")


def _block(text: str, start: int, value: str) -> str:
    """Write a text as a literal block where the old one stood, or quoted where a block cannot say
    it.

    The style of the block decides about a line break at the very end.
    """
    header = text[start : line_end(text, start)]
    body = text[line_end(text, start) :].lstrip("\r\n")
    indent = len(body) - len(body.lstrip(" "))
    lines = value.rstrip("\n").split("\n")
    literal = header.startswith("|") and "+" not in header and indent > 0
    if not literal or lines[0][:1] in ("", " ") or SPECIAL.search("".join(lines)):
        return scalar(value)
    newline = newline_of(text)
    return header + "".join(newline + (" " * indent + line if line else "") for line in lines)


def _without_key(text: str, node: Node, key: Node, value: Node) -> Edit:
    end = max(end_of(value, text), text.index(":", key.end_mark.index) + 1)
    if isinstance(node, MappingNode) and node.flow_style:
        comma = re.compile(r"\s*,\s*").match(text, end)
        return (key.start_mark.index, comma.end() if comma else end, "")
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    stop = text.find("\n", end)
    return (start, len(text) if stop < 0 else stop + 1, "")
