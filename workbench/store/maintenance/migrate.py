"""Making a store of one that a development version before 1.0 wrote, or of a backup of it: the only
place that reads its format.

Its transactions are those of today without a uid. A line ends with `,"sum":"…"}`: BLAKE2b-64 of
all bytes before it.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from hashlib import blake2b, sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from workbench.core.files.atomic import write_file
from workbench.core.health import Damage, Migrated
from workbench.core.record import StoreProblem, cannot_read, cannot_write, iso
from workbench.store.entry import Transaction, from_json, new_uid
from workbench.store.files import (
    DOCUMENTS,
    CannotUnpack,
    TooLarge,
    open_lines,
    read_lines_of,
    read_regular,
)
from workbench.store.folder import ATTRIBUTES, IGNORE, belongs
from workbench.store.identity import key_in
from workbench.store.journal import segments
from workbench.store.journal.codec import dumps, fingerprint, loads
from workbench.store.journal.engine import Journal, Options, utc_now
from workbench.store.journal.reorder import entries_in, merge_branches, new_journal
from workbench.store.journal.segments import NAME
from workbench.store.journal.state import State, Tables, diff_tables
from workbench.store.maintenance import backup, checkpoint_writer
from workbench.store.maintenance.checkpoint_writer import NOTE
from workbench.store.records import COUNTERS

_SUM = re.compile(rb',"sum":"([0-9a-f]{16})"\}\Z')
_MADE_ANEW = ("journal", DOCUMENTS, "checkpoint.", "lock", "cache")


def migrate(old: Path, new: Path, heads: Path | None) -> Migrated:
    """Make the store `new` of an old store, or of a backup of one, with all that was ever done in
    it; the old one stays as it is.

    `heads` is where this machine remembers its stores: what it knew of the old one, it knows of the
    new one. Raises `StoreProblem`, and then there is no new store.
    """
    with ExitStack() as stack:
        folder = old
        try:
            if old.is_file():
                folder = Path(stack.enter_context(TemporaryDirectory(prefix="workbench-")))
                backup.unpack(old, folder)
            read = _OldJournal(folder)
        except OSError as error:
            raise cannot_read(old, error) from error
        if not read.store:
            segments.check_is_journal(folder / NAME, old)
            raise StoreProblem(
                f"{old} was not written by a development version before 1.0.",
                "Nothing was made; what this version wrote opens as it is.",
            )
        try:
            with backup.growing(new) as target:
                _copy_beside(folder, target)
                merged = merge_branches(read.entries)
                state, entries = merged.state, list(merged.entries)
                only = _only_in_documents(folder, entries, state)
                if only is not None:
                    entries.append(only)
                    state.apply(only)
                # Nothing tells who wrote a document that no line speaks of.
                trusted = heads is not None and only is None and read.is_known(heads)
                key = key_in(heads) if trusted else b""
                write_file(target / NAME, new_journal(read.store, entries, key))
                made = Journal(target, utc_now, COUNTERS, Options(checkpoint_every=0))
                tables, stamp = made.cut()
                digest = _digest(state.tables)
                if (
                    list(entries_in(target)) != entries
                    or _digest(tables) != digest
                    or any(place.missing is None for place in made.damage)
                ):
                    raise StoreProblem(
                        f"What was written to {new} differs from {old}.",
                        "Nothing was made; try another disk.",
                    )
                checkpoint_writer.save(target, tables, stamp, key)
        except OSError as error:
            raise cannot_write(new, error) from error
        counts = backup.counts_of(tables)
        # Damaged lines leave gaps; a gap without any was cut out.
        damage = tuple(read.damage or made.damage)
        return Migrated(new, len(entries), counts, digest, damage, trusted)


class _OldJournal:
    """The transactions of an old journal, the places that could not be read, and the id of the
    store; empty for another journal.
    """

    def __init__(self, folder: Path) -> None:
        self.entries: list[Transaction] = []
        self.damage: list[Damage] = []
        self.store = ""
        self._marks = set[bytes]()
        names = [segment.path.name for segment in segments.closed(folder)]
        for name in (*names, NAME):
            with suppress(FileNotFoundError), open_lines(folder / name) as file:
                try:
                    self._read(name, read_lines_of(file))
                except (CannotUnpack, TooLarge) as error:
                    self.damage.append(Damage(name, 0, 0, str(error.strerror or error)))

    def _read(self, name: str, lines: Iterator[bytes]) -> None:
        offset = 0
        for number, raw in enumerate(lines, 1):
            line = raw.rstrip(b"\n\0")
            try:
                self._take(line)
            except (ValueError, KeyError, TypeError):
                if raw.endswith(b"\n"):  # else it was never confirmed
                    why = "it is not what was written"
                    self.damage.append(Damage(name, number, offset, why))
            offset += len(raw)

    def _take(self, line: bytes) -> None:
        match = _SUM.search(line, max(0, len(line) - 30))
        body = line[: match.start()] if match else b""
        if match is None or blake2b(body, digest_size=8).hexdigest().encode() != match[1]:
            raise ValueError("its checksum does not fit")
        value: dict[str, Any] = loads(body + b"}")
        if segments.is_header(value):
            self.store = segments.store_in(value) or self.store
            return
        uid = value.pop("was", match[1].decode())
        self.entries.append(from_json({"kind": "edit", **value, "uid": uid}))
        self._marks.add(blake2b(line, digest_size=16).digest())

    def is_known(self, heads: Path) -> bool:
        """Tell whether this machine wrote every line, or a person trusted it."""
        try:
            data = (heads / f"{self.store}.lines").read_bytes()
        except OSError:
            return False
        return self._marks <= {data[at : at + 16] for at in range(0, len(data), 16)}


def _only_in_documents(
    folder: Path, entries: Iterable[Transaction], state: State
) -> Transaction | None:
    """Return a transaction with the documents that `memory.json` has and the journal lost, if any.
    Raises `OSError`.
    """
    if _base_of_edit(folder):
        return None
    try:
        held = checkpoint_writer.read_tables(read_regular(folder / DOCUMENTS)) or {}
    except FileNotFoundError:
        return None
    removed = {
        (change.table, change.doc)
        for entry in entries
        for change in entry.changes
        if change.op == "delete"
    }
    known, wanted, next_ids = state.tables, state.snapshot(), dict[str, int]()
    for table, docs in held.items():
        there = known.get(table, {})
        lost = {id: docs[id] for id in docs if id not in there and (table, id) not in removed}
        if lost:
            wanted[table] = {**there, **lost}
            next_ids[table] = max(state.next_id(table), 1 + max(map(int, lost)))
    changes = tuple(diff_tables(known, wanted))
    label = "keep what only memory.json has"
    return (
        Transaction(
            state.rev + 1, iso(utc_now()), "cli", label, changes, next_ids=next_ids, uid=new_uid()
        )
        if changes
        else None
    )


def _copy_beside(old: Path, new: Path) -> None:
    """Copy what lies beside a journal and cannot be made again; raises `OSError`."""
    for path in old.iterdir():
        own = belongs(path.name) or path.name in (IGNORE, ATTRIBUTES, "working", "drafts")
        if path.is_symlink() or not own or path.name.startswith(_MADE_ANEW):
            if path.name != DOCUMENTS:
                continue
            base = _base_of_edit(old)
            if base:
                write_file(new / f"memory.edited-{base}-migrated.json", read_regular(path))
        elif path.is_dir():
            shutil.copytree(path, new / path.name, symlinks=True)
        else:
            shutil.copy2(path, new / path.name)


def _base_of_edit(old: Path) -> str:
    """Return the revision from which another program changed `memory.json`; empty when the store
    wrote it. Raises `OSError`.
    """
    try:
        stamps = loads(read_regular(old / NOTE))["stamps"]
        hashes = [stamp["hash"] for stamp in stamps]
        base = str(int(stamps[0]["rev"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError, IndexError):
        return "unknown"
    return "" if fingerprint(read_regular(old / DOCUMENTS)) in hashes else base


def _digest(tables: Tables) -> str:
    """Return the SHA-256 of all documents."""
    return sha256(
        dumps(sorted((name, sorted(docs.items())) for name, docs in tables.items() if docs))
    ).hexdigest()
