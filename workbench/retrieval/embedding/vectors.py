"""A cache of vectors: a text is embedded once per model, over all sessions.

The cache is not truth: it can be deleted at any time and then fills itself again.
"""

import os
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from workbench.core.files.atomic import write_file
from workbench.core.files.locks import locked
from workbench.core.record import WorkStopped
from workbench.core.runtime import Cancelled, Progress
from workbench.retrieval import cache_files
from workbench.retrieval.arrays import Embed, Mask, Rows, Scores, Vectors, top_positions
from workbench.retrieval.text_keys import KEY_SIZE, Keys, KeyTable, keys_of, text_keys

# A matrix that rows are added to.


_SPARE = 1_024
"""The least number of rows there is room for when the matrix has to move."""


class GrowingMatrix:
    """Hands out a matrix that grows at its end without being copied each time.

    What was handed out before keeps its rows. `rows` (n, dim) is copied when the first row is
    added.
    """

    def __init__(self, rows: Vectors) -> None:
        self.rows = rows
        self._room = rows

    def add(self, more: Vectors) -> Vectors:
        """Return the matrix with `more` rows at the end."""
        size = len(self.rows) + len(more)
        if size > len(self._room):
            self._room = np.empty((size + max(_SPARE, size // 8), self.rows.shape[1]), np.float32)
            self._room[: len(self.rows)] = self.rows
        self._room[len(self.rows) : size] = more
        self.rows = self._room[:size]
        return self.rows


# The vectors most like a given one: for duplicates and for "nearest existing".


_NEAREST_BLOCK = 16_384
"""Rows of a product that is looked through at once."""


def nearest(
    vector: Vectors, matrix: Vectors, k: int, mask: Mask | None = None
) -> tuple[Rows, Scores]:
    """Return up to `k` rows of `matrix` (n, dim) by falling cosine to `vector` (dim,), and the
    cosines.

    All vectors have unit length. Only rows whose flag in `mask` is set take part; equal cosines
    come in row order.
    """
    rows = np.arange(len(matrix)) if mask is None else np.flatnonzero(mask)
    if not len(rows) or k < 1:
        return np.zeros(0, np.intp), np.zeros(0, np.float32)
    # The whole product is cheaper than copying the chosen rows out, unless they are few.
    few = len(rows) < len(matrix) // 8
    cosines = np.clip(matrix[rows] @ vector if few else (matrix @ vector)[rows], -1.0, 1.0)
    best = top_positions(cosines, rows, k)
    return rows[best], cosines[best]


def near_pairs(vectors: Vectors, matrix: Vectors, least: float) -> tuple[Rows, Rows, Scores]:
    """Return every pair of a row of `vectors` (m, dim) and one of `matrix` (n, dim) with a cosine
    of `least` or more.

    The answer is the rows in `vectors`, the rows in `matrix` and the cosines, in the order of the
    former, then of the latter. All vectors have unit length. The product is made block by block, so
    that it stays small.
    """
    found: list[tuple[Rows, Rows, Scores]] = []
    for start in range(0, len(matrix), _NEAREST_BLOCK):
        cosines = matrix[start : start + _NEAREST_BLOCK] @ vectors.T
        # A flat view is searched many times faster than two dimensions.
        others, mine = np.divmod(
            np.flatnonzero((cosines >= least).reshape(-1)), max(1, len(vectors))
        )
        if len(mine):
            found.append((mine, others + start, np.clip(cosines[others, mine], -1.0, 1.0)))
    if not found:
        return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.float32)
    mine, others, cosines = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((others, mine))
    return mine[order], others[order], cosines[order]


# Vectors on disk: two append-only files that are checked before they are believed.
#
# `vectors.f32` is a bare float32 matrix, row by row, ready to be mapped into memory. `keys.bin`
# says what the rows are: a header, then blocks, each with a count, a CRC-32 of its keys and their
# vectors, and the keys. Vectors are written first, so a write that was cut off leaves rows that no
# block speaks of. A file is never shortened or overwritten in place, because another process may
# have it mapped: after damage, new files take its name.


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
    """The two files of one model in `folder`; `fingerprint` and `dim` must match those they were
    written with.
    """

    folder: Path
    fingerprint: str
    dim: int

    @property
    def vectors_path(self) -> Path:
        return self.folder / "vectors.f32"

    @property
    def keys_path(self) -> Path:
        return self.folder / "keys.bin"

    def read(self, known: Sound = NOTHING) -> tuple[Sound, Keys, Vectors]:
        """Return how far the files are sound now, the keys of the rows after `known`, and the sound
        matrix, mapped.

        When the matrix is no longer the file of `known`, the inode differs and the keys are those
        of all rows. Reading stops at the first block that is torn or fails its checksum; a missing
        file, a wrong header or another model gives no rows. Raises `OSError` when a file exists but
        cannot be read.
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
        """Add rows after the sound ones; return how far the files are sound then, and the matrix,
        mapped.

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


BATCH = 1_024
"""Texts embedded between two looks at `cancelled`: below 0.1 s with a static model."""

SAVE_EVERY = 16 * BATCH
"""Texts embedded between two writes."""


class VectorCache:
    """Vectors of one model under `folder/fingerprint`, at most one writing process at a time.

    Readers never wait. When another process is writing, or the folder cannot be written, or
    `read_only` is set, new vectors are kept in memory only. A read-only cache touches nothing on
    disk, not even the folder. A torn, damaged or foreign file is noticed and rewritten, never
    trusted. Not for several threads.
    """

    def __init__(self, folder: Path, fingerprint: str, dim: int, read_only: bool = False) -> None:
        self.dim = dim
        self.read_only = read_only
        self._file = VectorFile(folder / fingerprint, fingerprint, dim)
        self._table = KeyTable(keys_of(b""))
        self._stored: Vectors = np.zeros((0, dim), np.float32)
        self._fresh: dict[bytes, Vectors] = {}
        self._unsaved: list[bytes] = []
        self._sound: Sound = NOTHING
        self._load()

    def __len__(self) -> int:
        return self._sound.rows + len(self._fresh)

    def vectors_for(
        self,
        texts: Sequence[str],
        embed: Embed,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
        keys: Keys | None = None,
    ) -> Vectors:
        """Return float32 vectors of shape (n, dim), not to be written to, embedding only texts that
        are not known.

        `keys` are `text_keys(texts)`, if the caller has them already. `progress(done, total)`
        counts the texts that have to be embedded. Raises `WorkStopped` when `cancelled()` becomes
        true; the vectors made until then are kept for the next call.
        """
        keys = text_keys(texts) if keys is None else keys
        rows = self._table.find(keys)
        missing: dict[bytes, str] = {}
        for at in np.flatnonzero(rows < 0).tolist():
            key = keys[at].tobytes()
            if key not in self._fresh:
                missing[key] = texts[at]
        if missing or self._unsaved:
            try:
                self._embed_all(missing, embed, progress, cancelled)
            finally:
                self._save()
            rows = self._table.find(keys)
        return self._gathered(keys, rows)

    def _embed_all(
        self,
        missing: dict[bytes, str],
        embed: Embed,
        progress: Progress | None,
        cancelled: Cancelled | None,
    ) -> None:
        keys = list(missing)
        for start in range(0, len(keys), BATCH):
            if cancelled is not None and cancelled():
                raise WorkStopped(
                    f"Embedding was stopped after {start:,} of {len(keys):,} texts.",
                    "What was done is kept; the rest is embedded next time.",
                )
            batch = keys[start : start + BATCH]
            vectors = np.asarray(embed([missing[key] for key in batch]), np.float32)
            if vectors.shape != (len(batch), self.dim):
                raise ValueError(
                    f"expected vectors of shape {(len(batch), self.dim)}, got {vectors.shape}"
                )
            self._fresh.update(zip(batch, vectors, strict=True))
            self._unsaved += batch
            if len(self._unsaved) >= SAVE_EVERY:
                self._save()
            if progress is not None:
                progress(start + len(batch), len(keys))

    def _gathered(self, keys: Keys, rows: Rows) -> Vectors:
        """Return the vectors of `keys`: of consecutive rows on disk the mapped rows themselves,
        else a copy.
        """
        known = rows >= 0
        if len(rows) and known.all() and np.all(rows[1:] - rows[:-1] == 1):
            return np.asarray(self._stored)[rows[0] : rows[0] + len(rows)]
        out = np.empty((len(keys), self.dim), np.float32)
        if known.all():
            return np.take(self._stored, rows, axis=0, out=out)
        out[known] = self._stored[rows[known]]
        for at in np.flatnonzero(~known).tolist():
            out[at] = self._fresh[keys[at].tobytes()]
        return out

    def _load(self) -> None:
        """Take in the rows on disk that are not known yet."""
        try:
            sound, keys, stored = self._file.read(self._sound)
        except OSError:
            # A cache that cannot be read is like none; what it held is embedded again.
            sound, keys, stored = NOTHING, keys_of(b""), np.zeros((0, self.dim), np.float32)
        if sound.inode != self._sound.inode:
            self._forget_file()
        self._stored, self._sound = stored, sound
        self._take_in(keys)

    def _take_in(self, keys: Keys) -> None:
        """Know the keys of the last rows."""
        self._table = KeyTable(np.concatenate([self._table.keys, keys]))
        for key, row in zip(
            list(self._fresh),
            self._table.find(keys_of(b"".join(self._fresh))).tolist(),
            strict=True,
        ):
            if row >= 0:
                del self._fresh[key]

    def _forget_file(self) -> None:
        """Keep the rows of a file that somebody deleted or replaced, to write them again."""
        names = [key.tobytes() for key in self._table.keys]
        for row, key in enumerate(names):
            self._fresh.setdefault(key, np.array(self._stored[row]))
        self._unsaved = [*names, *self._unsaved]
        self._table = KeyTable(keys_of(b""))

    def _save(self) -> None:
        """Append what is new, unless somebody else is writing or the disk refuses; then it stays in
        memory.
        """
        if self.read_only or not self._unsaved:
            return
        try:
            cache_files.make(self._file.folder)
            with locked(self._file.folder / "writer.lock", make=True) as alone:
                if alone:
                    self._append()
        except OSError:
            self.read_only = True

    def _append(self) -> None:
        # Another process may have added rows since this one looked.
        self._load()
        new = [key for key in dict.fromkeys(self._unsaved) if key in self._fresh]
        if new:
            vectors = np.stack([self._fresh[key] for key in new])
            keys = keys_of(b"".join(new))
            self._sound, self._stored = self._file.append(keys, vectors, self._sound)
            self._take_in(keys)
        self._unsaved = []
