"""Where the caches of a store lie: in the user's own cache folder, never in the store.

A store may come from somebody else, and then so would its caches; what this user's programs made is
all that is read. Nothing here is truth: every folder can be deleted at any time.
"""

import contextlib
import os
from hashlib import blake2b
from pathlib import Path

from workbench.config import paths
from workbench.core.files.atomic import write_file

SCRATCH = "backup"
"""The folder, among a store's caches, in which a copy of it lies while its secrets are masked: it
holds all of them.
"""

_STORES = "stores"
STORE_NOTE = "store"
"""The file in a store's caches that holds the path of the store, so that they go when it is gone."""


def place(caches: Path, store: Path) -> Path:
    """Return the folder of one store's caches below the user's cache folder; it may not be there
    yet.
    """
    return caches / _STORES / blake2b(_path(store), digest_size=12).hexdigest()


def begin(folder: Path, store: Path) -> None:
    """Make a store's cache folder, and let those of stores that are gone go. Raises `OSError`."""
    if (folder / STORE_NOTE).exists():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    note = os.open(folder / STORE_NOTE, os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(note, "wb") as file:
        file.write(_path(store))
    import shutil  # with what only reads, nobody waits for it

    for other in folder.parent.iterdir():
        if other != folder and _is_left(other):
            shutil.rmtree(other, ignore_errors=True)


def keep(path: Path, data: bytes) -> None:
    """Put a file into a store's caches in one step, for this user alone; where that cannot be done
    there is none.
    """
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(path, data, durable=False)


def remove(folder: Path, store: Path) -> tuple[str, ...]:
    """Remove a store's caches, and every text that is noted of its sessions; return the folder if
    there was one. Raises `OSError` when some cannot be removed.
    """
    import shutil

    from workbench.services.agents.capture.progress import without_texts

    without_texts(paths.captures_dir(), store)
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)
        return (str(folder),)
    return ()


def _path(store: Path) -> bytes:
    return os.fsencode(os.path.realpath(store))


def _is_left(folder: Path) -> bool:
    """Tell whether the store of a cache folder is gone; one that cannot be asked for counts as
    there.
    """
    try:
        store = (folder / STORE_NOTE).read_bytes()
        return bool(store) and not os.path.lexists(store)
    except (OSError, ValueError):
        return False
