"""The text that a file and the store have in common: what a file held when it was last read or written here.

It tells one's own changes from those of somebody else. The texts lie among the caches of the store, so that
erasing a record for good takes them along; without one, both sides' changes cannot be told apart. Which bytes store
and file have in common stands in the journal (see `filestates`).
"""

import contextlib
import gzip
import json
import os
import re
import zlib
from hashlib import sha256
from pathlib import Path

from workbench.core.files.atomic import write_file
from workbench.retrieval import cache_folder
from workbench.store.packed import open_lines

LARGEST = 4_000_000
"""Longest text, in characters, that is kept."""

_LARGEST_COPY = 32_000_000
"""Bytes of an unpacked copy at most: a character takes up to six."""

_PATH = re.compile(r'\{"path": ("(?:[^"\\]|\\.)*")')
_PATH_WITHIN = 40_000
"""Bytes of a copy within which its path is found: names are at most 4096 bytes, escaped at most six times that."""


class FileBases:
    """The common texts of one store, by the absolute path of the file; they lie in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def text(self, path: Path) -> str | None:
        """Return the text that the file and the store had in common last; `None` when that is not known."""
        try:
            with open_lines(self._place(path)) as file:
                doc = json.loads(file.read(_LARGEST_COPY))
            text = doc["text"] if doc["path"] == _name(path) else None
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error):
            return None  # no copy, or one that is broken: as if the file had never been seen
        return text if isinstance(text, str) else None

    def keep(self, path: Path, text: str) -> None:
        """Note that the file and the store agree on `text`. A copy that cannot be written is done without."""
        place = self._place(path)
        with contextlib.suppress(OSError):
            if len(text) > LARGEST:
                place.unlink(missing_ok=True)
                return
            cache_folder.make(self._folder)
            data = json.dumps({"path": _name(path), "text": text}).encode()
            write_file(place, gzip.compress(data, mtime=0), ".base-", durable=False)

    def paths(self) -> list[Path]:
        """Return every file that the store was read from or written to, as far as is known."""
        try:
            places = sorted(self._folder.glob("*.json.gz"))
        except OSError:
            return []
        return [path for place in places if (path := _path_in(place)) is not None]

    def keep_file(self, path: Path, digest: str) -> None:
        """Note that the store agrees with a file that was read, unless its bytes no longer have that SHA-256."""
        with contextlib.suppress(OSError):
            if path.stat().st_size > 4 * LARGEST:  # whatever its characters are, these are too many
                self._place(path).unlink(missing_ok=True)
                return
            data = path.read_bytes()
            if sha256(data).hexdigest() == digest:
                self.keep(path, data.decode("utf-8", "surrogateescape"))

    def _place(self, path: Path) -> Path:
        return self._folder / f"{sha256(_name(path).encode(errors='surrogateescape')).hexdigest()[:24]}.json.gz"


def _path_in(place: Path) -> Path | None:
    """Return the path that a copy begins with; the text after it is not unpacked."""
    try:
        with open_lines(place) as file:
            head = file.read(_PATH_WITHIN).decode()
        found = _PATH.match(head)
        return Path(json.loads(found[1])) if found else None
    except (OSError, EOFError, ValueError, RecursionError, zlib.error):
        return None


def _name(path: Path) -> str:
    return os.path.realpath(path)
