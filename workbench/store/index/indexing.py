"""How a store is indexed."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

FILE = "index.sqlite"
"""Name of the index, in the cache folder of a store."""


class Indexing(NamedTuple):
    """How a store is indexed: in which cache `folder`, of which table the `news` are kept.

    `begin` makes the folder before anything is written, and raises `OSError` when that cannot be done.

    Below `least` bytes of documents there is no index: reading all of them is as fast. What so many changes after the
    index brought, `fold_after`, the next who reads them takes into it.
    """

    folder: Path
    begin: Callable[[], object]
    news: str
    least: int = 1 << 20
    fold_after: int = 200
