"""The work on an open store's files, as those outside the store ask for it; each kind is imported on use."""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.store.blobs import Blobs
from workbench.store.journal.engine import Journal

if TYPE_CHECKING:
    from workbench.core.health.damage import Gone
    from workbench.core.health.diagnosis import Manifest, Progress, Unfinished
    from workbench.store.maintenance.compact import Packed
    from workbench.store.maintenance.masker import Masker
    from workbench.store.maintenance.outside import OutsideEdit
    from workbench.store.maintenance.purge import Beside, Purged


class Maintenance:
    """Makes, packs, copies and cleans the files of a store, and takes a person's word on what was found in them."""

    def __init__(self, journal: Journal, blobs: Blobs) -> None:
        self._journal = journal
        self._blobs = blobs

    def begin(self) -> None:
        """Make the files of a new store, if there are none; raises `StoreProblem`."""
        self._journal.begin()

    def save_checkpoint(self) -> None:
        """Write the checkpoint when there is anything new; not inside a transaction. Raises `StoreProblem`."""
        self._journal.save_checkpoint()

    def compact(self) -> "list[Packed]":
        """Pack the closed files; raises `StoreProblem`, and then every one is still there in one form."""
        from workbench.store.maintenance import compact

        return compact.compact(self._journal)

    def back_up(
        self, target: Path, at: datetime, *, force: bool = False, progress: "Progress | None" = None
    ) -> "Manifest":
        """Write a verified backup into `target` (0600), whole or not at all; no writer waits for it.

        Raises `StoreProblem`: when the file is there already (unless `force`), lies in the store, or cannot be written.
        """
        from workbench.store.maintenance import backup

        self._journal.require_present()
        return backup.write_backup(self._journal, target, at, force=force, progress=progress)

    # What was found, and a person's word on it

    def foreign_lines(self) -> Iterator[tuple[str, bytes]]:
        """Yield the actor and the fingerprint of every change that is not known on this machine, in order.

        Raises `StoreProblem`.
        """
        return self._journal.strange_lines()

    def trust(self, shown: Collection[bytes] | None = None) -> None:
        """Remember that what stands in the store now was shown to a person; it is read again.

        `shown` are the fingerprints of the foreign lines that were (default: all that there are). Raises
        `StoreProblem`, also when others came since.
        """
        self._journal.trust(shown)

    def require_own(self) -> None:
        """Raise `StoreProblem` for a store that takes no word of this user's (see `store.identity.trust`)."""
        from workbench.store.identity.trust import require_own  # once in the life of a store

        require_own(self._journal.folder)

    def accept_losses(self) -> "tuple[Gone, ...]":
        """Take the store as it is, with what is missing from it; return what was missed. Raises `StoreProblem`."""
        return self._journal.accept()

    @property
    def outside_edit(self) -> "OutsideEdit | None":
        """What another program changed in `memory.json`, waiting to be accepted or dismissed."""
        return self._journal.outside_edit

    def accept_edit(self, edit: "OutsideEdit") -> None:
        """Commit an outside edit as one transaction.

        Raises `Conflict` when the same fields were changed here since; nothing is changed then.
        """
        from workbench.store.maintenance import takeover

        takeover.accept(self._journal, edit)

    def dismiss_edit(self, edit: "OutsideEdit") -> Path:
        """Turn an outside edit down; return the file in which it is kept."""
        from workbench.store.maintenance import takeover

        return takeover.dismiss(self._journal, edit)

    # Erasing for good

    def purge(self, records: Sequence[tuple[str, str]], actor: str, beside: "Beside") -> "Purged":
        """Erase records, given as (table, key), with every text they ever held, from all files of the store.

        Interrupted, it can be run again. `beside` is called before it is done, for what was made of the texts
        elsewhere. Raises `UnknownRecord`, and `StoreProblem` when a file cannot be rewritten.
        """
        from workbench.store.maintenance import purge
        from workbench.store.maintenance.in_blobs import InBlobs

        return purge.purge(self._journal, records, actor, beside, InBlobs(self._blobs))

    def mask(self, masker: "Masker", actor: str, beside: "Beside") -> "Purged":
        """Take secrets out of everything that was ever written; the records stay. Raises `StoreProblem`.

        `beside` is called before it is done, for what was made of the texts elsewhere.
        """
        from workbench.store.maintenance import purge

        return purge.mask(self._journal, masker, actor, beside)

    def finder(self, records: Sequence[tuple[str, str]]) -> Callable[[bytes], bool]:
        """Return what tells whether a file outside the store holds a text that records ever held.

        To be asked before they are purged. Raises `UnknownRecord`.
        """
        from workbench.store.maintenance import purge
        from workbench.store.maintenance.in_blobs import InBlobs

        return purge.finder(self._journal, records, InBlobs(self._blobs))

    def unfinished_purges(self) -> "tuple[Unfinished, ...]":
        """Return the purges that were broken off, the latest first; reads the whole history. Raises `StoreProblem`."""
        from workbench.store.maintenance import purge

        return purge.unfinished(self._journal)
