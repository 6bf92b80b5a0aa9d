"""A log that several machines share: what the engine asks of it, and how its entries are written
as the lines of a journal.

The log orders the entries and dates them, says who wrote each, and chains them. Each machine keeps
a copy of it as the journal of a folder, byte for byte, so whatever reads a store reads that folder.
"""

from collections.abc import Collection, Iterator
from hashlib import sha256
from typing import NamedTuple, Protocol

from workbench.store.entry import Kind
from workbench.store.journal.codec import dumps


class Body(NamedTuple):
    """What a writer says of an entry: the name it was given (`uid`), its kind, and the bytes of
    its label and changes.

    `claim` is who acts: `human`, `agent:NAME` or another word for what acts on its own. `touched`
    names what no other entry may have changed meanwhile.
    """

    uid: str
    claim: str
    kind: Kind
    touched: Collection[str]
    data: bytes


class Entry(NamedTuple):
    """An entry as the log holds it. `data` is what the writer said, `hash` chains it to the one
    before it.
    """

    rev: int
    at: str
    actor: str
    kind: str
    uid: str
    data: bytes
    hash: str


class LogState(NamedTuple):
    """How far a log is: the revision and the hash of its last entry. Of one that was rewritten,
    the hash differs.
    """

    rev: int
    hash: str


class Clash(Exception):
    """Somebody else changed what an entry touches; nothing was written. `actor` is who, if known."""

    def __init__(self, actor: str = "") -> None:
        super().__init__(actor)
        self.actor = actor


class SharedLog(Protocol):
    """Every method raises `StoreProblem` when the log cannot be reached or refuses."""

    header: bytes
    """The first line of the journal, with its line end: it names the store."""

    def name(self, claim: str) -> str:
        """Return the actor that the log will write for who acts."""

    def state(self) -> LogState: ...

    def append(self, seen: int, body: Body) -> Entry:
        """Add an entry by somebody who knows all up to the revision `seen`; one whose `uid` is
        there already is not added again. Return it as it stands now.

        Raises `Clash` when an entry after `seen` touches the same.
        """

    def read(self, after: int) -> Iterator[Entry]:
        """Yield the entries after a revision, oldest first."""

    def reserve(self, table: str, least: int, count: int) -> int:
        """Return the first of `count` numbers, none below `least`, that nobody else is given for
        the documents of a table.
        """

    def rewrite(self, last: str, entries: Iterator[Entry]) -> None:
        """Replace all entries, of which the hash of the last one still must be `last`."""


def line_of(entry: Entry, prev: str) -> bytes:
    """Return an entry as the line of a journal, with its line end; `prev` is the hash of the line
    before it.
    """
    return b'%s,"hash":"%s"}\n' % (unhashed(entry, prev), entry.hash.encode())


def hash_after(entry: Entry, prev: str) -> str:
    """Return the hash that chains an entry to the line with hash `prev`."""
    return sha256(unhashed(entry, prev)).hexdigest()


def unhashed(entry: Entry, prev: str) -> bytes:
    at, actor, kind, uid = map(dumps, (entry.at, entry.actor, entry.kind, entry.uid))
    head = b'{"rev":%d,"at":%s,"actor":%s,"kind":%s,"uid":%s' % (entry.rev, at, actor, kind, uid)
    return b'%s,%s,"prev":"%s"' % (head, entry.data, prev.encode())
