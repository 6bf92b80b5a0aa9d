"""The layers of what an agent is given for a task: an entry for each, in the order in which they stand and are filled.

An entry names what finds its items (`core.named`), which is imported when it is first used. The budgets are those of
a working memory (source 004, section 1): 2,000 tokens for what always holds, 5,000 for the playbook as the task's own
rules, 3,000 for what is known, 2,000 for what was retrieved; 3,000 for the overview of an external memory and 8,000
for its last turns, where there is one; 1,000 for the patterns that apply, 1,500 for what failed alike with what helped
then, and 1,500 for tasks like it (source 004, section 4.1), where there are any.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

_FINDERS = "workbench.services.agents.context.finders"
_DOCUMENTS = "workbench.services.agents.context.from_documents"
_EXPERIENCE = "workbench.services.agents.context.from_experience"


@dataclass(frozen=True, slots=True)
class LayerKind:
    """One layer: its id, its heading, its budget in tokens, and the name of what finds its items.

    One that `may_lack` is not there at all where nothing is found for it: no budget is kept for it then. What it gives
    stands in the order in which it was found, or, `in_time`, the last of it first.
    """

    id: str
    title: str
    budget: int
    finder: str
    may_lack: bool = False
    in_time: bool = False


LAYERS: tuple[LayerKind, ...] = (
    LayerKind("pinned", "Pinned", 2_000, f"{_FINDERS}:pinned"),
    LayerKind("overview", "Working memory", 3_000, f"{_DOCUMENTS}:overview", may_lack=True),
    LayerKind("turns", "Recent turns", 8_000, f"{_DOCUMENTS}:turns", may_lack=True, in_time=True),
    LayerKind("playbook", "Playbook", 5_000, f"{_FINDERS}:playbook"),
    LayerKind("known", "Confirmed", 3_000, f"{_FINDERS}:known"),
    LayerKind("patterns", "What works", 1_000, f"{_EXPERIENCE}:patterns", may_lack=True),
    LayerKind("failures", "Similar failures", 1_500, f"{_EXPERIENCE}:failures", may_lack=True),
    LayerKind("episodes", "Similar episodes", 1_500, f"{_EXPERIENCE}:episodes", may_lack=True),
    LayerKind("retrieved", "For this task", 2_000, f"{_FINDERS}:retrieved"),
)
"""The workbench's own."""


class ContextSettings(NamedTuple):
    """The tokens of each of the workbench's own layers, by its id, as a person sets them."""

    pinned: int = 2_000
    overview: int = 3_000
    turns: int = 8_000
    playbook: int = 5_000
    known: int = 3_000
    retrieved: int = 2_000
    patterns: int = 1_000
    failures: int = 1_500
    episodes: int = 1_500

    def sized(self, kind: LayerKind) -> LayerKind:
        """Return a layer with the budget that is set for it; one that has no setting keeps its own."""
        return replace(kind, budget=self._asdict().get(kind.id, kind.budget))


USUAL = 4_000
"""Tokens that a context takes where nobody says how many it may, at every door."""
