"""The verdict that follows the sliders: a profile against the saved one, over the store's own judged queries."""

from dataclasses import dataclass, replace

from workbench.bench.evaluation import Cancelled, Evaluator, ProfileResult, ScoredSet
from workbench.bench.querysets import JudgedSet
from workbench.core.profile import Profile
from workbench.retrieval.measure import NDCG10, STANDARD
from workbench.retrieval.verdict import Verdict, compare


@dataclass(frozen=True, slots=True)
class LiveVerdict:
    """How good `new` is beside `base`, query by query, and whether that tells."""

    base: ProfileResult
    new: ProfileResult
    verdict: Verdict

    @property
    def same(self) -> bool:
        """Whether both are the same settings, so that there is nothing to compare."""
        return _settings(self.base.profile) == _settings(self.new.profile)

    @property
    def means(self) -> tuple[float, float]:
        """The mean nDCG@10 of `base` and of `new`."""
        return self.base.mean[NDCG10.name], self.new.mean[NDCG10.name]


class LiveSet:
    """Judged queries with their relevance computed once; measuring a profile costs one ranking per query.

    Used by one thread at a time.
    """

    def __init__(self, scored: ScoredSet) -> None:
        self.scored = scored
        self._base: ProfileResult | None = None

    @property
    def judged(self) -> JudgedSet:
        """The queries."""
        return self.scored.judged

    def against(self, base: Profile, profile: Profile, cancelled: Cancelled | None = None) -> LiveVerdict:
        """Compare a profile with `base`. Raises `InvalidRecord` for a broken one, and `EvaluationCancelled`."""
        before = self._base
        if before is None or before.profile != base:
            before = self._base = self.scored.measure(base, STANDARD, cancelled=cancelled)
        same = _settings(profile) == _settings(base)
        after = before if same else self.scored.measure(profile, STANDARD, cancelled=cancelled)
        verdict = compare(before.values(NDCG10), after.values(NDCG10), NDCG10.title)
        return LiveVerdict(before, after, verdict)


def live_set(evaluator: Evaluator, judged: JudgedSet, known: LiveSet | None, cancelled: Cancelled) -> LiveSet:
    """Compute the relevance of the judged queries, as far as `known` does not hold it. Raises `EvaluationCancelled`."""
    return LiveSet(evaluator.score(judged, known=known.scored if known else None, cancelled=cancelled))


def _settings(profile: Profile) -> Profile:
    return replace(profile, name="", about="")
