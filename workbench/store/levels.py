"""What members of a shared store may do, by the changes that they make."""

from typing import Literal, get_args

from workbench.store.entry import DocChange, Transaction, reverse

Level = Literal["reader", "writer", "reviewer", "owner"]
"""What somebody may do in a store; each may do what those before it may."""

LEVELS: tuple[Level, ...] = get_args(Level)

LATEST = frozenset(("last_feedback_at", "last_accessed_at"))
"""Fields that only say when something was last counted."""

_ADDED = frozenset(("memories", "proposals"))
"""Tables to which a writer adds."""

_KEPT = frozenset(
    (
        "votes", "reads", "working", "reflection", "runs", "queries", "judgments", "tallies", "files",
        "episodes", "episode_notes", "episode_uses", "episode_clusters", "applications", "consolidations",
    )
)  # fmt: skip
"""Tables that a writer keeps: what was noted of the work, and what nobody is served as approved."""

_NOTED = LATEST | {"metadata", "related"}
"""Fields of a memory that may change when the same comes in again."""


def level_of(entry: Transaction) -> Level:
    """Return what it takes to make the changes of a transaction."""
    if entry.kind == "purge":
        return "owner"
    changes = map(reverse, entry.changes) if entry.kind == "undo" else entry.changes
    return "writer" if all(map(_is_writers, changes)) else "reviewer"


def exceeds(entry: Transaction) -> bool:
    """Tell whether a transaction changes what its writer, as the log knew them, may not."""
    level = entry.level
    return level in LEVELS and LEVELS.index(level_of(entry)) > LEVELS.index(level)


def _is_writers(change: DocChange) -> bool:
    if change.op == "table" or change.table in _KEPT:
        return True
    if change.op == "insert":
        return change.table in _ADDED
    return change.op == "update" and (
        change.fields.keys() <= (_NOTED if change.table in _ADDED else LATEST)
    )
