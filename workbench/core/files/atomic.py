"""Writing files in one step: a draft beside the target takes its name once it is whole.

A draft is locked as long as it is written, and the lock goes with its process: process ids would
not tell, they lie across containers. So a killed process leaves none for good.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from workbench.core.files.fresh import open_handle
from workbench.core.files.locks import is_free, locked, names, try_lock

_DRAFT = ".tmp"
"""How the names of drafts end."""


def write_file(
    path: Path,
    data: bytes | Iterable[bytes],
    begin: str = "",
    *,
    durable: bool = True,
    mode: int = 0o600,
    new: bool = False,
    tidy: bool = True,
) -> None:
    """Write a file in one step; raises `OSError`, and the file is as it was then.

    `durable` waits for the disk, so that a power loss does not undo it. `new` replaces nothing: it
    raises `FileExistsError`. For `begin` and `tidy` see `draft_beside`.
    """
    with draft_beside(path, begin, tidy=tidy) as (file, draft):
        fill(file, data, durable=durable)
        if mode != 0o600:
            draft.chmod(mode)
        if new:
            take_free_name(draft, path)
        else:
            draft.replace(path)
        if durable:
            sync_folder(path.parent)


@contextmanager
def draft_beside(
    target: Path, begin: str = "", *, tidy: bool = True
) -> Iterator[tuple[BinaryIO, Path]]:
    """Give an empty file (0600) beside `target`, to be given its name; whatever has not taken it
    goes at the end.

    What a killed process left of the same kind is removed, unless not `tidy`: whose name begins
    with `begin`, or else the target's. Raises `OSError`.
    """
    begin = begin or f".{target.name}."
    if tidy:
        with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
            for name in [
                entry.name
                for entry in entries
                if entry.name.startswith(begin) and is_draft(entry.name)
            ]:
                remove_left(target.with_name(name))
    while True:
        draft = target.with_name(f"{begin}{os.urandom(4).hex()}{_DRAFT}")
        try:
            handle = open_handle(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            continue
        with os.fdopen(handle, "w+b") as file:
            try:
                # Somebody who tidies up may have come first.
                if try_lock(handle) and names(draft, handle):
                    yield file, draft
                    return
            finally:
                draft.unlink(missing_ok=True)


def unlocked(draft: Path) -> str:
    """Return what SQLite opens a draft by: without locks of its own, which some systems take for
    the draft's.
    """
    return f"{draft.absolute().as_uri()}?nolock=1"


def fill(file: BinaryIO, data: bytes | Iterable[bytes], *, durable: bool = True) -> None:
    """Write all of a draft; raises `OSError`."""
    file.writelines((data,) if isinstance(data, bytes) else data)
    file.flush()
    if durable:
        os.fsync(file.fileno())


def put_in_place(draft: Path, path: Path) -> None:
    """Give a draft its name and make that durable; raises `OSError`."""
    draft.replace(path)
    sync_folder(path.parent)


def take_free_name(draft: Path, path: Path) -> None:
    """Give a draft a name that nothing has; unlike a rename, this never replaces. Raises
    `FileExistsError`.
    """
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(path):  # a disk without links: looking is the best there is
            raise FileExistsError from None
        draft.replace(path)


def sync_folder(folder: Path) -> None:
    """Make a new or renamed file in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_draft(name: str) -> bool:
    """Tell whether a file of this name is a draft, or was when its process was killed."""
    return name.startswith(".") and name.endswith(_DRAFT)


def left_in(folder: Path) -> tuple[Path, ...]:
    """Return the files below a folder that a killed process left; those that are being written are
    none of them.

    They go with the next file of their kind. A folder that cannot be looked at has none.
    """
    found = (
        Path(place) / name
        for place, _, inside in os.walk(folder)
        for name in inside
        if is_draft(name)
    )
    return tuple(sorted(path for path in found if is_free(path)))


def remove_left(path: Path) -> None:
    """Remove a draft that nobody writes any more, if that can be done."""
    with contextlib.suppress(OSError), locked(path) as alone:
        if alone:
            path.unlink(missing_ok=True)
