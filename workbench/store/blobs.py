"""What is too large for a record: compressed files beside the journal, each named by the hash of
what it holds.

A file says the same for ever, so two records may name one, and an undo that brings a record back
finds it. None is removed but by a purge, or by masking, which leaves a note of the file that stands
in its place (`Blobs.retire`).
"""

import gzip
import hashlib
import os
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, Protocol

from workbench.core.files.atomic import draft_beside, fill, put_in_place, sync_folder
from workbench.core.files.fresh import NotRegular
from workbench.core.record import StoreProblem, cannot_write
from workbench.store.files import TooLarge, read_regular
from workbench.store.folder import BLOBS

LARGEST = 64 << 20
"""Bytes of one, unpacked, at the most."""

NAMES = re.compile(rf"{BLOBS}/(?P<head>[0-9a-f]{{2}})/(?P<hash>(?P=head)[0-9a-f]{{38}})\.(gz|now)")
"""The names of the files, below the store's folder: what is kept, and notes of what stands in its
place.
"""

_HASH = re.compile(r"[0-9a-f]{40}")
_STEPS = 8
"""Notes that are followed from one to the next."""

Lack = Literal["missing", "damaged"]


class BlobProblem(StoreProblem):
    """What lies beside the store under a hash is `missing` or `damaged`; the record that names it
    is as it was.
    """

    def __init__(self, name: str, lack: Lack) -> None:
        said = "is missing" if lack == "missing" else "is damaged"
        super().__init__(
            f"The file blobs/{name[:2]}/{name}.gz of this store {said}.",
            "The store still has its summary; a backup may have the rest.",
        )
        self.lack = lack


class SharedBlobs(Protocol):
    """Where the files of a store that several machines share are kept; raises `StoreProblem`."""

    def put_blob(self, data: bytes) -> str:
        """Keep what is too large for a record, and return its hash (see `hash_of`)."""

    def get_blob(self, name: str) -> bytes | None:
        """Return what is kept under a hash, `None` for nothing."""

    def blob_names(self) -> tuple[str, ...]: ...

    def drop_blobs(self, names: Collection[str]) -> None:
        """Remove some for good; for an owner, as `rewrite` is."""


