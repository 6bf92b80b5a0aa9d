"""Relevance as a column, made by its parts one after the other; the plain rules are in `core.tuning.rules`."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from workbench.core.tuning.factors import implementation
from workbench.core.tuning.profile import value_of
from workbench.retrieval.arrays import Column
from workbench.retrieval.ranking.cases import ColumnCase, Columns, PartColumnCase, PartColumns, Share, ShareCase


def relevance_column(case: ColumnCase) -> Column:
    """Let the parts of the recipe make the relevance of all candidates."""
    so_far: Column | None = None
    own = False  # what the first part made is only read: parts after it may read it, too
    made: dict[str, Any] = {}
    for part in case.recipe.parts:
        columns: PartColumns = implementation(part.columns)
        made[part.id] = column = columns.make(PartColumnCase(case, so_far, made))
        if column is None or part.how == "feeds":
            continue
        if so_far is None:
            so_far = column if part.how == "adds" else np.zeros(len(case.chosen))
        else:
            join = np.add if part.how == "adds" else np.multiply
            so_far, own = join(so_far, column, out=so_far if own else None), True
    return np.zeros(len(case.chosen)) if so_far is None else so_far


def _depends(case: ColumnCase) -> Hashable:
    keys = {knob.key: knob.default for part in case.recipe.parts for knob in part.parameters}
    values = tuple(value_of(case.profile, key, default) for key, default in keys.items())
    return (case.scores, values, tuple(implementation(p.columns).depends(case) for p in case.recipe.parts))


def _dense(case: PartColumnCase) -> Column:
    column: Column = np.multiply(case.case.scores.dense[case.chosen.rows], case.profile.blend, dtype=np.float64)
    return column


def _lexical(case: PartColumnCase) -> Column:
    share = 1 - case.profile.blend
    column: Column = np.multiply(case.case.scores.lexical[case.chosen.rows], share, dtype=np.float64)
    return column


def _contiguity(case: PartColumnCase) -> Column | None:
    so_far, contiguity = case.so_far, case.profile.contiguity
    if so_far is None or not contiguity or not len(so_far) or case.chosen.alone:
        return None
    excess = so_far - (so_far.mean() + so_far.std())
    np.maximum(excess, 0.0, out=excess)
    gained: Column = contiguity * case.chosen.neighbour_maximum(excess)
    return gained


def dense_share(case: ShareCase) -> Share:
    """Tell the share of the cosine."""
    value, times = float(case.scores.dense[case.row]), case.profile.blend
    return Share(case.part, value, times, times * value)


def lexical_share(case: ShareCase) -> Share:
    """Tell the share of absolute BM25."""
    value, times = float(case.scores.lexical[case.row]), 1 - case.profile.blend
    return Share(case.part, value, times, times * value)


def contiguity_share(case: ShareCase) -> Share:
    """Tell what neighbours in the session add: what is left of the relevance."""
    adds = case.profile.contiguity and case.profile.scorer == "factors" and case.relevance is not None
    gained = max(0.0, case.relevance - case.so_far) if adds and case.relevance is not None else 0.0
    return Share(case.part, gained, None, gained)


DENSE, LEXICAL, CONTIGUITY = PartColumns(_dense), PartColumns(_lexical), PartColumns(_contiguity)

RELEVANCE = Columns(_depends, relevance_column)
