"""Changing single values of a YAML text, each spelled as the one it replaces."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.scanner import Scanner
from ruamel.yaml.tokens import Token

from workbench.core.files.lint import Edit, newline_of
from workbench.core.record import UnreadableFile
from workbench.core.text import clean_for_store
from workbench.formats.shared.jsontext import MAX_DEPTH
from workbench.formats.shared.records import GONE

# YAML with places: the tree of a text, plain values of it, and where each value stands.


_MAX_VALUES = 100_000
_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"[+-]?[0-9]{1,18}")

__all__ = ["MappingNode", "Node", "ScalarNode", "SequenceNode", "compose", "end_of", "entries", "plain"]


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
        raise DamagedYaml(f"not YAML: {error.problem or error.context}", mark.line + 1 if mark else 1) from None
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


class DamagedYaml(ValueError):
    """A YAML text is damaged at `line`."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


class _Scanner(Scanner):
    """Gives up where brackets are nested too deeply: with each more that is open every sign takes longer to read."""

    def fetch_flow_collection_start(self, TokenClass: type[Token], to_push: str) -> None:  # noqa: N803
        super().fetch_flow_collection_start(TokenClass, to_push)
        if self.flow_level > MAX_DEPTH:
            raise DamagedYaml(f"nested more than {MAX_DEPTH} levels deep", self.reader.line + 1)


def entries(node: Node) -> Iterator[tuple[str, Node, Node]]:
    """Yield the keys of a mapping as text, with the nodes of key and value; a key used twice counts once, the last."""
    if isinstance(node, MappingNode):
        last = {key.value: index for index, (key, _) in enumerate(node.value) if isinstance(key, ScalarNode)}
        yield from ((key.value, key, value) for index, (key, value) in enumerate(node.value)
                    if isinstance(key, ScalarNode) and last[key.value] == index)  # fmt: skip


def plain(node: Node) -> object:
    """Return the value of a node as JSON has it; times stay text. Raises `ValueError` when it grows out of hand."""
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
            return {clean_for_store(key): self.value(value, depth + 1) for key, _, value in entries(node)}
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
    """Return where the last character of a node stands, without the white space and comments that follow it."""
    if isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        last = node.value[-1][1] if isinstance(node, MappingNode) else node.value[-1]
        if last.start_mark.index >= node.start_mark.index:
            return max(end_of(last, text), node.value[-1][0].end_mark.index if isinstance(node, MappingNode) else 0)
    start, end = node.start_mark.index, node.end_mark.index
    return int(start + len(text[start:end].rstrip()))


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 _/.()-]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_SPECIAL = re.compile("[^\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_ALIAS = re.compile(r"\s*:\s*(\*[^\s,\]}]+)")


def scalar(value: object, style: str | None = '"') -> str:
    """Write a value on one line; text in double quotes, or plain or in single quotes where that is `style` and safe."""
    if not isinstance(value, str):
        return flow(value)
    if style == "'" and "\n" not in value and "\r" not in value and not _SPECIAL.search(value):
        return "'" + value.replace("'", "''") + "'"
    safe = _PLAIN.fullmatch(value) and value == value.strip() and value.lower() not in _WORDS
    if style is None and safe:
        return value
    quoted = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return _SPECIAL.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)


