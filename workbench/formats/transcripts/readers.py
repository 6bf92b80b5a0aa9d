"""The kinds of session files that are read, in the order of asking."""

from workbench.formats.transcripts import claude_code, codex
from workbench.formats.transcripts.claude_code import Reader

READERS = (codex.READER, claude_code.READER)


def reader_of(start: bytes) -> Reader | None:
    """Return who reads a file that begins so; `None` where nobody does."""
    return next((reader for reader in READERS if reader.looks_like(start)), None)
