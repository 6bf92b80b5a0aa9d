"""What a score is made of (source 000, algorithm 1); `workbench.retrieval.ranking` works it out."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import FACTORS, Profile, RelevancePart, weight_of

DEAD_SPREAD = 1e-12
"""A factor whose maximum exceeds its minimum by no more than this normalises to 0.5."""

Factors = Mapping[str, float]
"""One number per factor."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A ranked memory with everything its score is made of; `total` is the sum of `weighted`."""

    memory: Memory
    raw: Factors
    norm: Factors
    weighted: Factors
    total: float


def weighed(norm: Factors, profile: Profile) -> tuple[dict[str, float], float]:
    """Return each factor times its weight, and their sum, added in the order of the factors."""
    weighted: dict[str, float] = {}
    total = None
    for factor in FACTORS:
        if factor.id in norm:
            value = weighted[factor.id] = weight_of(profile, factor.weight) * norm[factor.id]
            total = value if total is None else total + value
    return weighted, total or 0.0


@dataclass(frozen=True, slots=True)
class Share:
    """What a part has in one memory's relevance: `value`, `times` a parameter where it has one,
    makes `amount`.

    The amount is what was added, or what the rest was multiplied by. `facts` is what it comes from.
    """

    part: RelevancePart
    value: float
    times: float | None
    amount: float
    facts: Mapping[str, str | float] = field(default_factory=dict)

    @property
    def idle(self) -> bool:
        """Whether it changes nothing here; what tells by itself how well a text matches is never
        idle.
        """
        return not self.part.alone and self.amount == (
            1.0 if self.part.how == "multiplies" else 0.0
        )

    @property
    def said(self) -> str:
        """The facts in the words of the part; empty where there are none."""
        return self.part.words.format(**self.facts) if self.facts else ""
