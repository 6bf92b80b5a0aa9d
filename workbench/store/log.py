"""A log that several machines share: what the engine asks of it, and how its entries are written
as the lines of a journal.

The log orders the entries and dates them, says who wrote each, and chains them. Each machine keeps
a copy of it as the journal of a folder, byte for byte, so whatever reads a store reads that folder.
"""

import re
from collections.abc import Collection, Iterator
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread
from time import time_ns
from typing import NamedTuple, NoReturn, Protocol

from workbench.core.files.atomic import draft_beside, fill, put_in_place, write_file
from workbench.core.files.locks import FileLock, StoreBusy
from workbench.core.record import StoreProblem, cannot_write
from workbench.core.team import BEGUN_ANEW
from workbench.store.blobs import Blobs, SharedBlobs
from workbench.store.entry import (
    LATEST,
    DocChange,
    Find,
    Kind,
    Level,
    Transaction,
    body_json,
    level_of,
    new_uid,
)
from workbench.store.files import DOCUMENTS, open_lines, read_lines_of
from workbench.store.journal import segments
from workbench.store.journal.codec import (
    START,
    BadLine,
    dumps,
    hash_of,
    read_line,
    read_seal,
    seal,
    written,
)
from workbench.store.journal.segments import NAME
from workbench.store.maintenance.checkpoint_writer import NOTE, Notice
from workbench.store.records import TOTALS, key_of


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

    `level` is that of the member who wrote it, as the log knew it then; empty for what an owner
    copied from a folder. Whoever applies an entry leaves out what that level may not change.
    """

    rev: int
    at: str
    actor: str
    kind: str
    uid: str
    data: bytes
    hash: str
    level: str = ""


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


class SharedLog(SharedBlobs, Protocol):
    """Every method raises `StoreProblem` when the log cannot be reached or refuses."""

    @property
    def header(self) -> bytes:
        """The first line of the journal, with its line end: it names the store."""

    @property
    def level(self) -> Level:
        """What the member may do who is connected."""

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


class Offline:
    """A shared log that is not connected to: of its copy is read what was copied before. `role` and
    `is_agent` are those of whoever connects from here.
    """

    header = b""
    level: Level = "reader"

    def __init__(self, role: str, is_agent: bool) -> None:
        self._role, self._is_agent = role, is_agent

    def name(self, claim: str) -> str:
        return actor_of(claim, self._role, self._is_agent)

    def _refuse(self, *_: object) -> NoReturn:
        raise StoreProblem("The team's store is not connected here.", "Nothing was changed.")

    state = append = read = reserve = rewrite = _refuse
    put_blob = get_blob = blob_names = drop_blobs = _refuse


def actor_of(claim: str, role: str, is_agent: bool) -> str:
    """Return the actor that a log writes for who acts in a role; a role of agents is no person's.
    Of one that it wrote, it is the same.
    """
    word, _, name = claim.partition(":")
    if is_agent or word == "agent":
        return f"agent:{role}/{name.rpartition('/')[2] or word}"
    return f"{word}:{role}"


def line_of(entry: Entry, prev: str) -> bytes:
    """Return an entry as the line of a journal, with its line end; `prev` is the hash of the line
    before it.
    """
    return b'%s,"hash":"%s"}\n' % (unhashed(entry, prev), entry.hash.encode())


def hash_after(entry: Entry, prev: str) -> str:
    """Return the hash that chains an entry to the line with hash `prev`."""
    return sha256(unhashed(entry, prev)).hexdigest()


def unhashed(entry: Entry, prev: str) -> bytes:
    """Return an entry as the line of a journal up to its hash."""
    head = head_of(entry.rev, entry.at, entry.actor, entry.kind, entry.uid, entry.level)
    return b'%s,%s,"prev":"%s"' % (head, entry.data, prev.encode())


def head_of(rev: int, at: str, actor: str, kind: str, uid: str, level: str = "") -> bytes:
    """Return how a line begins, up to what the writer says."""
    at_, actor_, kind_, uid_ = map(dumps, (at, actor, kind, uid))
    head = b'{"rev":%d,"at":%s,"actor":%s,"kind":%s,"uid":%s' % (rev, at_, actor_, kind_, uid_)
    return head + b',"level":%s' % dumps(level) if level else head


# What a writer says.


def body_of(entry: Transaction, claim: str, find: Find) -> Body:
    """Return what is said of a transaction; `find` returns the entry of a revision. Raises as
    `codec.written` does.
    """
    touched = {name for change in entry.changes for name in _touched(change)}
    data = written(body_json(entry))[1:-1]
    return Body(entry.uid, claim, entry.kind, touched, data, level_of(entry, find))


def _touched(change: DocChange) -> Iterator[str]:
    """Yield what nobody else may have changed meanwhile: a document, but for what only counts, and
    the key of one that comes or goes.
    """
    table = change.table
    if change.op in ("table", "drop") or table in TOTALS:
        return
    if change.op != "update":
        side = 1 if change.op == "insert" else 0
        key = key_of(table, {name: sides[side] for name, sides in change.fields.items()})
        if key is not None and not key.endswith(f"-{int(change.doc):07d}"):
            yield f"{table}/{key}"
    if change.op != "update" or not change.fields.keys() <= LATEST:
        yield f"{table}#{change.doc}"


# The copy of a log that a machine keeps.

_BATCH = 1 << 22
"""Bytes that are written to a copy at once."""

_BLOCK, _MOST = 100, 1000
"""Numbers of new documents that are reserved at once, at first and at most."""


_PUT_BACK = "journal-before-"
"""How the file begins that keeps the entries that a log lost which was put back."""

_UID = re.compile(rb',"uid":"([0-9a-zA-Z-]+)",')


class Differs(Exception):
    """An entry does not follow what the copy holds: the log was rewritten."""


class Copy:
    """The journal of a folder as a copy of a log; `lock` is the write lock of the folder.

    Methods raise `StoreProblem` as the log does, and for a folder that cannot be written.
    """

    def __init__(self, folder: Path, log: SharedLog, lock: FileLock) -> None:
        self.log = log
        self.known: LogState | None = None
        """How far the log was when it was last looked at or written to."""
        self.away: StoreProblem | None = None
        """Why the log cannot be reached; what was copied before stays."""
        self.notices: list[Notice] = []
        """What a person should be told of it."""
        self._folder = folder
        self._path = folder / segments.NAME
        self._lock = lock
        self._blocks: dict[str, range] = {}
        self._counts: dict[str, int] = {}
        self._closing: Event | None = None

    def look(self, *, required: bool = False, anew: bool = False) -> None:
        """Add what the log has and the copy has not, if it can be reached; raises `StoreProblem`
        where it has to be.
        """
        try:
            self.catch_up(anew=anew)
            self.away = None
        except StoreProblem as problem:
            if required:
                raise
            if not isinstance(problem, StoreBusy):
                self.away = problem

    @property
    def is_followed(self) -> bool:
        return self._closing is not None

    def follow(self, seconds: float) -> None:
        """Look at the log every so many seconds, until the copy is closed."""
        if self._closing is not None:
            return
        self._closing = closing = Event()

        def look() -> None:
            while not closing.wait(seconds):
                self.look()

        Thread(target=look, name="shared-log", daemon=True).start()

    def close(self) -> None:
        if self._closing is not None:
            self._closing.set()

    def reserve(self, table: str, least: int) -> int:
        """Return a number for a new document that no other machine gives to one; numbers that are
        reserved anew begin at `least`, and are more each time.
        """
        block = self._blocks.get(table, range(0))
        if not block:
            count = self._counts.get(table, _BLOCK)
            self._counts[table] = min(2 * count, _MOST)
            first = self.log.reserve(table, least, count)
            block = range(first, first + count)
        self._blocks[table] = block[1:]
        return block[0]

    def catch_up(self, *, anew: bool = False) -> None:
        """Add what the log has and the copy has not; a copy that does not go on so begins anew."""
        try:
            state = self.log.state()
            if anew or self._end() != state:
                with self._lock.held():
                    state = self._add_news(anew)
            self.known = state
        except OSError as error:
            raise cannot_write(self._folder, error) from error

    def _add_news(self, anew: bool) -> LogState:
        """Return how far the copy then is."""
        if not anew:
            segments.mend_tail(self._path)
        state, place = self.log.state(), self._end()
        if place is not None and place.rev > state.rev:
            raise StoreProblem(
                f"The team's store ends at revision {state.rev:,}, and this machine has seen "
                f"{place.rev:,}: an older copy of it was put back.",
                f"Nothing was changed; what was lost stands in {self._folder}.",
            )
        try:
            if anew or place is None:
                raise Differs
            return self._add(self._path, place, state)
        except Differs:
            return self._begin_anew(state)

    def _begin_anew(self, state: LogState) -> LogState:
        """Copy the whole log, beside the copy until it is whole. What was made of the old one goes;
        entries that the log has no more are kept: then it was put back.
        """
        header = self.log.header
        with draft_beside(self._path) as (file, draft):
            fill(file, header)
            try:
                state = self._add(draft, LogState(0, hash_of(header[:-1])), state)
            except Differs as error:
                raise StoreProblem(
                    "The entries of the team's store do not follow each other.",
                    "Nothing was changed; ask its owner to run `workbench store check`.",
                ) from error
            if self._end() is not None and (lost := _lost(self._path, draft)):
                kept = self._folder / f"{_PUT_BACK}{time_ns()}.jsonl"
                write_file(kept, b"".join(lost))
                self.notices.append(
                    f"The team's store was put back to an older state; what this machine had seen is kept in {kept}."
                )
            for name in (DOCUMENTS, NOTE):
                (self._folder / name).unlink(missing_ok=True)
            (self._folder / BEGUN_ANEW).touch()
            put_in_place(draft, self._path)
        own = Blobs(self._folder)
        own.remove(set(own.names()) - set(self.log.blob_names()))
        return state

    def line(self, entry: Entry, prev: str) -> bytes:
        """Return an entry as the line after the one with hash `prev`; raises `Differs`."""
        if hash_after(entry, prev) != entry.hash:
            raise Differs
        return line_of(entry, prev)

    def publish(self, rev: int, mark: str) -> None:
        """Let the log hold what the copy does, which ends at a revision with a hash and may have
        been rewritten here.
        """
        if self.known is None or self.known.hash == mark:
            return
        try:
            self.log.rewrite(self.known.hash, entries_in(self._folder))
        except Clash as clash:
            raise StoreProblem(
                "Somebody else wrote to the team's store meanwhile.",
                "What was erased here is not erased there yet; do it again.",
            ) from clash
        self.known = LogState(rev, mark)

    def _end(self) -> LogState | None:
        """Return how far the copy is; `None` for one that holds nothing that can be read."""
        try:
            with open_lines(self._path) as file:
                value, found = read_line(next(segments.lines_back(file), b""))
        except (FileNotFoundError, BadLine):
            return None
        rev = value.get("rev")
        return LogState(rev, found.hash) if isinstance(rev, int) else None

    def _add(self, path: Path, place: LogState, state: LogState) -> LogState:
        """Add what comes after a place to a file, and return the last one."""
        if place.rev == state.rev:
            if place.hash != state.hash:
                raise Differs
            return place
        lines, size = list[bytes](), 0
        for entry in self.log.read(place.rev):
            lines.append(self.line(entry, place.hash))
            size += len(lines[-1])
            place = LogState(entry.rev, entry.hash)
            if size >= _BATCH:
                segments.append(path, b"".join(lines))
                lines, size = [], 0
        if lines:
            segments.append(path, b"".join(lines))
        return place


def _lost(before: Path, now: Path) -> list[bytes]:
    """Return the lines of a journal whose entries another one does not have: who erases texts
    keeps the entries.
    """
    there = {uid for uid, _ in _named_lines(now)}
    return [line for uid, line in _named_lines(before) if uid not in there]


def _named_lines(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Yield the uid and the line of each entry of a journal."""
    with open_lines(path) as file:
        for line in read_lines_of(file):
            if (found := _UID.search(line)) is not None:
                yield found[1], line


