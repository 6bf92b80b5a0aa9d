"""The verdict that follows the sliders: a profile against the saved one, over the store's own judged queries."""

from dataclasses import dataclass, replace

from workbench.core.tuning.measure import Measure, served
from workbench.core.tuning.profile import Profile
from workbench.core.tuning.verdict import Verdict
from workbench.evaluation.verdict import compare
from workbench.services.tuning.evaluation import Cancelled, Evaluator, ProfileResult, ScoredSet
from workbench.services.tuning.queries.sets import JudgedSet


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
    def measures(self) -> tuple[Measure, ...]:
        """What both were measured by: the metrics of what `new` serves; the verdict is about the first."""
        return served(self.new.profile.k)

    @property
    def means(self) -> tuple[float, float]:
        """The mean nDCG of `base` and of `new`, both cut at the k of `new`."""
        name = self.measures[0].name
        return self.base.mean[name], self.new.mean[name]


class LiveSet:
    """Judged queries with their relevance computed once; measuring a profile costs one ranking per query.

    Used by one thread at a time.
    """

    def __init__(self, scored: ScoredSet) -> None:
        self.scored = scored
        self._base: tuple[int, ProfileResult] | None = None

    @property
    def judged(self) -> JudgedSet:
        """The queries."""
        return self.scored.judged

    def against(self, base: Profile, profile: Profile, cancelled: Cancelled | None = None) -> LiveVerdict:
        """Compare a profile with `base`. Raises `InvalidRecord` for a broken one, and `WorkStopped`."""
        measures = served(profile.k)
        if self._base is None or (self._base[0], self._base[1].profile) != (profile.k, base):
            self._base = profile.k, self.scored.measure(base, measures, cancelled=cancelled)
        before = self._base[1]
        same = _settings(profile) == _settings(base)
        after = before if same else self.scored.measure(profile, measures, cancelled=cancelled)
        verdict = compare(before.values(measures[0]), after.values(measures[0]), measures[0].title)
        return LiveVerdict(before, after, verdict)


def live_set(evaluator: Evaluator, judged: JudgedSet, known: LiveSet | None, cancelled: Cancelled) -> LiveSet:
    """Compute the relevance of the judged queries, as far as `known` does not hold it. Raises `WorkStopped`."""
    return LiveSet(evaluator.score(judged, known=known.scored if known else None, cancelled=cancelled))


def _settings(profile: Profile) -> Profile:
    return replace(profile, name="", about="")
