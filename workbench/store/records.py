"""Which table a record type lives in."""

from workbench.core.duplicates.kept_pair import KeptPair
from workbench.core.file_state import FileState
from workbench.core.override import Override
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.playbook.usage_tally import UsageTally
from workbench.core.promotion.placement import Placement
from workbench.core.reflection.llm_run import LlmRun
from workbench.core.reflection.trigger import ReflectionState
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.stream.vote import Vote
from workbench.core.tuning.judgment import Judgment, SavedQuery

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
    FileState: "files",
}
"""Which table a record type lives in."""
