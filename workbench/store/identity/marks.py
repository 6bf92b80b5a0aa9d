"""Keyed hashes of texts: they recognise a text that comes in again, and say nothing to whoever lacks the key.

The key stays on this machine, beside what it remembers of its stores.
"""

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from workbench.core.files.atomic import write_file

KEY = "key"
"""Name of the file with the key."""

_SIZE = 32


def key_in(folder: Path | None) -> bytes:
    """Return this machine's key, which is made once; empty where none can be kept."""
    if folder is None:
        return b""
    path = folder / KEY
    try:
        if not path.exists():
            _make(path)
        return path.read_bytes()[:_SIZE]
    except OSError:
        return b""


def mark_of(text: str, key: bytes) -> str:
    """Return the hash of a text; white space and case make no difference."""
    return blake2b(" ".join(text.split()).casefold().encode("utf-8", "replace"), digest_size=16, key=key).hexdigest()


def _make(path: Path) -> None:
    """Make the key; of two processes that do so at once, the first one's stays."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        write_file(path, os.urandom(_SIZE), durable=False, new=True)
