"""Edits made to `memory.json` by another program, offered as changes instead of being overwritten."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.core.errors import Conflict, StoreProblem
from workbench.store.entry import DocChange, diff_docs
from workbench.store.files import NotRegular, TooLarge, cannot_write, read_regular, write_atomically
from workbench.store.history.clash import stage_change, told
from workbench.store.history.reading import tables_at
from workbench.store.journal.state import KeyOf, Keys, Tables
from workbench.store.maintenance import checkpoint

if TYPE_CHECKING:
    from workbench.store.journal.engine import Journal

EDITED = "memory.edited-*.json"


@dataclass(frozen=True, slots=True)
class OutsideEdit:
    """What another program changed in `file`, against revision `base` of the journal."""

    file: Path
    base: int
    changes: tuple[DocChange, ...]


@dataclass(frozen=True, slots=True)
class Strange:
    """Tells that `memory.json` is not what the journal says: seen only, or replaced and `kept` under that name.

    One that is `unplaced` is of a revision that nothing tells; any other was changed by another program.
    """

    kept: str = ""
    unplaced: bool = False

    def __str__(self) -> str:
        what = f"of an unknown revision ({checkpoint.NOTE} says nothing of it)"
        said = f"{checkpoint.DOCUMENTS} was {what if self.unplaced else 'changed by another program'}; "
        if not self.kept:
            return f"{said}the journal's state stands and the other content is kept."
        return f"{said}its content was kept as {self.kept} and the journal's state stands."


Notice = str | Strange
"""What a person should be told: a sentence, or the fact where something is decided by it."""


def find(journal: "Journal") -> OutsideEdit | None:
    """Return the oldest outside edit that waits for a decision: a file set aside earlier, or `memory.json` itself."""
    for file in sorted(journal.folder.glob(EDITED)):
        base = file.name.split("-")[1]
        if base.isdigit():
            edit = _set_aside(journal, file, int(base))
            if edit is not None:
                return edit
    stranger = journal.stranger
    if stranger is None or stranger.base is None:
        return None
    return _edit(journal, journal.folder / checkpoint.DOCUMENTS, stranger.data, stranger.base)


def _set_aside(journal: "Journal", file: Path, base: int) -> OutsideEdit | None:
    """Read a file that was set aside; nothing of ours is a link or larger than a store."""
    try:
        return _edit(journal, file, read_regular(file), base)
    except (NotRegular, TooLarge):
        return None


def accept(journal: "Journal", edit: OutsideEdit, actor: str = "import:memory.json") -> None:
    """Commit an outside edit as one transaction.

    Raises `Conflict` when the journal has changed the same fields since; nothing is changed then.
    """
    with journal.transaction(actor, f"take over {len(edit.changes)} changes from {edit.file.name}") as staged:
        clashes = [clash for change in edit.changes for clash in stage_change(staged, change)]
        if clashes:
            first = clashes[0]
            raise Conflict(
                f"{first.name} of {first.table} {first.key} was changed here (now {told(first.present)}) and in "
                f"{edit.file.name} (there {told(first.wanted)}); {len(clashes)} such fields.",
                f"Nothing was changed; both versions are kept, the other one in {edit.file.name}.",
            )
    _settle(journal, edit)


def dismiss(journal: "Journal", edit: OutsideEdit) -> Path:
    """Turn an outside edit down; its file is kept as `memory.dismissed-…` and named in the answer."""
    kept = journal.folder / f"memory.dismissed-{edit.base}-{journal.clock():%Y%m%dT%H%M%S%f}.json"
    try:
        with journal.exclusive():
            write_atomically(kept, read_regular(edit.file))
    except OSError as error:
        raise cannot_write(journal.folder, error) from error
    _settle(journal, edit)
    return kept


def diff_tables(old: Tables, new: Tables) -> Iterator[DocChange]:
    """Yield the changes that lead from one set of tables to another; a table that is gone has lost its documents."""
    for name in [*old, *(n for n in new if n not in old)]:
        if name not in old:
            yield DocChange(name, "", "table")
        before, after = old.get(name, {}), new.get(name, {})
        for doc_id in [*before, *(n for n in after if n not in before)]:
            change = diff_docs(name, doc_id, before.get(doc_id), after.get(doc_id), frozenset())
            if change is not None:
                yield change


def changed_keys(old: Tables, new: Tables, key_of: KeyOf) -> Keys:
    """Return the records, as (table, key), that differ between two sets of tables."""
    return frozenset(
        (change.table, key_of(change.table, doc) or change.doc)
        for change in diff_tables(old, new)
        for doc in (tables.get(change.table, {}).get(change.doc) for tables in (old, new))
        if doc is not None
    )


def _edit(journal: "Journal", file: Path, data: bytes, base: int) -> OutsideEdit | None:
    tables = checkpoint.read_tables(data)
    if tables is None:
        return None
    rev = min(base, journal.rev)
    changes = tuple(diff_tables(tables_at(journal, rev), tables))
    return OutsideEdit(file, rev, changes) if any(c.doc for c in changes) else None


def _settle(journal: "Journal", edit: OutsideEdit) -> None:
    if edit.file.name == checkpoint.DOCUMENTS:
        journal.settle_stranger()
        # Until the file is replaced, the next start would offer it again.
        journal.save_checkpoint()
        return
    try:
        edit.file.unlink(missing_ok=True)
    except OSError as error:
        raise StoreProblem(f"{edit.file} cannot be removed.", "Its changes are safe in the journal.") from error
