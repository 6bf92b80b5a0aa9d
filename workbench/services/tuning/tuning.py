"""Tuning: ask a query, move the parameters, see the ranking move. Nothing here writes to the store."""

from dataclasses import replace
from datetime import datetime

from workbench.core.agents.actors import require_person
from workbench.core.text import printable
from workbench.core.tuning.judgment import SavedQuery
from workbench.core.tuning.profile import Profile, ProfileInUse, StoreSetting
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranking
from workbench.services.context import Context
from workbench.services.tuning.floors import Floors
from workbench.services.tuning.profiles import ProfileProvenance, Profiles, Snapshots, tuned_from
from workbench.services.tuning.retriever import Retriever
from workbench.services.tuning.session import Question


class Tuning:
    """Rankings of a query under any profile."""

    def __init__(self, context: Context, retriever: Retriever, profiles: Profiles) -> None:
        self._context = context
        self._retriever = retriever
        self.profiles = profiles
        self.snapshots = Snapshots(profiles.snapshots)
        self.floors = Floors(context, retriever)

    @property
    def retriever(self) -> Retriever:
        """What keeps the ranking in step with the store."""
        return self._retriever

    @property
    def ready(self) -> bool:
        """Whether the model is loaded."""
        return self._retriever.ready

    def default(self) -> Profile:
        """Return the profile in use; raises `UnknownRecord` or `InvalidRecord`."""
        return self.profiles.used(self._context.profile)

    @property
    def used(self) -> ProfileInUse:
        """Which profile is in use, and where that is said."""
        return self._context.profile

    def use(self, name: str) -> ProfileInUse:
        """Let this store be ranked under a profile, for agents too; without a name the settings say
        which.

        Returns what is in use then. Raises `UnknownRecord` or `InvalidRecord` for the profile,
        `WorkbenchError` for an agent, and `StoreProblem`.
        """
        library = self._context.library
        require_person(self._context.actor, "change a setting")
        if name:
            self.profiles.get(name)
        own = name and not self.profiles.is_built_in(name)
        after = StoreSetting("profile", name, self.profiles.text(name) if own else "")
        library.refresh()
        before = library.table(StoreSetting).find("profile")
        if name and before != after:
            with self._context.transaction(f"use the profile {name} in this store") as tx:
                tx.put(after)
        elif not name and before is not None:
            with self._context.transaction(f"use {before.value} no longer in this store") as tx:
                tx.delete(before)
        return self._context.profile

    def question(self, query: str) -> Question:
        """Score every memory for a query, once, over the store as it is now; may wait for the
        model.
        """
        ranker = self._retriever.ranker()
        return Question(ranker, ranker.relevance(query), self.floors.known(query, ranker))

    def rank(
        self, query: str, profile: Profile, now: datetime | None = None, k: int | None = None
    ) -> Ranking:
        """Rank what an agent would be served, over the store as it is now."""
        ranker = self._retriever.ranker()  # one for both: others may change the store in between
        return ranker.rank(ranker.relevance(query), profile, now or self._context.now(), k)

    def pool(self, *, loading: bool) -> Pool:
        """Return the memories as columns, as they are now.

        Where the model is not there yet it is waited for when `loading`; else at least those that a
        person vouched for are read for this once.
        """
        return self._retriever.ranker().pool if loading else self._retriever.vouched()

    def queries(self) -> tuple[SavedQuery, ...]:
        return tuple(self._context.library.queries.all())

    def saved_like(self, text: str) -> tuple[SavedQuery, ...]:
        """Return the saved queries with these words: the one asked in the present first, then the
        latest moment.
        """
        asked = _words(text)
        same = [q for q in self._context.library.queries.all() if asked and _words(q.text) == asked]
        same.sort(key=lambda q: (q.now is not None, -q.now.timestamp() if q.now else 0.0, q.id))
        return tuple(same)

    def save(
        self, profile: Profile, name: str, parent: str, birth: ProfileProvenance | None = None
    ) -> Profile:
        """Save a profile under a name, as a file that says where it comes from; return it as it was
        saved.

        `birth` says what it was measured on.

        Only the profile it comes from may be replaced. Raises `InvalidRecord` or `StoreProblem`.
        """
        about = profile.about if name == parent else tuned_from(parent)
        named = replace(profile, name=name, about=about)
        self.profiles.save(named, self._context.now(), parent, birth)
        return named


def _words(text: str) -> str:
    """Return a query as two people would call it the same: without what cannot be seen."""
    return " ".join(printable(text).split())
