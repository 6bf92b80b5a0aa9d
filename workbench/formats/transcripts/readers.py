"""The kinds of session files that are read, in the order of asking."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from workbench.formats.transcripts import claude_code, codex
from workbench.formats.transcripts.claude_code import Line


class Reader(Protocol):
    """A kind of session files."""

    def read(self, file: BinaryIO, offset: int = 0, agent: str = "") -> Iterator[Line]:
        """Yield the lines of a file from an offset on. Raises `OSError`."""
        ...

    def files_of(self, path: Path) -> tuple[Path, ...]:
        """Return a session's file and what belongs to it. Raises `OSError`."""
        ...

    def sessions_in(self, folder: Path) -> tuple[Path, ...]:
        """Return the files of the sessions in a folder, the oldest first. Raises `OSError`."""
        ...

    def session_of(self, path: Path) -> str:
        """Return the session that a file is of."""
        ...

    def looks_like(self, start: bytes) -> bool:
        """Tell whether the beginning of a file is that of such a session."""
        ...


READERS: tuple[Reader, ...] = (codex, claude_code)
"""Those that are known."""


def reader_of(start: bytes) -> Reader | None:
    """Return who reads a file that begins so; `None` where nobody does."""
    return next((reader for reader in READERS if reader.looks_like(start)), None)
