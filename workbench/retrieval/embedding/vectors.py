"""A cache of vectors: a text is embedded once per model, over all sessions.

The cache is not truth: it can be deleted at any time and then fills itself again.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from workbench.core.errors import WorkStopped
from workbench.core.files.locks import locked
from workbench.retrieval import cache_folder
from workbench.retrieval.arrays import Embed, Rows, Vectors
from workbench.retrieval.embedding.vector_file import NOTHING, Sound, VectorFile
from workbench.retrieval.text_keys import Keys, KeyTable, keys_of, text_keys

BATCH = 1_024
"""Texts embedded between two looks at `cancelled`: below 0.1 s with a static model."""

SAVE_EVERY = 16 * BATCH
"""Texts embedded between two writes."""

RECENT = 4_096
"""Rows that came since the keys were last put in order, found by a dictionary."""


class VectorCache:
    """Vectors of one model under `folder/fingerprint`, at most one writing process at a time.

    Readers never wait. When another process is writing, or the folder cannot be written, or `read_only`
    is set, new vectors are kept in memory only. A read-only cache touches nothing on disk, not even the
    folder. A torn, damaged or foreign file is noticed and rewritten, never trusted. Not for several threads.
    """

    def __init__(self, folder: Path, fingerprint: str, dim: int, read_only: bool = False) -> None:
        self.dim = dim
        self.read_only = read_only
        self._file = VectorFile(folder / fingerprint, fingerprint, dim)
        self._table = KeyTable(keys_of(b""))
        self._recent: dict[bytes, int] = {}
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
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        keys: Keys | None = None,
    ) -> Vectors:
        """Return float32 vectors of shape (n, dim), not to be written to, embedding only texts that are not known.

        `keys` are `text_keys(texts)`, if the caller has them already. `progress(done, total)` counts the texts
        that have to be embedded. Raises `WorkStopped` when `cancelled()` becomes true; the vectors
        made until then are kept for the next call.
        """
        keys = text_keys(texts) if keys is None else keys
        rows = self._rows(keys)
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
            rows = self._rows(keys)
        return self._gathered(keys, rows)

    def _embed_all(
        self,
        missing: dict[bytes, str],
        embed: Embed,
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
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
                raise ValueError(f"expected vectors of shape {(len(batch), self.dim)}, got {vectors.shape}")
            self._fresh.update(zip(batch, vectors, strict=True))
            self._unsaved += batch
            if len(self._unsaved) >= SAVE_EVERY:
                self._save()
            if progress is not None:
                progress(start + len(batch), len(keys))

    def _rows(self, keys: Keys) -> Rows:
        """Return the row on disk of each key, −1 for those without one."""
        rows = self._table.find(keys)
        if self._recent:
            for at in np.flatnonzero(rows < 0).tolist():
                rows[at] = self._recent.get(keys[at].tobytes(), -1)
        return rows

    def _gathered(self, keys: Keys, rows: Rows) -> Vectors:
        """Return the vectors of `keys`: of consecutive rows on disk the mapped rows themselves, else a copy."""
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
        first = self._sound.rows - len(keys)
        names = [key.tobytes() for key in keys] if len(self._recent) + len(keys) <= RECENT else None
        if names is not None:
            self._recent.update(zip(names, range(first, self._sound.rows), strict=True))
        else:
            before = keys_of(b"".join(self._recent))
            self._table = KeyTable(np.concatenate([self._table.keys, before, keys]))
            self._recent = {}
        for key, row in zip(list(self._fresh), self._rows(keys_of(b"".join(self._fresh))).tolist(), strict=True):
            if row >= 0:
                del self._fresh[key]

    def _forget_file(self) -> None:
        """Keep the rows of a file that somebody deleted or replaced, to write them again."""
        names = [key.tobytes() for key in self._table.keys] + list(self._recent)
        for row, key in enumerate(names):
            self._fresh.setdefault(key, np.array(self._stored[row]))
        self._unsaved = [*names, *self._unsaved]
        self._table = KeyTable(keys_of(b""))
        self._recent = {}

    def _save(self) -> None:
        """Append what is new, unless somebody else is writing or the disk refuses; then it stays in memory."""
        if self.read_only or not self._unsaved:
            return
        try:
            cache_folder.make(self._file.folder)
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
