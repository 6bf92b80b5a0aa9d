"""Tuning: ask a query, move the parameters, see the ranking move. Nothing here writes to the store, except saving."""

from dataclasses import dataclass
from datetime import datetime

from workbench.bench.context import Context
from workbench.bench.profiles import Profiles
from workbench.bench.retriever import Retriever
from workbench.core.judgment import Judgment, SavedQuery
from workbench.core.profile import Profile
from workbench.retrieval.ranker import QueryScores
from workbench.retrieval.ranking import Ranking


@dataclass(frozen=True, slots=True)
class Moved:
    """A ranking beside the one of the profile it is compared with: how many places each row moved (up is > 0).

    `None` stands for a memory that was not among the compared top.
    """

    ranking: Ranking
    moves: tuple[int | None, ...]
    entered: int


class Tuning:
    """Rankings of a query under any profile."""

    def __init__(self, context: Context, retriever: Retriever, profiles: Profiles) -> None:
        self._context = context
        self._retriever = retriever
        self.profiles = profiles

    @property
    def ready(self) -> bool:
        """Whether the model is loaded."""
        return self._retriever.ready

    def default(self) -> Profile:
        """Return the profile the settings name; raises `UnknownRecord` or `InvalidRecord`."""
        return self.profiles.get(self._context.settings.profile)

    def ask(self, query: str) -> QueryScores:
        """Score every memory for a query, once."""
        return self._retriever.ranker().relevance(query)

    def rank(self, scores: QueryScores, profile: Profile, now: datetime | None = None, k: int | None = None) -> Ranking:
        """Rank what an agent would be served."""
        return self._retriever.ranker().rank(scores, profile, now or self._context.now(), k)

    def compare(
        self, scores: QueryScores, profile: Profile, base: Profile, now: datetime | None = None, k: int = 50
    ) -> Moved:
        """Rank under `profile` and say how far each row moved against `base`."""
        at = now or self._context.now()
        ranking, before = self.rank(scores, profile, at, k), self.rank(scores, base, at, k)
        place = {id: i for i, id in enumerate(before.ids)}
        moves = tuple(place[id] - i if id in place else None for i, id in enumerate(ranking.ids))
        top = set(before.ids[: profile.k])
        return Moved(ranking, moves, sum(id not in top for id in ranking.ids[: profile.k]))

    def queries(self) -> tuple[SavedQuery, ...]:
        """Return the saved queries."""
        return tuple(self._context.library.queries.all())

    def judgments(self, query: str) -> tuple[Judgment, ...]:
        """Return the judgments of a saved query."""
        return tuple(j for j in self._context.library.judgments.all() if j.query == query)

    def save(self, profile: Profile, parent: str) -> str:
        """Save a profile as a file and return where."""
        return str(self.profiles.save(profile, self._context.now(), parent))
