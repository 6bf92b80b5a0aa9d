"""Finding the file to import: the files of a folder that can be read, and how a half-written name
may go on.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from workbench.core.files.format import Detection
from workbench.core.files.formats import HEAD, detect, format_named
from workbench.core.record import UnreadableFile, WorkbenchError
from workbench.core.runtime import Cancelled
from workbench.formats import opening
from workbench.formats.transcripts import reader_of
from workbench.store.folder import belongs, id_of

MOST = 500
"""Entries of a folder that are looked at, and names that are offered, at most."""

SESSION = "session of an agent"
"""What a file is called in which an agent's program keeps what was said and done."""

_LOOKED_AT = 4 * HEAD


@dataclass(frozen=True, slots=True)
class Offered:
    """A file that may be imported, or a folder to look into.

    `title` is the format of a file, `confidence` (0–1) how sure that is; both are empty where
    nobody looked. A session of an agent holds no records (`session`): what it teaches is captured.
    """

    path: Path
    folder: bool
    title: str = ""
    confidence: float = 0.0
    reason: str = ""
    size: int = 0
    session: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder has to offer: its folders and the files of a known format; `others` counts the
    rest.
    """

    folder: Path
    offered: tuple[Offered, ...]
    others: int = 0


def as_named(name: str, folder: Path) -> Path:
    """Return the file that a person names as one types or pastes it: with `~`, in quotes, as a
    `file://` address.

    A relative name counts from `folder`. Raises `WorkbenchError` when it can be no path.
    """
    plain = name.strip()
    try:
        if plain and (folder / plain).exists():
            return folder / plain
    except (OSError, ValueError):
        pass  # no name of a file as it stands; perhaps without what is around it
    for mark in ("'", '"'):
        if len(plain) > 1 and plain[0] == plain[-1] == mark:
            plain = plain[1:-1].strip()
    if plain.startswith("file://"):
        plain = unquote(plain.removeprefix("file://"))
    plain = plain.replace("\\ ", " ")
    if not plain:
        raise WorkbenchError("Give a file.")
    try:
        return folder / Path(plain).expanduser()
    except RuntimeError as error:
        raise WorkbenchError(
            f"{plain} names an unknown home folder.", "Nothing was read."
        ) from error


def listing(
    folder: Path,
    cancelled: Cancelled = lambda: False,
    store: Path | None = None,
) -> Listing:
    """Look at the files of a folder, hidden ones left out. Raises `UnreadableFile` when it cannot
    be opened.

    What a store keeps in its folder is left out, and so are stores; `store` is the one that is
    open.
    """
    found, others = list[Offered](), 0
    within = _is_store(folder, store)
    entries = [
        entry
        for entry in _entries(folder)
        if not (entry.name.startswith(".") or (within and belongs(entry.name)))
    ]
    for entry in entries[:MOST]:
        if cancelled():
            break
        if _is_folder(entry):
            if not _is_store(Path(entry.path), store):
                found.append(Offered(Path(entry.path), True))
        elif (file := _recognised(Path(entry.path))) is not None:
            found.append(file)
        else:
            others += 1
    found.sort(key=lambda one: (one.folder, one.path.name.casefold()))
    return Listing(folder, tuple(found), others + max(0, len(entries) - MOST))


def is_session(path: Path) -> bool:
    """Tell whether a file is a session of an agent; no for one that cannot be opened."""
    found = _recognised(path)
    return found is not None and found.session


def likely(path: Path) -> tuple[Detection, ...]:
    """Return the formats that a file may have, the likeliest first. Raises `UnreadableFile`."""
    return detect(path, opening.read_text(path))


def completions(path: Path) -> tuple[Offered, ...]:
    """Return what begins like a half-written name, hidden files only where the name begins with a
    dot.
    """
    start = path.name
    try:
        entries = _entries(path.parent)
    except UnreadableFile:
        return ()
    fitting = (
        e
        for e in entries
        if e.name.startswith(start) and (start.startswith(".") or e.name[:1] != ".")
    )
    found = [Offered(Path(entry.path), _is_folder(entry)) for entry in fitting]
    return tuple(sorted(found, key=lambda one: one.path.name)[:MOST])


def completed(path: Path, offered: tuple[Offered, ...]) -> Path:
    """Return a name as far as all that is offered agrees."""
    common = beginning(offered)
    return path.parent / common if len(common) > len(path.name) else path


def beginning(offered: Sequence[Offered]) -> str:
    """Return the letters that all names begin with; none where nothing is offered."""
    return os.path.commonprefix([one.path.name for one in offered])  # noqa: RUF071 - letters, not parts of paths


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return iter(sorted(found, key=lambda entry: entry.name))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such folder"
        raise UnreadableFile(
            f"The folder {folder} cannot be opened: {reason}.", "Nothing was read."
        ) from error


def _is_store(folder: Path, store: Path | None) -> bool:
    """Tell whether a folder holds a store with its history, or is the `store` that is open."""
    try:
        return bool(id_of(folder)) or (store is not None and folder.resolve() == store.resolve())
    except (OSError, ValueError, WorkbenchError):
        return False


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _recognised(path: Path) -> Offered | None:
    """Tell a file's format by its beginning; `None` when it is of none, or cannot be opened."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            data = file.read(_LOOKED_AT)
        text = data.decode("utf-8", "replace" if len(data) == _LOOKED_AT else "strict")
        size = path.stat().st_size
        if reader_of(data) is not None:
            return Offered(path, False, SESSION, 1.0, size=size, session=True)
    except UnicodeDecodeError:
        return _database(path)
    except (OSError, ValueError):
        return None
    return _detected(path, text, size)


def _database(path: Path) -> Offered | None:
    try:
        return _detected(path, opening.read_text(path), path.stat().st_size)
    except (OSError, UnreadableFile):
        return None


def _detected(path: Path, text: str, size: int) -> Offered | None:
    found = detect(path, text)
    if not found:
        return None
    best = found[0]
    title = format_named(best.format).title
    return Offered(path, False, title, best.confidence, best.reason, size)
