"""Changing single values of a YAML text, each spelled as the one it replaces."""

import json
import re
from collections.abc import Mapping
from typing import Any

from workbench.core.files.textedit import Edit, newline_of
from workbench.formats.shared.records import GONE
from workbench.formats.shared.yamltree import MappingNode, Node, ScalarNode, end_of, entries

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
