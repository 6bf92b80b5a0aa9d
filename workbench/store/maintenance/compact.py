"""Packing the segments that are closed; history reads them as before."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from workbench.core.errors import cannot_write
from workbench.core.files.atomic import sync_folder, write_file
from workbench.store.files import open_regular
from workbench.store.journal import chain
from workbench.store.journal.engine import Journal
from workbench.store.packed import LARGEST

_GZIP = 31
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Packed:
    """A segment that was packed: its new file, and its size before and after, in bytes."""

    file: Path
    before: int
    after: int


def compact(journal: Journal) -> list[Packed]:
    """Gzip every closed segment; raises `StoreProblem`, and then every segment is still there in one form."""
    try:
        with journal.exclusive():
            packed = list(_pack_all(journal.folder))
            journal.remember()
            return packed
    except OSError as error:
        raise cannot_write(journal.folder, error) from error


def _pack_all(folder: Path) -> Iterator[Packed]:
    for segment in chain.closed(folder):
        # A larger one could not be read any more when it is packed.
        if segment.path.suffix != ".gz" and segment.path.lstat().st_size <= LARGEST:
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
    """Yield pieces in gzip form."""
    packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()
