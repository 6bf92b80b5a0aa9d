"""Relevance as a column, made by its parts one after the other."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import numpy as np

from workbench.core.named import implementation
from workbench.core.runtime import may_stop
from workbench.core.tuning.factors import How, parameters_of
from workbench.core.tuning.profile import value_of
from workbench.core.tuning.scoring import Share
from workbench.retrieval.arrays import Column
from workbench.retrieval.ranking.cases import ColumnCase, Columns, PartColumnCase, PartColumns, ShareCase
from workbench.retrieval.ranking.conversation import absolute_column, usual


def relevance_column(case: ColumnCase) -> Column:
    """Let the parts make the relevance of all candidates. Raises `Stopped`."""
    so_far = _made(case)[0]
    return np.zeros(len(case.chosen)) if so_far is None else so_far


def part_columns(case: ColumnCase) -> Mapping[str, Any]:
    """Return what each part comes to for all candidates, by its id; `None` for one that changes nothing."""
    return _made(case)[1]


Made = tuple[Column | None, Mapping[str, Any]]


def _made(case: ColumnCase) -> Made:
    """Return the relevance and its parts, remembered: who asks for the one soon asks for the others."""
    parts = tuple(part.id for part in case.parts)
    return case.cache.get(("parts", parts, case.chosen, _depends(case)), partial(_joined_parts, case), _bytes)


def _joined_parts(case: ColumnCase) -> Made:
    so_far: Column | None = None
    fed: dict[str, Any] = {}
    made: dict[str, Any] = {}
    for part in case.parts:
        may_stop()
        columns: PartColumns = implementation(part.columns)
        made[part.id] = columns.make(PartColumnCase(case, so_far, fed))
        if part.how == "feeds":
            fed[part.id] = made[part.id]
        else:
            so_far = _joined(so_far, part.how, made[part.id])
    return so_far, made


def _bytes(made: Made) -> int:
    so_far, parts = made
    columns = (so_far, *parts.values())
    return 1 + sum(column.nbytes for column in columns if isinstance(column, np.ndarray))


def _joined(so_far: Column | None, how: How, column: Column | None) -> Column | None:
    """Add a column to what there is so far, in place, or multiply by it; nothing times a column is nothing."""
    if column is None:
        return so_far
    if so_far is None:
        return column.copy() if how == "adds" else None
    joined: Column = (np.add if how == "adds" else np.multiply)(so_far, column, out=so_far)
    return joined


def _depends(case: ColumnCase) -> Hashable:
    values = tuple(value_of(case.profile, knob.key, knob.default) for knob in parameters_of(case.parts))
    return (
        case.scores,
        case.profile.lexical,
        values,
        tuple(implementation(p.columns).depends(case) for p in case.parts),
    )


def _dense(case: PartColumnCase) -> Column:
    column: Column = np.multiply(case.case.scores.dense[case.chosen.rows], case.profile.blend, dtype=np.float64)
    return column


def _lexical(case: PartColumnCase) -> Column:
    share: float | Column = 1 - case.profile.blend
    if case.known is not None:
        share = np.where(case.known, share, 1.0)
    if case.profile.lexical == "absolute":
        return share * absolute_column(case)
    column: Column = np.multiply(case.case.scores.lexical[case.chosen.rows], share, dtype=np.float64)
    return column


def _contiguity(case: PartColumnCase) -> Column | None:
    so_far, contiguity = case.so_far, case.profile.contiguity
    if so_far is None or not contiguity or not len(so_far) or case.chosen.alone:
        return None
    excess = so_far - usual(so_far, case.known)
    np.maximum(excess, 0.0, out=excess)
    gained: Column = contiguity * case.chosen.neighbour_maximum(excess)
    return gained


def dense_share(case: ShareCase) -> Share:
    """Tell the share of the cosine."""
    value, times = float(case.scores.dense[case.row]), case.profile.blend
    known = case.scores.known
    facts: dict[str, str | float] = {}
    if known is not None and not known[case.row]:
        facts = {"what": "text" if known.any() else "query or the text"}
    return Share(case.part, value, times, times * value, facts)


def lexical_share(case: ShareCase) -> Share:
    """Tell the share of full text."""
    times, amount = 1 - case.profile.blend if case.scores.knows(case.row) else 1.0, case.made_of("lexical")
    if case.profile.lexical == "absolute" and amount is not None:
        return Share(case.part, amount / times if times else 0.0, times, amount)
    value = float(case.scores.lexical[case.row])
    return Share(case.part, value, times, times * value)


def contiguity_share(case: ShareCase) -> Share:
    """Tell what neighbours in the session add."""
    gained = case.made_of("contiguity") or 0.0
    return Share(case.part, gained, None, gained)


DENSE, LEXICAL, CONTIGUITY = PartColumns(_dense), PartColumns(_lexical), PartColumns(_contiguity)

RELEVANCE = Columns(_depends, relevance_column)
