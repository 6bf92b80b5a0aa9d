"""What of a store is not what it was: lines of the journal that are damaged, gone or merged under the number of another
one, what lies beside it and cannot be read, and a read index that said something else."""

from datetime import datetime
from typing import NamedTuple

from workbench.core.text import counted


class Damage(NamedTuple):
    """A line that could not be trusted: file, line number (from 1), byte offset and why.

    `missing` names the first and the last revision that should stand before it and do not.
    """

    file: str
    line: int
    offset: int
    reason: str
    missing: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: byte {self.offset}: {self.reason}"


class Gone(NamedTuple):
    """Revisions that this machine knows were stored and that the journal holds no more.

    `replaced`: the journal goes at least as far, but with another change at revision `last`.
    """

    first: int
    last: int
    replaced: bool = False

    def __str__(self) -> str:
        if self.replaced:
            return f"Revision {self.last} is not the change that was stored under this number here."
        if self.first == self.last:
            return f"Revision {self.last} was stored and is gone from the journal."
        return f"Revisions {self.first} to {self.last} were stored and are gone from the journal."


class Renumbered(NamedTuple):
    """A change that stands under number `rev` in the file and counts as `now`, and the records that were renamed."""

    rev: int
    now: int
    label: str
    names: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        what = f"revision {self.rev} stands there twice: the later one (“{self.label}”) counts as revision {self.now}"
        if self.rev == self.now:
            what = f"revision {self.rev} (“{self.label}”) makes a record under the number of another one"
        return what + "".join(f", its {old} is {new}" for old, new in self.names)


class BadBlob(NamedTuple):
    """A record, as (table, key), of which what lies beside the store is `missing` or `damaged`."""

    table: str
    key: str
    file: str
    lack: str

    def __str__(self) -> str:
        said = f"What {self.key} names is {self.lack}: {self.file}."
        return f"{said} The store itself still says what it was; a backup may have the rest."


class MendedIndex(NamedTuple):
    """An index was made anew at a time, since it said of so many documents what the store's files do not say.

    Of an index that could not be read to its end, nobody knows of how many: 0.
    """

    at: datetime
    documents: int

    def __str__(self) -> str:
        """Say what was wrong."""
        if not self.documents:
            return "the read index could not be read to its end"
        what = counted(self.documents, "record")
        return f"the read index differed from the store in {what}"
