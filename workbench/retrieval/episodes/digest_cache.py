"""What is searched of episodes, as JSON lines in the user's cache: each made once of the file beside the store.

Nothing here is truth. A file that is torn, damaged or of another edition is made anew.
"""

import json
import os
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path

from workbench.core.agents.episodes.digest import EDITION, Digest, packed, unpacked
from workbench.core.files.handles import open_handle
from workbench.core.files.locks import locked
from workbench.retrieval import cache_folder

NAME = f"digests-{EDITION}.jsonl"


class DigestCache:
    """The digests of one store's episodes, by the hash of what they are made of. Not for several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Digest] = {}
        self._read_to = 0
        self._inode = 0

    def digests(self, names: Iterable[str], make: Callable[[str], Digest | None]) -> dict[str, Digest]:
        """Return the digests of hashes; `make` gives those that are not known, or `None` where it cannot."""
        wanted = list(dict.fromkeys(names))
        if any(name not in self._known for name in wanted):
            self._read()
        new = {name: made for name in wanted if name not in self._known and (made := make(name)) is not None}
        if new:
            self._known.update(new)
            self._write(new)
        return {name: self._known[name] for name in wanted if name in self._known}

    def _read(self) -> None:
        """Take in the lines that came since the last look; what cannot be read is like nothing."""
        try:
            handle = open_handle(self._folder / NAME, os.O_RDONLY)
            with os.fdopen(handle, "rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                if inode != self._inode:
                    self._inode, self._read_to = inode, 0
                file.seek(self._read_to)
                data = file.read()
        except OSError:
            return
        whole = data.rpartition(b"\n")[0]
        self._read_to += len(whole) + 1 if whole else 0
        for line in whole.split(b"\n"):
            found = _unsealed(line)
            if found is not None:
                self._known[found[0]] = found[1]

    def _write(self, new: dict[str, Digest]) -> None:
        """Add lines, unless somebody else does at this moment or the disk refuses; then they are made again."""
        try:
            cache_folder.make(self._folder)
            with locked(self._folder / "writer.lock", make=True) as alone:
                if alone:
                    handle = open_handle(self._folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                    with os.fdopen(handle, "ab") as file:
                        # What a killed process began ends here.
                        file.write(b"\n" + b"\n".join(_sealed(name, digest) for name, digest in new.items()) + b"\n")
        except OSError:
            return


def _sealed(name: str, digest: Digest) -> bytes:
    said = json.dumps([name, packed(digest)], separators=(",", ":")).encode()
    return _sum(said) + b" " + said


def _unsealed(line: bytes) -> tuple[str, Digest] | None:
    """Return the hash and the digest of a line, `None` for one that is not whole."""
    sum, _, said = line.partition(b" ")
    if not said or sum != _sum(said):
        return None
    try:
        name, values = json.loads(said)
        return str(name), unpacked(values)
    except (ValueError, TypeError):
        return None


def _sum(said: bytes) -> bytes:
    return blake2b(said, digest_size=8).hexdigest().encode()