def flow(value: object) -> str:
    """Write any value on one line."""
    if isinstance(value, str):
        return scalar(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(str(key))}: {flow(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def line_end(text: str, at: int) -> int:
    """Return where the line of `at` ends, before its line end."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return end - 1 if end > at and text[end - 1] == "\r" else end


def changed(text: str, node: Node, values: Mapping[str, Any]) -> list[Edit]:
    """Return the edits that give keys of a mapping other values (`GONE`: that remove them)."""
    known = {name: (key, value) for name, key, value in entries(node)}
    edits, new = list[Edit](), list[str]()
    for name, value in values.items():
        if name not in known:
            new += [f"{scalar(name, None)}: {flow(value)}"] if value is not GONE else []
        elif value is GONE:
            edits.append(_without(text, node, *known[name]))
        else:
            edits.append(_replaced(text, *known[name], value))
    if new:
        end = end_of(node, text)
        if isinstance(node, MappingNode) and node.flow_style:
            inside = text[:end].rstrip("}").rstrip()
            edits.append((len(inside), len(inside), "".join(f", {item}" for item in new)))
        else:
            margin = newline_of(text) + " " * node.start_mark.column
            at = line_end(text, end)
            edits.append((at, at, "".join(margin + item for item in new)))
    return edits


def _replaced(text: str, key: Node, old: Node, value: object) -> Edit:
    alias = _ALIAS.match(text, key.end_mark.index)
    if alias and old.start_mark.index != alias.start(1):
        return (alias.start(1), alias.end(1), flow(value))
    start, end = old.start_mark.index, end_of(old, text)
    if isinstance(old, ScalarNode) and old.style in ("|", ">"):
        return (start, end, _block(text, start, str(value)) if isinstance(value, str) else flow(value))
    written = scalar(value, old.style) if isinstance(old, ScalarNode) else flow(value)
    if end <= start:
        start = end = text.index(":", key.end_mark.index) + 1
        written = f" {written}"
    return (start, end, written)


def _block(text: str, start: int, value: str) -> str:
    """Write a text as a literal block where the old one stood, or quoted where a block cannot say it.

    The style of the block decides about a line break at the very end.
    """
    header = text[start : line_end(text, start)]
    body = text[line_end(text, start) :].lstrip("\r\n")
    indent = len(body) - len(body.lstrip(" "))
    lines = value.rstrip("\n").split("\n")
    literal = header.startswith("|") and "+" not in header and indent > 0
    if not literal or lines[0][:1] in ("", " ") or _SPECIAL.search("".join(lines)):
        return scalar(value)
    newline = newline_of(text)
    return header + "".join(newline + (" " * indent + line if line else "") for line in lines)


def _without(text: str, node: Node, key: Node, value: Node) -> Edit:
    end = max(end_of(value, text), text.index(":", key.end_mark.index) + 1)
    if isinstance(node, MappingNode) and node.flow_style:
        comma = re.compile(r"\s*,\s*").match(text, end)
        return (key.start_mark.index, comma.end() if comma else end, "")
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    stop = text.find("\n", end)
    return (start, len(text) if stop < 0 else stop + 1, "")


# A YAML file that is mostly one list of records: its tree; of a damaged file, the records above the damage.


_TRIES = 4
_ITEM = re.compile(r"^[ \t]*- ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Tree:
    """A file as a tree: its keys with their nodes, the key of its list, and the damage that ended it early."""

    name: str
    top: dict[str, tuple[Node, Node]]
    damage: str = ""
    line: int = 0

    @property
    def listed(self) -> SequenceNode | None:
        found = self.top.get(self.name)
        return found[1] if found is not None and isinstance(found[1], SequenceNode) else None

    @property
    def empty(self) -> bool:
        """Whether the file says that it has no records (its key with nothing behind it)."""
        found = self.top.get(self.name)
        return found is not None and plain(found[1]) is None


def tree(text: str, file: str, list_name: str) -> Tree:
    """Return the tree of a file. Raises `UnreadableFile` when it is no YAML, or has no list of that name."""
    damage, line, part = "", 0, text
    for _ in range(_TRIES):
        try:
            root = compose(part)
        except DamagedYaml as error:
            damage, line = damage or str(error), line or error.line
            part = _before(part, error.line)
            continue
        found = Tree(
            list_name, {name: (key, value) for name, key, value in entries(root)} if root else {}, damage, line
        )
        nothing = found.listed is None or not found.listed.value
        if nothing and (damage or not (found.listed is not None or found.empty)):
            damage = damage or f"it has no list of “{list_name}”"
            break
        return found
    where = f" (line {line})" if line else ""
    raise UnreadableFile(f"{file} cannot be read: {damage}{where}.", "Nothing was read from it.")


def _before(text: str, line: int) -> str:
    """Cut a text before the list item that the damaged line belongs to."""
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1 or len(text)
    starts = [found.start() for found in _ITEM.finditer(text, 0, at)]
    return text[: starts[-1]] if starts else ""
