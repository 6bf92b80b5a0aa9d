"""What the plain rules of a ranking look at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, pstdev
from typing import Any

from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import RELEVANCE_PARTS, Profile, RelevancePart


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory of the pool with what relevance is made of.

    `dense` is the cosine (−1…1) and `lexical` absolute BM25 (0…1). `counts` has two numbers for
    each term that is asked for: how often the text has it, and its related words, each counted by
    how near it is (0…1). `length` is the number of the text's words without stop words. `known`
    tells whether the model knows both query and text; else the cosine is 0 and says nothing.
    """

    memory: Memory
    dense: float
    lexical: float
    counts: Sequence[tuple[float, float]] = ()
    length: float = 0.0
    known: bool = True


@dataclass(frozen=True, slots=True)
class RuleCase:
    """A pool that is ranked for a query at a moment, under a profile.

    `weights` has the inverse document frequency of each term that is asked for, `actors` everybody
    who said at least two memories of the store.
    """

    pool: Sequence[Candidate]
    profile: Profile
    now: datetime
    query: str = ""
    parts: Sequence[RelevancePart] = RELEVANCE_PARTS
    weights: Sequence[float] = ()
    actors: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PartCase:
    """The same for a part of relevance: what the parts before it came to (nothing for the first),
    and what feeds it.
    """

    case: RuleCase
    so_far: Sequence[float]
    fed: Mapping[str, Sequence[Any]]

    @property
    def pool(self) -> Sequence[Candidate]:
        """The memories that take part."""
        return self.case.pool

    @property
    def profile(self) -> Profile:
        """The settings."""
        return self.case.profile

    @property
    def usual(self) -> float:
        """What a memory seldom exceeds: mean and standard deviation of those that the model knows,
        if there are any.
        """
        pairs = zip(self.pool, self.so_far, strict=True)
        values = [value for c, value in pairs if c.known] or self.so_far
        return fmean(values) + pstdev(values)


Rule = Callable[[RuleCase], list[float]]
"""Returns one number for each candidate."""
