"""The journal engine: the one write path of a store.

Every change is a transaction: staged, turned into one line, appended and fsynced under the
write lock, then applied in memory. Other processes' lines are read from the tail.
"""

import itertools
import threading
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.files.locks import FileLock, StoreBusy
from workbench.core.health import Damage, Gone, MendedIndex, PastView, Renumbered
from workbench.core.record import (
    OnlyLookedAt,
    StoreProblem,
    UnknownOutcome,
    UnknownRecord,
    cannot_read,
    cannot_write,
    iso,
    parse_time,
    why_failed,
)
from workbench.core.team import COPY
from workbench.store import folder as folders
from workbench.store.entry import Doc, DocChange, Kind, Transaction, from_json, new_uid, to_json
from workbench.store.files import (
    DOCUMENTS,
    LOCK,
    changed_meanwhile,
    overtaken,
    stored_elsewhere,
    sweep,
    taken_away,
)
from workbench.store.identity import Identity, NotTrusted, StoreTrust
from workbench.store.index.indexing import Arrival, Indexing
from workbench.store.index.keeping import IndexKeeper
from workbench.store.journal import segments
from workbench.store.journal.codec import START, written
from workbench.store.journal.segments import Stamp, Tail
from workbench.store.journal.state import (
    Announcer,
    Groups,
    Keys,
    Listener,
    Staged,
    State,
    Tables,
    changed_keys,
    diff_tables,
    take_back,
    taken_back,
)
from workbench.store.maintenance import checkpoint_writer
from workbench.store.maintenance.checkpoint_writer import (
    CheckpointWriter,
    ForeignCheckpoint,
    ForeignFile,
    Loaded,
)

if TYPE_CHECKING:
    from workbench.core.health import PastView
    from workbench.store.journal.reorder import MergedLog
    from workbench.store.log import Copy, SharedLog
    from workbench.store.maintenance.checkpoint_writer import Notice, OutsideEdit

Clock = Callable[[], datetime]

Gate = Callable[[Transaction, Mapping[str, Mapping[str, Doc]]], Transaction]
"""Returns a transaction as it may be written over the documents as they are; raises to refuse it."""

See = Callable[[str, Doc], Doc | None]
"""Returns what is shown of a document of a table, `None` for nothing of it."""

Tell = Callable[[Transaction, tuple[DocChange, ...]], Transaction | None]
"""Returns what is told of a transaction, of which some changes are of documents that are shown."""

_RECENT = 10

_TRIES = 5
"""How often a change of a shared store is made anew on what others wrote meanwhile."""

_SINGLY = 2_000
"""Changes that are taken back, of a store with a read index, without reading all of its documents."""

_REPLAYED, _REPLAYED_BESIDE_INDEX = 200, 5000
"""Revisions whose replay costs a start more than writing a checkpoint does, without a read index
and with one.
"""


class Options(NamedTuple):
    """How a store is kept.

    `segment_bytes`: when a journal segment is closed; `checkpoint_every`: revisions between
    background checkpoints (0 = none); `believed`: a person said outside the store that it can be
    trusted; `adds`: only records are added, which is also done in a store that is not trusted;
    `indexing`: how a large store is indexed, if it is to be.
    """

    segment_bytes: int = 64 << 20
    checkpoint_every: int = 5000
    believed: bool = False
    adds: bool = False
    indexing: Indexing | None = None


STANDARD = Options()


