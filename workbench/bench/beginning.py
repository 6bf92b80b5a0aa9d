"""Making a store on purpose, and what there is to say of one that git could take in."""

import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from workbench.core.errors import StoreProblem
from workbench.store import git_files, presence
from workbench.store.files import cannot_write
from workbench.store.library import Library

_GIT_SECONDS = 5


def make_store(folder: Path, clock: Callable[[], datetime], *, shared: bool) -> None:
    """Make an empty store in `folder`, which may exist but must not hold one. Raises `StoreProblem`.

    A `shared` one is made to be committed: git sees its journal, and nothing else.
    """
    if presence.is_store(folder):
        raise StoreProblem(f"There is a store in {folder} already.", "Nothing was changed.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if shared:
            git_files.share(folder)
    except OSError as error:
        raise cannot_write(folder, error) from error
    Library(folder, clock).maintenance.begin()


def in_repository(folder: Path) -> bool:
    """Tell whether a folder lies in the working tree of a git repository."""
    return git_files.repository_of(folder) is not None


def is_open_to_git(folder: Path) -> bool:
    """Tell whether `git add` would take in the journal of a store that was not made to be shared; asks git itself."""
    if not in_repository(folder) or (folder / git_files.ATTRIBUTES).exists():
        return False
    ask = ["git", "-C", str(folder), "check-ignore", "-q", "journal.jsonl"]
    try:
        return subprocess.run(ask, capture_output=True, timeout=_GIT_SECONDS, check=False).returncode == 1
    except (OSError, subprocess.SubprocessError):
        return False
