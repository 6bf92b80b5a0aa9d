"""What the rules of the lifecycle suggest now: prunes, what has earned to be confirmed, what may be true no longer."""

from workbench.core.review.proposal import Proposal
from workbench.services.review.finders.finder import Cancelled, Finder, Parts


def _find(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    """Contradictions are looked for once the model is there."""
    del cancelled
    return parts.upkeep.plan(search=parts.retriever.ready).proposals


UPKEEP = Finder(_find)
