"""Settings files of agents with hooks, `{"hooks": {EVENT: [{"hooks": [{"type": "command",
"command": …}]}]}}`.

In flat ones the handlers stand in the list of their event, and the file says its version.

Only what is put in or taken out changes; every other byte stays, comments as well, which such files
may have.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.core.files.format import Layout
from workbench.core.record import UnreadableFile, as_list, as_object
from workbench.formats.patch import Node, changed, layout_of, scan_file

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)

IsOurs = Callable[[str], bool]
"""Tells whether a command is one that was put in here."""

Events = dict[str, list[Any]]


def commands(text: str, file: str) -> list[tuple[str, str]]:
    """Return the events and the commands that run at them. Raises `UnreadableFile`."""
    _, events = _opened(text, file)
    return [
        (event, command)
        for event, groups in events.items()
        for group in groups
        for handler in _handlers(group)
        if (command := _command(handler)) is not None
    ]


def installed(
    text: str, file: str, handlers: Mapping[str, Mapping[str, Any]], *, flat: bool = False
) -> str:
    """Return a text with a handler more for each event. Raises `UnreadableFile`."""
    text = text if _blank(text).strip("\ufeff \t\r\n") else text + "{}\n"
    root, events = _opened(text, file)
    for event, handler in handlers.items():
        group = dict(handler) if flat else {"hooks": [dict(handler)]}
        events[event] = [*events.get(event, ()), group]
    version = {"version": 1} if flat and root.get("version") is None else {}
    return _with(text, root, {**root.value, **version, "hooks": events})


def removed(text: str, file: str, is_ours: IsOurs) -> str:
    """Return a text without the handlers that are ours, and without what holds nothing but them.

    Raises `UnreadableFile`.
    """
    # Whole groups first: those that are left are then the same ones, in their places.
    for left in (_without_groups, _without_handlers):
        root, events = _opened(text, file)
        hooks = {event: left(groups, is_ours) for event, groups in events.items()}
        if hooks == events:
            continue
        value = {
            **root.value,
            "hooks": {e: groups for e, groups in hooks.items() if groups or not events[e]},
        }
        if not value["hooks"]:
            del value["hooks"]
        text = _with(text, root, value)
    return text


def _without_groups(groups: list[Any], is_ours: IsOurs) -> list[Any]:
    """Return the groups but for those that hold our handlers alone."""
    return [
        group
        for group in groups
        if not (found := _handlers(group)) or not all(is_ours(_command(one) or "") for one in found)
    ]


def _without_handlers(groups: list[Any], is_ours: IsOurs) -> list[Any]:
    """Return the groups without our handlers."""
    held = ((group, _handlers(group)) for group in groups)
    return [
        {**group, "hooks": [one for one in found if not is_ours(_command(one) or "")]}
        if any(is_ours(_command(one) or "") for one in found)
        else group
        for group, found in held
    ]


def _handlers(group: Any) -> Sequence[Any]:
    """Return the handlers of a group, which in a flat file is one itself."""
    if _command(group) is not None:
        return [group]
    return as_list(as_object(group).get("hooks"))


def _command(handler: Any) -> str | None:
    command = as_object(handler).get("command")
    return command if isinstance(command, str) else None


def _opened(text: str, file: str) -> tuple[Node, Events]:
    """Return the object of the file, and the lists of its events."""
    root = scan_file(_blank(text), file, None)
    if root.kind != "{" or root.damage:
        raise UnreadableFile(f"{file} holds no JSON object.", "Nothing was changed.")
    hooks = root.value.get("hooks", {})
    wrong = [] if isinstance(hooks, dict) else ["hooks"]
    for name in wrong or [event for event, one in hooks.items() if not isinstance(one, list)]:
        raise UnreadableFile(
            f"“{name}” in {file} is not what hooks stand in.", "Nothing was changed."
        )
    return root, hooks


def _with(text: str, root: Node, value: dict[str, Any]) -> str:
    style = layout_of(text)
    if not root.entries:
        style = Layout(newline="\r\n" if "\r\n" in text else "\n")
    return changed(text, root, value, style)


def _blank(text: str) -> str:
    """Return a text with blanks in the place of its comments."""
    return _TOKEN.sub(
        lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text
    )
