"""When and how checkpoints are written, beside the writers and without making them wait."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from workbench.core.errors import StoreProblem, cannot_write
from workbench.core.files.atomic import write_file
from workbench.core.files.locks import FileLock, Patience, StoreBusy, waiting
from workbench.store.files import CHECKPOINT_LOCK, read_regular
from workbench.store.journal.codec import fingerprint
from workbench.store.journal.state import Tables
from workbench.store.maintenance import checkpoint
from workbench.store.maintenance.checkpoint import DOCUMENTS, Places, Stamp

PATIENCE = 1.0
"""Seconds that a checkpoint in the background waits for a writer; the one after the next change comes soon enough."""

Snapshot = Callable[[], tuple[Tables, Stamp]]
Seen = tuple[int, int, int] | None


class CheckpointWriter:
    """Writes checkpoints of one store; one process at a time, never an older one over a newer one.

    `note` is told the hash of each, `index` what is in it and where.
    """

    def __init__(
        self,
        folder: Path,
        clock: Callable[[], datetime],
        note: Callable[[str], None] = lambda _: None,
        index: Callable[[Tables, Stamp, Places], None] = lambda _tables, _stamp, _places: None,
    ) -> None:
        self.saved_rev = 0
        self._folder = folder
        self._clock = clock
        self._note = note
        self._index = index
        self._lock = FileLock(folder / CHECKPOINT_LOCK)
        self._known: Seen = None
        self._thread: threading.Thread | None = None
        self._strange: int | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep checkpoints from being written meanwhile; taken before the store's write lock, never after it."""
        with self._lock.held():
            yield

    def save(self, snapshot: Snapshot) -> str:
        """Write what `snapshot` gives; return the name under which somebody's edit was set aside, or nothing.

        Raises `StoreProblem`; the checkpoint before it still stands then.
        """
        with self._lock.held():
            tables, stamp = snapshot()
            self._lock.renew()
            newest = next(iter(checkpoint.stamps(self._folder)), None)
            try:
                kept = self._set_strange_file_aside()
                if newest is None or kept or not self._is_newer(newest, stamp):
                    saved, places = checkpoint.save(self._folder, tables, stamp)
                    self._note(saved.hash)
                    self._index(tables, saved, places)
            except OSError as error:
                raise cannot_write(self._folder, error) from error
            self._known = look(self._folder / DOCUMENTS)
            self.saved_rev = stamp.rev
            return kept

    def save_in_background(self, save: Callable[[], None], failed: Callable[[str], None]) -> None:
        """Run `save` on a thread of its own, unless one is running; a problem is told, not raised.

        While somebody else holds the store it is left out, as the journal has everything.
        """
        if self._thread is not None and self._thread.is_alive():
            return

        def work() -> None:
            """Save, and tell what went wrong."""
            try:
                with waiting(Patience(PATIENCE)):
                    save()
            except StoreBusy:
                pass
            except StoreProblem as problem:
                failed(str(problem))

        self._thread = threading.Thread(target=work, name="workbench-checkpoint")
        self._thread.start()

    def wait(self) -> None:
        """Wait for a background checkpoint to end."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def expect_strange_file(self, base: int | None) -> None:
        """Remember that `memory.json` is not the journal's (its writer started from revision `base`)."""
        self._known = None
        self._strange = base

    def accept_file(self) -> None:
        """Take `memory.json` as it stands for known: the next checkpoint replaces it."""
        self._known = look(self._folder / DOCUMENTS)
        self._strange = None

    def _is_newer(self, newest: Stamp, stamp: Stamp) -> bool:
        return newest.rev > stamp.rev and newest.hash == self._hash()

    def _hash(self) -> str:
        try:
            return fingerprint(read_regular(self._folder / DOCUMENTS))
        except FileNotFoundError:
            return ""

    def _set_strange_file_aside(self) -> str:
        """Keep a `memory.json` that no checkpoint wrote under another name; raises `OSError`."""
        file = self._folder / DOCUMENTS
        if look(file) in (self._known, None):
            return ""
        data = read_regular(file)
        stamps, digest = checkpoint.stamps(self._folder), fingerprint(data)
        if self._strange is None and any(stamp.hash == digest for stamp in stamps):
            return ""
        base = self._strange if self._strange is not None else stamps[0].rev if stamps else "unknown"
        self._strange = None
        name = f"memory.edited-{base}-{self._clock():%Y%m%dT%H%M%S%f}.json"
        write_file(self._folder / name, data)
        return name


def look(path: Path) -> Seen:
    """Return what tells one state of a file from another (inode, size, time), or `None` when it is missing."""
    try:
        seen = path.lstat()
    except FileNotFoundError:
        return None
    return seen.st_ino, seen.st_size, seen.st_mtime_ns
