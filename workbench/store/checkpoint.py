"""The checkpoint: `memory.json`, a stock TinyDB file that spares replaying the journal.

The journal is the truth; a checkpoint is a state of it at one revision. `checkpoint.json`
says which: it is written first and names the new file and the one before it by hash, so a
crash between the two writes leaves a pair that still fits.
"""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.store.codec import dumps, fingerprint, loads
from workbench.store.segments import Position, sync_folder
from workbench.store.state import KeyOf, State, Tables

DOCUMENTS = "memory.json"
NOTE = "checkpoint.json"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a checkpoint file holds: its hash, the revision, and where the journal goes on from there."""

    hash: str
    rev: int
    offset: int
    line: int
    next_ids: dict[str, int]

    @property
    def position(self) -> Position:
        """Return the place in the journal after the checkpoint's last entry."""
        return Position(self.offset, self.line)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A checkpoint that was read: its state, where the journal goes on, and what did not fit.

    `stranger` is set when `memory.json` is not a file this store wrote: the bytes are kept so
    that an edit made outside can be set aside instead of being overwritten.
    """

    state: State
    position: Position
    stranger: bytes | None = None


def load(folder: Path, key_of: KeyOf) -> Loaded:
    """Read the checkpoint of a store; without one (or with a strange one) the journal is replayed from its start."""
    try:
        data = (folder / DOCUMENTS).read_bytes()
    except FileNotFoundError:
        return Loaded(State(key_of=key_of), Position())
    stamp = next((s for s in _stamps(folder) if s.hash == fingerprint(data)), None)
    if stamp is None:
        return Loaded(State(key_of=key_of), Position(), stranger=data)
    return Loaded(State(loads(data), stamp.rev, dict(stamp.next_ids), key_of), stamp.position)


def save(folder: Path, state: State, position: Position) -> None:
    """Write the state as a checkpoint, atomically; raises `OSError`."""
    data = dumps(state.tables)
    stamp = Stamp(fingerprint(data), state.rev, position.offset, position.line, dict(state.next_ids))
    before = _stamps(folder)[:1]
    note = {"schema": 1, "stamps": [asdict(s) for s in (stamp, *before)]}
    write_atomically(folder / NOTE, dumps(note))
    write_atomically(folder / DOCUMENTS, data)


def read_tables(data: bytes) -> Tables | None:
    """Return the tables of a plain TinyDB file, or `None` when the bytes are not one."""
    try:
        raw = loads(data)
    except ValueError:
        return None
    if not isinstance(raw, dict) or not all(isinstance(t, dict) for t in raw.values()):
        return None
    docs = (item for table in raw.values() for item in table.items())
    return raw if all(str(key).isdigit() and isinstance(doc, dict) for key, doc in docs) else None


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file in one step: temporary file beside it, fsync, rename; raises `OSError`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _stamps(folder: Path) -> list[Stamp]:
    try:
        note: Any = loads((folder / NOTE).read_bytes())
        return [Stamp(**s) for s in note["stamps"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
