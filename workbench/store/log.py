"""A log that several machines share: what the engine asks of it, and how its entries are written
as the lines of a journal.

The log orders the entries and dates them, says who wrote each, and chains them. Each machine keeps
a copy of it as the journal of a folder, byte for byte, so whatever reads a store reads that folder.
"""

from collections.abc import Collection, Iterator
from hashlib import sha256
from typing import Literal, NamedTuple, Protocol

from workbench.store.entry import Kind
from workbench.store.journal.codec import dumps

Level = Literal["reader", "writer", "reviewer", "owner"]
"""What somebody may do with a log; each may do what those before it may."""


class Body(NamedTuple):
    """What a writer says of an entry: the name it was given (`uid`), its kind, and the bytes of
    its label and changes.

    `claim` is who acts: `human`, `agent:NAME` or another word for what acts on its own. `touched`
    names what no other entry may have changed meanwhile, `needs` is the level that it takes.
    """

    uid: str
    claim: str
    kind: Kind
    touched: Collection[str]
    data: bytes
    needs: Level = "writer"


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
    """Somebody else changed what an entry touches, or rewrote the log; nothing was written.

    `actor` is who, if known.
    """

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

    def append(self, seen: LogState, body: Body) -> Entry:
        """Add an entry by somebody who knows all up to the entry `seen`; one whose `uid` is there
        already is not added again. Return it as it stands now.

        Raises `Clash` when an entry after `seen` touches the same, or that entry was rewritten.
        """

    def read(self, after: int) -> Iterator[Entry]:
        """Yield the entries after a revision, oldest first."""

    def reserve(self, table: str, least: int, count: int) -> int:
        """Return the first of `count` numbers, none below `least`, that nobody else is given for
        the documents of a table.
        """

    def rewrite(self, last: str, entries: Iterator[Entry]) -> None:
        """Replace all entries, of which the hash of the last one still must be `last`; that of an
        empty log is its header's. They keep all but their hashes.

        Raises `Clash` when it is another one.
        """

    def put_blob(self, data: bytes) -> str:
        """Keep what is too large for a record, and return its hash (see `blobs.hash_of`)."""

    def get_blob(self, name: str) -> bytes | None:
        """Return what is kept under a hash, `None` for nothing."""

    def blob_names(self) -> tuple[str, ...]: ...

    def drop_blobs(self, names: Collection[str]) -> None:
        """Remove some for good; for an owner, as `rewrite` is."""


def actor_of(claim: str, role: str, is_agent: bool) -> str:
    """Return the actor that a log writes for who acts in a role; a role of agents is no person's."""
    word, _, name = claim.partition(":")
    return f"agent:{role}/{name or word}" if is_agent or word == "agent" else f"{word}:{role}"


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
