"""The settings files of agents: what they run of the workbench, and what they would with its hooks,
or without.
"""

import json
import os
import shlex
import shutil
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from workbench.config import paths
from workbench.core.agents.actors import agent_in
from workbench.core.agents.hook_event import AGENTS, HOOK_FILES
from workbench.core.files.atomic import write_file
from workbench.core.files.fresh import NotRegular, open_handle
from workbench.core.record import StoreProblem, UnreadableFile, WorkbenchError, why_failed
from workbench.formats.hooks import commands, installed, removed
from workbench.services.files.replaced import Replaced

_NO_FILE = ("", "folder")
"""What a receipt says where there was no file; `folder`: nor a folder for it, which then goes too."""

_NOTHING_ELSE: tuple[object, ...] = ({}, {"version": 1})
"""What a file holds without hooks that was made for them."""

LONGEST = 4 * 1024 * 1024
"""Bytes of a settings file; what is longer is none."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a file of settings holds, what it would hold, and what it held before it had hooks of
    the workbench; `None` where there is no file.
    """

    path: Path
    before: str | None
    after: str | None
    original: str | None = None

    @property
    def is_done(self) -> bool:
        return (self.before or "") == (self.after or "")


@dataclass(frozen=True, slots=True)
class Hooked:
    """What a file of settings says of the workbench: the events that call it, and the programs that
    are not there.
    """

    path: Path
    events: tuple[str, ...]
    missing: tuple[str, ...]


def file_of(agent: str, folder: Path, *, of_user: bool) -> Path:
    """Return an agent's file of settings: the user's, whose home is `folder`, or that of the
    project there.
    """
    known = HOOK_FILES[agent]
    return folder / (known.user if of_user else known.project)


def program(store: Path | None = None) -> tuple[str, ...]:
    """Return how this workbench is called from anywhere, for the store that was named."""
    own = Path(sys.executable).with_name("workbench")
    called = str(own) if own.exists() else shutil.which("workbench")
    words = (called,) if called else (sys.executable, "-m", "workbench")
    if store is None:
        return words
    return (*words, "--store", paths.team_address(store) or str(store))


def server(agent: str, words: tuple[str, ...]) -> str:
    """Return how an agent is given the server with its tools, under its name: a command, or what is
    to be written.
    """
    if agent == "cursor":
        entry = json.dumps({"command": words[0], "args": [*words[1:], "mcp", "--agent", "cursor"]})
        return f'put "memory": {entry} under "mcpServers" in ~/.cursor/mcp.json'
    name = AGENTS[agent]
    return f"{name} mcp add memory -- {shlex.join(words)} mcp --agent {name}"


def require_no_agent() -> None:
    """Raise `WorkbenchError` where an agent runs this: it cannot change its own hooks."""
    if agent := agent_in(os.environ):
        hint = "Nothing was changed; run it in a terminal of your own."
        raise WorkbenchError(f"An agent ({agent}) cannot change its own hooks.", hint)


def plan_install(agent: str, path: Path, words: tuple[str, ...], replaced: Replaced) -> Plan:
    """Plan that an agent runs a program at its hooks; hooks of the workbench by another path go.

    Nothing is written. Raises `UnreadableFile`.
    """
    before = _text(path)
    command = shlex.join((*words, "capture", agent))
    held = _ours(before or "", path, agent)
    if set(held) == {(event, command) for event in HOOK_FILES[agent].events}:
        return Plan(path, before, before)
    original = _without(before or "", path, agent, replaced) if held else before
    return Plan(path, before, _installed(original or "", path, agent, command), original)


def _installed(text: str, path: Path, agent: str, command: str) -> str:
    known = HOOK_FILES[agent]
    kind = {} if known.is_flat else {"type": "command"}
    wanted = {
        event: {**kind, "command": command, **({"timeout": seconds} if seconds else {})}
        for event, seconds in known.events.items()
    }
    return installed(text, str(path), wanted, flat=known.is_flat)


def plan_removal(agent: str, path: Path, replaced: Replaced) -> Plan:
    """Plan that an agent runs the workbench no more. Nothing is written. Raises `UnreadableFile`.

    Where only the hooks were added to the file since, it becomes what it was before, to the byte.
    """
    before = _text(path)
    if before is None or not _ours(before, path, agent):
        return Plan(path, before, before)
    original = _without(before, path, agent, replaced)
    return Plan(path, before, original, original)


