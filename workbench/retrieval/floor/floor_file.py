"""A store's floors on disk, with the texts that they were reckoned from; checked before it is believed.

The file is not truth: one that is missing, torn, foreign or of other background questions is like none, and the
floor is computed again.
"""

import contextlib
import json
import math
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.core.files.atomic import write_file
from workbench.core.tuning.floor import Floor, has_changed
from workbench.retrieval import cache_folder
from workbench.retrieval.arrays import Mask
from workbench.retrieval.floor.reaching import edition
from workbench.retrieval.text_keys import Keys

Texts = NDArray[np.uint64]
"""The distinct texts of a pool, ascending: the first halves of their keys."""

_MAGIC = b"WBFLOOR\x03"
_HEADER = struct.Struct("<8s32s16sQ")
_SUM = struct.Struct("<I")


@dataclass(frozen=True, eq=False)
class Kept:
    """The floors by language or script, and the texts of the memories that they were reckoned from."""

    floors: Mapping[str, Floor]
    texts: Texts

    def fits(self, texts: Texts) -> bool:
        """Tell whether a pool with these texts is still much the same."""
        common = np.intersect1d(self.texts, texts, assume_unique=True)
        return not has_changed(len(self.texts), len(texts), len(common))


@dataclass(frozen=True, slots=True)
class FloorFile:
    """The floors of a store under one model, whose `fingerprint` names the file in `folder`."""

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
        magic, model, questions, count = _HEADER.unpack_from(raw)
        names, said = raw[_HEADER.size :][: 8 * count], raw[_HEADER.size + 8 * count : -_SUM.size]
        if (magic, model, questions) != (_MAGIC, self._model, edition().encode()) or len(names) != 8 * count:
            return None
        texts = np.frombuffer(names, "<u8").astype(np.uint64)
        floors = _floors(said)
        return Kept(floors, texts) if floors is not None and bool((texts[1:] > texts[:-1]).all()) else None

    def write(self, kept: Kept) -> None:
        """Keep floors; where it cannot be written it is computed again next time."""
        head = _HEADER.pack(_MAGIC, self._model, edition().encode(), len(kept.texts))
        said = json.dumps({script: (floor.query, floor.memory) for script, floor in kept.floors.items()})
        body = head + kept.texts.astype("<u8").tobytes() + said.encode()
        with contextlib.suppress(OSError):
            cache_folder.make(self.folder)
            write_file(self.path, body + _SUM.pack(zlib.crc32(body)), ".floor-", durable=False)

    @property
    def _model(self) -> bytes:
        return self.fingerprint.encode()[:32]


def _floors(said: bytes) -> dict[str, Floor] | None:
    """Read the floors, `None` where they are none."""
    try:
        floors = {script: Floor(float(query), float(memory)) for script, (query, memory) in json.loads(said).items()}
    except (ValueError, TypeError, AttributeError):
        return None
    return floors if all(math.isfinite(floor.query + floor.memory) for floor in floors.values()) else None


def texts_of(keys: Keys, served: Mask) -> Texts:
    """Return the distinct texts of the rows of a mask."""
    return np.unique(keys[served, 0]).astype(np.uint64, copy=False)
