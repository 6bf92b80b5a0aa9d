"""Evaluation: how good profiles are on judged queries, which is better, and what a better one could
be.

Reads only, except `save`, which writes a profile's file.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from workbench.core.files.format import JudgedQuery
from workbench.core.record import InvalidQuery, UnreadableFile, WorkbenchError, WorkStopped
from workbench.core.runtime import Cancelled, Progress
from workbench.core.tuning.autotune import Search, TunedProfile, Verdict
from workbench.core.tuning.measure import NDCG10, Measure, reported, served, unjudged
from workbench.core.tuning.profile import Profile, check_profile
from workbench.evaluation.pairs import JudgedScores
from workbench.evaluation.tuner import USUAL, compare, hold_together, tune
from workbench.retrieval.embedding.embedder import Embedder
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.ranker import Ranker
from workbench.services.context import Context
from workbench.services.tuning.profiles import ProfileProvenance, Profiles, tuned_from
from workbench.services.tuning.queries import JudgedSet, from_store
from workbench.services.tuning.retriever import Retriever

ON_ALL = "on all queries"
"""How settings were measured that were not chosen by the queries."""


class QueryResult(NamedTuple):
    """One query under one profile: metrics by name, the best k ids with their scores, unjudged ones
    among them.
    """

    query: str
    now: datetime | None
    tags: tuple[str, ...]
    values: Mapping[str, float]
    ids: tuple[str, ...]
    scores: tuple[float, ...]
    unjudged: int


@dataclass(frozen=True)
class ProfileResult:
    """All queries under one profile."""

    profile: Profile
    queries: tuple[QueryResult, ...]

    @cached_property
    def mean(self) -> dict[str, float]:
        """The mean of each metric, every query counting the same."""
        return {
            name: fmean(q.values[name] for q in self.queries) for name in self.queries[0].values
        }

    @property
    def unjudged(self) -> int:
        """Unjudged results among all that are served."""
        return sum(q.unjudged for q in self.queries)

    def values(self, measure: Measure) -> list[float]:
        """Return one metric per query."""
        return [q.values[measure.name] for q in self.queries]


@dataclass(frozen=True)
class Compared:
    """How good `new` is beside `base`, query by query, and whether that tells."""

    base: ProfileResult
    new: ProfileResult
    verdict: Verdict

    @property
    def same(self) -> bool:
        """Whether both are the same settings, so that there is nothing to compare."""
        return _settings(self.base.profile) == _settings(self.new.profile)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What both were measured by: the metrics of what `new` serves; the verdict is about the
        first.
        """
        return served(self.new.profile.k)

    @property
    def means(self) -> tuple[float, float]:
        """The mean nDCG of `base` and of `new`, both cut at the k of `new`."""
        name = self.measures[0].name
        return self.base.mean[name], self.new.mean[name]


class Evaluation(NamedTuple):
    """Profiles on a query set, in the order they were asked for; verdicts hold together at the
    error rate.

    `seen` names those that were tuned on these very queries: what they reach on them is no
    evidence.
    """

    judged: JudgedSet
    results: tuple[ProfileResult, ...]
    verdicts: tuple[Compared, ...]
    seen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSet:
    """A query set whose relevance is computed, so that measuring another profile costs a ranking
    per query.
    """

    ranker: Ranker
    judged: JudgedSet
    queries: tuple[JudgedScores, ...]
    _bases: dict[tuple[int, Profile], ProfileResult] = field(
        default_factory=dict, init=False, repr=False
    )

    def measure(
        self,
        profile: Profile,
        measures: Sequence[Measure] = (),
        *,
        cancelled: Cancelled | None = None,
    ) -> ProfileResult:
        """Measure one profile (by default what `measure.reported` says).

        Raises `InvalidRecord` when it is broken, and `WorkStopped`.
        """
        check_profile(profile)
        measures = measures or reported((profile.k,))
        found: list[QueryResult] = []
        for query, scored in zip(self.judged.queries, self.queries, strict=True):
            _stop_if(cancelled)
            found.append(_measured(self.ranker, query, scored, profile, measures))
        return ProfileResult(profile, tuple(found))

    def tune(
        self,
        start: Profile,
        search: Search = USUAL,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
        profiles: Profiles | None = None,
    ) -> TunedProfile:
        """Search the grid around `start`, and a person's own `profiles` that were not tuned on
        these queries.

        See `evaluation.tuner.tune` for what it raises.
        """
        own, seen = (
            ((), frozenset[str]())
            if profiles is None
            else (profiles.own(), profiles.tuned_on(self.judged.digest))
        )
        others = tuple(profile for profile in own if profile.name not in seen)
        found = tune(self.ranker, self.queries, start, search, progress, cancelled, others)
        return replace(found, seen=tuple(sorted(seen)))

    def against(
        self, base: Profile, profile: Profile, cancelled: Cancelled | None = None
    ) -> Compared:
        """Compare a profile with `base`, which is measured once. Raises `InvalidRecord`, and
        `WorkStopped`.
        """
        measures, key = served(profile.k), (profile.k, base)
        before = self._bases.get(key) or self.measure(base, measures, cancelled=cancelled)
        self._bases.clear()
        self._bases[key] = before
        same = _settings(profile) == _settings(base)
        after = before if same else self.measure(profile, measures, cancelled=cancelled)
        title = measures[0].title
        return Compared(
            before, after, compare(before.values(measures[0]), after.values(measures[0]), title)
        )


