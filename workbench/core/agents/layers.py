"""The layers of what an agent is given for a task: an entry for each, in the order in which they
stand and are filled.

`services.agents.layers` has what finds the items of each. At 8,000 tokens each layer has a minimum,
which the layers before it leave to it as far as it can use it, and a maximum; the last one gets the
rest. Both are scaled with the budget. From 20,000 tokens on the maximum is that of a working memory
of that size (source 004, section 1), which the settings hold.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

USUAL, LARGE = 8_000, 20_000
"""Tokens that a context takes where nobody says how many it may, at every door; and those of a
working memory.
"""


@dataclass(frozen=True, slots=True)
class LayerKind:
    """One layer: its id, its heading, and its tokens in the usual and a large budget.

    Its maximum is scaled with the budget, but not below the `floor`. One that `may_lack` is not
    there at all where nothing is found for it. What it gives stands in the order in which it was
    found, or, `in_time`, the last first.
    """

    id: str
    title: str
    least: int
    most: int
    large: int
    may_lack: bool = False
    floor: int = 0
    in_time: bool = False

    def least_of(self, budget: int) -> int:
        """Return the tokens that are left to it in a budget."""
        return self.least * min(budget, USUAL) // USUAL

    def most_of(self, budget: int) -> int:
        """Return the tokens that it takes of a budget at the most."""
        if budget <= USUAL:
            return max(self.most * budget // USUAL, min(self.floor, self.most, budget))
        beyond = min(budget, LARGE) - USUAL
        return self.most + (self.large - self.most) * beyond // (LARGE - USUAL)


class ContextSettings(NamedTuple):
    """The tokens of each layer in a context of 20,000, by its id, as a person sets them; smaller
    ones in proportion.
    """

    pinned: int = 2_000
    overview: int = 3_000
    turns: int = 8_000
    playbook: int = 5_000
    known: int = 3_000
    retrieved: int = 2_000
    patterns: int = 1_000
    failures: int = 2_500
    episodes: int = 1_500

    def sized(self, kind: LayerKind) -> LayerKind:
        """Return a layer with the tokens that are set for it; one that has no setting keeps its
        own.
        """
        large = self._asdict().get(kind.id, kind.large)
        least, most, floor = (
            part * large // kind.large for part in (kind.least, kind.most, kind.floor)
        )
        return replace(kind, least=least, most=most, large=large, floor=floor)


_DEFAULT = ContextSettings()

LAYERS: tuple[LayerKind, ...] = (
    LayerKind("pinned", "Pinned", 800, 800, _DEFAULT.pinned, floor=800),
    LayerKind("failures", "Similar failures", 1_000, 2_400, _DEFAULT.failures, True, floor=2_000),
    LayerKind("patterns", "What works", 400, 900, _DEFAULT.patterns, True),
    LayerKind("episodes", "Similar episodes", 500, 1_000, _DEFAULT.episodes, True),
    LayerKind("known", "Confirmed", 800, 1_600, _DEFAULT.known),
    LayerKind("playbook", "Playbook", 600, 1_600, _DEFAULT.playbook),
    LayerKind("overview", "Working memory", 0, 800, _DEFAULT.overview, True),
    LayerKind("turns", "Recent turns", 0, 800, _DEFAULT.turns, True, in_time=True),
    LayerKind("retrieved", "For this task", 800, USUAL, _DEFAULT.retrieved),
)
"""The workbench's own."""
