"""Reading on in a session's files, from where they were left."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.core.agents.transcript.events import Event
from workbench.core.agents.transcript.following import Following, Told
from workbench.core.agents.transcript.summaries import Passed
from workbench.core.files.fresh import NotRegular, open_handle
from workbench.core.record import UnreadableFile, why_failed
from workbench.core.runtime import Stopped
from workbench.formats.transcripts import READERS, Reader, reader_of
from workbench.safety.secrets import mask
from workbench.services.agents.capture.progress import Progress, plain
from workbench.services.safety.masking import masked

_BEGIN = 65_536

Tick = Callable[[int], bool]
"""Is told how many bytes were read, and says whether to stop."""


def read_on(
    path: Path,
    progress: Progress,
    most: int | None = None,
    tick: Tick | None = None,
    *,
    liberal: bool = False,
) -> tuple[Progress, Sequence[Told]]:
    """Read what came to a session's files; return how far they are read then, and what that
    teaches.

    With `most` nothing is read where more bytes came; `liberal` is what the settings say. Raises
    `UnreadableFile`.
    """
    running = progress.tasks[-1] if progress.tasks else None
    following = Following(progress.session, progress.standing, running, liberal=liberal)
    offsets = dict(progress.offsets)
    told: list[Told] = []
    reader = reader_of(_begin(path)) if path.exists() else None
    if reader is None:
        return progress, ()
    for file in _files(reader, path):
        name = plain(file.name)
        start, size = offsets.get(name, 0), _size(file)
        start = 0 if size < start else start
        if most is not None and size - start > most:
            continue
        if size > start:
            agent = "" if file == path else file.stem
            offsets[name] = _follow(reader, file, start, agent, following, told, tick)
    tasks = (*progress.tasks[:-1], *following.tasks)
    return replace(progress, standing=following.standing, offsets=offsets, tasks=tasks), told


def session_in(path: Path) -> str:
    """Return the session that a transcript is of. Raises `UnreadableFile` for what is none."""
    return _reader(path).session_of(path)


def transcripts_in(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the transcripts that are meant: those named, and all in a folder. Raises
    `UnreadableFile`.
    """
    found: list[Path] = []
    for path in paths:
        try:
            is_folder = path.is_dir()
            found += (
                [one for reader in READERS for one in reader.sessions_in(path)]
                if is_folder
                else [path]
            )
        except OSError as error:
            raise _unreadable(path, error) from error
    return tuple(dict.fromkeys(found))


def events_of(path: Path) -> list[Event]:
    """Return all that a session's own file tells, in its order. Raises `UnreadableFile`."""
    found: list[Event] = []
    reader = _reader(path)
    try:
        with os.fdopen(open_handle(path, os.O_RDONLY), "rb") as file:
            for line in reader.read(file):
                found += line.events
    except OSError as error:
        raise _unreadable(path, error) from error
    return found


def _reader(path: Path) -> Reader:
    """Return who reads a transcript. Raises `UnreadableFile` for what is none."""
    reader = reader_of(_begin(path))
    if reader is None:
        raise UnreadableFile(f"{path} is not a session transcript.", "Nothing was read from it.")
    return reader


def _follow(
    reader: Reader,
    file: Path,
    start: int,
    agent: str,
    following: Following,
    told: list[Told],
    tick: Tick | None,
) -> int:
    """Follow a file from `start` on; return where it was left. A subagent's own file tells nothing
    of the order.
    """
    end, broken = start, Counter[str]()
    try:
        with os.fdopen(open_handle(file, os.O_RDONLY), "rb") as handle:
            for line in reader.read(handle, start, agent):
                events = [masked(one, mask) for one in line.events]
                told += following.take(events, beside=bool(agent))
                broken["unreadable"] += line.is_broken
                if tick is not None and tick(line.end - end):
                    raise Stopped
                end = line.end
    except OSError as error:
        raise _unreadable(file, error) from error
    told += [Passed("unreadable-line", file.name)] * broken["unreadable"]
    return end


def _files(reader: Reader, path: Path) -> tuple[Path, ...]:
    try:
        return reader.files_of(path)
    except OSError:
        return (path,)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0  # the file is written a moment later
    except OSError as error:
        raise _unreadable(path, error) from error


def _begin(path: Path) -> bytes:
    try:
        with os.fdopen(open_handle(path, os.O_RDONLY), "rb") as file:
            return file.read(_BEGIN)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> UnreadableFile:
    why = "it is not a regular file" if isinstance(error, NotRegular) else why_failed(error)
    return UnreadableFile(f"{path} cannot be read: {why}.", "Nothing was read from it.")
