"""The orders in which memories can be listed, and how their dates are written: values that a saved view keeps."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from workbench.core.stream.confidence import confidence_of
from workbench.core.stream.memory import Memory

Dates = Literal["", "relative", "absolute"]
"""How dates are written; "" leaves it to what they say."""

DATES: tuple[Dates, ...] = ("", "relative", "absolute")


class Order(NamedTuple):
    """One order: its name, and what stands first in it, and first when it is turned round.

    `key` makes the greatest stand first; `None` where a ranking says how much each memory is worth. Equals keep the
    order in which they were found.
    """

    id: str
    first: str
    turned: str
    key: Callable[[Memory], tuple[float, ...]] | None


def _votes(memory: Memory) -> tuple[float, ...]:
    return (memory.helpful_count - memory.harmful_count, memory.helpful_count)


def _read(memory: Memory) -> tuple[float, ...]:
    return (memory.last_accessed_at.timestamp(),) if memory.access_count else (float("-inf"),)


SCORE = "score"

ORDERS = (
    Order("made", "the newest first", "the oldest first", lambda m: (m.created_at.timestamp(),)),
    Order("read", "what agents read last first", "what was never read, or longest ago, first", _read),
    Order("importance", "the most important first", "the least important first", lambda m: (m.importance_score,)),
    Order("votes", "the most helpful first", "the most harmful first", _votes),
    Order("confidence", "the surest first", "the least sure first", lambda m: (confidence_of(m),)),
    Order(SCORE, "the best score first", "the worst score first", None),
)
"""Those that are known."""

TURNED = "-"
"""What stands before the name of an order that is turned round."""


class Arranged(NamedTuple):
    """How a list is arranged: by an order (`-` before its name turns it round, "" as it was found), and its dates."""

    order: str = ""
    dates: Dates = ""

    @property
    def by(self) -> Order | None:
        """The order, or `None` for as it was found."""
        return find_order(self.order)

    @property
    def is_turned(self) -> bool:
        """Whether the order is turned round."""
        return self.order.startswith(TURNED)


def find_order(name: str) -> Order | None:
    """Return the order of a name, turned round or not; `None` when there is none."""
    return next((order for order in ORDERS if order.id == name.removeprefix(TURNED)), None)


def ordered(found: Sequence[Memory], arranged: Arranged, scores: Mapping[str, float] | None = None) -> Sequence[Memory]:
    """Return memories in an order; by score as far as `scores` know them, what they do not know last."""
    by = arranged.by
    if by is None:
        return found
    key = by.key
    if key is not None:
        return sorted(found, key=key, reverse=not arranged.is_turned)
    if not scores:
        return found
    known = [memory for memory in found if memory.id in scores]
    known.sort(key=lambda memory: scores[memory.id], reverse=not arranged.is_turned)
    return [*known, *(memory for memory in found if memory.id not in scores)]


class SavedView(NamedTuple):
    """A filter that a person gave a name, with how its list is arranged."""

    name: str
    filter: str
    arranged: Arranged = Arranged()
