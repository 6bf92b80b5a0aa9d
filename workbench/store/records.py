"""Which table a record type lives in."""

from workbench.core.judgment import Judgment, SavedQuery
from workbench.core.memory import Memory
from workbench.core.playbook import Book, Bullet, Section
from workbench.core.proposal import Proposal
from workbench.core.trigger import ReflectionState
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
}
"""Which table a record type lives in."""
