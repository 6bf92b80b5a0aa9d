"""What can be wrong with a store, and what a backup of one holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from workbench.core.document import Record
from workbench.core.text import counted

# What of a store is not what it was: lines of the journal that are damaged, gone or merged under
# the number of another one, what lies beside it and cannot be read, and a read index that said
# something else.


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
            return (
                f"Revision {self.last} is not the change stored under this number on this machine."
            )
        if self.first == self.last:
            return f"Revision {self.last} is missing from the journal."
        return f"Revisions {self.first} to {self.last} are missing from the journal."


class Renumbered(NamedTuple):
    """A change that stands under number `rev` in the file and counts as `now`, and the records that
    were renamed.
    """

    rev: int
    now: int
    label: str
    names: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        what = f"revision {self.rev} appears twice: the later one (“{self.label}”) counts as revision {self.now}"
        if self.rev == self.now:
            what = f"revision {self.rev} (“{self.label}”) creates a record with the number of another one"
        return what + "".join(f", its {old} is {new}" for old, new in self.names)


class BadBlob(NamedTuple):
    """A record, as (table, key), of which what lies beside the store is `missing` or `damaged`."""

    table: str
    key: str
    file: str
    lack: str

    def __str__(self) -> str:
        said = f"The file of {self.key} is {self.lack}: {self.file}."
        return f"{said} The store still has its summary; a backup may have the rest."


class MendedIndex(NamedTuple):
    """An index was made anew at a time, since it said of so many documents what the store's files
    do not say.

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


# Where one stands who looks at a store as it was: a revision of its history, at which nothing can
# be changed.


class PastView(NamedTuple):
    """A revision that a store is looked at from, and the latest; `at` is when it was made (`None`:
    nothing was yet).
    """

    rev: int
    at: datetime | None
    latest: int


# What is left of a purged record, so that it is recognised when it comes in again.


SCHEMA_VERSION = 1


class PurgedRecord(Record, frozen=True):
    """A memory or bullet that was purged; `id` is its table and its key, parted by a slash.

    `marks` are keyed hashes of every text it ever held; the key stays on the machine that purged
    it.
    """

    id: str
    at: datetime
    marks: tuple[str, ...] = ()
    version: int = SCHEMA_VERSION


# Numbers in a row as a line of blocks, one cell each.


BLOCKS = "▁▂▃▄▅▆▇█"
NOTHING = "·"
"""Stands for a 0: the lowest block is for what is more than that."""


def sparkline(values: Sequence[int]) -> str:
    """Return a line that is as high as the highest of the values; none of them is below 0."""
    top = max(values, default=0)
    return "".join(
        BLOCKS[-(-value * len(BLOCKS) // top) - 1] if value > 0 else NOTHING for value in values
    )


class Unfinished(NamedTuple):
    """A purge that was broken off: its revision, and the records it erases, as (table, key); none
    where secrets are.

    `masks` tells that it takes secrets out of everything, which are looked for anew.
    """

    rev: int
    masks: bool
    records: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        what = "masking of secrets" if self.masks else "purge"
        return (
            f"The {what} of revision {self.rev} was interrupted: texts may still be in some files."
        )


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the doctor found: good transactions, the last revision, damaged places, and what else to
    know.

    `torn` is the length of an unfinished last line, in bytes. `gone` is what was stored and is in
    the journal no more, `held` what the checkpoint still knows of it, as (table, key). `renumbered`
    are changes that were merged under a number another one has, `purges` those that were broken
    off. `blobs` are records of which a part that lies beside the store cannot be read.
    """

    folder: Path
    entries: int
    rev: int
    damage: tuple[Damage, ...]
    torn: int
    notes: tuple[str, ...]
    gone: tuple[Gone, ...] = ()
    held: tuple[tuple[str, str], ...] = ()
    renumbered: tuple[Renumbered, ...] = ()
    purges: tuple[Unfinished, ...] = ()
    blobs: tuple[BadBlob, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Nothing is damaged or gone; an unfinished last line is no damage, it was never confirmed.

        What lies beside the store is looked at apart: a new store would lack it just as well.
        """
        return not (self.damage or self.gone or self.renumbered)


@dataclass(frozen=True, slots=True)
class Recovery:
    """A store that was saved: where it is now, how many transactions and how many records by the
    checkpoint alone.
    """

    folder: Path
    entries: int
    from_checkpoint: int


@dataclass(frozen=True, slots=True)
class Migrated:
    """A store that was made of an old one: how many changes and documents of each table it holds,
    the SHA-256 of all documents, and the places of the old one that could not be read.

    `trusted`: this machine wrote every line of the old one, or a person trusted it.
    """

    folder: Path
    changes: int
    counts: dict[str, int]
    sha256: str
    damage: tuple[Damage, ...]
    trusted: bool


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a store in a backup: its name, its bytes and their SHA-256 (hexadecimal)."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds: the store at revision `rev`, with so many documents in each table.

    `at` is when it was made (ISO 8601), `damaged` the places that could not be read in the store
    itself.
    """

    at: str
    rev: int
    counts: dict[str, int]
    damaged: int
    members: tuple[Member, ...]

    @property
    def size(self) -> int:
        """The bytes of all members."""
        return sum(member.size for member in self.members)
