"""A store's folder before it is opened: whether there is a store, making one on purpose, and what
git sees of it.
"""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from workbench.core.record import StoreProblem, cannot_write
from workbench.store import folder as folders


def holds_store(folder: Path) -> bool:
    """Tell whether a folder holds a store, a damaged one included. Raises `StoreProblem` when it
    cannot be read.
    """
    return folders.is_store(folder)


def make_store(folder: Path, clock: Callable[[], datetime], *, shared: bool) -> None:
    """Make an empty store in `folder`, which may exist but must not hold one. Raises
    `StoreProblem`.

    A `shared` one is made to be committed: git sees its journal, and nothing else.
    """
    from workbench.store.library import Library  # whoever only asks for a store does not load one

    if folders.is_store(folder):
        raise StoreProblem(f"{folder} already has a store.", "Nothing was changed.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if shared:
            folders.share(folder)
    except OSError as error:
        raise cannot_write(folder, error) from error
    Library(folder, clock).begin()


def in_repository(folder: Path) -> bool:
    """Tell whether a folder lies in the working tree of a git repository."""
    return folders.repository_of(folder) is not None


def kept_out_by(folder: Path) -> str:
    """Return the file that keeps a store in a git repository out of it; empty where there is none."""
    return folders.IGNORE if (folder / folders.IGNORE).exists() and in_repository(folder) else ""


def is_open_to_git(folder: Path) -> bool:
    """Tell whether `git add` would take in the journal of a store that was not made to be shared;
    asks git itself.
    """
    from workbench.store import repository

    if not in_repository(folder) or (folder / folders.ATTRIBUTES).exists():
        return False
    asked = repository.ask(folder, "check-ignore", "-q", "journal.jsonl")
    return asked is not None and asked.returncode == 1
