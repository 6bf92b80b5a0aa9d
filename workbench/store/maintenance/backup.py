"""A backup: one compressed file that holds a store as it was at one revision, and says of each part
what it must be.

The file is a gzipped tar of plain members only. The first is `manifest.json`; the others are the
store's own files, the active segment up to the revision of the backup. What a member is called, how
long it is and its SHA-256 stand in the manifest, so a reader never takes more from the archive than
was announced.
"""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from workbench.core.files.atomic import draft_beside, fill, put_in_place, sync_folder, write_file
from workbench.core.files.fresh import open_handle
from workbench.core.files.locks import is_free, locked
from workbench.core.health import Manifest, Member
from workbench.core.record import (
    StoreProblem,
    UnreadableFile,
    cannot_write,
    iso,
    parse_time,
    why_failed,
)
from workbench.core.runtime import Progress
from workbench.store import blobs, files
from workbench.store.files import (
    DOCUMENTS,
    LARGEST_PACKED,
    CannotUnpack,
    TooLarge,
    open_lines,
    open_regular,
)
from workbench.store.folder import ATTRIBUTES, IGNORE, is_store
from workbench.store.journal import segments
from workbench.store.journal.engine import Journal, Options
from workbench.store.journal.segments import Position, Stamp, Tail
from workbench.store.maintenance import checkpoint_writer
from workbench.store.maintenance.checkpoint_writer import NOTE
from workbench.store.records import COUNTERS

MANIFEST = "manifest.json"
FORMAT = 1
BLOCK = 1 << 20
LONGEST_MANIFEST = 32 << 20
"""Bytes of one at the most: some two hundred thousand files."""

_LEVEL = 3
"""How hard is compressed: twice as fast as the usual 6, for a file that is hardly larger."""

_UNFINISHED = ".workbench-backup-"
"""How the name of a backup begins that is being written."""

_TAR = 512
_TRIES = 20

_NAMES = re.compile(
    r"journal\.jsonl|journal-\d{12}\.jsonl(\.gz)?|memory\.json|checkpoint\.json"
    r"|memory\.(edited|dismissed)-[0-9A-Za-z-]{1,80}\.json|\.gitignore|\.gitattributes"
    rf"|{blobs.NAMES.pattern}"
)
"""Every file that belongs to a store, and nothing else: no folder, no link, no path but to what
lies beside it.
"""


