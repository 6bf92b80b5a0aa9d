"""How many proposals wait, by what is stored of them: nobody who only counts them is to wait for
the records.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from workbench.core.record import parse_time
from workbench.core.review.kinds import is_noise
from workbench.store.entry import Doc
from workbench.store.library import Library


def count_waiting(library: Library, now: datetime) -> int:
    """Return how many proposals and candidates are open and not put off, without what may be noise."""
    candidates = library.stored_waiting("memories", "candidate")
    return count_open(candidates, library.stored_waiting("proposals", "open"), now)


def count_open(candidates: Iterable[Doc], proposals: Iterable[Doc], now: datetime) -> int:
    """Return how many of them are not put off, without what may be noise."""
    decisions = (doc for doc in proposals if not is_noise(str(doc.get("kind"))))
    return sum(not _is_put_off(doc, now) for doc in (*candidates, *decisions))


def _is_put_off(doc: Mapping[str, object], now: datetime) -> bool:
    until = doc.get("review_after")
    try:
        return isinstance(until, str) and parse_time(until) > now
    except (ValueError, OverflowError):
        return False
