"""A store's folder: whether there is a store in it, what lies beside the journal, and what git is
to see of it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from workbench.core.files.atomic import write_file
from workbench.core.record import cannot_read
from workbench.core.team import COPY, POINTER
from workbench.store.journal import segments

_FILES = frozenset({"journal.jsonl", "memory.json", "checkpoint.json", COPY})

_PARTS = (
    "journal",
    "memory.",
    "checkpoint.",
    "lock",
    "blobs",
    "cache",
    "documents",
    "backup-",
    "placing-",
)
"""How the files and folders begin that a store keeps in its folder; a person's own may lie beside
them.
"""


def is_store(folder: Path) -> bool:
    """Tell whether a folder holds a store, a damaged one included; raises `StoreProblem` when it
    cannot be read.
    """
    try:
        return any(
            path.name in _FILES or path.name.startswith("journal-") for path in folder.iterdir()
        )
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
    return name.startswith(_PARTS)


# What others than the journal keep there.

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
        """Return where another such note goes: process numbers come again, and lie across
        containers.
        """
        return self._folder / _NOTES.replace("*", f"{os.getpid()}-{os.urandom(4).hex()}")

    def others(self) -> Iterator[tuple[Path, str]]:
        """Yield the files, with their names in the store, that are neither its own nor caches."""
        for path in files_below(self._folder):
            name = path.relative_to(self._folder)
            if not path.name.startswith(_OWN) and name.parts[0] not in (self.caches.name, BLOBS):
                yield path, str(name)

    def copies(self) -> tuple[Path, ...]:
        """Return the files and folders beside the store that were made of it, those within such a
        folder, too.
        """
        beside = self._folder.parent.glob(f"{self._folder.name}.*")
        return tuple(sorted(path for copy in beside for path in (copy, *files_below(copy))))

    def recovered(self) -> tuple[Path, ...]:
        """Return the stores beside this one into which it was saved when it was damaged."""
        return tuple(sorted(self._folder.parent.glob(f"{self._folder.name}.recovered-*")))


def files_below(folder: Path) -> list[Path]:
    """Return the ordinary files below a folder; what is a link or no file is nobody's text."""
    found = (Path(place) / name for place, _, names in os.walk(folder) for name in names)
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


# What git is to see of a store that lies in a repository: nothing, unless it was made to be shared.

IGNORE, ATTRIBUTES = ".gitignore", ".gitattributes"

_NOTHING = """# Made by workbench: what an agent remembers is not committed. See `workbench init --help`.
*
"""

_SHARED = """# Made by workbench: the journal is the store and is committed; what each machine makes for itself is not.
/lock
/*.lock
/cache/
/drafts/
/memory.json
/checkpoint.json
/memory.edited-*.json
/memory.dismissed-*.json
/placing-*.json
/working/
/backup-*/
.*.tmp
"""

_UNION = """# Made by workbench: lines are only ever added, and two branches keep the lines of both.
/journal*.jsonl -text merge=union
/journal*.jsonl.gz binary
/blobs/** binary
"""


def keep_out(folder: Path) -> None:
    """Let git see nothing of a new store; a `.gitignore` that is there already stays. Raises
    `OSError`.
    """
    if not (folder / IGNORE).exists():
        write_file(folder / IGNORE, _NOTHING.encode())


def share(folder: Path) -> None:
    """Let git see the journal of a new store, and merge it by keeping the lines of both sides.
    Raises `OSError`.

    The checkpoint is made from the journal, so it stays out: two branches could not merge it.
    """
    write_file(folder / IGNORE, _SHARED.encode())
    write_file(folder / ATTRIBUTES, _UNION.encode())


def share_pointer(folder: Path) -> None:
    """Let git see of a folder only that it points to the store of a team. Raises `OSError`."""
    write_file(folder / IGNORE, f"*\n!{IGNORE}\n!{POINTER}\n".encode())
    (folder / ATTRIBUTES).unlink(missing_ok=True)


def repository_of(folder: Path) -> Path | None:
    """Return the working tree of git that a folder lies in, or `None`."""
    try:
        return next(
            (above for above in (folder, *folder.parents) if (above / ".git").exists()), None
        )
    except OSError:
        return None