def write_backup(
    journal: Journal,
    target: Path,
    at: datetime,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Manifest:
    """Write a verified backup of an open store into `target` (0600), whole or not at all; no writer
    waits for it.

    Raises `StoreProblem`: when the file is there already (unless `force`), lies in the store, or
    cannot be written.
    """
    journal.require_present()
    check_target(journal.folder, target, force=force)
    try:
        with draft_beside(target, _UNFINISHED) as (file, unfinished):
            manifest = _written(journal, file, iso(at), progress)
            file.seek(0)
            _backup_check(file, manifest)
            if not force and target.exists():
                raise _taken(target)
            put_in_place(unfinished, target)
    except OSError as error:
        why = why_failed(error)
        raise StoreProblem(
            f"The backup {target} cannot be written: {why}.", "Nothing was left behind."
        ) from error
    return manifest


class Archive:
    """A backup that is read once, from its beginning: `manifest` first, then `members`. Raises
    `UnreadableFile`.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = gzip.GzipFile(fileobj=file, mode="rb")
        info = self._next()
        if info is None or info.name != MANIFEST or info.size > LONGEST_MANIFEST:
            raise no_backup("it does not start with a manifest")
        self.manifest = _manifest(self._exactly(info.size))
        self._padding(info.size)

    def members(self) -> Iterator[tuple[Member, Iterator[bytes]]]:
        """Yield each member with its bytes, which must be taken; all of it is held against the
        manifest.
        """
        for member in self.manifest.members:
            info = self._next()
            if info is None or (info.name, info.size) != (member.name, member.size):
                raise no_backup(f"{member.name} does not match the manifest")
            yield member, self._checked(member)
            self._padding(member.size)
        if self._next() is not None or any(rest := self._rest()) or len(rest) > BLOCK:
            raise no_backup("it contains more than its manifest lists")

    def _checked(self, member: Member) -> Iterator[bytes]:
        left, sha256 = member.size, hashlib.sha256()
        while left:
            block = self._exactly(min(left, BLOCK))
            left -= len(block)
            sha256.update(block)
            yield block
        if sha256.hexdigest() != member.sha256:
            raise no_backup(f"{member.name} is damaged")

    def _next(self) -> tarfile.TarInfo | None:
        """Read the head of the next member; only a plain file is one."""
        head = self._exactly(_TAR)
        if head == bytes(_TAR):
            return None
        try:
            info = tarfile.TarInfo.frombuf(head, "ascii", "strict")
        except (tarfile.HeaderError, UnicodeError, ValueError) as error:
            raise no_backup("it is damaged") from error
        if info.type != tarfile.REGTYPE or info.size < 0:
            raise no_backup(f"“{info.name}” is not a regular file")
        return info

    def _padding(self, size: int) -> None:
        self._exactly(-size % _TAR)

    def _rest(self) -> bytes:
        """Read what stands behind the end, which is nothing but padding; so the archive's own
        checksum is looked at.
        """
        return self._read(BLOCK + 1)

    def _exactly(self, size: int) -> bytes:
        data = self._read(size)
        if len(data) != size:
            raise no_backup("it is truncated")
        return data

    def _read(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise no_backup("it is damaged or truncated") from error


def no_backup(why: str) -> UnreadableFile:
    """Say in one sentence why a file cannot be restored."""
    return UnreadableFile(f"This backup is damaged: {why}.", "Nothing was restored.")


def _manifest(data: bytes) -> Manifest:
    try:
        said = int(json.loads(data)["format"])
        if said != FORMAT:
            raise no_backup(f"it has format {said!s:.20}, this workbench reads {FORMAT}")
        made = msgspec.json.decode(data, type=Manifest)
        parse_time(made.at)
    except (
        ValueError,
        KeyError,
        TypeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise no_backup("its manifest cannot be read") from error
    members = made.members
    names = [member.name for member in members]
    strange = next((name for name in names if not _NAMES.fullmatch(name)), None)
    if strange is not None:
        raise no_backup(f"“{strange}” is not a file of a store")
    if len(set(names)) != len(names) or any(member.size < 0 for member in members):
        raise no_backup("its manifest contradicts itself")
    return made


def check_target(folder: Path, target: Path, *, force: bool) -> None:
    """Raise `StoreProblem` unless a backup of the store in `folder` may be written to `target`."""
    if target.is_dir():
        raise StoreProblem(f"{target} is a folder.", "Give the file to write.")
    if target.parent.resolve().is_relative_to(folder.resolve()):
        raise StoreProblem(
            f"{target} is inside the store and would be lost with it.",
            "Choose a file elsewhere.",
        )
    if not force and (target.exists() or target.is_symlink()):
        raise _taken(target)


def _taken(target: Path) -> StoreProblem:
    return StoreProblem(f"{target} already exists.", "Nothing was written; --force replaces it.")


def abandoned(folder: Path) -> tuple[Path, ...]:
    """Return the unfinished backups that killed processes left in a folder."""
    found = folder.glob(f"{_UNFINISHED}*")
    return tuple(sorted(path for path in found if is_free(path)))


@dataclass(frozen=True, slots=True)
class _Part:
    """A file to be copied, open, and how many of its bytes; one that never changes is opened when
    it is copied.
    """

    name: str
    file: BinaryIO | Path
    size: int

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Give the file, at its beginning. Raises `OSError`."""
        if isinstance(self.file, Path):
            with io.BufferedReader(open_regular(self.file)) as file:
                yield cast(BinaryIO, file)
        else:
            self.file.seek(0)
            yield self.file


def _written(journal: Journal, file: BinaryIO, at: str, progress: Progress | None) -> Manifest:
    """Write the archive; begin again when the journal was packed or rewritten under it."""
    for _ in range(_TRIES):
        tables, stamp = journal.cut()
        damaged = len(journal.damage)
        with ExitStack() as stack:
            parts = _parts(journal.folder, stamp, stack)
            if parts is None:
                continue
            work = _Work(2 * sum(part.size for part in parts), progress)
            try:
                members = tuple(Member(part.name, part.size, work.hash(part)) for part in parts)
                manifest = Manifest(at, stamp.rev, counts_of(tables), damaged, members)
                file.seek(0)
                file.truncate()
                work.write(file, manifest, parts)
            except FileNotFoundError:
                continue  # a purge has removed what lay beside the store
        if _still_there(journal.folder, stamp):
            return manifest
    raise StoreProblem(
        f"{journal.folder} is being rewritten continually.", "Nothing was written; try again later."
    )


def _parts(folder: Path, stamp: Stamp, stack: ExitStack) -> list[_Part] | None:
    """Open what belongs to the store at one revision; `None` when it is being rearranged at this
    moment.

    What is open stays what it was: later lines stand after the bytes that are taken, a renamed or
    replaced file keeps its content. The checkpoint is opened before the note that says what it is,
    which names older ones, too.
    """
    closed = [segment for segment in segments.closed(folder) if segment.start <= stamp.start]
    names = [DOCUMENTS, NOTE, IGNORE, ATTRIBUTES]
    names += sorted(
        path.name for path in folder.glob("memory.*-*.json") if _NAMES.fullmatch(path.name)
    )
    before = [segment.path.name for segment in closed if segment.start < stamp.start]
    found = [
        part
        for name in (*names, *before)
        if (part := _opened(folder / name, name, stack)) is not None
    ]
    found += [_Part(name, path, path.stat().st_size) for name, path in blobs.Blobs(folder).files()]
    if not set(before) <= {part.name for part in found}:
        return None
    if stamp.position == Position():
        return found
    active = segments.open_active(folder)
    if active is not None:
        file = stack.enter_context(active[0])
        if active[1].start == stamp.start:
            return [*found, _Part(segments.NAME, file, stamp.offset)]
    # It was closed meanwhile; unpacked, it is still what it was.
    was = next((segment.path for segment in closed if segment.start == stamp.start), None)
    last = (
        None
        if was is None or was.suffix == ".gz"
        else _opened(was, segments.NAME, stack, stamp.offset)
    )
    return None if last is None else [*found, last]


def _opened(path: Path, name: str, stack: ExitStack, size: int = -1) -> _Part | None:
    """Open a file, to be copied whole or up to `size`; `None` when it is not there (any more)."""
    try:
        file = stack.enter_context(path.open("rb"))
    except FileNotFoundError:
        return None
    return _Part(name, file, os.fstat(file.fileno()).st_size if size < 0 else size)


def _still_there(folder: Path, stamp: Stamp) -> bool:
    """Tell whether the revision that was copied was not taken back, and nothing was erased, while
    it was copied.
    """
    if next(segments.headings(folder), None) is None:
        return stamp.rev == 0 and is_store(folder)
    return segments.fits(folder, stamp.position, stamp.mark)


class _Work:
    """Reads the parts twice, for their hashes and into the archive, and tells how far it is."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._done = 0

    def hash(self, part: _Part) -> str:
        """Return the SHA-256 of a part."""
        sha256 = hashlib.sha256()
        for block in self._blocks(part):
            sha256.update(block)
        return sha256.hexdigest()

    def write(self, file: BinaryIO, manifest: Manifest, parts: Iterable[_Part]) -> None:
        """Write the whole archive durably; raises `OSError`."""
        with gzip.GzipFile(
            filename="", fileobj=file, mode="wb", compresslevel=_LEVEL, mtime=0
        ) as packed:
            about = json.dumps(
                {"format": FORMAT, **asdict(manifest)}, separators=(",", ":")
            ).encode()
            packed.write(_head(MANIFEST, len(about)))
            packed.write(about + bytes(-len(about) % _TAR))
            for part in parts:
                packed.write(_head(part.name, part.size))
                for block in self._blocks(part):
                    packed.write(block)
                packed.write(bytes(-part.size % _TAR))
            packed.write(bytes(2 * _TAR))
        file.flush()
        os.fsync(file.fileno())

    def _blocks(self, part: _Part) -> Iterator[bytes]:
        with part.opened() as file:
            left = part.size
            while left:
                block = file.read(min(left, BLOCK))
                if not block:
                    raise StoreProblem(
                        f"{part.name} became shorter while it was copied.",
                        "Nothing was written; try again.",
                    )
                left -= len(block)
                self._done += len(block)
                yield block
                if self._progress is not None:
                    self._progress(self._done, self._total)


def _head(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info.tobuf(tarfile.USTAR_FORMAT, "ascii", "strict")


def _backup_check(file: BinaryIO, manifest: Manifest) -> None:
    """Read a backup back and hold it against what was to be written; raises `StoreProblem`."""
    archive = Archive(file)
    for _, blocks in archive.members():
        for _ in blocks:
            pass
    if archive.manifest != manifest:
        raise StoreProblem(
            "The file on disk differs from what was written.",
            "The backup was removed; try another disk.",
        )


def counts_of(tables: Mapping[str, Mapping[str, object]]) -> dict[str, int]:
    """Return how many documents each table holds; empty tables are left out."""
    return {table: len(docs) for table, docs in tables.items() if docs}


# Packing the segments that are closed; history reads them as before.


_GZIP = 31
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Packed:
    """A segment that was packed: its new file, and its size before and after, in bytes."""

    file: Path
    before: int
    after: int


def compact(journal: Journal) -> list[Packed]:
    """Gzip every closed segment; raises `StoreProblem`, and then every segment is still there in
    one form.
    """
    try:
        with journal.exclusive():
            packed = list(_pack_all(journal.folder))
            journal.remember()
            return packed
    except OSError as error:
        raise cannot_write(journal.folder, error) from error


def _pack_all(folder: Path) -> Iterator[Packed]:
    for segment in segments.closed(folder):
        # A larger one could not be read any more when it is packed.
        if segment.path.suffix != ".gz" and segment.path.lstat().st_size <= LARGEST_PACKED:
            yield pack(segment.path)
            sync_folder(folder)


def pack(path: Path) -> Packed:
    """Replace a closed segment by its packed form; raises `OSError`."""
    target = path.with_name(f"{path.name}.gz")
    before = path.stat().st_size
    write_file(target, _packed(path))
    path.unlink()
    return Packed(target, before, target.stat().st_size)


def _packed(path: Path) -> Iterator[bytes]:
    with open_regular(path) as source:
        yield from gzipped(iter(partial(source.read, _BLOCK), b""))


def gzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


# Making a store of a backup: in a new folder, whole or not at all, and held against what the backup
# says.


def restore(file: Path, target: Path, progress: Progress | None = None) -> Manifest:
    """Unpack the backup `file` into the new folder `target`, check the store in it, and return what
    it holds.

    The new store gets an id of its own: it is not the one that the backup was made of, which may
    live on beside it. Raises `UnreadableFile` when the file is no sound backup, and `StoreProblem`
    when the folder is there already or cannot be written; there is no folder then.
    """
    if target.exists() or target.is_symlink():
        raise StoreProblem(
            f"{target} already exists.", "Nothing was restored; choose a new folder."
        )
    try:
        with growing(target) as folder:
            manifest = unpack(file, folder, progress)
            segments.check_is_journal(folder / segments.NAME, file)
            _give_new_id(folder)
            _check(folder, manifest)
    except OSError as error:
        raise cannot_write(target, error) from error
    return manifest


def unpack(file: Path, folder: Path, progress: Progress | None = None) -> Manifest:
    """Unpack the backup `file` into an empty folder, and return what it holds. Raises `OSError`, and
    `UnreadableFile` when the file is no sound backup.
    """
    try:
        handle = os.fdopen(open_handle(file, os.O_RDONLY, follow=True), "rb")
    except OSError as error:
        why = why_failed(error)
        raise UnreadableFile(f"{file} cannot be read: {why}.", "Nothing was restored.") from error
    with handle:
        archive = Archive(handle)
        _unpack(archive, folder, progress)
    _check_packed(folder)
    return archive.manifest


def left_beside(store: Path) -> tuple[Path, ...]:
    """Return the folders beside a store that a killed restore left; the next one to the same place
    removes them.
    """
    return tuple(
        path for path in sorted(store.parent.glob(_growing_name("*"))) if is_free(path, folder=True)
    )


def _growing_name(name: str) -> str:
    return f".{name}.restoring"


@contextmanager
def growing(target: Path) -> Iterator[Path]:
    """Give a folder beside `target` that takes its name at the end and never stays; raises
    `OSError`.

    Its name is always the same, so the next restore takes what a killed one left; a lock tells
    whether that one lives.
    """
    folder = target.with_name(_growing_name(target.name))
    target.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    with locked(folder, folder=True) as alone:
        if not alone:
            raise StoreProblem(
                f"Another process is restoring {target} right now.", "Nothing was restored."
            )
        _empty(folder)
        try:
            yield folder
            sync_folder(folder)
            if target.exists():
                raise StoreProblem(
                    f"{target} already exists.", "Nothing was made; choose a new folder."
                )
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
        raise StoreProblem(
            f"Not enough space for the {total:,} bytes of this backup.", "Nothing was restored."
        )
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
    for beside in sorted(
        {(folder / member.name).parent for member in archive.manifest.members} - {folder}
    ):
        sync_folder(beside)
        sync_folder(beside.parent)


def _check_packed(folder: Path) -> None:
    """Read every packed segment to its end, so that none holds more than one ever does; raises
    `UnreadableFile`.

    One that is damaged is as it was in the store, where the doctor speaks of it.
    """
    for segment in segments.closed(folder):
        if segment.path.suffix == ".gz":
            try:
                with open_lines(segment.path) as file:
                    for _ in files.read_lines_of(file):
                        pass
            except TooLarge as error:
                raise no_backup(f"{error.strerror} in {segment.path.name}") from error
            except CannotUnpack:
                continue


def _give_new_id(folder: Path) -> None:
    """Begin a new segment, whose header says whose journal this is; raises `OSError`.

    A store without a journal has no name.
    """
    if (folder / segments.NAME).exists():
        tail = Tail(folder)
        for _ in tail.entries():
            pass
        before = tail.mark
        tail.roll(lambda: segments.header(tail.rev, segments.new_store_id()))
        if tail.place.line == 1 and before:
            checkpoint_writer.move_mark(folder, before, tail.mark)


def _check(folder: Path, manifest: Manifest) -> None:
    """Open the store that was written, which changes nothing in it, and count; raises
    `UnreadableFile`.
    """
    options = Options(checkpoint_every=0)
    journal = Journal(folder, lambda: datetime.now(UTC), COUNTERS, options)
    counts = counts_of(journal.state.tables)
    if (journal.rev, counts) != (manifest.rev, manifest.counts):
        raise no_backup("the store in it differs from its manifest")
