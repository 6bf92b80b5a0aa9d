"""How a record is stored and found: its key, its document, the ids of memories, the counted fields.

Kept apart from the record types, so that a hook that adds one memory need not load them all.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from workbench.core.record import to_doc
from workbench.store.entry import Doc, DocChange
from workbench.store.records import PAIRS_SCHEMA, schema_for

PAIRS = "kept_pairs"
"""The table of the decisions to keep two records apart."""

_MEMORY_ID = re.compile(r"mem-\d{8}-(\d{7,15})\Z", re.ASCII)

FARTHEST = 10**12
"""A number in an id that somebody else chose moves the counter no farther than this, so that it can always go on."""


def schema_needed(changes: Iterable[DocChange], docs: Callable[[str], Mapping[str, Doc]], schema: int) -> int:
    """Return the least schema of a journal of `schema` that takes in these changes over the `docs` of its tables.

    A journal of the first may hold decisions of a version that did not raise it.
    """
    made: list[tuple[str, Mapping[str, object]]]
    made = [(c.table, {name: sides[1] for name, sides in c.fields.items()}) for c in changes]
    if schema < PAIRS_SCHEMA:
        made += [(PAIRS, doc) for doc in docs(PAIRS).values()]
    return max((schema_for(table, fields) for table, fields in made), default=1)


def to_document(record: object) -> Doc:
    """Return a record as it is stored: always with its `id` and `version`, even where they are the default."""
    return to_doc(record)


def memory_number(name: str) -> int | None:
    """Return the number in a memory id of our own form, `mem-YYYYMMDD-nnnnnnn`."""
    match = _MEMORY_ID.match(name)
    return int(match[1]) if match else None


def memory_id(day: datetime, number: int) -> str:
    """Name a memory: prefix, date, number."""
    return numbered_id("mem", day, number)


def numbered_id(prefix: str, day: datetime, number: int) -> str:
    """Name a record of a kind that goes by a prefix: prefix, date, number."""
    return f"{prefix}-{day:%Y%m%d}-{number:07d}"
