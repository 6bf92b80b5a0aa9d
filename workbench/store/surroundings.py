"""What lies in a store's folder beside the journal's own files, and beside the folder."""

import os
from collections.abc import Iterator
from pathlib import Path

BLOBS = "blobs"
"""The folder, in the store's own, of what is too large for a record (`store.blobs`)."""

_OWN = ("journal", "memory.json", "lock")
"""How the files begin that the records and their history are read from."""

_NOTES = "placing-*.json"


class Surroundings:
    """The places of what others than the journal keep in a store's folder, and of its copies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def caches(self) -> Path:
        """The folder for what can be made again; it may not be there."""
        return self._folder / "cache"

    @property
    def working(self) -> Path:
        """The folder for the files of working memories; it may not be there."""
        return self._folder / "working"

    @property
    def common_texts(self) -> Path:
        """The folder for the texts that files and the store have in common; it may not be there."""
        return self.caches / "files"

    def notes(self) -> tuple[Path, ...]:
        """Return the notes of changes of a person's files that were broken off, or are being made."""
        return tuple(sorted(self._folder.glob(_NOTES)))

    def new_note(self) -> Path:
        """Return where another such note goes: process numbers come again, and lie across containers."""
        return self._folder / _NOTES.replace("*", f"{os.getpid()}-{os.urandom(4).hex()}")

    def others(self) -> Iterator[tuple[Path, str]]:
        """Yield the files, with their names in the store, that are neither its own nor caches."""
        for path in files_below(self._folder):
            name = path.relative_to(self._folder)
            if not path.name.startswith(_OWN) and name.parts[0] not in (self.caches.name, BLOBS):
                yield path, str(name)

    def copies(self) -> tuple[Path, ...]:
        """Return the files and folders beside the store that were made of it, those within such a folder, too."""
        beside = self._folder.parent.glob(f"{self._folder.name}.*")
        return tuple(sorted(path for copy in beside for path in (copy, *files_below(copy))))

    def recovered(self) -> tuple[Path, ...]:
        """Return the stores beside this one into which it was saved when it was damaged."""
        return tuple(sorted(self._folder.parent.glob(f"{self._folder.name}.recovered-*")))


def files_below(folder: Path) -> list[Path]:
    """Return the ordinary files below a folder; what is a link or no file is nobody's text."""
    found = (Path(place) / name for place, _, names in os.walk(folder) for name in names)
    return sorted(path for path in found if path.is_file() and not path.is_symlink())
