"""Whether there is a store in a folder, told by the names of its files alone."""

from pathlib import Path

from workbench.store.files import cannot_read

_FILES = frozenset({"journal.jsonl", "memory.json", "checkpoint.json"})


def is_store(folder: Path) -> bool:
    """Tell whether a folder holds a store, a damaged one included; raises `StoreProblem` when it cannot be read."""
    try:
        return any(path.name in _FILES or path.name.startswith("journal-") for path in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise cannot_read(folder, error) from error
