"""Where one stands who looks at a store as it was: a revision of its history, at which nothing can be changed."""

from datetime import datetime
from typing import NamedTuple


class PastView(NamedTuple):
    """A revision that a store is looked at from, and the latest; `at` is when it was made (`None`: nothing was yet)."""

    rev: int
    at: datetime | None
    latest: int
