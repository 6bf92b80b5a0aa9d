"""Changing documents on disk as transactions: every other byte stays, and undo brings the file back.

The store keeps only hashes; the bytes lie with the copies of replaced files, outside of it, so that no secret of a
file gets into the store. A file that somebody else changed since is left alone, and so is the transaction then.
"""

import contextlib
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from workbench.core.agents.followed import EditedFile
from workbench.core.errors import Conflict, WorkbenchError
from workbench.core.files.replacing import changed_meanwhile
from workbench.services.context import Context
from workbench.services.files.replaced import Replaced
from workbench.services.promotion.placement_files import FileEdit, carry_out, missing_folders, read
from workbench.store.library import Tx

NOTHING = "Nothing was written."


class FollowingEdits:
    """Brings files to what the open transaction says of them; after an error they are brought back."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._table = context.library.table(EditedFile)
        self._copies = Replaced(context.documents.replaced)
        self._done: list[FileEdit] = []

    def __call__(self) -> None:
        """Write the files; called inside the transaction, after everything is staged. Raises `WorkbenchError`."""
        before = {record.id: record for record in self._table.all()}
        after = {record.id: record for record in self._table.staged()}
        for path in dict.fromkeys((*before, *after)):
            old, new = before.get(path), after.get(path)
            if old == new:
                continue
            forward = old is None or (new is not None and new.turn > old.turn)
            edit = new if forward else old
            assert edit is not None  # one of them differs from nothing
            sides = (edit.was, edit.sha256) if forward else (edit.sha256, edit.was)
            self._move(Path(path), *sides, edit.folders)

    def take_back(self) -> None:
        """Bring the files back that were written."""
        for edit in reversed(self._done):
            with contextlib.suppress(WorkbenchError):
                carry_out([FileEdit(edit.path, edit.name, edit.after, edit.before, edit.folders)], through_links=False)
        self._done = []

    def _move(self, path: Path, start: str, end: str, folders: int) -> None:
        if start == end:
            return
        _require_plain(path)
        present = read(path)
        if hash_of(present) == end:
            return  # it is there already
        if hash_of(present) != start:
            raise Conflict(f"{path} was changed by somebody else since.", f"{NOTHING} What it holds stays as it is.")
        wanted = None if not end else self._copies.held(end)
        if end and wanted is None:
            raise WorkbenchError(f"What {path} held is no longer kept.", NOTHING)
        edit = FileEdit(path, str(path), present, wanted, folders)
        carry_out([edit], through_links=False)
        self._done.append(edit)


@contextlib.contextmanager
def guarded(context: Context) -> Iterator[FollowingEdits]:
    """Hand out what writes the files; after an error they are brought back to what they were."""
    following = FollowingEdits(context)
    try:
        yield following
    except BaseException:
        following.take_back()
        raise


def write(context: Context, path: Path, before: bytes | None, after: bytes | None, label: str) -> None:
    """Make a file what it is to become (`None`: no file) in one transaction.

    `before` is what the caller saw. Raises `Conflict` when it holds something else, `WorkbenchError` when it or the
    store cannot be written; the file is as it was then.
    """
    if before == after:
        return
    with guarded(context) as follow, context.library.transaction(context.actor, label) as tx:
        stage(context, tx, [FileEdit(path, str(path), before, after)])
        follow()


def stage(context: Context, tx: Tx, edits: Iterable[FileEdit]) -> None:
    """Note in an open transaction what files are to become, and keep both sides; `FollowingEdits` writes them then.

    Raises `Conflict` for a file that is not as it was seen, `WorkbenchError` when what it holds cannot be kept.
    """
    wanted = list(edits)
    sides = [(edit.path, data) for edit in wanted for data in (edit.before, edit.after) if data is not None]
    for edit in wanted:
        if read(edit.path) != edit.before:
            raise changed_meanwhile(edit.path)
    Replaced(context.documents.replaced).keep_all(sides)
    for edit in wanted:
        path, before, after = edit.path, edit.before, edit.after
        known = context.library.table(EditedFile).find(str(path))
        folders = missing_folders(path) if before is None else 0
        turn = 1 if known is None else known.turn + 1
        tx.put(EditedFile(str(path), hash_of(after), hash_of(before), context.now(), turn, folders))


def hash_of(data: bytes | None) -> str:
    """Return the hash of a file's bytes; empty for no file."""
    return "" if data is None else sha256(data).hexdigest()


def _require_plain(path: Path) -> None:
    """Refuse a path that leads elsewhere by now."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise WorkbenchError(f"{path} is no path that can be followed.", NOTHING) from error
    if real != path or path.is_symlink():
        raise WorkbenchError(f"{path} now leads to another place.", f"{NOTHING} Look at {real}.")
