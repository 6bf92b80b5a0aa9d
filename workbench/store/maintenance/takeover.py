"""What a person decides about edits that another program made to `memory.json`: taken over, or turned down."""

from pathlib import Path

from workbench.core.change import told
from workbench.core.files.atomic import write_file
from workbench.core.record import Conflict, StoreProblem, cannot_write
from workbench.store.files import read_regular
from workbench.store.history import stage_change
from workbench.store.journal.engine import Journal
from workbench.store.maintenance import checkpoint_writer
from workbench.store.maintenance.checkpoint_writer import OutsideEdit


def accept(journal: Journal, edit: OutsideEdit, actor: str = "import:memory.json") -> None:
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


def dismiss(journal: Journal, edit: OutsideEdit) -> Path:
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
    if edit.file.name == checkpoint_writer.DOCUMENTS:
        journal.settle_stranger()
        # Until the file is replaced, the next start would offer it again.
        journal.save_checkpoint()
        return
    try:
        edit.file.unlink(missing_ok=True)
    except OSError as error:
        raise StoreProblem(f"{edit.file} cannot be removed.", "Its changes are safe in the journal.") from error
