"""What somebody expects a store to answer, and how an answer falls short of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from workbench.core.tuning.measure import Measure

TOP = 5
"""Places within which a memory is expected where nobody says how many."""


@dataclass(frozen=True, slots=True)
class AnswerExpected:
    """What is expected of the answer to one query, asked at `now` (otherwise: at the moment of the check).

    `finds` are among the first `top`, `never` are not; with `nothing` nothing is relevant. `line` is where it stands in
    its file, 0 where that is not known.
    """

    query: str
    finds: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    nothing: bool = False
    top: int = TOP
    now: datetime | None = None
    name: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class QualityExpected:
    """A metric's mean over the judged queries of a file is at least so much; the path is from the file it stands in."""

    queries: str
    measure: Measure
    at_least: float
    name: str = ""
    line: int = 0


Expected = AnswerExpected | QualityExpected

Why = Literal[
    "below", "weak", "held", "unapproved", "hidden", "unknown", "left out", "irrelevant", "unwanted", "relevant", "low"
]
"""How an answer falls short. A memory that should be there is `below` the first ones, `weak` (below the floor), `held`
back for what it says, `unapproved`, `hidden` by its status or age, `unknown` to the store, `left out` by the profile's
filter, or nothing is relevant (`irrelevant`). One that should not be there is (`unwanted`), something is `relevant`
where nothing should be, or a metric is too `low`."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """One way in which an expectation is not met: the memory `id` at `place` (from 1), or the `value` of a metric."""

    why: Why
    id: str = ""
    place: int = 0
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Checked:
    """An expectation, and how the store falls short of it; `value` is what a metric came to."""

    expected: Expected
    shortfalls: tuple[Shortfall, ...] = ()
    value: float | None = None

    @property
    def passes(self) -> bool:
        """Whether it is met."""
        return not self.shortfalls
