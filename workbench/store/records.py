"""Which table a record type lives in."""

from workbench.core.judgment import Judgment, SavedQuery
from workbench.core.kept_pair import KeptPair
from workbench.core.llm_run import LlmRun
from workbench.core.memory import Memory
from workbench.core.override import Override
from workbench.core.placement import Placement
from workbench.core.playbook import Book, Bullet, Section
from workbench.core.proposal import Proposal
from workbench.core.trigger import ReflectionState
from workbench.core.usage_tally import UsageTally
from workbench.core.vote import Vote

TABLES: dict[type, str] = {
    Memory: "memories",
    Bullet: "bullets",
    Section: "sections",
    Book: "books",
    Vote: "votes",
    SavedQuery: "queries",
    Judgment: "judgments",
    Proposal: "proposals",
    ReflectionState: "reflection",
    Override: "overrides",
    Placement: "placements",
    LlmRun: "runs",
    KeptPair: "kept_pairs",
    UsageTally: "tallies",
}
"""Which table a record type lives in."""
