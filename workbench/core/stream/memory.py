"""The memory record: one value for every kind of memory in the stream.

The fields are the union of the ENGRAM node (source 000, "Memory Node") and the
learning-lifecycle entry (source 001, section 5.2), under the sources' names.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, get_args

from msgspec import field

from workbench.core.document import Record
from workbench.core.record import InvalidRecord
from workbench.core.text import MAX_KEPT

MemoryType = Literal["working", "episodic", "semantic", "procedural"]
Status = Literal["signal", "candidate", "confirmed", "promoted", "archived"]
ArchivedReason = Literal["rejected", "forgotten", "pruned", "superseded", "merged", "done"]

MEMORY_TYPES: tuple[MemoryType, ...] = get_args(MemoryType)
STATUSES: tuple[Status, ...] = get_args(Status)
ARCHIVED_REASONS: tuple[ArchivedReason, ...] = get_args(ArchivedReason)

APPROVED: tuple[Status, ...] = ("confirmed", "promoted")
"""The statuses that a person gives."""

AGENTS_MARKS = 2
"""How many marks all agents together count for on a memory, either way: one point of importance."""

UNWANTED: tuple[ArchivedReason, ...] = ("forgotten", "rejected")
"""Why a memory is archived that a person did not want."""

OBSERVATION_TYPES = (
    "instruction", "error", "decision", "code_change", "insight", "test_result", "general", "tool_output",
    "correction", "failure", "convention", "command", "gotcha", "discovery", "pattern",
    "production_incident", "security_issue", "architectural_decision", "test_failure", "api_design", "bug_fix",
    "feature_implementation", "refactoring", "configuration_change", "code_review_feedback", "dependency_change",
    "test_success", "file_read", "plan",
)  # fmt: skip
"""What an observation is of: the general types and those of coding (source 000, algorithm 3 and
section 4), and the lifecycle's (source 001).
"""

MAX_CONTENT = 10_000
"""Longest content that a person or an agent writes, in characters (source 000)."""

FILE_KEY = "_file"
"""The metadata key under which a reader keeps how a record was written; it tells a person nothing."""

ARCHIVED_FROM = "archived_from"
"""The metadata key that remembers the status before archiving, so that it can be given back."""

NOTE = "note"
"""The metadata key of a person's note on a memory: it is for people, and part of no text."""

SCHEMA_VERSION = 1


class Source(Record, frozen=True):
    """Where an observation was captured, when known: the hook, the turn number and the file, and
    who said it.

    `speaker` is `user`, `assistant`, `tool` or a name; not who stored it.
    """

    hook: str | None = None
    turn: int | None = None
    file: str | None = None
    speaker: str | None = None


NO_SOURCE = Source()


class Memory(Record, frozen=True):
    """One memory.

    Scores: `importance_score` and `effective_importance` run 0–10, `confidence` 0–5: what a person
    or a file says of it, to which `core.stream.confidence` adds what is known besides. The helpful
    count is the sum of four parts that are kept apart: what an import brought, +1 for creation by
    ingestion, duplicates absorbed, and live votes. `helpful_by_agents` and `harmful_by_agents` are
    how many of the votes are agents'. Times are UTC and timezone-aware.
    """

    id: str
    content: str
    created_at: datetime
    last_accessed_at: datetime
    summary: str = ""
    version: int = SCHEMA_VERSION
    user_id: str = "local"
    session_id: str = ""
    memory_type: MemoryType = "episodic"
    observation_type: str = "general"
    section: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    importance_score: float = 5.0
    helpful_imported: int = 0
    helpful_created: int = 0
    helpful_absorbed: int = 0
    helpful_votes: int = 0
    harmful_imported: int = 0
    harmful_votes: int = 0
    helpful_by_agents: int = 0
    harmful_by_agents: int = 0
    last_feedback_at: datetime | None = None
    pinned: bool = False
    status: Status = "signal"
    confidence: int = 0
    promoted_to: str | None = None
    archived_reason: ArchivedReason | None = None
    review_after: datetime | None = None
    is_synthetic: bool = False
    citations: tuple[str, ...] = ()
    source: Source = NO_SOURCE
    access_count: int = 0
    aliases: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def helpful_count(self) -> int:
        """All helpful marks: imported + created + absorbed + votes."""
        return (
            self.helpful_imported
            + self.helpful_created
            + self.helpful_absorbed
            + self.helpful_votes
        )

    @property
    def helpful_given(self) -> int:
        """The helpful marks that somebody gave it: all but what it counts from the start."""
        return self.helpful_count - self.helpful_created

    @property
    def harmful_count(self) -> int:
        """All harmful marks: imported + votes."""
        return self.harmful_imported + self.harmful_votes

    @property
    def net_marks(self) -> int:
        """Helpful less harmful marks, of which all agents together count at most `AGENTS_MARKS`
        either way.

        They never lower what a person pinned or approved.
        """
        helpful = min(self.helpful_by_agents, self.helpful_votes)
        agents = helpful - min(self.harmful_by_agents, self.harmful_votes)
        lowest = 0 if self.pinned or self.status in APPROVED else -AGENTS_MARKS
        return (
            self.helpful_count
            - self.harmful_count
            - agents
            + min(AGENTS_MARKS, max(lowest, agents))
        )

    @property
    def is_long(self) -> bool:
        """Whether its content is longer than anybody may write one: a file brought it."""
        return len(self.content) > MAX_CONTENT

    @property
    def note(self) -> str:
        """What a person noted on it; empty for nothing."""
        found = self.metadata.get(NOTE)
        return found if isinstance(found, str) else ""

    @property
    def line(self) -> str:
        """The memory in one line: its summary, or else the first non-blank line of its content."""
        if self.summary:
            return self.summary
        return next((part for raw in self.content.splitlines() if (part := raw.strip())), "")


