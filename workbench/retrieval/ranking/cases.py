"""What the fast forms of factors and of the parts of relevance look at, and what they are."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar

import numpy as np

from workbench.core.tuning.factors import RELEVANCE_PARTS, RelevancePart
from workbench.core.tuning.profile import Profile
from workbench.core.tuning.scoring import Share
from workbench.retrieval.arrays import Column, Mask, Scores
from workbench.retrieval.fulltext.matches import Matches
from workbench.retrieval.ranking.candidates import Candidates
from workbench.retrieval.ranking.column_cache import ColumnCache
from workbench.retrieval.ranking.pool import Pool

V = TypeVar("V")


class AskedScores(Protocol):
    """A query and both relevance scores of every pool row."""

    @property
    def query(self) -> str:
        """The query's text."""
        ...

    @property
    def dense(self) -> Scores:
        """The cosines."""
        ...

    @property
    def lexical(self) -> Scores:
        """Absolute BM25."""
        ...

    @property
    def relevance(self) -> Column:
        """How relevant each row is, whatever the profile."""
        ...

    @property
    def known(self) -> Mask | None:
        """Where the model knows both query and text, `None` for everywhere; else the cosine is 0."""
        ...

    def knows(self, row: int) -> bool:
        """Tell whether the model knows both query and text of a row."""
        ...

    @property
    def matches(self) -> Matches:
        """Where the query's words stand."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ColumnCase:
    """The chosen rows of a pool, ranked for a query at a moment, under a profile; `parts` make relevance.

    `cache` is for what they make.
    """

    pool: Pool
    chosen: Candidates
    scores: AskedScores
    profile: Profile
    now: datetime
    cache: ColumnCache = field(default_factory=ColumnCache)
    parts: Sequence[RelevancePart] = RELEVANCE_PARTS


@dataclass(frozen=True, slots=True, eq=False)
class PartColumnCase:
    """The same for a part of relevance: what the parts before it came to, and what those made that feed it."""

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
        """The settings."""
        return self.case.profile

    @property
    def known(self) -> Mask | None:
        """Which candidates the model knows, and the query, `None` for all."""
        return None if self.case.scores.known is None else self.case.scores.known[self.chosen.rows]

    def kept(self, key: tuple[Hashable, ...], make: Callable[[], V], size: Callable[[V], int]) -> V:
        """Return what depends on the candidates, the query's scores and `key` alone; nobody may change it."""
        return self.case.cache.get((*key, self.case.chosen, self.case.scores), make, size)


@dataclass(frozen=True, slots=True)
class Columns:
    """A factor as a column: `depends` names everything that the column of `make` depends on, and nothing else."""

    depends: Callable[[ColumnCase], Hashable]
    make: Callable[[ColumnCase], Column]


def on_nothing(case: ColumnCase) -> Hashable:  # noqa: ARG001 - the signature of what a part depends on
    """Say that a part depends on the candidates, the query's scores and its parameters alone."""
    return None


@dataclass(frozen=True, slots=True)
class PartColumns:
    """A part of relevance as a column, `None` where it changes nothing; a part that feeds may make anything.

    Nobody changes a column that was made. `depends` names what it depends on beside the
    candidates, the query's scores and the part's parameters.
    """

    make: Callable[[PartColumnCase], Any]
    depends: Callable[[ColumnCase], Hashable] = on_nothing


@dataclass(frozen=True, slots=True, eq=False)
class ShareCase:
    """One memory whose relevance is explained: its row, its position, and the shares of the parts before.

    `made` has what each part came to for all candidates. The position is `None` for a memory that takes no part in
    the ranking.
    """

    part: RelevancePart
    pool: Pool
    chosen: Candidates
    scores: AskedScores
    profile: Profile
    now: datetime
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


Explain = Callable[[ShareCase], Share]
"""Tells a part's share in one memory's relevance."""
