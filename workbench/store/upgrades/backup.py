"""A copy of a store's files, made before something that rewrites records."""

import os
from datetime import datetime
from pathlib import Path

from workbench.core.errors import cannot_write
from workbench.core.files.atomic import sync_folder
from workbench.core.files.handles import open_handle
from workbench.store.files import open_regular
from workbench.store.journal import chain
from workbench.store.journal.segments import NAME
from workbench.store.maintenance.checkpoint import DOCUMENTS, NOTE
from workbench.store.maintenance.leavings import HALF_MADE


def copy_store(folder: Path, at: datetime) -> Path:
    """Copy journal and checkpoint into a new folder inside the store and return it; under the write lock.

    It gets its name when it is whole; what a killed process left of one is removed by the next writer (see
    `leavings`). Raises `StoreProblem`; the store is untouched then.
    """
    target = folder / f"backup-{at:%Y%m%dT%H%M%S%f}"
    growing = folder / f"{HALF_MADE}{target.name.removeprefix('backup-')}.tmp"
    files = [folder / NAME, folder / DOCUMENTS, folder / NOTE, *(s.path for s in chain.closed(folder))]
    try:
        growing.mkdir(mode=0o700)
        for file in files:
            if file.exists():
                _copy(file, growing / file.name)
        sync_folder(growing)
        growing.rename(target)
        sync_folder(folder)
    except OSError as error:
        import shutil  # hardly ever is a store upgraded

        shutil.rmtree(growing, ignore_errors=True)
        raise cannot_write(folder, error) from error
    return target


def _copy(file: Path, to: Path) -> None:
    import shutil

    with open_regular(file) as source, os.fdopen(open_handle(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as copy:
        shutil.copyfileobj(source, copy, 1 << 20)
        copy.flush()
        os.fsync(copy.fileno())
