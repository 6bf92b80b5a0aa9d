"""What other tools read of a store in a database: its memories as agents are served them, and their
vectors.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from workbench.store.team.log import TeamLog

if TYPE_CHECKING:
    from psycopg import Connection

DIMENSIONS = 256
"""Numbers of a vector that the database takes."""

_MOST = 1_000
"""Rows that go over the wire together."""

_BEGIN = "select workbench.begin_index(%s, %s, %s, %s)"
_ADD = """
    select workbench.add_items(
        %s, %s::text[], %s::text[], %b::bytea[], %s::text[], %s::boolean[], %s::timestamptz[],
        %s::timestamptz[], %s::float8[], %s::float8[], %s::boolean[]
    )
"""
_KNOWN = "select hash from workbench.vectors where store = %s and model = %s"
_ADD_VECTORS = "select workbench.add_vectors(%s, %s, %b::bytea[], %s::text[])"
_DROP_VECTORS = "select workbench.drop_vectors(%s, %s, %b::bytea[])"

T = TypeVar("T")


class Item(NamedTuple):
    """A memory. `text` is what is searched of it, and `key` names that; `approved` tells whether a
    person stands by it.
    """

    id: str
    text: str
    key: bytes
    type: str
    approved: bool
    created: datetime
    accessed: datetime
    importance: float
    marks: float
    pinned: bool


class Index(NamedTuple):
    """What the memories are of: the revision of the log, its hash, and the model of the vectors."""

    rev: int
    hash: str
    model: str


def has_vectors(log: TeamLog) -> bool:
    """Tell whether the database takes vectors; else it lacks the extension."""
    return log.server.rows("select to_regclass('workbench.vectors') is not null", ()) == [(True,)]


def fill(
    log: TeamLog, index: Index, items: Sequence[Item], vectors: Mapping[bytes, Sequence[float]]
) -> None:
    """Replace what other tools read; for reviewers. `vectors` go by the keys of the items, none
    where the database takes none. Raises `StoreProblem`.
    """
    store, model = log.store, index.model

    def work(connection: "Connection[Any]") -> None:
        with connection.transaction():
            connection.execute(_BEGIN, (store, *index))
            for some in _batches(items):
                columns = [list(column) for column in zip(*some, strict=True)]
                connection.execute(_ADD, (store, *columns))
            if not vectors:
                return
            known = {key for (key,) in connection.execute(_KNOWN, (store, model))}
            connection.execute(_DROP_VECTORS, (store, model, list(known - vectors.keys())))
            for keys in _batches([*vectors.keys() - known]):
                texts = [f"[{','.join(f'{n:.5g}' for n in vectors[key])}]" for key in keys]
                connection.execute(_ADD_VECTORS, (store, model, keys, texts))

    log.server.run(work)


def _batches(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    return (rows[start : start + _MOST] for start in range(0, len(rows), _MOST))
