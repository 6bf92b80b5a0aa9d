"""How a store is indexed."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from workbench.store.entry import Doc

MarksOf = Callable[[str, Doc], tuple[str | None, str | None]]
"""Returns of a record in a table the state in which it waits for something, if it does, and when it was made."""

FILE = "index.sqlite"
"""Name of the index, in the cache folder of a store."""


class Indexing(NamedTuple):
    """How a store is indexed: in which cache `folder`, by what marks, of which table the `news` are kept.

    `begin` makes the folder before anything is written, and raises `OSError` when that cannot be done.

    Below `least` bytes of documents there is no index: reading all of them is as fast. What so many changes after the
    index brought, `fold_after`, the next who reads them takes into it.
    """

    folder: Path
    begin: Callable[[], object]
    marks_of: MarksOf
    news: str
    least: int = 1 << 20
    fold_after: int = 200
