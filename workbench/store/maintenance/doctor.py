"""Finding damage in a store, saving everything else into a new one, and taking over edits by other
programs.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from workbench.core.change import told
from workbench.core.files.atomic import write_file
from workbench.core.health import BadBlob, Diagnosis, Recovery, Renumbered, Unfinished
from workbench.core.record import Conflict, StoreProblem, cannot_read, cannot_write, iso
from workbench.store.blobs import BlobProblem, Blobs
from workbench.store.entry import Transaction, new_uid
from workbench.store.files import DOCUMENTS, read_regular
from workbench.store.folder import BLOBS
from workbench.store.history import stage_change
from workbench.store.identity import Identity, can_keep
from workbench.store.journal import segments
from workbench.store.journal.codec import fingerprint
from workbench.store.journal.engine import Journal, damage_in
from workbench.store.journal.reorder import entries_in, merge_branches, new_journal
from workbench.store.journal.segments import NAME, Tail
from workbench.store.journal.state import State, changed_keys, diff_tables
from workbench.store.maintenance import checkpoint_writer
from workbench.store.maintenance.checkpoint_writer import OutsideEdit
from workbench.store.maintenance.purge import unfinished_in
from workbench.store.records import IN_BLOBS, key_of

_NO_HEAD = "The last known state of the store cannot be recorded: {} cannot be written."


def examine(folder: Path, heads: Path | None = None) -> Diagnosis:
    """Read every line of a store and check it, and what lies beside it; nothing is changed.

    `heads` is the folder in which this machine remembers what it stored. Raises `StoreProblem` when
    the store cannot be read.
    """
    try:
        tail, state, entries = _from_start(folder), State(), 0
        purges: list[Unfinished] = []
        for entries, entry in enumerate(tail.entries(), 1):  # noqa: B007
            state.apply(entry)
            if (purge := unfinished_in(entry)) is not None:
                purges.append(purge)
        renumbered: tuple[Renumbered, ...] = ()
        if tail.disordered or state.clashes:
            settled = merge_branches(entries_in(folder))
            state, entries, renumbered = settled.state, len(settled.entries), settled.renumbered
        known = Identity(heads, folder)
        known.open(tail)
        damage = tuple(damage_in(tail, known.accepted, renumbered))
        newest = max((stamp.rev for stamp in checkpoint_writer.stamps_of(folder)), default=0)
        known.compare(state.rev, newest)
        held = _held(folder, state) if known.gone else ()
        no_head = () if heads is None or can_keep(heads) else (_NO_HEAD.format(heads),)
        notes = (*_notes(folder), *no_head)
        torn, bad = _torn(folder, tail), tuple(_bad_blobs(folder, state))
        return Diagnosis(
            folder,
            entries,
            state.rev,
            damage,
            torn,
            notes,
            known.gone,
            held,
            renumbered,
            tuple(purges),
            bad,
        )
    except OSError as error:
        raise cannot_read(folder, error) from error


def recover(folder: Path, at: datetime) -> Recovery:
    """Write every good transaction into a new store beside the old one, which stays as it is.

    Revisions are numbered anew without gaps. What only the checkpoint still knows is added as a
    last transaction of the actor `doctor`. Raises `StoreProblem`.
    """
    target = folder.with_name(f"{folder.name}.recovered-{at:%Y%m%dT%H%M%S}")
    try:
        segments.check_version(folder / NAME)
        settled = merge_branches(entries_in(folder))
        loaded = checkpoint_writer.load(folder)
        best = loaded.state
        for entry in Tail(folder, loaded.stamp).entries():
            best.apply(entry)
        if settled.renumbered:
            best = _both(settled.state, best)
    except OSError as error:
        raise cannot_read(folder, error) from error
    try:
        target.mkdir(mode=0o700)
    except FileExistsError as error:
        raise StoreProblem(
            f"{target} already exists.", "Nothing was changed; move it away first."
        ) from error
    except OSError as error:
        raise cannot_write(folder.parent, error) from error
    try:
        entries, added = _renumbered(settled.entries, best, iso(at))
        write_file(target / NAME, new_journal(segments.new_store_id(), entries))
        _take_blobs(folder, target)
        if loaded.stranger is not None:
            write_file(target / "memory.edited-unknown-doctor.json", loaded.stranger.data)
    except OSError as error:
        raise cannot_write(target, error) from error
    return Recovery(target, len(settled.entries), added)


def _bad_blobs(folder: Path, state: State) -> Iterator[BadBlob]:
    """Yield the records that name a file which cannot be read."""
    blobs = Blobs(folder)
    for table, kind in IN_BLOBS.items():
        for doc_id, doc in state.docs(table).items():
            name = str(doc.get(kind.field, ""))
            lack = blobs.lack(name)
            if lack is not None:
                yield BadBlob(
                    table, key_of(table, doc) or doc_id, f"{BLOBS}/{name[:2]}/{name}.gz", lack
                )


def _take_blobs(folder: Path, target: Path) -> None:
    """Copy what lies beside a store and is sound. Raises `OSError`."""
    old, new = Blobs(folder), Blobs(target)
    for name in old.names():
        try:
            new.put(old.read(name))
        except BlobProblem:
            continue
    new.note(old.replaced())


def _renumbered(
    source: Sequence[Transaction], best: State, at: str
) -> tuple[list[Transaction], int]:
    """Return the good transactions without gaps, one with what only `best` knows, and how many
    records that adds.
    """
    entries = list[Transaction]()
    state, new = State(), dict[int, int]()
    for number, entry in enumerate(source, 1):
        new[entry.rev] = number
        entries.append(entry._replace(rev=number, target=new.get(entry.target, 0)))
        state.apply(entries[-1])
    changes = tuple(diff_tables(state.tables, best.tables))
    added = sum(1 for change in changes if change.doc)
    if added:
        label = f"recover {added} records from the checkpoint"
        last = Transaction(
            len(source) + 1, at, "doctor", label, changes, next_ids=best.next_ids, uid=new_uid()
        )
        entries.append(last)
    return entries, added


def _from_start(folder: Path) -> Tail:
    segments.check_version(folder / NAME)
    return Tail(folder)


def _torn(folder: Path, tail: Tail) -> int:
    try:
        size = (folder / NAME).stat().st_size
    except FileNotFoundError:
        return 0
    active = segments.active_heading(folder)
    if active is None:
        return size
    return max(0, size - tail.place.offset) if tail.place.start == active.start else 0


def _held(folder: Path, state: State) -> tuple[tuple[str, str], ...]:
    """Return the records that `memory.json` knows and the journal does not, or knows otherwise."""
    try:
        tables = checkpoint_writer.read_tables(read_regular(folder / DOCUMENTS))
    except FileNotFoundError:
        return ()
    return tuple(sorted(changed_keys(state.tables, tables))) if tables is not None else ()


def _both(state: State, other: State) -> State:
    """Return a state with the records of another one that it does not know."""
    tables = state.snapshot()
    for name, docs in other.tables.items():
        known = state.index(name)
        for doc_id, doc in docs.items():
            if key_of(name, doc) not in known:
                tables.setdefault(name, {}).setdefault(doc_id, doc)
    ids = {name: max(number, other.next_id(name)) for name, number in state.next_ids.items()}
    return State(tables, state.rev, ids)


def _notes(folder: Path) -> Iterator[str]:
    try:
        data = read_regular(folder / DOCUMENTS)
    except FileNotFoundError:
        return
    said, digest = checkpoint_writer.note(folder), fingerprint(data)
    stamp = None if said is None else said.of(digest)
    if said is None:
        yield (
            f"{checkpoint_writer.NOTE} is missing or cannot be read or trusted; "
            "the journal is read from its start instead."
        )
    elif stamp is None:
        yield f"{DOCUMENTS} was changed by another program, or is damaged."
    elif not segments.fits(folder, stamp.position, stamp.mark):
        yield f"{DOCUMENTS} does not belong to this journal."


# What a person decides about edits that another program made to `memory.json`: taken over, or
# turned down.


def accept_edit(journal: Journal, edit: OutsideEdit, actor: str = "import:memory.json") -> None:
    """Commit an outside edit as one transaction.

    Raises `Conflict` when the journal has changed the same fields since; nothing is changed then.
    """
    with journal.transaction(
        actor, f"take over {len(edit.changes)} changes from {edit.file.name}"
    ) as staged:
        clashes = [clash for change in edit.changes for clash in stage_change(staged, change)]
        if clashes:
            first = clashes[0]
            raise Conflict(
                f"{first.name} of {first.table} {first.key} was changed here (now {told(first.present)}) and in "
                f"{edit.file.name} (there {told(first.wanted)}); {len(clashes)} such fields.",
                f"Nothing was changed; both versions are kept, the other one in {edit.file.name}.",
            )
    _settle(journal, edit)


def dismiss_edit(journal: Journal, edit: OutsideEdit) -> Path:
    """Turn an outside edit down; its file is kept as `memory.dismissed-…` and named in the answer."""
    kept = journal.folder / f"memory.dismissed-{edit.base}-{journal.clock():%Y%m%dT%H%M%S%f}.json"
    try:
        with journal.exclusive():
            write_file(kept, read_regular(edit.file))
    except OSError as error:
        raise cannot_write(journal.folder, error) from error
    _settle(journal, edit)
    return kept


def _settle(journal: Journal, edit: OutsideEdit) -> None:
    if edit.file.name == DOCUMENTS:
        journal.settle_stranger()
        # Until the file is replaced, the next start would offer it again.
        journal.save_checkpoint()
        return
    try:
        edit.file.unlink(missing_ok=True)
    except OSError as error:
        raise StoreProblem(
            f"{edit.file} cannot be removed.", "Its changes are safe in the journal."
        ) from error
