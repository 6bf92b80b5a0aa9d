"""The settings files of agents: what they run of the workbench, and what they would with its hooks,
or without.
"""

import os
import shlex
import stat
from dataclasses import dataclass
from pathlib import Path

from workbench.core.agents.hook_event import HOOK_FILES
from workbench.core.files.atomic import write_file
from workbench.core.files.fresh import NotRegular, open_handle
from workbench.core.record import StoreProblem, UnreadableFile
from workbench.formats.hooks import commands, installed, removed
from workbench.services.files.replaced import Replaced

LONGEST = 4 * 1024 * 1024
"""Bytes of a settings file; what is longer is none."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a file of settings holds, and what it would hold; `before` is `None` where there is no
    file.
    """

    path: Path
    before: str | None
    after: str

    @property
    def is_done(self) -> bool:
        return (self.before or "") == self.after


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


def plan_install(agent: str, path: Path, program: tuple[str, ...]) -> Plan:
    """Plan that an agent runs a program at its hooks; hooks of the workbench by another path go.

    Nothing is written. Raises `UnreadableFile`.
    """
    before = _text(path)
    command = shlex.join((*program, "capture", agent))
    known = HOOK_FILES[agent]
    kind = {} if known.is_flat else {"type": "command"}
    wanted = {
        event: {**kind, "command": command, **({"timeout": seconds} if seconds else {})}
        for event, seconds in known.events.items()
    }
    if before is not None and set(_ours(before, path, agent)) == {
        (event, command) for event in wanted
    }:
        return Plan(path, before, before)
    bare = (
        removed(before or "", str(path), lambda one: _is_ours(one, agent))
        if (before or "").strip()
        else ""
    )
    return Plan(path, before, installed(bare, str(path), wanted, flat=known.is_flat))


def plan_removal(agent: str, path: Path) -> Plan:
    """Plan that an agent runs the workbench no more. Nothing is written. Raises `UnreadableFile`."""
    before = _text(path)
    if before is None or not before.strip():
        return Plan(path, before, before or "")
    return Plan(path, before, removed(before, str(path), lambda one: _is_ours(one, agent)))


def carry_out(plan: Plan, replaced: Replaced) -> Path | None:
    """Write what was planned, and return the copy that is kept of what the file held.

    Raises `WorkbenchError`, also when the file is another by now; then nothing was written.
    """
    if _text(plan.path) != plan.before:
        raise StoreProblem(
            f"{plan.path} was changed meanwhile.", "Nothing was written; try it again."
        )
    copy = None if plan.before is None else replaced.keep(plan.path, _bytes(plan.before))
    target = Path(os.path.realpath(plan.path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o600 if plan.before is None else stat.S_IMODE(target.stat().st_mode)
        write_file(target, _bytes(plan.after), mode=mode)
    except OSError as error:
        raise StoreProblem(
            f"{plan.path} cannot be written: {error.strerror or error}.", "It is as it was."
        ) from error
    return copy


def hooked(agent: str, path: Path) -> Hooked:
    """Return what a file of settings says of the workbench. Raises `UnreadableFile`."""
    text = _text(path)
    found = _ours(text, path, agent) if text and text.strip() else []
    programs = {shlex.split(command)[0] for _, command in found}
    missing = tuple(sorted(one for one in programs if not os.access(one, os.X_OK)))
    return Hooked(path, tuple(dict.fromkeys(event for event, _ in found)), missing)


def _ours(text: str, path: Path, agent: str) -> list[tuple[str, str]]:
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
        why = (
            "it is no regular file"
            if isinstance(error, NotRegular)
            else (error.strerror or str(error)).lower()
        )
        raise UnreadableFile(f"{path} cannot be read: {why}.", "Nothing was changed.") from error
    if len(raw) > LONGEST:
        raise UnreadableFile(f"{path} is longer than 4 MB.", "Nothing was changed.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{path} is no UTF-8 text.", "Nothing was changed.") from error


def _bytes(text: str) -> bytes:
    return text.encode("utf-8")
