"""The embedding model that this machine uses, and what another one changes in a store."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.core.errors import UnreadableFile
from workbench.core.tuning.measure import NDCG10
from workbench.core.tuning.profile import Profile
from workbench.core.tuning.verdict import Verdict
from workbench.evaluation.verdict import compare
from workbench.retrieval.embedding.embedder import Embedder
from workbench.services.context import Context
from workbench.services.tuning.evaluation import Cancelled, Evaluator, ProfileResult
from workbench.services.tuning.profiles import Profiles
from workbench.services.tuning.queries.sets import from_store, judged_queries
from workbench.services.tuning.retriever import Retriever

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model: where it lies, its dimensions, how many tokens it knows, and its content's name."""

    folder: Path
    is_bundled: bool
    dim: int
    tokens: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ModelChange:
    """How the store's judged queries were ranked with the model of before, and how with another one."""

    before: ProfileResult
    now: ProfileResult
    verdict: Verdict


def model_at(folder: Path | None) -> Model:
    """Load a model, `None` for the bundled one, and say what it is. Raises `UnreadableFile` where there is none."""
    found = Embedder(folder)
    return Model(found.folder, found.is_bundled, found.dim, found.tokens, found.fingerprint)


def try_model(
    context: Context,
    present: Retriever,
    profiles: Profiles,
    profile: Profile,
    folder: Path | None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> ModelChange | None:
    """Make a store's vectors with another model, beside the present ones, and rank the judged queries with both.

    `None` when no query is judged, or the present model is gone. Raises `UnreadableFile`, and `WorkStopped`;
    the vectors that were made are kept.
    """
    settings = context.settings._replace(model=folder)
    with closing(Retriever(replace(context, settings=settings))) as other:
        other.load(progress, cancelled)
        if not any(query.relevant for query in judged_queries(context)):
            return None
        judged = from_store(context)
        try:
            present.load()
        except UnreadableFile:  # the model of before is gone, and there is nothing to compare with
            return None
        before, now = (
            Evaluator(context, one, profiles).evaluate(judged, [profile], cancelled=cancelled).results[0]
            for one in (present, other)
        )
    return ModelChange(before, now, compare(before.values(NDCG10), now.values(NDCG10), NDCG10.title))
