"""The journal engine: the one write path of a store.

Every change is a transaction: staged, turned into one line, appended and fsynced under the
write lock, then applied in memory. Other processes' lines are read from the tail.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from workbench.core.errors import StoreProblem
from workbench.core.record import iso
from workbench.store import chain, checkpoint, outside, segments
from workbench.store.announce import Announcer, Listener
from workbench.store.checkpoint import Stamp, Stranger
from workbench.store.codec import seal, unseal
from workbench.store.entry import Entry, Kind, from_json, to_json
from workbench.store.groups import Groups
from workbench.store.keeper import Keeper
from workbench.store.lock import WriteLock, cannot_read, cannot_write
from workbench.store.segments import Damage
from workbench.store.staged import Staged
from workbench.store.state import KeyOf, State, Tables, id_field
from workbench.store.tail import Tail

Clock = Callable[[], datetime]

_RECENT = 10


@dataclass(frozen=True, slots=True)
class Options:
    """How a store is kept.

    `segment_bytes`: when a journal segment is closed; `checkpoint_every`: revisions between background
    checkpoints (0 = none); `recent_of`: tables whose latest ten documents a segment's header carries.
    """

    segment_bytes: int = 64 << 20
    checkpoint_every: int = 5000
    recent_of: tuple[str, ...] = ()


STANDARD = Options()


class Journal:
    """An open store folder. Reads are in memory; `transaction` is the only way to change anything.

    `notices` lists what a person should be told, `stranger` is a `memory.json` of another program.
    """

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        counters: frozenset[str] = frozenset(),
        key_of: KeyOf = id_field,
        options: Options = STANDARD,
    ) -> None:
        self.folder = folder
        self.clock = clock
        self.notices: list[str] = []
        self.stranger: Stranger | None = None
        self._counters = counters
        self._key_of = key_of
        self._options = options
        self._staged: Staged | None = None
        self._owner: int | None = None
        self._wrote = False
        self._adopting = False
        self._announcer = Announcer()
        self._lock = WriteLock(folder / "lock")
        self._reading = threading.RLock()
        self._keeper = Keeper(folder, clock)
        self._load()

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
        """The lines that could not be trusted, of those read so far."""
        return self._tail.damage

    @property
    def unfinished(self) -> Mapping[str, str]:
        """The groups whose last part has not come, with their labels."""
        return self._groups.unfinished

    @property
    def staged(self) -> Staged | None:
        """The transaction that this thread has open, or `None`."""
        return self._staged if self._owner == threading.get_ident() else None

    @property
    def outside_edit(self) -> outside.OutsideEdit | None:
        """What another program changed in `memory.json`, waiting to be accepted or dismissed (see `outside`)."""
        return outside.find(self)

    @property
    def revisions_since_checkpoint(self) -> int:
        """How many transactions a start would have to replay."""
        return self.rev - self._keeper.saved_rev

    def listen(self, listener: Listener) -> None:
        """Call `listener` with every transaction from now on and the records it touched.

        It is called after the transaction and outside every lock, on a thread that commits or
        reads the journal; never on two threads at once.
        """
        self._announcer.listen(listener)

    def refresh(self) -> int:
        """Apply what other processes appended since the last look; return how many transactions came.

        Raises `StoreProblem` when the journal cannot be read.
        """
        try:
            if self.staged is not None or self._tail.is_current:
                return 0
            count = self._pull()
        except OSError as error:
            raise cannot_read(self.folder, error) from error
        self._announcer.deliver()
        return count

    @contextmanager
    def transaction(
        self, actor: str, label: str, *,
        group: str = "", part: int = 1, kind: Kind = "edit", target: int = 0, more: bool = False,
    ) -> Iterator[Staged]:  # fmt: skip
        """Stage changes and commit them as one line when the block ends without an error.

        A block inside another one joins it. The parts of a group are numbered on when `part` is
        too low; `more` says that another part is to follow. Raises `StoreProblem` when the line
        cannot be written; nothing is changed then.
        """
        if group.isdigit():
            raise ValueError("the name of a group is not a number")
        if (joined := self.staged) is not None:
            yield joined
            return
        try:
            with self._lock.held():
                self._read_tail()
                self._adopt()
                self._staged = staged = Staged(self.state, self._counters)
                self._owner = threading.get_ident()
                try:
                    yield staged
                    changes = staged.changes()
                    if changes or kind in ("undo", "redo", "purge"):
                        at = iso(self.clock())
                        said = staged.label or label
                        entry = Entry(self.rev + 1, at, actor, said, changes, kind, group, part, target, more=more)
                        self._commit(replace(entry, next_ids=self._next_ids(entry, staged)))
                finally:
                    self._staged = self._owner = None
        finally:
            self._announcer.deliver()
        self._checkpoint_if_due()

    def entries_back(self, needle: bytes | None = None) -> Iterator[Entry]:
        """Yield the transactions, newest first, those that contain `needle` if given; damaged lines are passed over.

        Raises `StoreProblem` when a segment cannot be read.
        """
        try:
            for value in chain.values_back(self.folder, needle):
                if not segments.is_header(value):
                    try:
                        entry = from_json(value)
                    except ValueError:
                        continue
                    yield entry
        except OSError as error:
            raise cannot_read(self.folder, error) from error

    def save_checkpoint(self) -> None:
        """Write the checkpoint when there is anything new; not inside a transaction. Raises `StoreProblem`."""
        if self.staged is not None or self.rev == self._keeper.saved_rev:
            return
        kept = self._keeper.save(self.snapshot)
        self.stranger = None
        if kept:
            self.notices.append(
                f"{checkpoint.DOCUMENTS} {outside.CHANGED}; its content was kept as {kept} "
                "and the journal's state stands."
            )

    def close(self) -> None:
        """Write a checkpoint if this process changed anything; raises `StoreProblem`."""
        self._keeper.wait()
        if self._wrote:
            self.save_checkpoint()

    @property
    def is_adopting(self) -> bool:
        """Tell that the documents are those of a plain TinyDB file, not written to a journal yet."""
        return self._adopting

    def begin(self) -> None:
        """Make the active segment, if there is none; raises `StoreProblem`."""
        with self.exclusive():
            self._adopt()
            try:
                self._tail.begin(self._header)
            except OSError as error:
                raise cannot_write(self.folder, error) from error

    def snapshot(self) -> tuple[Tables, Stamp]:
        """Return the tables as they are now and the stamp (without a hash) of a checkpoint that holds them."""
        with self._lock.held():
            self._read_tail()
            place, unfinished = self._tail.place, dict(self.unfinished)
            ids = dict(self.state.next_ids)
            stamp = Stamp("", self.rev, place.offset, place.line, ids, place.start, self._tail.mark, unfinished)
            return self.state.snapshot(), stamp

    def settle_stranger(self) -> None:
        """Let the next checkpoint replace a `memory.json` that another program wrote."""
        self.stranger = None
        self._keeper.accept_file()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep every other writer out, after taking in what they wrote; for work on the files themselves."""
        with self._keeper.held(), self._lock.held():
            self._read_tail()
            yield

    def reload(self) -> None:
        """Read the store again from its files; listeners hear of every record that differs."""
        with self._reading:
            before = self.state.tables
            self._load()
            keys = outside.changed_keys(before, self.state.tables, self._key_of)
            last = next(self.entries_back(), None)
            if last is not None:
                self._announcer.add(last, keys)

    def _load(self) -> None:
        try:
            segments.check_is_journal(self.folder / segments.NAME)
            self._keeper.accept_file()
            loaded = checkpoint.load(self.folder, self._key_of)
            self.state = loaded.state
            self.stranger = loaded.stranger
            self._groups = Groups(loaded.unfinished)
            self._keeper.saved_rev = loaded.state.rev
            self._tail = Tail(self.folder, loaded.position, loaded.mark, loaded.state.rev)
            for entry in self._tail.entries():
                self.state.apply(entry)
                self._groups.apply(entry)
            if self.stranger is not None:
                self._meet(self.stranger)
        except OSError as error:
            raise cannot_read(self.folder, error) from error

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
            return max(0, self.rev - before)

    def _commit(self, entry: Entry) -> None:
        """Write one transaction and apply what was written, so that memory and file cannot differ."""
        line = seal(to_json(replace(entry, part=self._groups.part(entry))))
        entry = from_json(unseal(line[:-1]))
        with self._reading:
            try:
                self._tail.begin(self._header)
                size = self._tail.append(line, entry.rev)
            except OSError as error:
                raise cannot_write(self.folder, error) from error
            self._wrote = True
            self._apply(entry)
            if size >= self._options.segment_bytes:
                self._roll()

    def _apply(self, entry: Entry) -> None:
        keys = self.state.apply(entry)
        self._groups.apply(entry)
        self._announcer.add(entry, keys)

    def _next_ids(self, entry: Entry, staged: Staged) -> dict[str, int]:
        if not segments.carries_all_ids(entry.rev, len(entry.changes)):
            return dict(staged.next_ids)
        dropped = {c.table for c in entry.changes if c.op == "drop"}
        return {t: self.state.next_id(t) for t in self.state.tables if t not in dropped} | staged.next_ids

    def _header(self) -> dict[str, object]:
        next_ids = {t: self.state.next_id(t) for t in self.state.tables}
        recent = {t: self._latest(t) for t in self._options.recent_of}
        return segments.header(self.rev, next_ids, recent, self._tail.edition)

    def _latest(self, table: str) -> list[object]:
        docs = self.state.tables.get(table, {})
        latest = [doc for doc, _ in zip(reversed(docs.values()), range(_RECENT), strict=False)]
        return list(reversed(latest))

    def _roll(self) -> None:
        """Begin a new segment; a failure only puts it off, for the transaction is safe already."""
        try:
            self._tail.roll(self._header)
        except OSError as error:
            self._notice(str(cannot_write(self.folder, error)))

    def _read_tail(self) -> None:
        """Under the lock: take in other processes' lines and cut off what a crash left unfinished."""
        try:
            if self._tail.is_clean:
                return
            torn = self._tail.cut()
            self._pull()
        except OSError as error:
            raise cannot_write(self.folder, error) from error
        if torn:
            self.notices.append(
                f"The last line of {segments.NAME} was unfinished ({torn} bytes) and was dropped; "
                "it belongs to a change that was never confirmed."
            )

    def _notice(self, text: str) -> None:
        if text not in self.notices:
            self.notices.append(text)

    def _checkpoint_if_due(self) -> None:
        every = self._options.checkpoint_every
        if every and self.revisions_since_checkpoint >= every:
            self._keeper.save_in_background(self.save_checkpoint, self._notice)

    def _meet(self, stranger: Stranger) -> None:
        """Face a `memory.json` that is not the journal's: show it when it is all there is, else keep it."""
        tables = checkpoint.read_tables(stranger.data)
        if self.rev == 0:
            if tables is None:
                file = self.folder / checkpoint.DOCUMENTS
                raise StoreProblem(f"{file} is not a TinyDB file.", "Nothing was changed; move it away to begin.")
            if stranger.ours:
                self.notices.append("The journal is missing: the memories are all there, their history is gone.")
            self.state = State(tables, 0, dict(stranger.next_ids), self._key_of)
            self._adopting = True
            return
        self._keeper.saved_rev = -1
        if tables is not None and stranger.base is not None and outside.find(self) is None:
            self.stranger = None
            return
        self._keeper.expect_strange_file(stranger.base)
        self.notices.append(
            f"{checkpoint.DOCUMENTS} {outside.CHANGED}; the journal's state stands and the other content is kept."
        )

    def _adopt(self) -> None:
        """Write the documents of an adopted TinyDB file as the first transaction, before anything else is written."""
        if not self._adopting:
            return
        if self.rev == 0:
            changes = tuple(outside.diff_tables({}, self.state.tables))
            next_ids = {table: self.state.next_id(table) for table in self.state.tables}
            at = iso(self.clock())
            self._commit(Entry(1, at, "import:memory.json", "adopt a TinyDB file", changes, next_ids=next_ids))
        self._adopting = False
        self.settle_stranger()