class Evaluator:
    """Measures, compares and tunes profiles on a store's memories."""

    def __init__(self, context: Context, retriever: Retriever, profiles: Profiles) -> None:
        self._context = context
        self._retriever = retriever
        self._profiles = profiles

    def evaluate(
        self,
        judged: JudgedSet,
        profiles: Sequence[Profile],
        *,
        base: str = "",
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> Evaluation:
        """Measure every profile and compare each with the one named `base` (default: the first).

        Every profile is measured at each one's k; the verdict is about nDCG at the k of the base.

        Raises `InvalidQuery` without a profile or with one twice, `InvalidRecord` for a broken one,
        and `WorkStopped`.
        """
        names = [profile.name for profile in profiles]
        if not names or len(set(names)) < len(names):
            raise InvalidQuery(
                "Give at least one profile, each only once.", "Nothing was measured."
            )
        for profile in profiles:
            check_profile(profile)
        base = base or names[0]
        if base not in names:
            raise InvalidQuery(
                f"The profile “{base}” is not among those compared.", "Nothing was measured."
            )
        used = reported(profile.k for profile in profiles)
        ranker, present = self._retriever.ranker(), self._context.now()
        rows: list[list[QueryResult]] = [[] for _ in profiles]
        for done, query in enumerate(judged.queries, 1):
            _stop_if(cancelled)
            scored = _scored(ranker, query, present)
            for row, profile in zip(rows, profiles, strict=True):
                row.append(_measured(ranker, query, scored, profile, used))
            if progress is not None:
                progress(done, len(judged.queries))
        results = tuple(ProfileResult(p, tuple(row)) for p, row in zip(profiles, rows, strict=True))
        tuned = self._profiles.tuned_on(judged.digest)
        return Evaluation(
            judged,
            results,
            _verdicts(results, base),
            tuple(name for name in names if name in tuned),
        )

    def score(
        self,
        judged: JudgedSet,
        *,
        known: ScoredSet | None = None,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> ScoredSet:
        """Compute the relevance of a query set once, for measuring many profiles. Raises
        `WorkStopped`.

        What `known` holds over the same memories is taken from it.
        """
        ranker, present = self._retriever.ranker(), self._context.now()
        same = known.queries if known is not None and known.ranker is ranker else ()
        before = {scored.scores.query: scored.scores for scored in same}
        found: list[JudgedScores] = []
        for query in judged.queries:
            _stop_if(cancelled)
            found.append(_scored(ranker, query, present, before.get(query.text)))
            if progress is not None:
                progress(len(found), len(judged.queries))
        return ScoredSet(ranker, judged, tuple(found))

    def save(
        self, proposal: TunedProfile, judged: JudgedSet, name: str, *, replacing: bool = False
    ) -> Path:
        """Save a proposal as a profile of its own, with its birth certificate; `replacing` a
        profile of that name.

        Raises `InvalidRecord` for a bad or taken name, and `StoreProblem`.
        """
        birth = _proposed(judged, proposal, self._context.now())
        profile = replace(
            proposal.profile, name=name, about=tuned_from(proposal.start.name, judged.name)
        )
        return self._profiles.save(profile, birth.at, birth.parent, birth, replacing=replacing)


def certificate(
    judged: JudgedSet, verdict: Verdict, parent: str, metric: str, now: datetime, how: str = ON_ALL
) -> ProfileProvenance:
    """Write the birth certificate of a profile that was compared with `parent` on a query set."""
    return ProfileProvenance(
        at=now,
        parent=parent,
        query_set=judged.digest,
        queries=verdict.queries,
        judgments=judged.judgments,
        metric=metric,
        delta=verdict.delta,
        low=verdict.low,
        high=verdict.high,
        verdict=verdict.outcome,
        how=how,
    )


def _proposed(judged: JudgedSet, proposal: TunedProfile, now: datetime) -> ProfileProvenance:
    how = f"cross-validated, {proposal.folds} folds; the same settings on all queries: {proposal.fitted:.4f}"
    return certificate(judged, proposal.verdict, proposal.start.name, proposal.metric, now, how)


def _settings(profile: Profile) -> Profile:
    return replace(profile, name="", about="")


def _stop_if(cancelled: Cancelled | None) -> None:
    if cancelled is not None and cancelled():
        raise WorkStopped("The evaluation was stopped.", "Nothing was changed.")


def _scored(
    ranker: Ranker, query: JudgedQuery, present: datetime, known: QueryScores | None = None
) -> JudgedScores:
    return JudgedScores(known or ranker.relevance(query.text), query.relevant, query.now or present)


def _measured(
    ranker: Ranker,
    query: JudgedQuery,
    scored: JudgedScores,
    profile: Profile,
    measures: Sequence[Measure],
) -> QueryResult:
    k = profile.k
    ranking = ranker.rank(scored.scores, profile, scored.now, max(k, *(m.k for m in measures)))
    values = {m.name: m.of(ranking.ids, query.relevant) for m in measures}
    scores = tuple(ranking.totals[ranking.positions[:k]].tolist())
    open_ones = unjudged(ranking.ids, query.relevant, k)
    return QueryResult(
        query.text, query.now, query.tags, values, ranking.ids[:k], scores, open_ones
    )


def _verdicts(results: Sequence[ProfileResult], base: str) -> tuple[Compared, ...]:
    first = next(r for r in results if r.profile.name == base)
    measure, others = Measure("ndcg", first.profile.k), [r for r in results if r is not first]
    before = first.values(measure)
    single = [compare(before, other.values(measure), measure.title) for other in others]
    together = zip(others, hold_together(single), strict=True)
    return tuple(Compared(first, other, verdict) for other, verdict in together)


# How good the settings of the sliders are, by the store's own judged queries, which are scored once
# and kept.


class Measuring:
    """Keeps the store's judged queries scored, and says what a saved profile was measured on."""

    def __init__(self, context: Context, evaluator: Evaluator) -> None:
        self._context = context
        self._evaluator = evaluator
        self._scored: tuple[int, ScoredSet] | None = None
        self._proposed: tuple[TunedProfile, JudgedSet] | None = None
        self.version = 0

    def store_changed(self, tables: Iterable[str]) -> None:
        """Score anew once memories, queries or judgments changed."""
        self.version += not {"memories", "queries", "judgments"}.isdisjoint(tables)

    @property
    def judged(self) -> bool:
        return len(self._context.library.judgments) > 0

    def current(self, cancelled: Cancelled | None = None) -> ScoredSet:
        """Return the judged queries as they are now; takes a while. Raises `InvalidQuery` without
        any, `WorkStopped`.

        Relevance that was computed over the same memories is taken over.
        """
        at, (version, known) = self.version, self._scored or (-1, None)
        if known is None or version != at:
            known = self._evaluator.score(
                from_store(self._context), known=known, cancelled=cancelled
            )
            self._scored = at, known
        return known

    def propose(self, proposal: TunedProfile, judged: JudgedSet) -> None:
        """Remember what a search proposed, and by which queries it was found."""
        self._proposed = proposal, judged

    def birth(self, saved: Profile, profile: Profile) -> ProfileProvenance | None:
        """Return what to say about settings when they are saved; `None` when nothing can be
        measured. Takes a while.
        """
        if profile == saved:
            return None
        now = self._context.now()
        proposal, judged = self._proposed or (None, None)
        if proposal and judged and (proposal.start, proposal.profile) == (saved, profile):
            return _proposed(judged, proposal, now)
        try:
            scored = self.current()
            found = scored.against(saved, profile)
        except WorkbenchError:
            return None
        how = (
            f"{ON_ALL}, by which it was chosen"
            if proposal and proposal.profile == profile
            else ON_ALL
        )
        return certificate(
            scored.judged, found.verdict, saved.name, found.measures[0].name, now, how
        )


# The embedding model that this machine uses, and what another one changes in a store.


class Model(NamedTuple):
    """An embedding model: where it lies, its dimensions, how many tokens it knows, and its
    content's name.
    """

    folder: Path
    is_bundled: bool
    dim: int
    tokens: int
    fingerprint: str


def model_at(folder: Path | None) -> Model:
    """Load a model, `None` for the bundled one, and say what it is. Raises `UnreadableFile` where
    there is none.
    """
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
) -> Compared | None:
    """Make a store's vectors with another model, beside the present ones, and rank the judged
    queries with both.

    `None` when no query is judged, or the present model is gone. Raises `UnreadableFile`, and
    `WorkStopped`; the vectors that were made are kept.
    """
    settings = context.settings._replace(model=folder)
    with closing(Retriever(replace(context, settings=settings))) as other:
        other.load(progress, cancelled)
        try:
            judged = from_store(context)
            present.load()
        except (InvalidQuery, UnreadableFile):  # nothing to measure with, or to compare with
            return None
        before, now = (
            Evaluator(context, one, profiles)
            .evaluate(judged, [profile], cancelled=cancelled)
            .results[0]
            for one in (present, other)
        )
    return Compared(before, now, compare(before.values(NDCG10), now.values(NDCG10), NDCG10.title))
