"""A copy of a store's files, made before something that rewrites records."""

import shutil
from datetime import datetime
from pathlib import Path

from workbench.store import chain
from workbench.store.checkpoint import DOCUMENTS, NOTE
from workbench.store.files import sync_folder
from workbench.store.lock import cannot_write
from workbench.store.segments import NAME


def copy_store(folder: Path, at: datetime) -> Path:
    """Copy journal and checkpoint into a new folder inside the store and return it; under the write lock.

    Raises `StoreProblem`; the store is untouched then.
    """
    target = folder / f"backup-{at:%Y%m%dT%H%M%S%f}"
    files = [folder / NAME, folder / DOCUMENTS, folder / NOTE, *(s.path for s in chain.closed(folder))]
    try:
        target.mkdir(mode=0o700)
        for file in files:
            if file.exists():
                shutil.copy2(file, target / file.name)
        sync_folder(target)
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise cannot_write(folder, error) from error
    return target