def _without(text: str, path: Path, agent: str, replaced: Replaced) -> str | None:
    """Return what a file held before its hooks were installed, `None` where there was no file; of
    one that was changed since, or of which nothing is known, the text less the hooks.
    """
    installed_text, original = _received(path, replaced)
    is_unchanged, had_file = installed_text == _hash(text), original not in _NO_FILE
    if is_unchanged and not had_file:
        return None
    if is_unchanged and (kept := replaced.held(original)) is not None:
        return kept.decode("utf-8")
    left = removed(text, str(path), lambda one: _is_ours(one, agent))
    with suppress(ValueError):  # what holds comments is not ours alone
        if not had_file and json.loads(left) in _NOTHING_ELSE:
            return None
    return left


def _receipt(path: Path, replaced: Replaced) -> Path:
    """Return the receipt of what was installed in a file of settings: the hash of that, and the
    hash of the copy of what it replaced.
    """
    beside = replaced.folder or path
    return beside.with_name("hooks") / _hash(os.path.realpath(path))


def _received(path: Path, replaced: Replaced) -> tuple[str, str]:
    """Return what the receipt of a file says, empty texts where there is none."""
    with suppress(OSError, ValueError):
        installed_text, original = _receipt(path, replaced).read_text("utf-8").split(" ")
        return installed_text, original
    return "", ""


def carry_out(plan: Plan, replaced: Replaced) -> Path | None:
    """Write what was planned, and return the copy that is kept of what the file held.

    Raises `WorkbenchError`, also when the file is another by now; then nothing was written.
    """
    require_no_agent()
    if _text(plan.path) != plan.before:
        raise StoreProblem(
            f"{plan.path} was changed meanwhile.", "Nothing was written; try it again."
        )
    copy = None if plan.before is None else replaced.keep(plan.path, _bytes(plan.before))
    target, receipt = Path(os.path.realpath(plan.path)), _receipt(plan.path, replaced)
    original = "" if plan.original is None else _hash(plan.original)
    makes_folder = _received(plan.path, replaced)[1] == "folder"
    try:
        if plan.after is None:
            target.unlink()
            if makes_folder:
                with suppress(OSError):  # somebody else put something there
                    target.parent.rmdir()
            return copy
        if not original and (makes_folder or not target.parent.exists()):
            original = "folder"
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o600 if plan.before is None else stat.S_IMODE(target.stat().st_mode)
        write_file(target, _bytes(plan.after), mode=mode)
        with suppress(OSError):  # without it the hooks alone are taken out again
            receipt.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_file(receipt, f"{_hash(plan.after)} {original}".encode())
    except OSError as error:
        raise StoreProblem(
            f"{plan.path} cannot be written: {error.strerror or error}.", "It was not changed."
        ) from error
    return copy


def hooked(agent: str, path: Path) -> Hooked:
    """Return what a file of settings says of the workbench. Raises `UnreadableFile`."""
    text = _text(path)
    found = _ours(text or "", path, agent)
    programs = {shlex.split(command)[0] for _, command in found}
    missing = tuple(sorted(one for one in programs if not os.access(one, os.X_OK)))
    return Hooked(path, tuple(dict.fromkeys(event for event, _ in found)), missing)


def _ours(text: str, path: Path, agent: str) -> list[tuple[str, str]]:
    if not text.strip():
        return []
    return [
        (event, command) for event, command in commands(text, str(path)) if _is_ours(command, agent)
    ]


def _is_ours(command: str, agent: str) -> bool:
    """Tell whether a command is the workbench, called for the hooks of an agent."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    names = {Path(word).name for word in words[:3]}
    return words[-2:] == ["capture", agent] and bool(names & {"workbench", "workbench.exe"})


def _text(path: Path) -> str | None:
    """Return what a file holds, `None` where there is none. Raises `UnreadableFile`.

    Such files are often links to a folder of the person's own.
    """
    try:
        with os.fdopen(open_handle(Path(os.path.realpath(path)), os.O_RDONLY), "rb") as file:
            raw = file.read(LONGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = "it is not a regular file" if isinstance(error, NotRegular) else why_failed(error)
        raise UnreadableFile(f"{path} cannot be read: {why}.", "Nothing was changed.") from error
    if len(raw) > LONGEST:
        raise UnreadableFile(f"{path} is longer than 4 MB.", "Nothing was changed.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{path} is not UTF-8 text.", "Nothing was changed.") from error


def _bytes(text: str) -> bytes:
    return text.encode("utf-8")


def _hash(text: str) -> str:
    return sha256(_bytes(text)).hexdigest()
