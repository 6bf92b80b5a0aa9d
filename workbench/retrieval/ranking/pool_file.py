"""The columns of a pool on disk, so that a question is answered without reading every memory for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.retrieval.cache_files import Arrays, from_texts, read_arrays, to_texts, write_arrays
from workbench.retrieval.ranking.pool import COLUMNS, Pool

EDITION = 5
"""Of another edition a file is not read."""

_NAME = "columns.npz"
_DERIVED = ("asks", "text_keys", "id_rank", "order")


@dataclass(frozen=True, eq=False)
class StoredPool:
    """A pool without its memories: of each row the id, the place that its document is found by, and the columns."""

    ids: list[str]
    places: list[str]
    sessions: dict[str, int]
    speakers: dict[str, int]
    columns: Arrays


def write(folder: Path, state: str, pool: Pool, places: Sequence[str]) -> None:
    """Keep a pool's columns for a `state` of the store; where that cannot be done, nothing is kept."""
    names = {"ids": [*pool.row_of], "places": places, "sessions": [*pool.sessions], "speakers": [*pool.speakers]}
    arrays = {name: getattr(pool, name) for name in (*COLUMNS, *_DERIVED)}
    write_arrays(folder / _NAME, f"{EDITION} {state}", arrays | {name: from_texts(names[name]) for name in names})


def read(folder: Path, state: str) -> StoredPool | None:
    """Return what is kept for a state of the store, `None` when there is nothing sound."""
    columns = read_arrays(folder / _NAME, f"{EDITION} {state}")
    if columns is None:
        return None
    ids, places, *numbered = (to_texts(columns[name]) for name in ("ids", "places", "sessions", "speakers"))
    sessions, speakers = ({name: at for at, name in enumerate(names)} for names in numbered)
    return StoredPool(ids, places, sessions, speakers, columns)
