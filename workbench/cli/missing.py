"""A store that was asked for and is not there: what was probably meant."""

import contextlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from workbench.config import paths, recent
from workbench.core.record import StoreProblem
from workbench.services.folder import holds_store

_MOST = 1000
"""Folders that are looked at beside the missing one, at most."""


def check_store(folder: Path) -> None:
    """Raise `StoreProblem` when there is no store in a folder, with the nearest one that there is."""
    if holds_store(folder):
        return
    near = _nearest(folder)
    hint = (
        f"Did you mean {near}?" if near is not None else "`workbench init --store DIR` makes one."
    )
    raise StoreProblem(f"There is no store in {folder}.", hint)


def _nearest(folder: Path) -> Path | None:
    """Return the store inside the folder, else the one whose name is nearest: beside it, or opened
    lately.
    """
    if _holds(folder / paths.PROJECT_STORE):
        return folder / paths.PROJECT_STORE
    import difflib  # a store that is there is not to wait for it

    known = {str(store): store for store in (*_beside(folder), *recent.recent(paths.state_dir()))}
    names: dict[str, Path] = {store.name: store for store in reversed(known.values())}
    close = difflib.get_close_matches(str(folder), known, n=1, cutoff=0.8)
    if close:
        return known[close[0]]
    close = difflib.get_close_matches(folder.name, names, n=1, cutoff=0.6)
    return names[close[0]] if close else None


def _beside(folder: Path) -> Iterator[Path]:
    """Yield the stores in the folder above, and the project stores in its folders."""
    found: list[Path] = []
    with contextlib.suppress(OSError):
        found.extend(islice(folder.parent.iterdir(), _MOST))
    for place in sorted(found):
        for store in (
            (place, place / folder.name) if folder.name == paths.PROJECT_STORE else (place,)
        ):
            if _holds(store):
                yield store


def _holds(folder: Path) -> bool:
    try:
        return holds_store(folder)
    except StoreProblem:
        return False
