"""Whether there is a store in a folder, and which one: told without reading it."""

from pathlib import Path

from workbench.store.files import cannot_read
from workbench.store.journal import chain

_FILES = frozenset({"journal.jsonl", "memory.json", "checkpoint.json"})


def is_store(folder: Path) -> bool:
    """Tell whether a folder holds a store, a damaged one included; raises `StoreProblem` when it cannot be read."""
    try:
        return any(path.name in _FILES or path.name.startswith("journal-") for path in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise cannot_read(folder, error) from error


def id_of(folder: Path) -> str:
    """Return the id of the store in a folder; empty where there is none, or none that says its own."""
    try:
        return chain.store_id(folder)
    except OSError:
        return ""
