"""Memories that name what is not in the working tree any more, where its past is known."""

from workbench.bench.claims.checking import KIND, StillTrue
from workbench.bench.review.finders.finder import Cancelled, Finder, Parts
from workbench.core.review.proposal import Proposal


def _find(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    """Bullets are asked about as the Curator's are, once somebody put what was found into Review."""
    still_true = StillTrue(parts.context)
    if not still_true.has_past:
        return ()
    found = still_true.plan(cancelled=cancelled).found
    return tuple(stale.proposal for stale in found if stale.proposal.kind == KIND)


CLAIMS = Finder(_find)
