"""What is left of a purged record, so that it is recognised when it comes in again."""

from dataclasses import dataclass
from datetime import datetime

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class PurgedRecord:
    """A memory or bullet that was purged; `id` is its table and its key, parted by a slash.

    `marks` are keyed hashes of every text it ever held; the key stays on the machine that purged it.
    """

    id: str
    at: datetime
    marks: tuple[str, ...] = ()
    version: int = SCHEMA_VERSION
