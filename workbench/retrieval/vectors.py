"""A cache of vectors: a text is embedded once per model, over all sessions.

The cache is not truth: it can be deleted at any time and then fills itself again.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from workbench.core.errors import WorkbenchError
from workbench.retrieval.arrays import Embed, Vectors
from workbench.retrieval.file_lock import writing
from workbench.retrieval.vector_file import KEY_SIZE, NOTHING, Sound, VectorFile

BATCH = 1_024
"""Texts embedded between two looks at `cancelled`: below 0.1 s with a static model."""

SAVE_EVERY = 16 * BATCH
"""Texts embedded between two writes."""


class EmbeddingCancelled(WorkbenchError):
    """The embedding was stopped; what was embedded so far is kept."""


def text_key(text: str) -> bytes:
    """Name a text by its content: 16 bytes of BLAKE2b."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=KEY_SIZE).digest()


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
        self._row_of: dict[bytes, int] = {}
        self._stored: Vectors = np.zeros((0, dim), np.float32)
        self._fresh: dict[bytes, Vectors] = {}
        self._unsaved: list[bytes] = []
        self._sound: Sound = NOTHING
        self._load()

    def __len__(self) -> int:
        return len(self._row_of) + len(self._fresh)

    def vectors_for(
        self,
        texts: Sequence[str],
        embed: Embed,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Vectors:
        """Return float32 vectors of shape (n, dim), embedding only texts that the cache does not know.

        `progress(done, total)` counts the texts that have to be embedded. Raises `EmbeddingCancelled` when
        `cancelled()` becomes true; the vectors made until then are kept for the next call.
        """
        keys = [text_key(text) for text in texts]
        missing = {
            key: text
            for key, text in zip(keys, texts, strict=True)
            if key not in self._row_of and key not in self._fresh
        }
        try:
            self._embed_all(missing, embed, progress, cancelled)
        finally:
            self._save()
        return self._gathered(keys)

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
                raise EmbeddingCancelled(
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

    def _gathered(self, keys: Sequence[bytes]) -> Vectors:
        out = np.empty((len(keys), self.dim), np.float32)
        rows = np.array([self._row_of.get(key, -1) for key in keys], np.intp)
        known = rows >= 0
        if known.all():
            np.take(self._stored, rows, axis=0, out=out)
            return out
        out[known] = self._stored[rows[known]]
        for at in np.flatnonzero(~known).tolist():
            out[at] = self._fresh[keys[at]]
        return out

    def _knows(self, key: bytes) -> bool:
        return key in self._row_of or key in self._fresh

    def _load(self) -> None:
        """Take in the rows on disk that are not known yet."""
        try:
            sound, keys, stored = self._file.read(self._sound)
        except OSError:
            # A cache that cannot be read is like none; what it held is embedded again.
            sound, keys, stored = NOTHING, [], np.zeros((0, self.dim), np.float32)
        if sound.inode != self._sound.inode:
            self._forget_file()
        self._row_of.update(zip(keys, range(sound.rows - len(keys), sound.rows), strict=True))
        self._stored, self._sound = stored, sound
        for key in [key for key in self._fresh if key in self._row_of]:
            del self._fresh[key]

    def _forget_file(self) -> None:
        """Keep the rows of a file that somebody deleted or replaced, to write them again."""
        for key, row in self._row_of.items():
            self._fresh.setdefault(key, np.array(self._stored[row]))
        self._unsaved = [*self._row_of, *self._unsaved]
        self._row_of = {}

    def _save(self) -> None:
        """Append what is new, unless somebody else is writing or the disk refuses; then it stays in memory."""
        if self.read_only or not self._unsaved:
            return
        try:
            self._file.folder.mkdir(parents=True, exist_ok=True)
            with writing(self._file.folder / "writer.lock") as alone:
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
            self._sound, self._stored = self._file.append(new, vectors, self._sound)
            self._row_of.update(zip(new, range(self._sound.rows - len(new), self._sound.rows), strict=True))
            for key in new:
                del self._fresh[key]
        self._unsaved = []
