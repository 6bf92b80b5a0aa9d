"""What auto-tune is asked for, and what it proposes; nothing of it is applied or saved here."""

from dataclasses import dataclass

from workbench.core.tuning.measure import NDCG10, Measure
from workbench.core.tuning.profile import Profile
from workbench.core.tuning.verdict import Verdict

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Search:
    """What tuning maximises, and over how many folds of the queries the choice is cross-validated."""

    measure: Measure = NDCG10
    folds: int = FOLDS
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Moved:
    """A parameter that the proposal changes; weights are shares, half-lives days (`None`: no
    decay).
    """

    parameter: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class TunedProfile:
    """The best setting that was tried and what it is worth.

    `before` is the mean metric of the start, `after` that of the settings chosen without the query
    that is measured (cross-validation); `verdict` compares the two and holds the gain with its
    band. `fitted` is the mean of `profile` on all queries, which flatters it, because it was chosen
    on them. `contender` names the profile that it is, where it is none of the grid. `seen` are a
    person's own profiles that were tuned on these very queries: they were left out, because what
    they reach here is no evidence. `dead` are the factors that tell no two memories apart for these
    queries: their weights were left alone.
    """

    profile: Profile
    start: Profile
    metric: str
    before: float
    after: float
    fitted: float
    verdict: Verdict
    moved: tuple[Moved, ...]
    queries: int
    folds: int
    tried: int
    contender: str = ""
    seen: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()

    @property
    def keeps(self) -> bool:
        """Whether nothing is known to beat the start on held-out queries, so that it is proposed."""
        return self.profile == self.start or self.verdict.outcome != "better"

    @property
    def beaten(self) -> bool:
        """Whether something has a larger mean on held-out queries, be it by luck."""
        return self.profile != self.start and self.after > self.before
