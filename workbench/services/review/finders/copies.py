"""Memories that say the same, as merges that nobody proposed yet."""

from workbench.core.review.proposal import Proposal
from workbench.services.review.finders.finder import Cancelled, Finder, Parts


def _find(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    deduplication, now = parts.deduplication, parts.context.now()
    plan = deduplication.standing(deduplication.plan(None, None, cancelled))
    return tuple(group.proposal(now) for group in plan.groups)


COPIES = Finder(_find, needs_model=True)
