"""How good the settings of a session are by the judged queries, which are scored once and kept."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from workbench.core.record import WorkbenchError, WorkStopped
from workbench.core.runtime import Cancelled
from workbench.core.tuning.autotune import TunedProfile
from workbench.core.tuning.measure import Measure, served
from workbench.core.tuning.profile import Profile
from workbench.core.tuning.verdict import Verdict
from workbench.evaluation.tuner import compare
from workbench.services.context import Context
from workbench.services.tuning.evaluation import ON_ALL, Evaluator, ProfileResult, ScoredSet, certificate
from workbench.services.tuning.profiles import ProfileProvenance
from workbench.services.tuning.queries.sets import JudgedSet, from_store
from workbench.services.tuning.session import TuningSession

# The verdict that follows the sliders: a profile against the saved one, over the store's own judged queries.


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


TABLES = frozenset({"memories", "queries", "judgments"})
"""What a measurement is of."""

_CHOSEN = f"{ON_ALL}, by which it was chosen"
"""How settings were measured that a search found from other sliders than the saved ones: that flatters them."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be measured: settings against the saved ones, over the judged queries of a version of the store."""

    version: int
    saved: Profile
    profile: Profile


@dataclass(frozen=True, slots=True)
class Job:
    """A measurement for a thread; `live` are the judged queries as they are now, `known` those of a time before."""

    wanted: Wanted
    live: LiveSet | None
    known: LiveSet | None


@dataclass(frozen=True, slots=True)
class Measured:
    """The judged queries were measured; `problem` says why not, and both are absent when it was given up."""

    wanted: Wanted
    live: LiveSet | None
    found: LiveVerdict | None
    problem: str = ""


class Measuring:
    """Knows what was measured, what has to be measured anew, and what a saved profile may say about itself.

    `running` says whether a thread measures; there is one at a time. `last` is what was measured last.
    """

    def __init__(self, context: Context, evaluator: Evaluator) -> None:
        self._context = context
        self._evaluator = evaluator
        self._version = 0
        self._live: tuple[int, LiveSet] | None = None
        self._proposed: tuple[TunedProfile, JudgedSet] | None = None
        self.running = False
        self.last: Wanted | None = None

    def store_changed(self, tables: Iterable[str]) -> None:
        """Measure anew once memories, queries or judgments changed."""
        if not TABLES.isdisjoint(tables):
            self._version += 1

    def wanted(self, session: TuningSession) -> Wanted:
        """Return what is to be measured for a session as it is now."""
        return Wanted(self._version, session.saved, session.profile)

    @property
    def judged(self) -> bool:
        return bool(self._context.library.judgments.all())

    def forget(self) -> None:
        self.last = None

    def begin(self, session: TuningSession) -> Job | None:
        """Return what a thread has to measure now; `None` when one does, or it was measured already."""
        wanted = self.wanted(session)
        if self.running or self.last == wanted:
            return None
        self.running, self.last = True, wanted
        version, known = self._live or (-1, None)
        return Job(wanted, known if version == wanted.version else None, known)

    def measure(self, job: Job, cancelled: Cancelled, given_up: Cancelled) -> Measured:
        """Measure; for a thread. `cancelled` ends everything, `given_up` only what is about the settings."""
        live = job.live
        try:
            if live is None:
                live = live_set(self._evaluator, from_store(self._context), job.known, cancelled)
            return Measured(job.wanted, live, live.against(job.wanted.saved, job.wanted.profile, given_up))
        except WorkStopped:
            return Measured(job.wanted, live, None)
        except WorkbenchError as error:
            return Measured(job.wanted, live, None, str(error))

    def end(self, measured: Measured) -> None:
        """Take what a thread measured."""
        self.running = False
        if measured.live is not None:
            self._live = measured.wanted.version, measured.live
        if measured.found is None and not measured.problem and self.last is not None:
            # It was given up, so it must not pass for measured when the slider comes back.
            self.last = replace(self.last, version=-1)

    def current(self) -> LiveSet:
        """Return the judged queries as they are now; raises `InvalidQuery` when there are none. Takes a while.

        Everybody gets a set of their own, since one measures for one thread at a time.
        """
        at, (version, live) = self._version, self._live or (-1, None)
        if live is None or version != at:
            live = live_set(self._evaluator, from_store(self._context), live, lambda: False)
            self._live = at, live
        return LiveSet(live.scored)

    # What a saved profile says about itself

    def propose(self, proposal: TunedProfile, judged: JudgedSet) -> None:
        """Remember what a search proposed, and by which queries it was found."""
        self._proposed = proposal, judged

    def birth(self, saved: Profile, profile: Profile) -> ProfileProvenance | None:
        """Return what to say about settings when they are saved; `None` when nothing can be measured. Takes a while."""
        if profile == saved:
            return None
        now = self._context.now()
        proposal, judged = self._proposed or (None, None)
        if proposal and judged and (proposal.start, proposal.profile) == (saved, profile):
            how = f"cross-validated, {proposal.folds} folds; the same settings on all queries: {proposal.fitted:.4f}"
            return certificate(judged, proposal.verdict, proposal.start.name, proposal.metric, now, how)
        try:
            live = self.current()
            found = live.against(saved, profile)
        except WorkbenchError:
            return None
        how = _CHOSEN if proposal is not None and proposal.profile == profile else ON_ALL
        return certificate(live.judged, found.verdict, saved.name, found.measures[0].name, now, how)
