"""What a store knows of a file outside it: which format it has, and the bytes that both agree on."""

from datetime import datetime
from typing import Literal

from workbench.core.document import Record

Origin = Literal["read", "written"]
"""Whether the bytes were found there, or came from this store."""


class FileState(Record, frozen=True):
    """A file as the store last read or wrote it.

    `id` is its absolute path with links followed. `format` is the name of a format to read, or of
    one to write for a file that was `written`. `sha256` is the hash of the bytes that store and
    file have in common, empty when they have none: the file was read, and the store kept something
    else.
    """

    id: str
    format: str
    sha256: str
    origin: Origin
    at: datetime
    version: int = 1
