"""Packing the segments that are closed; history reads them as before."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.store import chain
from workbench.store.engine import Journal
from workbench.store.files import put_in_place, remove_leftovers, sync_folder, write_temporary
from workbench.store.lock import cannot_write

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
            remove_leftovers(journal.folder, "journal")
            return list(_pack_all(journal.folder))
    except OSError as error:
        raise cannot_write(journal.folder, error) from error


def _pack_all(folder: Path) -> Iterator[Packed]:
    for segment in chain.closed(folder):
        if segment.path.suffix != ".gz":
            yield pack(segment.path)
            sync_folder(folder)


def pack(path: Path) -> Packed:
    """Replace a closed segment by its packed form; raises `OSError`."""
    target = path.with_name(f"{path.name}.gz")
    before = path.stat().st_size
    put_in_place(write_temporary(target, _packed(path)), target)
    path.unlink()
    return Packed(target, before, target.stat().st_size)


def _packed(path: Path) -> Iterator[bytes]:
    """Yield a file in gzip form, piece by piece."""
    packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
    with path.open("rb") as source:
        while block := source.read(_BLOCK):
            yield packer.compress(block)
    yield packer.flush()
