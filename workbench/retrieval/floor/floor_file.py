"""A store's floor on disk, with the texts that it was reckoned from; checked before it is believed.

The file is not truth: one that is missing, torn, foreign or of other background questions is like none, and the
floor is computed again.
"""

import contextlib
import math
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.core.files.fresh import fresh_file
from workbench.core.tuning.floor import Floor, has_changed
from workbench.retrieval import cache_folder
from workbench.retrieval.arrays import Mask
from workbench.retrieval.floor.reaching import edition
from workbench.retrieval.text_keys import Keys

Texts = NDArray[np.uint64]
"""The distinct texts of a pool, ascending: the first halves of their keys."""

_MAGIC = b"WBFLOOR\x02"
_HEADER = struct.Struct("<8s32s16sddQ")
_SUM = struct.Struct("<I")


@dataclass(frozen=True, eq=False)
class Kept:
    """A floor and the texts of the memories that it was reckoned from."""

    floor: Floor
    texts: Texts

    def fits(self, texts: Texts) -> bool:
        """Tell whether a pool with these texts is still much the same."""
        common = np.intersect1d(self.texts, texts, assume_unique=True)
        return not has_changed(len(self.texts), len(texts), len(common))


@dataclass(frozen=True, slots=True)
class FloorFile:
    """The floor of a store under one model, whose `fingerprint` names the file in `folder`."""

    folder: Path
    fingerprint: str

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / f"{self.fingerprint}.floor"

    def read(self) -> Kept | None:
        """Return what is kept, `None` when there is nothing sound."""
        try:
            raw = self.path.read_bytes()
        except OSError:
            return None
        if len(raw) < _HEADER.size + _SUM.size or _SUM.unpack(raw[-_SUM.size :])[0] != zlib.crc32(raw[: -_SUM.size]):
            return None
        magic, model, questions, query, memory, count = _HEADER.unpack_from(raw)
        names = raw[_HEADER.size : -_SUM.size]
        if (magic, model, questions) != (_MAGIC, self._model, edition().encode()) or len(names) != 8 * count:
            return None
        texts = np.frombuffer(names, "<u8").astype(np.uint64)
        sound = math.isfinite(query) and math.isfinite(memory) and bool((texts[1:] > texts[:-1]).all())
        return Kept(Floor(query, memory), texts) if sound else None

    def write(self, kept: Kept) -> None:
        """Keep a floor; where it cannot be written it is computed again next time."""
        head = _HEADER.pack(
            _MAGIC, self._model, edition().encode(), kept.floor.query, kept.floor.memory, len(kept.texts)
        )
        body = head + kept.texts.astype("<u8").tobytes()
        with contextlib.suppress(OSError):
            cache_folder.make(self.folder)
            with fresh_file(self.path, ".floor-") as (file, draft):
                file.write(body + _SUM.pack(zlib.crc32(body)))
                file.flush()
                draft.replace(self.path)

    @property
    def _model(self) -> bytes:
        return self.fingerprint.encode()[:32]


def texts_of(keys: Keys, served: Mask) -> Texts:
    """Return the distinct texts of the rows of a mask."""
    return np.unique(keys[served, 0]).astype(np.uint64, copy=False)
