"""What a store knows of folders of documents on disk: which it follows, and what it changed in their files."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class FollowedFolder:
    """A folder of documents that is looked through; `id` is its absolute path with links followed."""

    id: str
    at: datetime
    version: int = 1


@dataclass(frozen=True, slots=True)
class EditedFile:
    """The last change that was made to a file from here, by the hashes of its bytes (empty: there is no such file).

    `id` is its absolute path. `was` is what it held before this change, `sha256` what it holds since. The bytes
    themselves are kept outside the store, so that no secret of a file gets into it; without them there is no way back.
    `turn` counts its changes, `folders` is how many folders were made for it.
    """

    id: str
    sha256: str
    was: str
    at: datetime
    turn: int = 1
    folders: int = 0
    version: int = 1
