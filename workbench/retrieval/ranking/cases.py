"""What the fast forms of factors and of the parts of relevance look at, and what they are."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple, Self, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from workbench.core.tuning.profile import RELEVANCE_PARTS, Profile, RelevancePart
from workbench.core.tuning.scoring import Share
from workbench.retrieval.arrays import Column, Mask, Rows, Scores
from workbench.retrieval.fulltext.thesaurus import Matches
from workbench.retrieval.ranking.pool import Pool

V = TypeVar("V")


class ColumnCache:
    """Keeps the most recently used values, up to `limit` bytes of arrays in them; safe to share
    between threads.
    """

    def __init__(self, limit: int = 512 << 20) -> None:
        self._limit, self._size = limit, 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._making: WeakValueDictionary[Hashable, Lock] = WeakValueDictionary()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the value kept under `key`, making it first when needed.

        Who asks for what another thread is making waits for that, and for nothing else. `make` may
        ask for other keys.
        """
        found = self._found(key)
        if found is None:
            with self._lock:
                making = self._making.setdefault(key, Lock())
            with making:
                found = self._found(key) or self._kept(key, make())
        value: V = found[0]
        return value

    def _found(self, key: Hashable) -> tuple[Any, int] | None:
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
            return found

    def _kept(self, key: Hashable, value: V) -> tuple[V, int]:
        found = value, _bytes_in(value)
        with self._lock:
            self._values[key] = found
            self._size += found[1]
            while self._size > self._limit and len(self._values) > 1:
                self._size -= self._values.popitem(last=False)[1][1]
        return found


def _bytes_in(value: Any) -> int:
    """Return the bytes of the arrays in a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        value = [getattr(value, spec.name) for spec in fields(value)]
    elif isinstance(value, Mapping):
        value = list(value.values())
    return sum(map(_bytes_in, value)) if isinstance(value, list | tuple) else 0


# The memories that take part in one ranking, and who is whose neighbour among them.


@dataclass(frozen=True, eq=False)
class Candidates:
    """The chosen `rows` of a pool, ascending; a *position* is an index into them.

    `id_rank` orders the candidates by id. `order` holds their positions by session and time, and
    `linked[i]` tells whether `order[i]` and `order[i + 1]` are neighbours in one session.
    """

    rows: Rows
    everything: bool
    id_rank: Rows
    order: Rows
    linked: Mask

    @classmethod
    def of(cls, pool: Pool, mask: Mask) -> Self:
        """Choose the rows of `pool` whose flag in `mask` is set."""
        rows = np.flatnonzero(mask)
        everything = len(rows) == len(pool)
        by_session = pool.order if everything else pool.order[mask[pool.order]]
        session = pool.session[by_session]
        linked = (session[1:] == session[:-1]) & (session[1:] >= 0)
        position = np.empty(len(pool), np.intp)
        position[rows] = np.arange(len(rows))
        return cls(rows, everything, pool.id_rank[rows], position[by_session], linked)

    def __len__(self) -> int:
        return len(self.rows)

    def position(self, row: int) -> int | None:
        """Return the position of a pool row, or `None` when it does not take part."""
        at = int(np.searchsorted(self.rows, row))
        return at if at < len(self.rows) and self.rows[at] == row else None

    @cached_property
    def _place_of(self) -> Rows:
        places = np.empty(len(self), np.intp)
        places[self.order] = np.arange(len(self))
        return places

    def places(self, rows: Rows) -> Rows:
        """Return where pool rows stand in `order`, −1 for those that take no part."""
        if self.everything or not len(self):
            return self._place_of[rows] if len(self) else np.full(len(rows), -1)
        at = np.minimum(np.searchsorted(self.rows, rows), len(self) - 1)
        found: Rows = np.where(self.rows[at] == rows, self._place_of[at], -1)
        return found

    def around(self, row: int, steps: int) -> Iterator[tuple[int, int]]:
        """Yield the rows at most `steps` before (negative) and after a row in its session, with how
        far they are.
        """
        (at,) = self.places(np.array([row])).tolist()
        for way in (-1, 1) if at >= 0 else ():
            for step in range(1, steps + 1):
                link = at - step if way < 0 else at + step - 1
                if not 0 <= link < len(self.linked) or not self.linked[link]:
                    break
                yield way * step, int(self.rows[self.order[at + way * step]])

    @cached_property
    def alone(self) -> bool:
        return not self.linked.any()

    def neighbour_maximum(self, values: Column) -> Column:
        """Return for each position the larger value of its two neighbours, 0 without any; values ≥
        0.
        """
        ordered = values[self.order]
        best = np.zeros(len(values))
        best[:-1] = np.where(self.linked, ordered[1:], 0.0)
        best[1:] = np.maximum(best[1:], np.where(self.linked, ordered[:-1], 0.0))
        gained = np.empty(len(values))
        gained[self.order] = best
        return gained


@dataclass(frozen=True, eq=False)
class QueryScores:
    """Both relevance scores of a query for every row of the pool: cosine (−1…1) and absolute BM25
    (0…1).

    Where its words stand is looked up when it is first asked for; with nothing to `look` them up,
    nowhere. `known` tells where the model knows both query and text, `None` for everywhere; else
    the cosine is 0.
    """

    query: str
    dense: Scores
    lexical: Scores
    look: Callable[[str], Matches] | None = None
    known: Mask | None = None

    @cached_property
    def matches(self) -> Matches:
        """Where the query's words stand."""
        return self.look(self.query) if self.look else Matches((), np.zeros(len(self.dense)))

    @cached_property
    def relevance(self) -> Column:
        """How relevant each row is, whatever the profile: the fast form of
        `core.tuning.floor.relevance`.
        """
        both = (self.dense.astype(np.float64) + self.lexical.astype(np.float64)) / 2
        return both if self.known is None else np.where(self.known, both, self.lexical)

    def knows(self, row: int) -> bool:
        """Tell whether the model knows both query and text of a row."""
        return self.known is None or bool(self.known[row])


