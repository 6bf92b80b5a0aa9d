"""How one setting did against another one on the same queries: what a comparison comes to, and its
sentence.
"""

from dataclasses import dataclass
from typing import Literal

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
