"""A decision to keep two bullets that resemble each other."""

from dataclasses import dataclass
from datetime import datetime

from workbench.core.playbook.book import Bullet


@dataclass(frozen=True, slots=True)
class KeptPair:
    """Two bullets of one book that a person keeps both, with their true cosine (−1…1) at the time.

    `texts` marks both texts: when one of them changes, the question is asked again.
    """

    id: str
    book: str
    left: str
    right: str
    similarity: float
    texts: str
    actor: str
    at: datetime
    version: int = 1


def kept_pair(one: Bullet, other: Bullet, similarity: float, actor: str, at: datetime) -> KeptPair:
    """Return the decision to keep two bullets, whichever is named first."""
    left, right = sorted((one, other), key=lambda bullet: bullet.id)
    return KeptPair(pair_id(one, other), one.book, left.id, right.id, similarity, texts_mark(left, right), actor, at)


def pair_id(one: Bullet, other: Bullet) -> str:
    """Name the one decision about two bullets."""
    left, right = sorted((one.id, other.id))
    return f"{one.book}/{left}|{right}"


def texts_mark(one: Bullet, other: Bullet) -> str:
    """Return a mark of both texts that changes with either."""
    from workbench.core.duplicates.groups import text_mark  # the store knows this record, but seldom needs its marks

    left, right = sorted((one, other), key=lambda bullet: bullet.id)
    return f"{text_mark(left.content)}-{text_mark(right.content)}"
