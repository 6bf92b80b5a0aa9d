"""Vectors on disk: two append-only files that are checked before they are believed.

`vectors.f32` is a bare float32 matrix, row by row, ready to be mapped into memory. `keys.bin` says what
the rows are: a header, then blocks, each with a count, a CRC-32 of its keys and their vectors, and the keys.
Vectors are written first, so a write that was cut off leaves rows that no block speaks of. A file is never
shortened or overwritten in place, because another process may have it mapped: after damage, new files take its name.
"""

import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from workbench.core.files.atomic import write_file
from workbench.retrieval.arrays import Vectors
from workbench.retrieval.text_keys import KEY_SIZE, Keys, keys_of

_MAGIC = b"WBVEC\x00\x00\x01"
_HEADER = struct.Struct("<8sI32s")
_BLOCK = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class Sound:
    """How far the files are known to be sound: the matrix file's inode, bytes of keys, and rows.

    Whoever keeps the matrix mapped keeps its inode from being given to another file.
    """

    inode: int = 0
    size: int = 0
    rows: int = 0


NOTHING = Sound()


@dataclass(frozen=True, slots=True)
class VectorFile:
    """The two files of one model in `folder`; `fingerprint` and `dim` must match those they were written with."""

    folder: Path
    fingerprint: str
    dim: int

    @property
    def vectors_path(self) -> Path:
        """The matrix."""
        return self.folder / "vectors.f32"

    @property
    def keys_path(self) -> Path:
        """The keys of its rows."""
        return self.folder / "keys.bin"

    def read(self, known: Sound = NOTHING) -> tuple[Sound, Keys, Vectors]:
        """Return how far the files are sound now, the keys of the rows after `known`, and the sound matrix, mapped.

        When the matrix is no longer the file of `known`, the inode differs and the keys are those of all rows.
        Reading stops at the first block that is torn or fails its checksum; a missing file, a wrong
        header or another model gives no rows. Raises `OSError` when a file exists but cannot be read.
        """
        try:
            with self.vectors_path.open("rb") as vectors, self.keys_path.open("rb") as file:
                inode = os.fstat(vectors.fileno()).st_ino
                start = known if inode == known.inode else NOTHING
                file.seek(start.size)
                raw = file.read()
                matrix = self._mapped(vectors)
        except FileNotFoundError:
            return NOTHING, keys_of(b""), self._mapped(None)
        at = 0 if start.size else len(self._header())
        if at and raw[:at] != self._header():
            return Sound(inode), keys_of(b""), matrix[:0]
        names: list[bytes] = []
        rows = start.rows
        while (end := _sound_block(raw, at, matrix, rows)) is not None:
            names.append(raw[at + _BLOCK.size : end])
            rows += len(names[-1]) // KEY_SIZE
            at = end
        return Sound(inode, start.size + at, rows), keys_of(b"".join(names)), matrix[:rows]

    def append(self, keys: Keys, vectors: Vectors, sound: Sound) -> tuple[Sound, Vectors]:
        """Add rows after the sound ones; return how far the files are sound then, and the matrix, mapped.

        Only for the holder of the writer's lock, with `sound` just read. Raises `OSError`.
        """
        names = keys.astype("<u8").tobytes()
        data = np.ascontiguousarray(vectors, np.float32).tobytes()
        block = _BLOCK.pack(len(keys), zlib.crc32(data, zlib.crc32(names))) + names
        if not self._ends_at(sound):
            sound = self._started_anew(sound)
        for path, part in ((self.vectors_path, data), (self.keys_path, block)):
            with _open_to_write(path, os.O_APPEND) as file:
                file.write(part)
        with self.vectors_path.open("rb") as file:
            matrix = self._mapped(file)
        sound = Sound(sound.inode, sound.size + len(block), sound.rows + len(keys))
        return sound, matrix[: sound.rows]

    def _mapped(self, file: BinaryIO | None) -> Vectors:
        """Map all whole rows of the matrix file, read-only."""
        rows = 0 if file is None else os.fstat(file.fileno()).st_size // (4 * self.dim)
        if file is None or not rows:
            return np.zeros((0, self.dim), np.float32)
        return np.memmap(file, np.float32, "r", shape=(rows, self.dim))

    def _ends_at(self, sound: Sound) -> bool:
        """Tell whether the files are sound to their very end."""
        try:
            sizes = self.keys_path.stat().st_size, self.vectors_path.stat().st_size
        except FileNotFoundError:
            return False
        return sizes == (sound.size, sound.rows * self.dim * 4)

    def _started_anew(self, sound: Sound) -> Sound:
        """Put new files, with the sound part alone, in the place of the old ones."""
        kept = self.keys_path.read_bytes()[: sound.size] if sound.size else self._header()
        rows = self._sound_rows(sound)
        for path, part in ((self.vectors_path, rows), (self.keys_path, kept)):
            write_file(path, part, durable=False)
        return Sound(self.vectors_path.stat().st_ino, len(kept), sound.rows)

    def _sound_rows(self, sound: Sound) -> bytes:
        if not sound.rows:
            return b""
        with self.vectors_path.open("rb") as file:
            return file.read(sound.rows * self.dim * 4)

    def _header(self) -> bytes:
        start = _HEADER.pack(_MAGIC, self.dim, self.fingerprint.encode()[:32])
        return start + struct.pack("<I", zlib.crc32(start))


def _open_to_write(path: Path, how: int) -> BinaryIO:
    binary: int = getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | how | binary, 0o600), "wb")


def _sound_block(raw: bytes, at: int, matrix: Vectors, row: int) -> int | None:
    """Return where the block at `at` ends, or `None` when it is missing, torn or wrong."""
    if at + _BLOCK.size > len(raw):
        return None
    count, checksum = _BLOCK.unpack_from(raw, at)
    end: int = at + _BLOCK.size + count * KEY_SIZE
    if not count or end > len(raw) or row + count > len(matrix):
        return None
    names = zlib.crc32(raw[at + _BLOCK.size : end])
    vectors = np.ascontiguousarray(matrix[row : row + count])
    return end if zlib.crc32(vectors.data, names) == checksum else None
