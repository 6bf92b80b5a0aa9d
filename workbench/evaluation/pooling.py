"""The judging pool: what a person should look at for a query, whatever the present setting shows.

Judging only today's top ten teaches nothing about what it misses, so the pool is the union of the
top tens under very different settings, shuffled, so that the order gives nothing away.
"""

from collections.abc import Collection, Iterator
from datetime import datetime
from random import Random

from workbench.core.tuning.profile import (
    FACTORS,
    PARAMETERS,
    RELEVANCE,
    RELEVANCE_PARTS,
    Profile,
    with_value,
)
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.ranker import Ranker

DEPTH = 10
"""How many of the best each corner contributes."""


def corners(profile: Profile) -> Iterator[Profile]:
    """Yield a profile and its corner settings: each factor alone, the mixtures, each kind of
    relevance alone.
    """
    yield profile
    ids = [factor.id for factor in FACTORS]
    others = [id for id in ids if id != RELEVANCE]
    for counting in (
        [RELEVANCE],
        *([id] for id in others),
        *([id, RELEVANCE] for id in others),
        ids,
    ):
        yield _weighted(profile, counting)
    for part in RELEVANCE_PARTS:
        if part.alone:
            alone = _weighted(profile, [RELEVANCE])
            for knob in PARAMETERS:
                alone = with_value(alone, knob.key, dict(part.alone).get(knob.key, 0.0))
            yield alone


def judging_pool(
    ranker: Ranker,
    scores: QueryScores,
    profile: Profile,
    now: datetime,
    *,
    depth: int = DEPTH,
    seed: int = 0,
) -> tuple[str, ...]:
    """Return the union of the first `depth` under every corner, shuffled by `seed` and the query's
    text.
    """
    found = {
        id for corner in corners(profile) for id in ranker.rank(scores, corner, now, depth).ids
    }
    # Sorted first: the order of a set is not the same in every process.
    ids = sorted(found)
    Random(f"{seed}\n{scores.query}").shuffle(ids)
    return tuple(ids)


def _weighted(profile: Profile, counting: Collection[str]) -> Profile:
    """Return the profile with the same weight for some factors, and none for the others."""
    for factor in FACTORS:
        profile = with_value(profile, factor.weight, float(factor.id in counting))
    return profile