@dataclass(frozen=True, slots=True, eq=False)
class ColumnCase:
    """The chosen rows of a pool, ranked for a query at a moment, under a profile; `parts` make
    relevance.

    `cache` is for what they make.
    """

    pool: Pool
    chosen: Candidates
    scores: QueryScores
    profile: Profile
    now: datetime
    cache: ColumnCache = field(default_factory=ColumnCache)
    parts: Sequence[RelevancePart] = RELEVANCE_PARTS


@dataclass(frozen=True, slots=True, eq=False)
class PartColumnCase:
    """The same for a part of relevance: what the parts before it came to, and what those made that
    feed it.
    """

    case: ColumnCase
    so_far: Column | None
    """Neither to be changed nor kept; `None` for the first part."""
    fed: Mapping[str, Any]

    @property
    def chosen(self) -> Candidates:
        """The rows that take part."""
        return self.case.chosen

    @property
    def profile(self) -> Profile:
        return self.case.profile

    @property
    def known(self) -> Mask | None:
        """Which candidates the model knows, and the query, `None` for all."""
        return None if self.case.scores.known is None else self.case.scores.known[self.chosen.rows]

    def kept(self, key: tuple[Hashable, ...], make: Callable[[], V]) -> V:
        """Return what depends on the candidates, the query's scores and `key` alone; nobody may
        change it.
        """
        return self.case.cache.get((*key, self.case.chosen, self.case.scores), make)


class Columns(NamedTuple):
    """A factor as a column: `depends` names everything that the column of `make` depends on, and
    nothing else.
    """

    depends: Callable[[ColumnCase], Hashable]
    make: Callable[[ColumnCase], Column]


@dataclass(frozen=True, slots=True, eq=False)
class ShareCase:
    """One memory whose relevance is explained: its row, its position, and the shares of the parts
    before.

    `made` has what each part came to for all candidates. The position is `None` for a memory that
    takes no part in the ranking.
    """

    part: RelevancePart
    pool: Pool
    chosen: Candidates
    scores: QueryScores
    profile: Profile
    row: int
    position: int | None
    made: Mapping[str, Any]
    before: Sequence[Share]

    def made_of(self, part: str) -> float | None:
        """Return what a part came to for this memory, `None` where it did nothing."""
        column = self.made.get(part)
        return None if column is None or self.position is None else float(column[self.position])

    @property
    def added(self) -> Column:
        """What the parts before came to for all candidates, as far as they add."""
        total = np.zeros(len(self.chosen))
        for share in self.before:
            if share.part.how == "adds" and self.made.get(share.part.id) is not None:
                total += self.made[share.part.id]
        return total

    @property
    def so_far(self) -> float:
        """What the parts before came to."""
        total = 0.0
        for share in self.before:
            if share.part.how == "adds":
                total += share.amount
            elif share.part.how == "multiplies":
                total *= share.amount
        return total
