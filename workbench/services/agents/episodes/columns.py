"""Which episodes are meant, over columns: the fast form of `Criteria.fit` and `Criteria.fit_digest`."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import numpy as np

from workbench.core.agents.episodes.criteria import RECENT, Criteria
from workbench.core.agents.episodes.episode import KIND, STATUSES
from workbench.core.agents.episodes.phases import BEGINS
from workbench.core.record import moved
from workbench.core.tuning.episodic import in_domain, query_words
from workbench.retrieval.arrays import Mask
from workbench.retrieval.ranking.times import micros
from workbench.services.agents.episodes.pool import EpisodePool

_ACTIVE, _ARCHIVED, _DELETED = (STATUSES.index(status) for status in ("active", "archived", "deleted"))


def fitting(pool: EpisodePool, criteria: Criteria, now: datetime) -> Mask:
    """Return which episodes of a pool are meant."""
    mask = (pool.at <= micros(now)) & _in_phase(pool, criteria, now)
    if criteria.only_successful:
        mask &= pool.success
    if criteria.prefer_recent:
        mask &= pool.at >= micros(moved(now, -RECENT))
    if criteria.since is not None:
        mask &= pool.at >= micros(criteria.since)
    if criteria.until is not None:
        mask &= pool.at <= micros(criteria.until)
    for attribute, wanted in _asked(criteria):
        one: Mask = np.zeros(len(pool), np.bool_)
        rows = pool.named(attribute).get(wanted.casefold())
        if rows is not None:
            one[rows] = True
        mask &= one
    return mask


def in_domains(pool: EpisodePool, text: str) -> Mask:
    """Return which episodes are of a domain that a text names."""
    asked, found = query_words(text), np.zeros(len(pool), np.bool_)
    for domain, rows in pool.named("domain").items():
        if in_domain((domain,), asked):
            found[rows] = True
    return found


def _asked(criteria: Criteria) -> Iterator[tuple[str, str]]:
    """Yield the attributes that are asked for."""
    if criteria.domain:
        yield "domain", criteria.domain[:KIND]
    if criteria.type:
        yield "type", criteria.type[:KIND]
    for attribute in ("outcome", "tag", "session", "tool", "strategy"):
        wanted: str = getattr(criteria, attribute)
        if wanted:
            yield attribute, wanted


def _in_phase(pool: EpisodePool, criteria: Criteria, now: datetime) -> Mask:
    active, archived = _is(pool, _ACTIVE), _is(pool, _ARCHIVED)
    if criteria.phase == "deleted":
        return _is(pool, _DELETED)
    if criteria.every and not criteria.phase:
        return active | archived
    if criteria.phase == "archived":
        return archived | (active & older(pool, BEGINS["archived"], now))
    if not criteria.phase:
        return active & ~older(pool, BEGINS["archived"], now)
    phases = list(BEGINS)
    first = phases.index(next(phase for phase in phases if phase == criteria.phase))
    young = active & ~older(pool, BEGINS[phases[first + 1]], now)
    return young & older(pool, BEGINS[phases[first]], now) if first else young


def _is(pool: EpisodePool, status: int) -> Mask:
    found: Mask = np.equal(pool.status, status)
    return found


def older(pool: EpisodePool, days: int, now: datetime) -> Mask:
    """Tell which are so many days old, or older."""
    found: Mask = np.less_equal(pool.at, micros(moved(now, -timedelta(days=days))))
    return found
