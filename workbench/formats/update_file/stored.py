"""What a store says of the records that stand in a file, and what of it a file has a place for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.core.stream.memory import Memory


@dataclass(frozen=True, slots=True)
class Stored:
    """The records of a file as a store has them, by the id each has in the file, and the ids of those that went.

    Of an index `linked` are those of the files that it names, by the name it has for them; `None` where a file goes.
    A note without front matter gets some for what has its place there, with `makes_front`.
    """

    memories: Mapping[str, Memory] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    linked: Mapping[str, Memory | None] = field(default_factory=dict)
    makes_front: bool = False

    def __bool__(self) -> bool:
        """Whether it says anything."""
        return bool(self.memories or self.gone or self.linked)


def differing(before: Memory, after: Memory) -> tuple[str, ...]:
    """Return in what a stored record differs from what its file says: text, title, type, tags, votes."""
    sides = (
        ("text", before.content, after.content), ("title", before.summary, after.summary),
        ("type", before.category, after.category), ("tags", before.tags, after.tags),
        ("votes", (before.helpful_count, before.harmful_count), (after.helpful_count, after.harmful_count)),
    )  # fmt: skip
    return tuple(what for what, old, new in sides if old != new)
