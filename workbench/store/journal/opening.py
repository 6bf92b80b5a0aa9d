"""The way in: a store's folder as an open journal."""

from datetime import UTC, datetime
from pathlib import Path

from workbench.core.record import StoreProblem, cannot_read, cannot_write
from workbench.store.journal.engine import STANDARD, Clock, Journal, Options


def utc_now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)


def open_journal(
    path: Path | str,
    clock: Clock = utc_now,
    counters: frozenset[str] = frozenset(),
    options: Options = STANDARD,
    heads: Path | None = None,
) -> Journal:
    """Open (or create) the store folder `path`.

    `counters` names integer fields whose changes are written as increments; `heads` is the folder of the heads.
    Raises `StoreProblem` when the folder cannot be made or read, or is a file.
    """
    folder = Path(path)
    try:
        if folder.exists() and not folder.is_dir():
            raise StoreProblem(f"{folder} is a file, not a store folder.", "Nothing was changed.")
    except OSError as error:
        raise cannot_read(folder, error) from error
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    return Journal(folder, clock, counters, options, heads)