class Blobs:
    """The files of one store. Writing asks for the store's turn (`Library.turn`), so that no purge
    comes between. Those of a `shared` store are copied from its log when they are read first.
    """

    def __init__(self, folder: Path, shared: "SharedBlobs | None" = None) -> None:
        self._store = folder
        self._shared = shared
        self.folder = folder / BLOBS

    def put(self, data: bytes) -> str:
        """Keep bytes durably (0600) and return their hash; the same ones are kept once.

        Raises `StoreProblem` when they are too many, or the store cannot be written.
        """
        (name,) = self.put_all((data,))
        return name

    def put_all(self, contents: Sequence[bytes]) -> tuple[str, ...]:
        """Keep several (see `put`); the folders they lie in are made durable once for all of them."""
        largest = max(map(len, contents), default=0)
        if largest > LARGEST:
            raise StoreProblem(
                f"It has {largest:,} bytes; at most {LARGEST:,} are stored.", "Nothing was written."
            )
        if self._shared is not None:
            for data in contents:
                self._shared.put_blob(data)
        return self._keep(contents)

    def _keep(self, contents: Sequence[bytes]) -> tuple[str, ...]:
        names, folders = tuple(map(hash_of, contents)), set[Path]()
        try:
            for name, data in zip(names, contents, strict=True):
                path = self._path(name)
                if not self._is_there(name):
                    self._begin(path.parent)
                    # Beside the journal, where what a killed process leaves is swept.
                    with draft_beside(self._store / f"blob-{name}") as (file, draft):
                        fill(file, gzip.compress(data, 6, mtime=0))
                        draft.replace(path)
                    folders.add(path.parent)
            for folder in sorted(folders):
                sync_folder(folder)
        except OSError as error:
            raise cannot_write(self._store, error) from error
        return names

    def read(self, name: str) -> bytes:
        """Return what is kept under a hash, or what took its place; raises `BlobProblem`."""
        for _ in range(_STEPS):
            try:
                return self._read(name)
            except BlobProblem as problem:
                now = self._now(name) if problem.lack == "missing" else None
                if now is None:
                    if (data := self._fetched(name)) is None:
                        raise
                    return data
                name = now
        raise BlobProblem(name, "damaged")

    def _fetched(self, name: str) -> bytes | None:
        """Return what the shared log keeps under a hash, and keep a copy; `None` for nothing."""
        data = None if self._shared is None else self._shared.get_blob(name)
        if data is None or hash_of(data) != name:
            return None
        self._keep((data,))
        return data

    def lack(self, name: str) -> Lack | None:
        """Return what is wrong with what a record names, `None` when it can be read."""
        try:
            self.read(name)
        except BlobProblem as problem:
            return problem.lack
        return None

    def names(self) -> tuple[str, ...]:
        """Return the hashes of all files, in order, and of those that the shared log has; what is a
        link, or has another name, is none.
        """
        own = {path.name.removesuffix(".gz") for path in self._files() if path.suffix == ".gz"}
        if self._shared is not None:
            with suppress(StoreProblem):  # it is away
                own.update(self._shared.blob_names())
        return tuple(sorted(own))

    def files(self) -> tuple[tuple[str, Path], ...]:
        """Return every file with its name below the store's folder, notes too, in order."""
        return tuple((path.relative_to(self._store).as_posix(), path) for path in self._files())

    def replaced(self) -> dict[str, str]:
        """Return what took the place of which hash."""
        notes = (path.name.removesuffix(".now") for path in self._files() if path.suffix == ".now")
        return {name: now for name in notes if (now := self._now(name)) is not None}

    def retire(self, replaced: Mapping[str, str]) -> tuple[str, ...]:
        """Remove files for good, each with a note of the one that takes its place; return their
        names.

        Raises `OSError`; it can be run again.
        """
        self.note(replaced)
        return self.remove(replaced)

    def note(self, replaced: Mapping[str, str]) -> None:
        """Note what takes the place of which hash; raises `OSError`."""
        for name, now in replaced.items():
            path = self._path(name)
            self._begin(path.parent)
            with draft_beside(self._store / f"blob-{name}") as (file, draft):
                fill(file, now.encode())
                put_in_place(draft, path.with_suffix(".now"))

    def remove(self, names: Iterable[str]) -> tuple[str, ...]:
        """Remove files for good, and return the names of those that were there; raises `OSError`."""
        gone, names = [], tuple(names)
        if self._shared is not None:
            self._shared.drop_blobs(names)
        for path in map(self._path, names):
            if self._is_plain(path.parent) and (path.exists() or path.is_symlink()):
                path.unlink()
                sync_folder(path.parent)
                gone.append(path.relative_to(self._store).as_posix())
        return tuple(gone)

    def _path(self, name: str) -> Path:
        if not _HASH.fullmatch(name):
            raise BlobProblem("?" * 40, "missing")
        return self.folder / name[:2] / f"{name}.gz"

    def _is_there(self, name: str) -> bool:
        try:
            self._read(name)
        except BlobProblem:
            return False
        return True

    def _read(self, name: str) -> bytes:
        data = self._bytes(self._path(name), name)
        try:
            unpacker = zlib.decompressobj(wbits=31)
            content = unpacker.decompress(data, LARGEST + 1)
        except zlib.error as error:
            raise BlobProblem(name, "damaged") from error
        if not unpacker.eof or hash_of(content) != name:
            raise BlobProblem(name, "damaged")
        return content

    def _bytes(self, path: Path, name: str) -> bytes:
        """Return a file's bytes; what lies behind a link is not looked at."""
        try:
            if not self._is_plain(path.parent):
                raise FileNotFoundError(path)
            return read_regular(path, LARGEST)
        except FileNotFoundError as error:
            raise BlobProblem(name, "missing") from error
        except (NotRegular, TooLarge, NotADirectoryError) as error:
            raise BlobProblem(name, "damaged") from error

    def _now(self, name: str) -> str | None:
        """Return the hash in the note of one that was replaced, if there is a note."""
        try:
            now = self._bytes(self._path(name).with_suffix(".now"), name)[:64].decode(
                "ascii", "replace"
            )
        except BlobProblem:
            return None
        return now if _HASH.fullmatch(now) else None

    def _is_plain(self, folder: Path) -> bool:
        """Tell whether a folder of hashes stands here itself, and is no way to somewhere else."""
        return not (self.folder.is_symlink() or folder.is_symlink())

    def _begin(self, folder: Path) -> None:
        for one in (self.folder, folder):
            if one.is_symlink():
                raise NotRegular(one)
            if not one.is_dir():
                one.mkdir(mode=0o700)
                sync_folder(one.parent)

    def _files(self) -> Iterator[Path]:
        if self.folder.is_symlink() or not self.folder.is_dir():
            return
        for folder in sorted(self.folder.iterdir()):
            if folder.is_symlink() or not folder.is_dir():
                continue
            with os.scandir(folder) as entries:
                found = sorted(one.name for one in entries if one.is_file(follow_symlinks=False))
            yield from (
                folder / name for name in found if NAMES.fullmatch(f"{BLOBS}/{folder.name}/{name}")
            )


def hash_of(data: bytes) -> str:
    """Return what names bytes: 20 bytes of BLAKE2b, in hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=20).hexdigest()
