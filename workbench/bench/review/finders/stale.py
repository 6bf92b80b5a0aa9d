"""Memories that name what is not in the working tree any more."""

from workbench.bench.claims.checking import KIND
from workbench.bench.review.finders.finder import Cancelled, Finder, Parts
from workbench.core.review.proposal import Proposal


def _find(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    """Bullets are asked about as the Curator's are, once somebody put what was found into Review."""
    folder = parts.still_true.folder
    if folder is None or not folder.is_dir():
        return ()
    found = parts.still_true.plan(folder, cancelled).found
    return tuple(one.proposal for one in found if one.proposal.kind == KIND)


STALE = Finder(_find, by_hand=True)
