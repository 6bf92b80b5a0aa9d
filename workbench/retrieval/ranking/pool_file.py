"""The columns of a pool on disk, so that a question is answered without reading every memory for it.

The file is not truth: one that is missing, torn or of another state of the store is like none.
"""

import contextlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.core.files.atomic import write_file
from workbench.retrieval import cache_folder
from workbench.retrieval.ranking.pool import COLUMNS, Pool

EDITION = 4
"""Of another edition a file is not read."""

_NAME = "pool.columns"
_DERIVED = ("asks", "text_keys", "id_rank", "order")


@dataclass(frozen=True, eq=False)
class StoredPool:
    """A pool without its memories: of each row the id, the place that its document is found by, and the columns."""

    ids: tuple[str, ...]
    places: tuple[str, ...]
    sessions: dict[str, int]
    speakers: dict[str, int]
    columns: dict[str, NDArray[Any]]


def write(folder: Path, state: str, pool: Pool, places: Sequence[str]) -> None:
    """Keep a pool's columns for a `state` of the store; where that cannot be done, nothing is kept."""
    names = {"ids": list(pool.row_of), "places": places, "sessions": pool.sessions, "speakers": pool.speakers}
    arrays = {name: _packed(list(value)) for name, value in names.items()}
    arrays |= {name: getattr(pool, name) for name in (*COLUMNS, *_DERIVED)}
    held = BytesIO()
    np.savez(held, allow_pickle=False, **arrays)
    body = held.getvalue()
    with contextlib.suppress(OSError):
        cache_folder.make(folder)
        write_file(folder / _NAME, (_header(state, body), body), ".pool-", durable=False)


def read(folder: Path, state: str) -> StoredPool | None:
    """Return what is kept for a state of the store, `None` when there is nothing sound."""
    try:
        raw = (folder / _NAME).read_bytes()
        size = len(_header(state, b""))
        if raw[:size] != _header(state, raw[size:]):
            return None
        with np.load(BytesIO(raw[size:]), allow_pickle=False) as arrays:
            columns = {name: arrays[name] for name in (*COLUMNS, *_DERIVED)}
            names = {name: _unpacked(arrays[name]) for name in ("ids", "places", "sessions", "speakers")}
    except (OSError, ValueError, KeyError, zlib.error):
        return None
    sessions, speakers = ({name: at for at, name in enumerate(names[kind])} for kind in ("sessions", "speakers"))
    return StoredPool(names["ids"], names["places"], sessions, speakers, columns)


def _header(state: str, body: bytes) -> bytes:
    return b"WBPOOL%02d %s %08x\n" % (EDITION, state.encode(), zlib.crc32(body))


def _packed(names: Sequence[str]) -> NDArray[np.uint8]:
    """Return texts as bytes: how long each is, and all of them after each other."""
    coded = [name.encode("utf-8", "surrogatepass") for name in names]
    lengths = np.array([len(coded), *map(len, coded)], "<u4")
    return np.frombuffer(lengths.tobytes() + b"".join(coded), np.uint8)


def _unpacked(data: NDArray[np.uint8]) -> tuple[str, ...]:
    raw = data.tobytes()
    count = int(np.frombuffer(raw, "<u4", 1)[0])
    ends = np.cumsum(np.frombuffer(raw, "<u4", count, 4)).tolist()
    text, start = raw[4 + 4 * count :], 0
    if text.isascii():
        whole = text.decode("ascii")
        return tuple(whole[a:b] for a, b in zip([0, *ends], ends, strict=False))
    found = []
    for end in ends:
        found.append(text[start:end].decode("utf-8", "surrogatepass"))
        start = end
    return tuple(found)
