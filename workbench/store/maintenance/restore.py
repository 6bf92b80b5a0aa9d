"""Making a store of a backup: in a new folder, whole or not at all, and held against what the backup says."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from workbench.core.errors import StoreProblem, UnreadableFile, cannot_write
from workbench.core.files.atomic import fill, sync_folder, write_file
from workbench.core.files.handles import open_handle
from workbench.core.files.locks import is_free, locked
from workbench.core.health.diagnosis import Manifest, Progress
from workbench.store import packed
from workbench.store.files import TooLarge
from workbench.store.journal import chain, segments
from workbench.store.journal.codec import BadLine, mark_of, seal, unseal
from workbench.store.journal.engine import Journal, Options
from workbench.store.maintenance import checkpoint
from workbench.store.maintenance.backup import BLOCK, Archive, counts_of, no_backup
from workbench.store.maintenance.compact import gzipped
from workbench.store.records import COUNTERS


def restore(file: Path, target: Path, progress: Progress | None = None) -> Manifest:
    """Unpack the backup `file` into the new folder `target`, check the store in it, and return what it holds.

    The new store gets an id of its own: it is not the one that the backup was made of, which may live on beside it.
    Raises `UnreadableFile` when the file is no sound backup, and `StoreProblem` when the folder is there already or
    cannot be written; there is no folder then.
    """
    if target.exists() or target.is_symlink():
        raise StoreProblem(f"{target} is there already.", "Nothing was restored; name a folder that is not.")
    try:
        handle = os.fdopen(open_handle(file, os.O_RDONLY, follow=True), "rb")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UnreadableFile(f"{file} cannot be read: {why}.", "Nothing was restored.") from error
    with handle:
        archive = Archive(handle)
        try:
            with _growing(target) as folder:
                _unpack(archive, folder, progress)
                _check_packed(folder)
                segments.check_is_journal(folder / segments.NAME)
                _give_new_id(folder)
                _check(folder, archive.manifest)
        except OSError as error:
            raise cannot_write(target, error) from error
    return archive.manifest


def left_beside(store: Path) -> tuple[Path, ...]:
    """Return the folders beside a store that a killed restore left; the next one to the same place removes them."""
    return tuple(path for path in sorted(store.parent.glob(_growing_name("*"))) if is_free(path, folder=True))


def _growing_name(name: str) -> str:
    return f".{name}.restoring"


@contextmanager
def _growing(target: Path) -> Iterator[Path]:
    """Give a folder beside `target` that takes its name at the end and never stays; raises `OSError`.

    Its name is always the same, so the next restore takes what a killed one left; a lock tells whether that one lives.
    """
    folder = target.with_name(_growing_name(target.name))
    target.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    with locked(folder, folder=True) as alone:
        if not alone:
            raise StoreProblem(f"Another process restores {target} at this moment.", "Nothing was restored.")
        _empty(folder)
        try:
            yield folder
            sync_folder(folder)
            if target.exists():
                raise StoreProblem(f"{target} is there already.", "Nothing was restored.")
            folder.rename(target)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        sync_folder(target.parent)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _unpack(archive: Archive, folder: Path, progress: Progress | None) -> None:
    """Write every member as a new file (0600); raises `OSError` and `UnreadableFile`."""
    total, done = archive.manifest.size, 0
    if total > shutil.disk_usage(folder).free:
        raise StoreProblem(f"There is no room for the {total:,} bytes of this backup.", "Nothing was restored.")
    for member, blocks in archive.members():
        (folder / member.name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(folder / member.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            for block in blocks:
                file.write(block)
                done += len(block)
                if progress is not None:
                    progress(done, total)
            fill(file, b"")
    for beside in sorted({(folder / member.name).parent for member in archive.manifest.members} - {folder}):
        sync_folder(beside)
        sync_folder(beside.parent)


def _check_packed(folder: Path) -> None:
    """Read every packed segment to its end, so that none holds more than one ever does; raises `UnreadableFile`.

    One that is damaged is as it was in the store, where the doctor speaks of it.
    """
    for segment in chain.closed(folder):
        if segment.path.suffix == ".gz":
            try:
                with segments.open_segment(segment.path) as file:
                    while file.readline():
                        pass
            except TooLarge as error:
                raise no_backup(f"{error.strerror} in {segment.path.name}") from error
            except packed.DAMAGED:
                continue


def _give_new_id(folder: Path) -> None:
    """Let the newest header, which says whose journal this is, name a new store; raises `OSError`.

    A journal without a readable header names no store, and a store without a journal has no name either.
    """
    newest = [segments.NAME, *(segment.path.name for segment in reversed(chain.closed(folder)))]
    for path in (folder / name for name in newest):
        old = _header(path)
        if old:
            value = unseal(old[:-1])
            new = seal({**value, "store": segments.new_store_id()})
            write_file(path, _with_header(path, old, new))
            marks = {mark_of(old[:-1]): mark_of(new[:-1])}
            checkpoint.move_stamps(folder, value["rev"], len(new) - len(old), marks)
            return


def _header(path: Path) -> bytes:
    """Return the first line of a segment when it is a header that can be trusted, nothing otherwise."""
    try:
        with segments.open_segment(path) as file:
            line = file.readline(packed.LONGEST)
        return line if segments.is_header(unseal(line[:-1])) else b""
    except (FileNotFoundError, BadLine, *packed.DAMAGED):
        return b""


def _with_header(path: Path, old: bytes, new: bytes) -> Iterator[bytes]:
    """Yield a segment with another first line, packed as it was."""

    def pieces() -> Iterator[bytes]:
        with segments.open_segment(path) as file:
            file.seek(len(old))
            yield new
            while block := file.read(BLOCK):
                yield block

    return gzipped(pieces()) if path.suffix == ".gz" else pieces()


def _check(folder: Path, manifest: Manifest) -> None:
    """Open the store that was written, which changes nothing in it, and count; raises `UnreadableFile`."""
    options = Options(checkpoint_every=0)
    journal = Journal(folder, lambda: datetime.now(UTC), COUNTERS, options)
    counts = counts_of(journal.state.tables)
    if (journal.rev, counts) != (manifest.rev, manifest.counts):
        raise no_backup("the store in it is not the one that its manifest describes")
