"""Finding damage in a store, and saving everything else into a new one beside it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from workbench.core.errors import StoreProblem
from workbench.core.record import iso
from workbench.store import chain, checkpoint, segments
from workbench.store.codec import fingerprint, seal
from workbench.store.entry import Entry, to_json
from workbench.store.files import put_in_place, write_atomically, write_temporary
from workbench.store.lock import cannot_read, cannot_write
from workbench.store.outside import CHANGED, diff_tables
from workbench.store.segments import NAME, Damage, Position
from workbench.store.state import KeyOf, State, id_field
from workbench.store.tail import Tail


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the doctor found: good transactions, the last revision, damaged places, and what else to know.

    `torn` is the length of an unfinished last line, in bytes.
    """

    folder: Path
    entries: int
    rev: int
    damage: tuple[Damage, ...]
    torn: int
    notes: tuple[str, ...]

    @property
    def is_sound(self) -> bool:
        """Nothing is damaged; an unfinished last line is no damage, it was never confirmed."""
        return not self.damage


@dataclass(frozen=True, slots=True)
class Recovery:
    """A store that was saved: where it is now, how many transactions and how many records by the checkpoint alone."""

    folder: Path
    entries: int
    from_checkpoint: int


def examine(folder: Path) -> Diagnosis:
    """Read every line of a store and check it; nothing is changed. Raises `StoreProblem` when it cannot be read."""
    try:
        tail = _from_start(folder)
        entries = sum(1 for _ in tail.entries())
        return Diagnosis(folder, entries, tail.rev, tuple(tail.damage), _torn(folder, tail), tuple(_notes(folder)))
    except OSError as error:
        raise cannot_read(folder, error) from error


def recover(folder: Path, at: datetime, key_of: KeyOf = id_field) -> Recovery:
    """Write every good transaction into a new store beside the old one, which stays as it is.

    Revisions are numbered anew without gaps. What only the checkpoint still knows is added as a
    last transaction of the actor `doctor`. Raises `StoreProblem`.
    """
    target = folder.with_name(f"{folder.name}.recovered-{at:%Y%m%dT%H%M%S}")
    try:
        loaded = checkpoint.load(folder, key_of)
        best = loaded.state
        for entry in Tail(folder, loaded.position, loaded.mark, best.rev).entries():
            best.apply(entry)
    except OSError as error:
        raise cannot_read(folder, error) from error
    try:
        target.mkdir(mode=0o700)
    except FileExistsError as error:
        raise StoreProblem(f"{target} is there already.", "Nothing was changed; move it away first.") from error
    except OSError as error:
        raise cannot_write(folder.parent, error) from error
    try:
        writer = _Writer(_from_start(folder), best, iso(at), key_of)
        put_in_place(write_temporary(target / NAME, writer.lines()), target / NAME)
        if loaded.stranger is not None:
            write_atomically(target / "memory.edited-unknown-doctor.json", loaded.stranger.data)
    except OSError as error:
        raise cannot_write(target, error) from error
    return Recovery(target, writer.entries, writer.added)


class _Writer:
    """Writes the good transactions again; `entries` and `added` count them."""

    def __init__(self, source: Tail, best: State, at: str, key_of: KeyOf) -> None:
        self.entries = 0
        self.added = 0
        self._source = source
        self._best = best
        self._at = at
        self._state = State(key_of=key_of)
        self._new: dict[int, int] = {}

    def lines(self) -> Iterator[bytes]:
        """Yield the new journal, header first."""
        yield seal(segments.header(0, {}, {}, self._source.edition))
        for entry in self._source.entries():
            self.entries += 1
            self._new[entry.rev] = self.entries
            target = self._new.get(entry.target, 0)
            yield self._line(replace(entry, rev=self.entries, target=target))
        changes = tuple(diff_tables(self._state.tables, self._best.tables))
        if any(change.doc for change in changes):
            self.added = sum(1 for change in changes if change.doc)
            label = f"recover {self.added} records from the checkpoint"
            yield self._line(Entry(self.entries + 1, self._at, "doctor", label, changes, next_ids=self._best.next_ids))

    def _line(self, entry: Entry) -> bytes:
        self._state.apply(entry)
        return seal(to_json(entry))


def _from_start(folder: Path) -> Tail:
    return Tail(folder, Position(), "", 0)


def _torn(folder: Path, tail: Tail) -> int:
    try:
        size = (folder / NAME).stat().st_size
    except FileNotFoundError:
        return 0
    active = chain.open_active(folder)
    if active is None:
        return size
    active[0].close()
    return size - tail.place.offset if tail.place.start == active[1].start else 0


def _notes(folder: Path) -> Iterator[str]:
    try:
        data = (folder / checkpoint.DOCUMENTS).read_bytes()
    except FileNotFoundError:
        return
    stamps, digest = checkpoint.stamps(folder), fingerprint(data)
    stamp = next((s for s in stamps if s.hash == digest), None)
    if not stamps:
        yield f"{checkpoint.NOTE} is missing or cannot be read; the journal is read from its start instead."
    elif stamp is None:
        yield f"{checkpoint.DOCUMENTS} {CHANGED}, or is damaged."
    elif not chain.fits(folder, stamp.position, stamp.mark):
        yield f"{checkpoint.DOCUMENTS} does not belong to this journal."
