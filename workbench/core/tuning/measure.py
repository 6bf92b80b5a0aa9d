"""A metric with its cut, as a person names it: `ndcg@10`, `recall@5`, `mrr@10`, `p@3`."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.core.errors import InvalidQuery
from workbench.core.tuning.metrics import ndcg, precision, recall, reciprocal_rank

Kind = Literal["ndcg", "mrr", "recall", "p"]
Compute = Callable[[Sequence[str], Mapping[str, int], int], float]

_WRITTEN = re.compile(r"(ndcg|mrr|recall|p)@([1-9]\d{0,3})")


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric cut at `k`; its definition is in `core.tuning.metrics`."""

    kind: Kind
    k: int

    @property
    def name(self) -> str:
        """How it is written in files and on the command line: `ndcg@10`."""
        return f"{self.kind}@{self.k}"

    @property
    def title(self) -> str:
        """How it is written in running text: `nDCG@10`."""
        return f"{ {'ndcg': 'nDCG', 'mrr': 'MRR', 'recall': 'Recall', 'p': 'P'}[self.kind] }@{self.k}"

    @property
    def about(self) -> str:
        """What it measures, in one sentence."""
        return {
            "ndcg": f"grades of the first {self.k}, discounted by place, over those of the best possible order",
            "mrr": f"one over the place of the first relevant memory, 0 when none is among the first {self.k}",
            "recall": f"the share of all relevant memories that is among the first {self.k}",
            "p": f"the share of the first {self.k} that is relevant",
        }[self.kind]

    def of(self, ranked: Sequence[str], grades: Mapping[str, int]) -> float:
        """Return its value, 0…1, for a ranking (distinct ids, best first)."""
        compute: dict[Kind, Compute] = {"ndcg": ndcg, "mrr": reciprocal_rank, "recall": recall, "p": precision}
        return compute[self.kind](ranked, grades, self.k)


NDCG10 = Measure("ndcg", 10)

STANDARD = (NDCG10, Measure("recall", 10), Measure("recall", 5), Measure("mrr", 10), Measure("p", 10))
"""What an evaluation always reports."""


def served(k: int) -> tuple[Measure, ...]:
    """Return the metrics of what is served by a profile that serves the best `k`, nDCG first."""
    return (Measure("ndcg", k), Measure("mrr", k), Measure("recall", k), Measure("p", k))


def reported(ks: Iterable[int]) -> tuple[Measure, ...]:
    """Return what an evaluation reports of profiles that serve so many: the usual metrics, then those at other cuts."""
    return tuple(dict.fromkeys((*STANDARD, *(measure for k in ks for measure in served(k)))))


def parse_measure(text: str) -> Measure:
    """Read a metric's name. Raises `InvalidQuery`."""
    found = _WRITTEN.fullmatch(text.strip().lower())
    if found is None:
        raise InvalidQuery(f"“{text}” is no metric.", "Write one such as ndcg@10, recall@5, mrr@10 or p@3.")
    kinds: dict[str, Kind] = {"ndcg": "ndcg", "mrr": "mrr", "recall": "recall", "p": "p"}
    return Measure(kinds[found[1]], int(found[2]))
