"""Memories that name what is not in the working tree any more."""

from workbench.core.review.proposal import Proposal
from workbench.services.claims.checking import KIND
from workbench.services.review.finders.finder import Cancelled, Finder, Parts


def _find(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    """Bullets are asked about as the Curator's are, once somebody put what was found into Review."""
    folder = parts.still_true.folder
    if folder is None or not folder.is_dir():
        return ()
    found = parts.still_true.plan(folder, cancelled).found
    return tuple(one.proposal for one in found if one.proposal.kind == KIND)


STALE = Finder(_find, by_hand=True)
