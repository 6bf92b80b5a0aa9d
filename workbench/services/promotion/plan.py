"""What promoting would do, as values: where to, which texts, which files change how."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from workbench.core.errors import WorkbenchError
from workbench.core.promotion.placement import Placement
from workbench.core.stream.memory import Memory
from workbench.core.tokens import tokens_of
from workbench.services.files.diff import DiffLine, diff_texts
from workbench.services.promotion.placement_moves import NO_MOVES, Moves
from workbench.services.safety.safety import Held

TargetKind = Literal["playbook", "block", "memory", "skill"]

_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a memory is promoted to.

    `where` is a section (or BOOK/SECTION) of a playbook, the file of a managed block, or the folder of memory or
    skill files (empty: the usual one). `title`, `slug` and `about` name and describe a memory file or a skill
    (empty: made from the memory). `kept` says that both stay as a person typed them, secrets and all. `section` is the
    heading of a file that its block goes under (empty: it brings its own).
    """

    kind: TargetKind
    where: str = ""
    title: str = ""
    slug: str = ""
    about: str = ""
    kept: bool = False
    section: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A place that suggests itself: the target, what it is called, and what is there now."""

    target: Target
    label: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class BookEdit:
    """Bullets added to a section of a playbook, and its text before and after."""

    book: str
    section: str
    contents: tuple[str, ...]
    before: str
    after: str

    def lines(self, context: int = 2) -> tuple[DiffLine, ...]:
        """Return what differs, line by line."""
        return diff_texts(self.before, self.after, context)


@dataclass(frozen=True, slots=True)
class Size:
    """How large a file becomes, in estimated tokens and in bytes, with the `others` that it brings in.

    `most` is how many bytes its tool takes of it, 0 where that is not known, and `why` what becomes of more.
    """

    file: str
    tokens: int
    bytes: int
    others: int = 0
    most: int = 0
    why: str = ""

    @classmethod
    def of(cls, file: str, texts: Sequence[str], others: int = 0, most: int = 0, why: str = "") -> "Size":
        """Return the size of a file with these texts in it."""
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        return cls(file, sum(map(tokens_of, texts)), size, others, most, why)

    @property
    def is_over(self) -> bool:
        """Whether it is larger than its tool takes."""
        return 0 < self.most < self.bytes


@dataclass(frozen=True, slots=True)
class PromotionPlan:
    """Everything that promoting would write, and nothing else is written.

    `memories` are the records as they are, `promoted` as they would be, in the same order. `outside` are full paths
    of files outside the project, which need a yes; `flagged` are memories whose text should not travel, and that
    nobody let pass. `sizes` say how large the files become against what their tools take.
    """

    target: Target
    memories: tuple[Memory, ...]
    promoted: tuple[Memory, ...]
    placements: tuple[Placement, ...]
    files: Moves = NO_MOVES
    book: BookEdit | None = None
    outside: tuple[str, ...] = ()
    flagged: tuple[Held, ...] = ()
    warnings: tuple[str, ...] = ()
    sizes: tuple[Size, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories' ids."""
        return tuple(memory.id for memory in self.memories)

    @property
    def to(self) -> tuple[str, ...]:
        """Where the memories go, each place once."""
        return tuple(dict.fromkeys(memory.promoted_to or "" for memory in self.promoted))

    @property
    def approves(self) -> tuple[str, ...]:
        """The ids of those that are approved first, because nobody has confirmed them yet."""
        return tuple(memory.id for memory in self.memories if memory.status != "confirmed")

    @property
    def text(self) -> str:
        """The exact text that is added, entry after entry."""
        return "\n".join(placement.text for placement in self.placements)

    def changes(self, context: int = 2) -> Iterator[tuple[str, tuple[DiffLine, ...]]]:
        """Yield every file or playbook that changes, by name, with its differences."""
        for edit in self.files.edits:
            yield edit.name, edit.lines(context)
        if self.book is not None:
            yield f"playbook {self.book.book}", self.book.lines(context)

    def same_as(self, other: "PromotionPlan") -> bool:
        """Tell whether both would write the same over the same; when they would do it is left aside."""
        return _timeless(self) == _timeless(other)


class ChangedMeanwhile(WorkbenchError):
    """What was shown is no longer what would be written; nothing was."""


def _timeless(plan: PromotionPlan) -> tuple[object, ...]:
    placements = tuple(replace(p, created_at=_NO_TIME) for p in plan.placements)
    return plan.target, plan.memories, placements, plan.files.edits, plan.book
