"""A cache of vectors: a text is embedded once per model, over all sessions.

The cache is not truth: it can be deleted at any time and then fills itself again.
"""

import contextlib
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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


# Vectors on disk: an append-only file that is checked before it is believed.
#
# Each row is a text's key, a checksum of the row, and its vector, ready to be mapped into memory. Behind
# the first row whose checksum is wrong nothing is believed. The file is never shortened or overwritten in
# place, because another process may have it mapped: after damage, a new one takes its name.

_KEY, _HEAD = KEY_SIZE // 4, KEY_SIZE // 4 + 1
"""Words (uint32) of a row: the key; key and checksum."""

_BEFORE = ("vectors.f32", "keys.bin")
"""The files in which versions before 1.0 kept the same."""


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
        self._path = folder / fingerprint / "vectors.bin"
        self._salt = np.uint32(zlib.crc32(fingerprint.encode()))
        self._table = KeyTable(keys_of(b""))
        self._stored: Vectors = np.zeros((0, dim), np.float32)
        self._fresh: dict[bytes, Vectors] = {}
        self._unsaved: list[bytes] = []
        self._inode = 0
        self._load()

    def __len__(self) -> int:
        return len(self._table) + len(self._fresh)

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
        inode, rows = 0, np.zeros((0, _HEAD + self.dim), np.uint32)
        # A cache that cannot be read is like none; what it held is embedded again.
        with contextlib.suppress(OSError), self._path.open("rb") as file:
            found = os.fstat(file.fileno())
            inode, count = found.st_ino, found.st_size // (4 * rows.shape[1])
            if count:
                rows = np.memmap(file, np.uint32, "r", shape=(count, rows.shape[1]))
        if inode != self._inode:
            self._forget_file()
            self._inode = inode
        new = rows[len(self._table) :]
        wrong = np.flatnonzero(new[:, _KEY] != self._sums(new))
        new = new[: wrong[0]] if len(wrong) else new
        self._stored = rows[: len(self._table) + len(new), _HEAD:].view(np.float32)
        self._take_in(keys_of(new[:, :_KEY].tobytes()))

    def _sums(self, rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the checksum of each row, its own place left out."""
        # Odd factors, each another one: no word can change alone, and no two change places.
        factors = 2 * np.arange(rows.shape[1], dtype=np.uint32) + 1
        factors[_KEY] = 0
        total: NDArray[np.uint32] = rows @ factors + self._salt
        return total

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
            cache_files.make(self._path.parent)
            with locked(self._path.with_name("writer.lock"), make=True) as alone:
                if alone:
                    self._append()
                    for name in _BEFORE:
                        self._path.with_name(name).unlink(missing_ok=True)
        except OSError:
            self.read_only = True

    def _append(self) -> None:
        # Another process may have added rows since this one looked.
        self._load()
        new = [key for key in dict.fromkeys(self._unsaved) if key in self._fresh]
        if new:
            rows = np.empty((len(new), _HEAD + self.dim), np.uint32)
            rows[:, :_KEY] = np.frombuffer(b"".join(new), np.uint32).reshape(-1, _KEY)
            rows[:, _HEAD:] = np.stack([self._fresh[key] for key in new]).view(np.uint32)
            rows[:, _KEY] = self._sums(rows)
            sound = len(self._table) * 4 * rows.shape[1]
            if self._path.exists() and self._path.stat().st_size != sound:
                write_file(self._path, self._path.read_bytes()[:sound], durable=False)
            how = os.O_CREAT | os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
            with os.fdopen(os.open(self._path, how, 0o600), "wb") as file:
                file.write(rows.tobytes())
            self._load()
        self._unsaved = []
