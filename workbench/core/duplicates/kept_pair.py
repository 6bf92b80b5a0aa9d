"""A decision to keep two records that resemble each other, and which records such decisions hold for."""

from collections.abc import Iterable
from datetime import datetime
from hashlib import blake2b
from itertools import combinations

from workbench.core.document import Record
from workbench.core.playbook.book import Bullet
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory


class KeptPair(Record, frozen=True):
    """Two memories, or two bullets of one book, that a person keeps both, with their true cosine (−1…1) at the time.

    `book` is empty for memories. `texts` marks both texts: when one of them changes, the question is asked again;
    where it is empty nobody knows what they were, and it is never asked again.
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


class KeptApart:
    """Which records somebody keeps apart, by the decisions that were made; called with two as they are now."""

    def __init__(self, pairs: Iterable[KeptPair]) -> None:
        self._texts: dict[tuple[str, str, str], set[str]] = {}
        for pair in pairs:
            self._texts.setdefault((pair.book, pair.left, pair.right), set()).add(pair.texts)

    def __call__(self, one: Memory | Bullet, other: Memory | Bullet) -> bool:
        """Tell whether somebody keeps two records apart whose texts are what they are now."""
        left, right = sorted((one.id, other.id))
        marks = self._texts.get((_book(one), left, right))
        return marks is not None and ("" in marks or texts_mark(one, other) in marks)

    def count(self, records: Iterable[Memory | Bullet]) -> int:
        """Return how many pairs of some records are kept apart."""
        known = {(_book(record), record.id): record for record in records}
        pairs = ((known.get((book, left)), known.get((book, right))) for book, left, right in self._texts)
        return sum(one is not None and other is not None and self(one, other) for one, other in pairs)


def kept_pair(one: Memory | Bullet, other: Memory | Bullet, similarity: float, actor: str, at: datetime) -> KeptPair:
    """Return the decision to keep two records of one kind, whichever is named first."""
    left, right = sorted((one, other), key=lambda record: record.id)
    book, texts = _book(one), texts_mark(left, right)
    return KeptPair(_name(book, left.id, right.id, texts), book, left.id, right.id, similarity, texts, actor, at)


def pairs_kept_by(proposal: Proposal, actor: str) -> tuple[KeptPair, ...]:
    """Return the decisions that a proposal to merge memories stands for that `actor` turned down; of any other none.

    An old one does not say what the texts were.
    """
    if proposal.kind != "merge" or proposal.state != "rejected":
        return ()
    marks = proposal.texts if len(proposal.texts) == len(proposal.evidence) else None
    found: dict[str, KeptPair] = {}
    at, similarity = proposal.decided_at or proposal.created_at, proposal.similarity or 0.0
    for pair in combinations(zip(proposal.evidence, marks or proposal.evidence, strict=True), 2):
        (left, mark), (right, other) = sorted(pair)
        texts = "" if marks is None else f"{mark}-{other}"
        name = _name("", left, right, texts)
        if left != right:
            found[name] = KeptPair(name, "", left, right, similarity, texts, actor, at)
    return tuple(found.values())


def texts_mark(one: Memory | Bullet, other: Memory | Bullet) -> str:
    """Return a mark of both texts that changes with either."""
    from workbench.core.duplicates.groups import text_mark  # the store knows this record, but seldom needs its marks

    left, right = sorted((one, other), key=lambda record: record.id)
    return f"{text_mark(left.content)}-{text_mark(right.content)}"


def _book(record: Memory | Bullet) -> str:
    return record.book if isinstance(record, Bullet) else ""


def _name(book: str, left: str, right: str, texts: str) -> str:
    """Name the one decision about two bullets, or the one about two memories with these texts, which may come back."""
    if book:
        return f"{book}/{left}|{right}"
    mark = blake2b(f"{left}\0{right}\0{texts}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{left}|{right}|{mark if texts else ''}"
