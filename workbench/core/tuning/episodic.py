"""The score of episodes (source 004, section 2.4): five terms, for memories of the type episodic
only.

    0.5 · similarity + 0.2 · exp(−age / 30 days) + 0.15 · success + 0.1 · min(ln(1 + accesses) / 10, 1) + 0.05 · domain

The terms are grouped under the three weights that every profile has, so that one ranking, one set
of sliders and one search for better weights serve this score too: recency; importance (success and
use); relevance (similarity and domain). Under the profile's own weights the sum is exactly the
printed one. Nothing is normalised by the pool.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from workbench.core.record import as_object
from workbench.core.words import words

Term = Literal["similarity", "recency", "success", "use", "domain"]

TERMS: tuple[Term, ...] = get_args(Term)

WEIGHTS: Mapping[Term, float] = {
    "recency": 0.2,
    "success": 0.15,
    "use": 0.1,
    "similarity": 0.5,
    "domain": 0.05,
}
"""The printed weights, in the order of the groups."""

GROUPS: Mapping[str, tuple[Term, ...]] = {
    "recency": ("recency",),
    "importance": ("success", "use"),
    "relevance": ("similarity", "domain"),
}
"""Which terms share one weight of the profile."""

UNKNOWN_SUCCESS = 0.5
"""What an episode counts whose outcome nobody recorded."""

_STATUSES = {"success": 1.0, "partial": 0.0, "failure": 0.0}


@dataclass(frozen=True, slots=True)
class EpisodeTerms:
    """The five terms of one memory, each at most 1; `known` tells whether its outcome is recorded."""

    similarity: float
    recency: float
    success: float
    use: float
    domain: float
    known: bool = True


def share(term: Term) -> float:
    """Return which part of its group's weight a term has."""
    return WEIGHTS[term] / group_weight(
        next(group for group, terms in GROUPS.items() if term in terms)
    )


def group_weight(group: str) -> float:
    """Return the weight of a group: the sum of its terms' printed weights."""
    return math.fsum(WEIGHTS[term] for term in GROUPS[group])


def success_of(metadata: Mapping[str, object]) -> float | None:
    """Return 1 for a success, 0 for a failure or a partial one, `None` when it is not recorded.

    Read from `success`, `outcome.success`, `outcome.status` or `outcome`; a flag that is no boolean
    says nothing.
    """
    outcome = metadata.get("outcome")
    inner = as_object(outcome)
    for flag in (metadata.get("success"), inner.get("success")):
        if isinstance(flag, bool):
            return float(flag)
    status = inner.get("status") if inner else outcome
    return _STATUSES.get(status.strip().casefold()) if isinstance(status, str) else None


def use_of(accesses: int) -> float:
    """Return how often an episode was read, on a scale that 22 025 reads fill."""
    return min(math.log1p(accesses) / 10, 1.0)


def domains_of(category: str, section: str, metadata: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of what an episode is about."""
    named = metadata.get("domain")
    return tuple(name for name in (category, section, named) if isinstance(name, str) and name)


def in_domain(domains: Sequence[str], asked: Sequence[str]) -> bool:
    """Tell whether a domain's words stand side by side among the words of a query."""
    return any(_stands_in(words(domain.replace("_", " ")), asked) for domain in domains)


def query_words(query: str) -> list[str]:
    """Return the words of a query as `in_domain` compares them."""
    return words(query.replace("_", " "))


def _stands_in(domain: Sequence[str], asked: Sequence[str]) -> bool:
    size = len(domain)
    return bool(size) and any(
        list(asked[i : i + size]) == list(domain) for i in range(len(asked) - size + 1)
    )
