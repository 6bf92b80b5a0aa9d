"""The five terms of an episode's score as columns: the fast form of `core.episodic`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

import numpy as np

from workbench.core.tuning.episodic import (
    GROUPS,
    TERMS,
    UNKNOWN_SUCCESS,
    EpisodeTerms,
    Group,
    Term,
    in_domain,
    query_words,
    share,
)
from workbench.core.tuning.profile import Profile
from workbench.retrieval.arrays import Column, Mask, Scores
from workbench.retrieval.ranking.candidates import Candidates
from workbench.retrieval.ranking.columns import FactorColumn, recency_column, relevance_column, unnormalised
from workbench.retrieval.ranking.pool import Pool


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


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeColumns:
    """The terms of all candidates, one number each, and the three factors that they add up to.

    `known` tells whose outcome is recorded; the others have the success of an unknown one.
    """

    similarity: Column
    recency: Column
    success: Column
    use: Column
    domain: Column
    known: Mask
    factors: dict[Group, FactorColumn]

    def terms(self, position: int) -> EpisodeTerms:
        """Return the terms of one candidate."""
        return EpisodeTerms(
            float(self.similarity[position]),
            float(self.recency[position]),
            float(self.success[position]),
            float(self.use[position]),
            float(self.domain[position]),
            bool(self.known[position]),
        )


def episode_columns(
    pool: Pool, chosen: Candidates, scores: AskedScores, profile: Profile, now: datetime
) -> EpisodeColumns:
    """Compute the terms of the chosen episodes, of which there is at least one."""
    fields, asked = pool.episodes, query_words(scores.query)
    relevance = relevance_column(chosen, scores.dense, scores.lexical, replace(profile, contiguity=0.0))
    success = fields.success[chosen.rows]
    matches = np.array([in_domain(names, asked) for names in fields.domains], np.float64)
    columns: dict[Term, Column] = {
        "similarity": np.maximum(relevance, 0.0),
        "recency": recency_column(pool, chosen, profile, now),
        "success": np.where(np.isnan(success), UNKNOWN_SUCCESS, success),
        "use": fields.use[chosen.rows],
        "domain": matches[fields.domain[chosen.rows]],
    }
    factors = {group: unnormalised(_sum(group, columns), chosen) for group in GROUPS}
    known: Mask = ~np.isnan(success)
    similarity, recency, success, use, domain = (columns[term] for term in TERMS)
    return EpisodeColumns(similarity, recency, success, use, domain, known, factors)


def _sum(group: Group, columns: Mapping[Term, Column]) -> Column:
    total: Column = np.zeros(len(columns["recency"]))
    for term in GROUPS[group]:
        total += share(term) * columns[term]
    return total
