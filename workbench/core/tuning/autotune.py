"""What auto-tune is asked for, and what it proposes; nothing of it is applied or saved here."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from workbench.core.tuning.measure import NDCG10, Measure
from workbench.core.tuning.profile import Profile

# How one setting did against another one on the same queries: what a comparison comes to, and its
# sentence.


Outcome = Literal["better", "worse", "unclear"]

ERROR_RATE = 0.05
"""How often two settings of equal worth may be called different."""

EXACT = 12
"""Up to this many queries that differ, every assignment of signs is tried; below this many queries
a verdict is provisional.
"""

TIE = 1e-9
"""Differences no larger than this are ties: they come from rounding, not from the ranking."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a setting did against another one on the same queries.

    `wins`, `losses` and `ties` count queries. `delta` is the mean difference of the metric, `low`
    and `high` its 95 % band, `p` the two-sided p value, already corrected when `family` comparisons
    were made at once. `more` estimates how many further queries would settle an unclear verdict,
    `None` when none would soon.
    """

    metric: str
    wins: int
    losses: int
    ties: int
    delta: float
    low: float
    high: float
    p: float
    outcome: Outcome
    more: int | None
    family: int = 1

    @property
    def queries(self) -> int:
        """How many queries were compared."""
        return self.wins + self.losses + self.ties

    @property
    def provisional(self) -> bool:
        """Whether there are too few queries to rely on the verdict."""
        return self.queries < EXACT

    @property
    def conclusion(self) -> str:
        """The verdict in a few words."""
        end = ", provisional" if self.provisional else ""
        if self.outcome != "unclear":
            return f"{self.outcome} ({_p_text(self.p)}){end}"
        if not self.wins + self.losses:
            return f"no difference on any query{end}"
        if self.more is None and self.p / self.family <= ERROR_RATE:
            return f"inconclusive when {self.family} are compared at once{end}"
        if self.more is None:
            return f"inconclusive; more queries would hardly help{end}"
        return f"inconclusive, about {self.more:,} more judged {'query' if self.more == 1 else 'queries'} needed{end}"

    @property
    def sentence(self) -> str:
        """The whole verdict on one line."""
        counts = f"{self.wins:,} better, {self.losses:,} worse, {self.ties:,} equal"
        band = f"[{signed(self.low)}, {signed(self.high)}]"
        return f"{counts} · Δ {self.metric} {signed(self.delta)} {band} · {self.conclusion}"


def signed(value: float) -> str:
    """Write a difference with its sign, two digits, and a true minus."""
    text = f"{value:+.2f}"
    return text.replace("-", "−") if float(text) else "0.00"


def _p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


FOLDS = 5


class Search(NamedTuple):
    """What tuning maximises, and over how many folds of the queries the choice is cross-validated."""

    measure: Measure = NDCG10
    folds: int = FOLDS
    seed: int = 0


class Moved(NamedTuple):
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
