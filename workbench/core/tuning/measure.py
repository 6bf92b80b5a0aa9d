"""A metric with its cut, as a person names it: `ndcg@10`, `recall@5`, `mrr@10`, `p@3`."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple, cast

from workbench.core.record import InvalidQuery

# How good a ranking is, against graded judgments.
#
# The definitions are those of trec_eval and ranx: linear gain, discount log₂(place + 1), an
# unjudged memory counts as grade 0, and a memory is relevant from grade 1 on. How many of the top k
# are unjudged is counted apart, because a metric over unjudged results says little.


RELEVANT_FROM = 1
"""The lowest grade that counts as relevant for MRR, recall and precision."""


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return nDCG@k: the discounted gain of the ranking over that of the best possible one.

    The gain of a result is its grade, divided by log₂(place + 1); the best ranking has all judged
    memories by falling grade. 0 when nothing is relevant.
    """
    ideal = _discounted(sorted((g for g in grades.values() if g > 0), reverse=True)[:k])
    return _discounted([max(0, grades.get(id, 0)) for id in ranked[:k]]) / ideal if ideal else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return RR@k: one over the place of the first relevant result, 0 when none is among the top k."""
    hits = (place for place, id in enumerate(ranked[:k], 1) if _relevant(grades, id))
    return 1 / place if (place := next(hits, 0)) else 0.0


def recall(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return Recall@k: the share of all relevant memories that are among the top k; 0 when there
    are none.
    """
    every = sum(grade >= RELEVANT_FROM for grade in grades.values())
    return sum(_relevant(grades, id) for id in ranked[:k]) / every if every else 0.0


def precision(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return P@k: relevant results among the top k, over k, also when fewer than k were returned."""
    return sum(_relevant(grades, id) for id in ranked[:k]) / k


def unjudged(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> int:
    """Count the results among the top k that nobody judged for this query."""
    return sum(id not in grades for id in ranked[:k])


def _relevant(grades: Mapping[str, int], id: str) -> bool:
    return grades.get(id, 0) >= RELEVANT_FROM


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))


Kind = Literal["ndcg", "mrr", "recall", "p"]

_KINDS: Mapping[Kind, tuple[str, Callable[[Sequence[str], Mapping[str, int], int], float], str]] = {
    "ndcg": ("nDCG", ndcg, "grades of the first {k}, discounted by place, over those of the best possible order"),
    "mrr": (
        "MRR", reciprocal_rank, "one over the place of the first relevant memory, 0 when none is among the first {k}",
    ),
    "recall": ("Recall", recall, "the share of all relevant memories that is among the first {k}"),
    "p": ("P", precision, "the share of the first {k} that is relevant"),
}  # fmt: skip
"""The name of each kind in running text, what computes it, and what it is."""

_WRITTEN = re.compile(r"(ndcg|mrr|recall|p)@([1-9]\d{0,3})")


class Measure(NamedTuple):
    """One metric cut at `k`; its definition is in `core.tuning.measure`."""

    kind: Kind
    k: int

    @property
    def name(self) -> str:
        """How it is written in files and on the command line: `ndcg@10`."""
        return f"{self.kind}@{self.k}"

    @property
    def title(self) -> str:
        """How it is written in running text: `nDCG@10`."""
        return f"{_KINDS[self.kind][0]}@{self.k}"

    @property
    def about(self) -> str:
        return _KINDS[self.kind][2].format(k=self.k)

    def of(self, ranked: Sequence[str], grades: Mapping[str, int]) -> float:
        """Return its value, 0…1, for a ranking (distinct ids, best first)."""
        return _KINDS[self.kind][1](ranked, grades, self.k)


NDCG10 = Measure("ndcg", 10)

STANDARD = (
    NDCG10,
    Measure("recall", 10),
    Measure("recall", 5),
    Measure("mrr", 10),
    Measure("p", 10),
)
"""What an evaluation always reports."""


def served(k: int) -> tuple[Measure, ...]:
    """Return the metrics of what is served by a profile that serves the best `k`, nDCG first."""
    return (Measure("ndcg", k), Measure("mrr", k), Measure("recall", k), Measure("p", k))


def reported(ks: Iterable[int]) -> tuple[Measure, ...]:
    """Return what an evaluation reports of profiles that serve so many: the usual metrics, then
    those at other cuts.
    """
    return tuple(dict.fromkeys((*STANDARD, *(measure for k in ks for measure in served(k)))))


def parse_measure(text: str) -> Measure:
    """Read a metric's name. Raises `InvalidQuery`."""
    found = _WRITTEN.fullmatch(text.strip().lower())
    if found is None:
        raise InvalidQuery(
            f"“{text}” is not a metric.", "Write one such as ndcg@10, recall@5, mrr@10 or p@3."
        )
    return Measure(cast(Kind, found[1]), int(found[2]))


# What somebody expects a store to answer, and how an answer falls short of it.


TOP = 5
"""Places within which a memory is expected where nobody says how many."""


class AnswerExpected(NamedTuple):
    """What is expected of the answer to one query, asked at `now` (otherwise: at the moment of the
    check).

    `finds` are among the first `top`, `never` are not; with `nothing` nothing is relevant. `line`
    is where it stands in its file, 0 where that is not known.
    """

    query: str
    finds: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    nothing: bool = False
    top: int = TOP
    now: datetime | None = None
    name: str = ""
    line: int = 0


class QualityExpected(NamedTuple):
    """A metric's mean over the judged queries of a file is at least so much; the path is from the
    file it stands in.
    """

    queries: str
    measure: Measure
    at_least: float
    name: str = ""
    line: int = 0


Expected = AnswerExpected | QualityExpected

Why = Literal[
    "below",
    "weak",
    "held",
    "unapproved",
    "hidden",
    "unknown",
    "left out",
    "irrelevant",
    "unwanted",
    "relevant",
    "low",
]
"""How an answer falls short. A memory that should be there is `below` the first ones, `weak` (below
the floor), `held` back for what it says, `unapproved`, `hidden` by its status or age, `unknown` to
the store, `left out` by the profile's filter, or nothing is relevant (`irrelevant`). One that
should not be there is (`unwanted`), something is `relevant` where nothing should be, or a metric is
too `low`.
"""


class Shortfall(NamedTuple):
    """One way in which an expectation is not met: the memory `id` at `place` (from 1), or the
    `value` of a metric.
    """

    why: Why
    id: str = ""
    place: int = 0
    value: float = 0.0


class Checked(NamedTuple):
    """An expectation, and how the store falls short of it; `value` is what a metric came to."""

    expected: Expected
    shortfalls: tuple[Shortfall, ...] = ()
    value: float | None = None

    @property
    def passes(self) -> bool:
        return not self.shortfalls