def room_for(before: str) -> int:
    """Return how long a text may be that is written in place of another: as long as that one was,
    where it was long.
    """
    return max(MAX_CONTENT, len(before))


def check_memory(memory: Memory) -> None:
    """Raise `InvalidRecord` when a field is outside the range the data model allows."""
    problem = broken_rule(memory)
    if problem:
        raise InvalidRecord(f"memory {memory.id or '(no id)'}: {problem}.", "Nothing was written.")


def broken_rule(memory: Memory) -> str | None:
    """Say which rule of the data model a memory breaks; `None` when none."""
    counts = (
        memory.helpful_imported, memory.helpful_created, memory.helpful_absorbed, memory.helpful_votes,
        memory.harmful_imported, memory.harmful_votes, memory.helpful_by_agents, memory.harmful_by_agents,
        memory.access_count,
    )  # fmt: skip
    times = (
        memory.created_at,
        memory.last_accessed_at,
        memory.last_feedback_at,
        memory.review_after,
    )
    rules: tuple[tuple[bool, str], ...] = (
        (not memory.id, "it has no id"),
        (not memory.content.strip(), "its content is empty"),
        (len(memory.content) > MAX_KEPT, f"its content is longer than {MAX_KEPT:,} characters"),
        (memory.memory_type not in MEMORY_TYPES, f"unknown memory type “{memory.memory_type}”"),
        (memory.status not in STATUSES, f"unknown status “{memory.status}”"),
        (not 0 <= memory.importance_score <= 10, "importance is outside 0–10"),
        (not 0 <= memory.confidence <= 5, "confidence is outside 0–5"),
        (min(counts) < 0, "a count is negative"),
        (
            memory.archived_reason is not None and memory.status != "archived",
            "it has an archive reason but is not archived",
        ),
        (any(at is not None and at.tzinfo is None for at in times), "a time has no timezone"),
    )
    return next((text for broken, text in rules if broken), None)


# Votes as events: who marked what as helpful or harmful, when and why.


Verdict = Literal["helpful", "harmful"]
Votable = Literal["memories", "bullets"]


class Vote(Record, frozen=True):
    """One live vote. `session` is the agent session it was cast in, empty for a person."""

    id: str
    table: Votable
    target: str
    actor: str
    verdict: Verdict
    at: datetime
    session: str = ""
    reason: str = ""
    version: int = 1


def vote_id(table: Votable, target: str, actor: str, session: str = "") -> str:
    """Name the one live vote that `actor` has on `target` in `session`; a second vote replaces it."""
    return f"{table}:{target}:{actor}:{session}"


# What an agent is served: the filter that retrieval and its preview share.


SERVED: frozenset[Status] = frozenset({"signal", "confirmed", "promoted"})
"""Statuses an agent may see; candidates and anything archived never."""

SETTLED: frozenset[Status] = SERVED - {"signal"}
"""Those among them that say more than that something was seen: it was confirmed, or promoted."""


def hidden_because(memory: Memory, now: datetime) -> str | None:
    """Return why an agent is not served `memory` at `now`, or `None` when it is served."""
    if memory.status == "candidate":
        return "waits for review"
    if memory.status == "archived":
        return f"archived ({memory.archived_reason or 'no reason given'})"
    if memory.created_at > now:
        return "created after this moment"
    return None


def is_served(memory: Memory, now: datetime) -> bool:
    """Tell whether an agent asking at `now` may be given `memory`; reflections included."""
    return memory.status in SERVED and memory.created_at <= now