# Whole stores.


def new_header() -> bytes:
    """Return the first line of the journal of a new store."""
    return seal(segments.header(0, segments.new_store_id()), START)


def load(log: SharedLog, folder: Path) -> LogState:
    """Copy the journal of a folder, which is in order, into a log that is empty; return how far the
    log then is. Raises `StoreProblem` when it holds something else then, and `OSError`.
    """
    start = hash_of(log.header[:-1])
    end = LogState(0, start)

    def chained() -> Iterator[Entry]:
        nonlocal end
        for entry in entries_in(folder):
            if entry.rev != end.rev + 1:
                raise StoreProblem(
                    f"Revision {end.rev + 1} is missing in {folder}.",
                    "Nothing was copied; `workbench doctor` explains it.",
                )
            end = LogState(entry.rev, hash_after(entry, end.hash))
            yield entry._replace(hash=end.hash)

    log.rewrite(start, chained())
    if log.state() != end:
        raise StoreProblem(
            "The copy differs from the store.",
            "Nothing was removed; make another one and repeat it.",
        )
    return end


def entries_in(folder: Path) -> Iterator[Entry]:
    """Yield the entries of a journal, byte for byte; raises `OSError`, and `StoreProblem` for a
    damaged one.
    """
    for path in (*(segment.path for segment in segments.closed(folder)), folder / NAME):
        with open_lines(path) as file:
            for number, line in enumerate(read_lines_of(file), 1):
                try:
                    entry = _entry_of(line[:-1])
                except (BadLine, ValueError, KeyError) as error:
                    raise StoreProblem(
                        f"{path}:{number}: {error}.", "Nothing was copied."
                    ) from error
                if entry is not None:
                    yield entry


def _entry_of(line: bytes) -> Entry | None:
    """Read a sealed line as an entry; a header is none. Raises `BadLine` and `KeyError`."""
    found, end = read_seal(line)
    value = read_line(line)[0]
    if segments.is_header(value):
        return None
    head = (value["rev"], value["at"], value["actor"], value["kind"], value["uid"])
    level = value.get("level", "")
    start = len(head_of(*head, level)) + 1
    return Entry(*head, line[start:end], found.hash, level)


def note(log: SharedLog, seen: LogState, label: str) -> None:
    """Add an entry that changes nothing and says something."""
    data = written({"label": label, "changes": []})[1:-1]
    log.append(seen, Body(new_uid(), "human", "edit", (), data))
