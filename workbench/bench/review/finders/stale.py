"""Memories and bullets that name what is not in the working tree any more."""

from workbench.bench.review.finders.finder import Cancelled, Finder, Parts
from workbench.core.review.proposal import Proposal


def _find(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    folder = parts.still_true.folder
    if folder is None or not folder.is_dir():
        return ()
    return tuple(one.proposal for one in parts.still_true.plan(folder, cancelled).found)


STALE = Finder(_find, by_hand=True)
