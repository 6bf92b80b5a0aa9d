"""Settings files of agents with hooks, `{"hooks": {EVENT: [{"hooks": [{"type": "command",
"command": …}]}]}}`.

In flat ones the handlers stand in the list of their event, and the file says its version.

Only what is put in or taken out changes; every other byte stays, comments as well, which such files
may have.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from workbench.core.record import UnreadableFile
from workbench.formats.patch import (
    Entry,
    Node,
    Style,
    dumps,
    indentation,
    member,
    scan,
    scan_file,
    style_of,
)
from workbench.formats.shared.jsontext import JsonReader

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_ROOT = "hooks"

IsOurs = Callable[[str], bool]
"""Tells whether a command is one that was put in here."""


def commands(text: str, file: str) -> list[tuple[str, str]]:
    """Return the events and the commands that run at them. Raises `UnreadableFile`."""
    return [(event, command) for event, _, _, command in _handlers(_blank(text), file)]


def installed(
    text: str, file: str, handlers: Mapping[str, Mapping[str, Any]], *, flat: bool = False
) -> str:
    """Return a text with a handler more for each event. Raises `UnreadableFile`."""
    text = text if _blank(text).strip("\ufeff \t\r\n") else text + "{}\n"
    if flat:
        text = _with_version(text, file)
    for event, handler in handlers.items():
        root, found = _root(_blank(text), file)
        style = (
            style_of(text) if root.entries else Style(newline="\r\n" if "\r\n" in text else "\n")
        )
        group: dict[str, Any] = dict(handler) if flat else {"hooks": [dict(handler)]}
        if found is None:
            text = _added(text, root, style, partial(member, _ROOT, {event: [group]}, style))
            continue
        entry = found.get(event)
        if entry is None:
            text = _added(text, found, style, partial(member, event, [group], style))
            continue
        groups = _inside(_blank(text), entry, "[", file)
        text = _added(text, groups, style, partial(dumps, group, style))
    return text


def removed(text: str, file: str, is_ours: IsOurs) -> str:
    """Return a text without the handlers that are ours, and without what holds nothing but them.

    Raises `UnreadableFile`.
    """
    while True:
        blank = _blank(text)
        found = next(
            (path for _, path, _, command in _handlers(blank, file) if is_ours(command)), None
        )
        if found is None:
            return text
        # What holds nothing else goes with it.
        node, index = next((step for step in reversed(found) if len(step[0].entries) > 1), found[0])
        text = _without(text, blank, node, index)


def _handlers(blank: str, file: str) -> "list[tuple[str, list[tuple[Node, int]], Entry, str]]":
    """Return each handler: its event, the way to it from the root, its entry, and its command."""
    root, hooks = _root(blank, file)
    if hooks is None:
        return []
    first = next(at for at, entry in enumerate(root.entries) if entry.key == _ROOT)
    found = []
    for at, event in enumerate(hooks.entries):
        for where, group in _elements(blank, event):
            inner = _fields(blank, group)
            alone = group.value.get("command") if isinstance(group.value, dict) else None
            if isinstance(alone, str):
                way = [(root, first), (hooks, at), (_node(blank, event), where)]
                found.append((str(event.key), way, group, alone))
                continue
            place = (
                next((n for n, e in enumerate(inner.entries) if e.key == "hooks"), None)
                if inner
                else None
            )
            if inner is None or place is None:
                continue
            for number, entry in _elements(blank, inner.entries[place]):
                value = entry.value
                command = value.get("command") if isinstance(value, dict) else None
                if isinstance(command, str):
                    groups, handlers = _node(blank, event), _node(blank, inner.entries[place])
                    way = [(root, first), (hooks, at), (groups, where), (handlers, number)]
                    found.append((str(event.key), way, entry, command))
    return found


def _with_version(text: str, file: str) -> str:
    """Return a text whose object says the version that such files have, which without one are not
    read.
    """
    root, _ = _root(_blank(text), file)
    if root.get("version") is not None:
        return text
    style = style_of(text) if root.entries else Style(newline="\r\n" if "\r\n" in text else "\n")
    return _added(text, root, style, partial(member, "version", 1, style))


def _root(blank: str, file: str) -> tuple[Node, Node | None]:
    """Return the object of the file, and that of its hooks where it has one."""
    root = scan_file(blank, file)
    if root.kind != "{" or root.damage:
        raise UnreadableFile(f"{file} holds no JSON object.", "Nothing was changed.")
    entry = root.get(_ROOT)
    return root, None if entry is None else _inside(blank, entry, "{", file)


def _inside(blank: str, entry: Entry, kind: str, file: str) -> Node:
    if blank[entry.at : entry.at + 1] != kind:
        raise UnreadableFile(
            f"“{entry.key}” in {file} is not what hooks stand in.", "Nothing was changed."
        )
    return _node(blank, entry)


def _node(blank: str, entry: Entry) -> Node:
    return scan(blank, entry.at, JsonReader())


def _elements(blank: str, entry: Entry) -> list[tuple[int, Entry]]:
    return (
        list(enumerate(_node(blank, entry).entries))
        if blank[entry.at : entry.at + 1] == "["
        else []
    )


def _fields(blank: str, entry: Entry) -> Node | None:
    return _node(blank, entry) if blank[entry.at : entry.at + 1] == "{" else None


def _added(text: str, node: Node, style: Style, body: Callable[[str], str]) -> str:
    """Return a text with an entry more at the end of an object or a list; `body` writes it, given
    its indentation.
    """
    outer = indentation(text, node.start)
    inner = outer + style.unit
    if not node.entries:
        first = node.start + 1
        if not style.unit:
            return text[:first] + body(inner) + text[first:]
        rest = text[first:]
        close = "" if re.match(r"[ \t]*\r?\n", rest) else style.newline + outer
        return text[:first] + style.newline + inner + body(inner) + close + rest
    last = node.entries[-1]
    own = indentation(text, last.start)
    if not style.unit or "\n" not in text[node.start : last.start]:
        return text[: last.end] + style.comma + body(inner) + text[last.end :]
    # A comment behind the last entry stays on its line.
    line = re.compile(r"[^\r\n]*").match(text, last.end)
    end = (
        line.end()
        if line and "/" in line.group() and not re.match(r"\s*[\]}]", line.group())
        else last.end
    )
    return (
        text[: last.end] + "," + text[last.end : end] + style.newline + own + body(own) + text[end:]
    )


def _without(text: str, blank: str, node: Node, index: int) -> str:
    """Return a text without an entry, its comma, and the white space before it."""
    entry, last = node.entries[index], len(node.entries) - 1
    start = len(text[: entry.start].rstrip(" \t\r\n"))
    # A comment before it goes on to the end of its line, so nothing may be pulled up behind that.
    is_behind = "//" in text[:start].rpartition("\n")[2]
    if last and (index == 0 or (is_behind and index < last)):
        comma = blank.index(",", entry.end) + 1
        return text[: entry.start] + text[comma:].lstrip(" \t\r\n")
    if index:
        comma = blank.rindex(",", node.entries[index - 1].end, entry.start)
        return text[:comma] + text[comma + 1 : max(start, comma + 1)] + text[entry.end :]
    rest = text[entry.end :]
    is_bare = not text[entry.end : node.end - 1].strip() and start == node.start + 1
    return text[:start] + (text[node.end - 1 :] if is_bare else rest)


def _blank(text: str) -> str:
    """Return a text with blanks in the place of its comments."""
    return _TOKEN.sub(
        lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text
    )