class Journal:
    """An open store folder. Reads are in memory; `transaction` is the only way to change anything.

    `notices` lists what a person should be told, `stranger` is a `memory.json` that is not the
    journal's. `heads` is the folder in which this machine remembers what it stored (see `heads`),
    if it does. Every transaction passes the `gate`, when there is one, before it is written. With
    `shared` the journal is a copy of that log, which orders and dates what is written.

    The folder is made when it is not there; `counters` names integer fields whose changes are
    written as increments. Raises `StoreProblem` when it cannot be made or read, or is a file.
    """

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        counters: frozenset[str] = frozenset(),
        options: Options = STANDARD,
        heads: Path | None = None,
        shared: "SharedLog | None" = None,
    ) -> None:
        try:
            if folder.exists() and not folder.is_dir():
                raise StoreProblem(
                    f"{folder} is a file, not a store folder.", "Nothing was changed."
                )
        except OSError as error:
            raise cannot_read(folder, error) from error
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(folder, error) from error
        self.folder = folder
        self.heads = heads
        self.clock = clock
        self.notices: list[Notice] = []
        self.stranger: ForeignCheckpoint | None = None
        self.gate: Gate | None = None
        self._counters = counters
        self._options = options
        self._staged: Staged | None = None
        self._owner: int | None = None
        self._wrote = False
        self._adopting = False
        self._announcer = Announcer()
        self._lock = FileLock(folder / LOCK, with_folder=True)
        self._reading = threading.RLock()
        self._index = IndexKeeper(options.indexing, folder)
        self._keeper = CheckpointWriter(
            folder,
            clock,
            lambda: self.identity.key,
            self._index.write,
        )
        self.identity = Identity(heads, folder, believed=options.believed)
        self._unsure = ""
        """The uid of the transaction that may be stored or not."""
        self.standpoint: PastView | None = None
        """Where one stands in the past; `None` in the present."""
        self._tell: Tell | None = None
        self.copy = self._copy_of(shared)
        """What keeps this journal a copy of a shared log, if it is one."""
        self._load()
        if self.copy is not None and self._tail.damage:
            self.copy.look(anew=True)
            self._load()

    def _copy_of(self, shared: "SharedLog | None") -> "Copy | None":
        """Bring the copy of a shared log up to date, if the folder is one. Without its log nothing
        is written to it, for the team would not see that.
        """
        if shared is None and not (self.folder / COPY).exists():
            return None
        from workbench.store.log import Copy, Offline

        copy = Copy(self.folder, shared or Offline("", is_agent=False), self._lock)
        copy.notices = self.notices
        copy.look(required=not segments.store_id(self.folder))
        return copy

    @property
    def path(self) -> Path:
        """The active journal segment."""
        return self._tail.path

    @property
    def rev(self) -> int:
        """The revision of the last transaction applied."""
        return self.state.rev

    @property
    def damage(self) -> list[Damage]:
        """The lines that could not be trusted, of those read so far; a gap that was accepted is
        none, nor is what was merged.
        """
        return damage_in(self._tail, self.identity.accepted, self.renumbered)

    @property
    def shared(self) -> "SharedLog | None":
        """The log that the journal is a copy of, if it is one."""
        return None if self.copy is None else self.copy.log

    @property
    def standing(self) -> StoreTrust:
        """How far what the store says is trusted."""
        return self.identity.trust

    @property
    def gone(self) -> tuple[Gone, ...]:
        """What was stored and is in the journal no more, as far as this machine or a checkpoint
        knows.
        """
        return self.identity.gone

    @property
    def renumbered(self) -> tuple[Renumbered, ...]:
        """The changes that count under another number than they stand under in the file."""
        return self._settled.renumbered if self._settled is not None else ()

    @property
    def store(self) -> str:
        """The store's own id; empty for one that nobody has written to."""
        return self._tail.store

    @property
    def mark(self) -> str:
        """The hash of the last line that was taken in; it tells two histories with as many
        changes apart.

        Empty in the past, which stands on none that is looked for.
        """
        return self._tail.mark if self.standpoint is None else ""

    @property
    def unfinished(self) -> Mapping[str, str]:
        """The groups whose last part has not come, with their labels."""
        return self._groups.unfinished

    @property
    def is_missing(self) -> bool:
        """Whether the journal that was read cannot be seen any more: removed, renamed, or closed to
        this process.
        """
        return self._tail.is_missing

    @property
    def staged(self) -> Staged | None:
        """The transaction that this thread has open, or `None`."""
        return self._staged if self._owner == threading.get_ident() else None

    @property
    def outside_edit(self) -> "OutsideEdit | None":
        """What another program changed in `memory.json`, waiting to be accepted or dismissed (see
        `outside`).
        """
        return checkpoint_writer.find(self.folder, self.rev, self.tables_at, self.stranger)

    @property
    def revisions_since_checkpoint(self) -> int:
        """How many transactions a start would have to replay."""
        return self.rev - self._keeper.saved_rev

    @property
    def starts_slowly(self) -> bool:
        """Whether the next start would replay so much that writing a checkpoint now costs less than
        it saves.

        Of a store with an index only what came after the index is replayed, whoever has much of it
        takes it in, and writing all documents takes long: there a checkpoint waits until the index
        itself would be slow to replace.
        """
        return self.revisions_since_checkpoint >= (
            _REPLAYED_BESIDE_INDEX if self._index.digest else _REPLAYED
        )

    def listen(self, listener: Listener) -> None:
        """Call `listener` with every transaction from now on and the records it touched.

        It is called after the transaction and outside every lock, on a thread that commits or
        reads the journal; never on two threads at once.
        """
        self._announcer.listen(listener)

    def refresh(self) -> int:
        """Apply what other processes appended since the last look; return how many transactions
        came.

        A journal that was removed brings nothing: what was read stays. What was not written on this
        machine (a pull brought it) shows in `standing`.

        Raises `StoreProblem` when the journal cannot be read.
        """
        try:
            if self.staged is not None or self.standpoint is not None or self._tail.is_removed:
                return 0
            if self.copy is not None and not self.copy.is_followed:
                self.copy.look()
            count = 0 if self._tail.is_current else self._pull()
            self.identity.recheck()
        except OSError as error:
            raise cannot_read(self.folder, error) from error
        self._announcer.deliver()
        return count

    @contextmanager
    def transaction(
        self, actor: str, label: str, *,
        group: str = "", part: int = 1, kind: Kind = "edit", target: int = 0, more: bool = False, uid: str = "",
    ) -> Iterator[Staged]:  # fmt: skip
        """Stage changes and commit them as one line when the block ends without an error.

        A block inside another one joins it. The parts of a group are numbered on when `part` is
        too low; `more` says that another part is to follow. What is done by one `uid` is done once
        in a shared store. Raises `StoreProblem` when the line
        cannot be written; nothing is changed then.
        """
        if group.isdigit():
            raise ValueError("the name of a group is not a number")
        if (joined := self.staged) is not None:
            yield joined
            return
        self.require_present()
        self._require_trust()
        if self.copy is not None and self.copy.is_followed and self.copy.away is not None:
            raise self.copy.away  # another thread tries all the time, and nobody waits for it
        try:
            with self._lock.held():
                unsure = self._unsure
                self._catch_up()
                if unsure and kind in ("undo", "redo"):
                    self._answer_unsure(unsure, kind)
                self._look_before_writing()
                reserve = None if self.copy is None else self.copy.reserve
                self._staged = staged = Staged(self.state, self._counters, reserve)
                self._owner = threading.get_ident()
                try:
                    yield staged
                    self._keep_lock(staged)
                    changes = staged.changes()
                    if changes or staged.takes or kind in ("undo", "redo", "purge"):
                        at = iso(self.clock())
                        said = staged.label or label
                        entry = Transaction(
                            self._next_rev(),
                            at,
                            actor,
                            said,
                            changes,
                            kind,
                            group,
                            part,
                            target,
                            more=more,
                            takes=staged.takes,
                            uid=uid or new_uid(),
                        )
                        self._commit_masked(entry, staged)
                finally:
                    self._staged = self._owner = None
        finally:
            self._announcer.deliver()
        self._checkpoint_if_due()

    def _commit_masked(self, entry: Transaction, staged: Staged) -> None:
        """Commit what the gate makes of an entry, with the numbers that its new records were given."""
        if self.copy is not None:
            self._commit_shared(self.copy, entry, staged)
            return
        self._commit(self._gated(entry, staged))

    def _gated(self, entry: Transaction, staged: Staged) -> Transaction:
        if self.gate is not None:
            entry = self.gate(entry, self.state.view())
        return entry._replace(next_ids=dict(staged.next_ids), part=self._groups.part(entry))

    def _commit_shared(self, copy: "Copy", entry: Transaction, staged: Staged) -> None:
        """Have the log add a transaction, made anew as often as others change what it does not
        touch, and take in what it added.
        """
        from workbench.store.log import Clash, Differs, LogState, body_of

        claim, actor = entry.actor, copy.log.name(entry.actor)
        for _ in range(_TRIES):
            said = self._gated(entry._replace(actor=actor), staged)
            try:
                stored = copy.log.append(
                    LogState(self.rev, self.mark), body_of(said, claim, self._find)
                )
            except Clash as clash:
                before, state = self.rev, self.state
                copy.catch_up()
                self._pull()
                if self.state is not state or staged.clashes(self._since_rev(before)):
                    raise changed_meanwhile(clash.actor) from None
                entry = entry._replace(changes=staged.changes())
                continue
            except UnknownOutcome:
                self._unsure = entry.uid
                raise
            break
        else:
            raise changed_meanwhile("")
        with self._reading:
            try:
                self._wrote = True
                copy.known = LogState(stored.rev, stored.hash)
                if stored.rev != self.rev + 1:
                    raise Differs
                line = copy.line(stored, self._tail.mark)
                said = said._replace(
                    rev=stored.rev, at=stored.at, actor=stored.actor, level=stored.level
                )
                seen = self._tail.append(line, said)
            except Differs:  # others wrote before it
                try:
                    copy.catch_up()
                except StoreProblem as problem:
                    raise stored_elsewhere(self.folder, problem.message) from problem
                self._pull()
                return
            except OSError as error:
                raise stored_elsewhere(self.folder, why_failed(error)) from error
            self._apply(said)
            self.identity.note(self._tail, seen)

    def _find(self, rev: int) -> Transaction | None:
        return segments.entry_at(self.folder, rev)

    def _since_rev(self, rev: int) -> Iterator[Transaction]:
        return itertools.takewhile(lambda entry: entry.rev > rev, self.entries_back())

    def entries_back(
        self, *needles: bytes | None, docs: Container[str] | None = None
    ) -> Iterator[Transaction]:
        """Yield the transactions, newest first, those that contain one of `needles` if any is
        given; damaged lines are passed over.

        With `docs` changes of other documents may be left out. In the past, those that came later
        are none. Raises `StoreProblem` when a segment cannot be read.
        """
        past = self.standpoint
        for entry in self._entries_back(*needles, docs=docs):
            if past is None or entry.rev <= past.rev:
                told = entry if self._tell is None else self._tell(entry, self._shown(entry))
                if told is not None:
                    yield told

    def _shown(self, entry: Transaction) -> tuple[DocChange, ...]:
        return tuple(
            change
            for change in entry.changes
            if self.state.get(change.table, change.doc) is not None
        )

    def _entries_back(
        self, *needles: bytes | None, docs: Container[str] | None = None
    ) -> Iterator[Transaction]:
        if self._settled is not None:
            # The file is not in order yet; what holds is known, and short enough to be read whole.
            yield from reversed(self._settled.entries + tuple(self._since))
            return
        try:
            for value in segments.values_back(
                self.folder, *(needle for needle in needles if needle is not None)
            ):
                if not segments.is_header(value):
                    try:
                        entry = from_json(value, docs, self._find)
                    except ValueError:
                        continue
                    yield entry
        except OSError as error:
            raise cannot_read(self.folder, error) from error

    def save_checkpoint(self) -> None:
        """Write the checkpoint when there is anything new; not inside a transaction. Raises
        `StoreProblem`.
        """
        self.require_present()
        if (
            self.staged is not None
            or self.rev == self._keeper.saved_rev
            or self._settled is not None
        ):
            return
        unplaced = self.stranger is not None and self.stranger.base is None
        kept = self._keeper.save(self.snapshot)
        self.stranger = None
        if kept:
            self._note_strange(kept, unplaced=unplaced)

    def close(self) -> None:
        """Write a checkpoint if this process changed anything; raises `StoreProblem`.

        While somebody else holds the store it is left out: the journal has everything, and the next
        one writes it.
        """
        if self.copy is not None:
            self.copy.close()
        self._keeper.wait()
        if self._wrote or (self.copy is not None and self.starts_slowly):
            with suppress(StoreBusy):
                self.save_checkpoint()

    @property
    def saved(self) -> str:
        """The hash of the `memory.json` that the store's index is of; empty without an index, and
        in the past.
        """
        return self._index.digest if self.standpoint is None else ""

    def read(self) -> None:
        """Read all documents, and let go of the index, for others to write. Raises `OSError`."""
        with self._reading:
            state = self.state
        if state.tables is not None:
            self._index.close()

    def keep_index(self) -> None:
        """Make the index of the store when it has none; a cache of this user's, which reading may
        write.
        """
        if self.standpoint is not None or not self._can_be_indexed():
            return
        if self.state.base_failed:
            self._index.forget()
            self.state.base_failed = False
        self._index.write_missing(self.identity.believed_key)

    def check_index(self) -> MendedIndex | None:
        """Hold the read index against the files, which reads all of them; one that differs is made
        anew, and said.

        It is looked at twice, the second time while nobody writes. What was read by it in here is
        read again. Raises `StoreProblem` when the files cannot be read, or others hold the store.
        """
        try:
            if (
                self.standpoint is not None
                or not self._can_be_indexed()
                or self._index.differing() == 0
            ):
                return None
            with self._lock.held():
                if (documents := self._index.differing()) == 0:
                    return None
                self._index.forget()
                self.reload()
            self._index.write_missing(self.identity.believed_key)
        except OSError as error:
            raise cannot_read(self.folder, error) from error
        self._announcer.deliver()
        return MendedIndex(self.clock(), documents or 0)

    def _can_be_indexed(self) -> bool:
        return (
            self.standing.trusted
            and self._settled is None
            and self.stranger is None
            and not self._tail.damage
        )

    def arrivals(self, after: int) -> list[Arrival] | None:
        """Return who added and read which memories after a revision; `None` when only the journal
        knows.
        """
        return self._index.arrivals(after) if self.standpoint is None else None

    def trust(self, shown: Collection[str] | None = None) -> None:
        """Remember that what stands in the store now was shown to a person; what was not believed
        before is read again. Raises `StoreProblem`.

        `shown` are the hashes of the foreign lines that were (default: all that there are). Raises
        `StoreProblem` when others came since.
        """
        self.require_present()
        with self._keeper.held(), self._lock.held():
            self._read_tail()
            believed = self.standing.trusted
            strange = {one.seal.hash for one in self.identity.strange}
            if shown is not None and not strange <= set(shown):
                raise StoreProblem(
                    "More changes came in meanwhile.", "Nothing was changed; review it again."
                )
            try:
                self.identity.trust_all(self._tail)
            except OSError as error:
                raise cannot_read(self.folder, error) from error
            if not believed:
                self.reload()

    def strange_lines(self) -> list[tuple[str, str]]:
        """Return the hash and the actor of every change that is not known here, in the order of the
        files.

        Raises `StoreProblem`.
        """
        self.refresh()
        return [(one.seal.hash, one.actor or "") for one in self.identity.strange]

    def go_back(self, rev: int) -> None:
        """Stand at a revision from now on: all is as it was right after it, and nothing can be
        changed any more.

        What was purged since is gone there, too. Raises `UnknownRecord` for a revision that there
        is not.
        """
        if not 0 <= rev <= self.rev:
            raise UnknownRecord(
                f"There is no revision {rev}.", f"The latest is {self.rev}; nothing was opened."
            )
        latest, at, taken = self.rev, None, 0
        with self._reading:
            for entry in self._entries_back():
                if entry.rev <= rev:
                    at = parse_time(entry.at)
                    break
                taken += len(entry.changes)
                if taken > _SINGLY and self.state.unread:
                    self.read()  # one after the other they would be looked up longer than all of them are read
                self.state.apply(taken_back(entry))
            self.state.rev = rev
            self.stranger = None
            self.standpoint = PastView(rev, at, latest)

    @property
    def is_narrowed(self) -> bool:
        """Whether not all of the store is shown (see `narrow`)."""
        return self._tell is not None

    def require_present(self) -> None:
        """Raise `OnlyLookedAt` in the past, and where not all is shown."""
        if self.standpoint is not None:
            raise OnlyLookedAt(self.standpoint.rev)

    def require_trust(self) -> None:
        """Raise `NotTrusted` when the store came from elsewhere and nobody has looked at it."""
        if not self.standing.trusted:
            raise NotTrusted(self.folder)

    def _require_trust(self) -> None:
        if not self._options.adds:
            self.require_trust()

    def begin(self) -> None:
        """Make the active segment, if there is none; raises `StoreProblem`."""
        with self.exclusive():
            self._catch_up()
            try:
                self._begin()
            except OSError as error:
                raise cannot_write(self.folder, error) from error
            self.remember()

    def remember(self) -> None:
        """Note what the files look like now, after they were rewritten without a transaction; under
        the lock.
        """
        self.identity.note_files(self._tail)

    def accept(self) -> tuple[Gone, ...]:
        """Take the journal as it is, with what is missing from it; return what was missed until
        now.

        Nothing is removed: `memory.json`, when it knows more, is kept under another name. Raises
        `StoreProblem`.
        """
        with self.exclusive():
            gone = self.gone
            gaps = [place.missing for place in self.damage if place.missing is not None]
            self.identity.accept(self._tail, tuple(gaps))
        if any(stamp.rev > self.rev for stamp in checkpoint_writer.stamps_of(self.folder)):
            self._keeper.saved_rev = -1
            self.save_checkpoint()
            try:
                checkpoint_writer.forget_after(self.folder, self.rev, self.identity.key)
            except OSError as error:
                raise cannot_write(self.folder, error) from error
        return (*gone, *(Gone(first, last) for first, last in gaps))

    def narrow(self, see: See, tell: Tell) -> None:
        """Show from now on only what `see` leaves of the documents and `tell` of the transactions.

        Nothing can be changed any more.
        """
        with self._reading:
            old = self.state
            tables = {
                name: {
                    doc_id: seen
                    for doc_id, doc in docs.items()
                    if (seen := see(name, doc)) is not None
                }
                for name, docs in old.tables.items()
            }
            self.state: State = State(tables, old.rev, dict(old.next_ids))
            self.standpoint = self.standpoint or PastView(old.rev, None, old.rev)
            self._tell = tell

    def snapshot(self) -> tuple[Tables, Stamp]:
        """Return the tables as they are now and the stamp (without a hash) of a checkpoint that
        holds them.
        """
        with self._lock.held():
            self._read_tail()
            return self._snapshot()

    def cut(self) -> tuple[Tables, Stamp]:
        """Return what `snapshot` returns, as far as the journal can be read now; no writer waits
        for it.

        Raises `StoreProblem`.
        """
        self.refresh()
        with self._reading:
            return self._snapshot()

    def _snapshot(self) -> tuple[Tables, Stamp]:
        return self.state.snapshot(), self._stamp()

    def _stamp(self) -> Stamp:
        tail, place = self._tail, self._tail.place
        ids = dict(self.state.next_ids)
        return Stamp(
            "", self.rev, place.offset, place.line, place.start, tail.mark, tail.uid, ids, dict(self.unfinished)
        )  # fmt: skip

    def settle_stranger(self) -> None:
        """Let the next checkpoint replace a `memory.json` that another program wrote."""
        self.stranger = None
        self._keeper.accept_file()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Keep every other writer out for the block, between its transactions, too. Raises as a
        transaction does.
        """
        self.require_present()
        with self._lock.held():
            if self.copy is not None:
                self.copy.catch_up()
            self._read_tail()
            yield

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep every other writer out, after taking in what they wrote; for work on the files
        themselves.
        """
        self.require_present()
        self._require_trust()
        with self._keeper.held(), self._lock.held():
            sweep(self.folder)
            if self.copy is not None:
                self.copy.catch_up()
            self._read_tail()
            self._look_before_writing()
            yield

    def reload(self) -> None:
        """Read the store again from its files; listeners hear of every record that differs."""
        with self._reading:
            before = self.state.tables
            self._load()
            keys = changed_keys(before, self.state.tables)
            last = next(self.entries_back(), None)
            if last is not None:
                self._announcer.add(last, keys)

    def _load(self) -> None:
        try:
            segments.check_is_journal(self.folder / segments.NAME)
            self._keeper.accept_file()
            whole = self.identity.look_through()
            loaded = self._checkpoint()
            self.state = loaded.state
            self.stranger = loaded.stranger
            self._settled: MergedLog | None = None
            self._since: list[Transaction] = []
            self._groups = Groups(loaded.stamp.unfinished)
            self._keeper.saved_rev = loaded.saved
            self._tail = Tail(self.folder, loaded.stamp)
            for entry in self._tail.entries():
                self._apply_entry(entry)
            if whole is not None:  # it tells of damage before the place where replaying began, too
                self._tail.damage, self._tail.again = whole.damage, whole.again
                self._tail.disordered = whole.disordered
            self._look_closer()
            self._fold()
            if self.identity.watches:
                self._tail.on_line = self.identity.add_line
            if self.stranger is not None:
                self._handle_foreign_checkpoint(self.stranger)
        except OSError as error:
            raise cannot_read(self.folder, error) from error

    def _apply_entry(self, entry: Transaction) -> Keys:
        """Apply a transaction to all that is kept of the store in memory; return the records it
        touched.
        """
        keys = self.state.apply(entry)
        self._groups.apply(entry)
        self._index.note(entry)
        return keys

    def _fold(self) -> None:
        """Take what was read after the index into it, when that is much, and go on from there."""
        if (
            self._settled is None
            and not self._tail.damage
            and self._index.fold(self.state, self._stamp())
        ):
            loaded = self._checkpoint()
            if loaded.state.rev == self.state.rev:
                self.state = loaded.state
            else:
                self.reload()

    def _checkpoint(self) -> Loaded:
        """Read the checkpoint, if it may be believed: one of another machine may say what the
        journal does not.
        """
        if not self.standing.trusted:
            return Loaded(State())
        key = self.identity.believed_key
        opened = self._index.open(key, self._tables_then)
        if opened is not None:
            return opened
        loaded = checkpoint_writer.load(self.folder, key)
        self._index.forget_news(loaded.state.rev)
        return loaded

    def _tables_then(self, rev: int) -> Tables:
        """Return all tables as of a revision from the files as they stand now, without the index."""
        loaded = checkpoint_writer.load(self.folder, self.identity.believed_key)
        for entry in Tail(self.folder, loaded.stamp).entries():
            loaded.state.apply(entry)
        return take_back(loaded.state.snapshot(), self._entries_back(), rev)

    def _look_closer(self) -> None:
        """Find out whether changes are out of order, and what is gone."""
        self.identity.open(self._tail)
        # Of a copy the order is the log's: a record that comes again has no effect.
        if self.copy is None and (self._tail.disordered or self.state.clashes):
            self._settle()
        known = max((stamp.rev for stamp in checkpoint_writer.stamps_of(self.folder)), default=0)
        self.identity.compare(self.rev, known)
        for gone in self.gone:
            self._notice(f"{gone} `workbench doctor` explains it and what to do.")

    def _settle(self) -> None:
        """Read the whole journal and put what it says in order, in memory; the next writer does it
        in the file.
        """
        from workbench.store.journal.reorder import (
            entries_in,
            merge_branches,  # hardly ever is anything out of order
        )

        self._settled = merge_branches(entries_in(self.folder))
        self.state = self._settled.state
        self._groups = Groups({})
        for entry in self._settled.entries:
            self._groups.apply(entry)
        self._keeper.saved_rev = -1
        for one in self._settled.renumbered[:_RECENT]:
            self._notice(f"Two changes have the same revision: {one}.")

    def _catch_up(self) -> None:
        """Under the lock: take in what others wrote, and bring the files in order before anything
        is added.
        """
        if self._unsure:
            if self.copy is not None:
                self.copy.catch_up()
            self._unsure = ""
            self.reload()
        self._read_tail()
        self._adopt()
        if self._settled is not None and not self._since and self.standing.trusted:
            from workbench.store.journal.reorder import rewrite

            try:
                known = self.identity
                if rewrite(self.folder, self._settled, known.seal, known.strange_hashes):
                    self.reload()
                    self.remember()
            except OSError as error:
                raise cannot_write(self.folder, error) from error

    def _answer_unsure(self, uid: str, kind: Kind) -> None:
        """Say that a change which could not be confirmed is stored, before an undo would be taken
        for its repetition.
        """
        found = next(self.entries_back(f'"uid":"{uid}"'.encode()), None)
        if found is not None:
            message = (
                f"The unconfirmed change was stored after all: “{found.label}” "
                f"(revision {found.rev})."
            )
            raise StoreProblem(
                message, f"Nothing was changed now; repeat the {kind} if you want another."
            )

    def _look_before_writing(self) -> None:
        """Under the lock: find out whether what this process writes now stands on what is trusted.

        Raises `NotTrusted` when something came from elsewhere while the store was open.
        """
        try:
            self.identity.recheck()
            self.identity.before_writing()
        except OSError as error:
            raise cannot_write(self.folder, error) from error
        self._require_trust()

    def _next_rev(self) -> int:
        """Return the number of the next change: above all that was ever stored, so that a gap stays
        visible.
        """
        return max(self.rev, self.identity.highest) + 1

    def _pull(self) -> int:
        """Read and apply what stands after the last place; raises `OSError`."""
        with self._reading:
            before = self.rev
            if self._tail.is_current:
                return 0
            if not self._tail.goes_on():
                self.reload()
            else:
                for entry in self._tail.entries():
                    self._apply(entry)
                is_branched = self._tail.disordered or self.state.clashes
                if is_branched and self._settled is None and self.copy is None:
                    self.reload()
            return max(0, self.rev - before)

    def _keep_lock(self, staged: Staged) -> None:
        """Take the lock again if its file was replaced, and what others wrote meanwhile; raises
        `StoreProblem`.
        """
        if not self._lock.renew():
            return
        state, before = self.state, self.rev
        self._read_tail()
        if self.state is not state or staged.clashes(self._since_rev(before)):
            raise overtaken(self.folder)

    def _commit(self, entry: Transaction) -> None:
        """Write one transaction and apply what was written, so that memory and file cannot differ."""
        body = written(to_json(entry))
        with self._reading:
            try:
                self._begin()
                seen = self._tail.append(self.identity.seal(body, self._tail.mark or START), entry)
            except segments.Uncertain as error:
                self._unsure = entry.uid
                raise segments.cannot_know(self.folder, error) from error
            except OSError as error:
                raise cannot_write(self.folder, error) from error
            self._wrote = True
            self._apply(entry)
            self.identity.note(self._tail, seen)
            # A header that was damaged names no store; the next one does.
            if self._tail.place.offset >= self._options.segment_bytes or not self._tail.store:
                self._roll()
                self.identity.note_files(self._tail)

    def _begin(self) -> None:
        """Make the active segment when there is none; a store that is new stays out of git. Raises
        `OSError`.
        """
        if not self._wrote:
            sweep(self.folder)
        if self.rev == 0 and not self._adopting and not self._tail.path.exists():
            folders.keep_out(self.folder)
        self._tail.begin(self._header)

    def _apply(self, entry: Transaction) -> None:
        keys = self._apply_entry(entry)
        if self._settled is not None:
            self._since.append(entry)
        self._announcer.add(entry, keys)

    def _header(self) -> dict[str, object]:
        return segments.header(self.rev, self.identity.store)

    def _roll(self) -> None:
        """Begin a new segment; a failure only puts it off, for the transaction is safe already."""
        try:
            self._tail.roll(self._header)
        except OSError as error:
            self._notice(str(cannot_write(self.folder, error)))

    def _read_tail(self) -> None:
        """Under the lock: take in other processes' lines and cut off what a crash left unfinished."""
        try:
            if self._tail.is_removed:
                raise taken_away(self.folder)
            if self._tail.is_clean:
                return
            torn = self._tail.mend()
            self._pull()
        except OSError as error:
            raise cannot_write(self.folder, error) from error
        if torn.strip(b"\0"):
            self.notices.append(
                f"The last line of {segments.NAME} was unfinished ({len(torn)} bytes) and was dropped; "
                "it belongs to a change that was never confirmed."
            )
        elif torn:
            self.notices.append(
                f"{len(torn):,} empty bytes at the end of {segments.NAME} were cut off."
            )

    def _notice(self, text: str) -> None:
        if text not in self.notices:
            self.notices.append(text)

    def _checkpoint_if_due(self) -> None:
        every = self._options.checkpoint_every
        if every and self.revisions_since_checkpoint >= every:
            self._keeper.save_in_background(self.save_checkpoint, self._notice)

    def tables_at(self, rev: int) -> Tables:
        """Return all documents as they were right after a revision."""
        return take_back(self.state.snapshot(), self.entries_back(), rev)

    def _handle_foreign_checkpoint(self, stranger: ForeignCheckpoint) -> None:
        """Face a `memory.json` that is not the journal's: show it when it is all there is, else
        keep it.
        """
        tables = checkpoint_writer.read_tables(stranger.data)
        if self.rev == 0:
            if tables is None:
                file = self.folder / DOCUMENTS
                raise StoreProblem(
                    f"{file} is not a TinyDB file.", "Nothing was changed; move it away to begin."
                )
            if stranger.stamp is not None:
                self.notices.append(
                    "The journal is missing: all memories are there, but their history is lost."
                )
            self.state = State(tables, 0, dict(stranger.stamp.next_ids if stranger.stamp else {}))
            self._adopting = True
            return
        self._keeper.saved_rev = -1
        if (
            (
                stranger.stamp
                and segments.holds(self.folder, stranger.stamp.mark, stranger.stamp.uid)
            )
            or (tables is not None and stranger.base is not None and self.outside_edit is None)
            or tables == self.state.tables
        ):
            self.stranger = None
            return
        self._keeper.expect_strange_file(stranger.base)
        if stranger.base is not None:
            self._note_strange()

    def _note_strange(self, kept: str = "", *, unplaced: bool = False) -> None:
        self.notices.append(ForeignFile(kept, unplaced))

    def _adopt(self) -> None:
        """Write the documents of an adopted TinyDB file as the first transaction, before anything
        else is written.
        """
        if not self._adopting:
            return
        if self.rev == 0:
            changes = tuple(diff_tables({}, self.state.tables))
            next_ids = {table: self.state.next_id(table) for table in self.state.names}
            at = iso(self.clock())
            self._commit(
                Transaction(
                    self._next_rev(),
                    at,
                    "import:memory.json",
                    "adopt a TinyDB file",
                    changes,
                    next_ids=next_ids,
                    uid=new_uid(),
                )
            )
        self._adopting = False
        self.settle_stranger()


def damage_in(
    tail: Tail,
    accepted: Collection[tuple[int, int]],
    renumbered: Iterable[Renumbered],
) -> list[Damage]:
    """Return what is damaged in a journal that was read, without gaps that were accepted and what
    was merged.
    """
    merged = {one.rev for one in renumbered}
    return [
        one
        for one in tail.damage
        if one.missing not in accepted and tail.again.get(one) not in merged
    ]


def utc_now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)
