"""The five terms of an episode's score (`core.tuning.episodic`) as columns."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from workbench.core.tuning.episodic import (
    GROUPS,
    TERMS,
    UNKNOWN_SUCCESS,
    EpisodeTerms,
    Term,
    in_domain,
    query_words,
    share,
)
from workbench.core.tuning.factors import PLAIN_PARTS
from workbench.retrieval.arrays import Column, Mask
from workbench.retrieval.ranking.cases import ColumnCase
from workbench.retrieval.ranking.columns import FactorColumn, recency_column, unnormalised
from workbench.retrieval.ranking.relevance import relevance_column


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
    factors: dict[str, FactorColumn]

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


def episode_columns(case: ColumnCase) -> EpisodeColumns:
    """Compute the terms of the chosen episodes, of which there is at least one."""
    chosen, fields, asked = case.chosen, case.pool.episodes, query_words(case.scores.query)
    relevance = relevance_column(replace(case, parts=PLAIN_PARTS))
    success = fields.success[chosen.rows]
    matches = np.array([in_domain(names, asked) for names in fields.domains], np.float64)
    columns: dict[Term, Column] = {
        "similarity": np.maximum(relevance, 0.0),
        "recency": recency_column(case),
        "success": np.where(np.isnan(success), UNKNOWN_SUCCESS, success),
        "use": fields.use[chosen.rows],
        "domain": matches[fields.domain[chosen.rows]],
    }
    factors = {group: unnormalised(_sum(group, columns), chosen) for group in GROUPS}
    known: Mask = ~np.isnan(success)
    similarity, recency, success, use, domain = (columns[term] for term in TERMS)
    return EpisodeColumns(similarity, recency, success, use, domain, known, factors)


def _sum(group: str, columns: Mapping[Term, Column]) -> Column:
    total: Column = np.zeros(len(columns["recency"]))
    for term in GROUPS[group]:
        total += share(term) * columns[term]
    return total
