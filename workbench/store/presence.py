"""Whether there is a store in a folder, and which one: told without reading it."""

from pathlib import Path

from workbench.core.record import cannot_read
from workbench.store.journal import segments

_FILES = frozenset({"journal.jsonl", "memory.json", "checkpoint.json"})

_OWN = ("journal", "memory.", "checkpoint.", "lock", "blobs", "cache", "documents", "backup-", "placing-")
"""How the files and folders begin that a store keeps in its folder; a person's own may lie beside them."""


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
        return segments.store_id(folder)
    except OSError:
        return ""


def belongs(name: str) -> bool:
    """Tell whether a file or folder of this name, in the folder of a store, is the store's own."""
    return name.startswith(_OWN)
