"""What promoting would do, as values: where to, which texts, which files change how."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from workbench.core.duplicates.dedup import conflicts
from workbench.core.duplicates.groups import much_alike, word_set
from workbench.core.files.memory_md import MAX_BYTES
from workbench.core.promotion import Placement
from workbench.core.record import WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.core.tokens import tokens_of
from workbench.formats.shared import markdown
from workbench.services.files.threeway import DiffLine, diff_texts
from workbench.services.promotion.placement_files import decoded, read
from workbench.services.promotion.placement_moves import NO_MOVES, Moves
from workbench.services.promotion.placement_paths import Place, Places
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


# What stands in a file already where memories are promoted to: lines that say nearly the same or otherwise, its size.
#
# What a file brings in by `@` is read with it: agents load both as one.


MOST, DEEPEST = 20, 5
"""Files that are read with one, and how far they may bring in each other."""

_IMPORT = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?@(?P<path>[^\s@`]+)[ \t]*$", re.MULTILINE)
_LIMITS = (
    (re.compile(r"AGENTS(?:\.override)?\.md", re.IGNORECASE), 32_768, "Codex loads no more of such files together"),
    (re.compile(r"CLAUDE(?:\.local)?\.md", re.IGNORECASE), 40_000, "Claude Code warns of a larger one"),
    (re.compile(r"\.windsurfrules", re.IGNORECASE), 12_000, "Windsurf reads no more of it"),
    (re.compile(r"copilot-instructions\.md", re.IGNORECASE), 4_000, "Copilot's reviews read no more of it"),
    (re.compile(r"SKILL\.md", re.IGNORECASE), 20_000, "move details of a longer skill into separate files"),
    (re.compile(r"MEMORY\.md", re.IGNORECASE), MAX_BYTES, "Claude Code loads no more of it"),
)
"""The bytes that tools take of a file, by its name."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A line that says nearly what a memory says, or, where it `differs`, perhaps something else."""

    file: str
    line: int
    differs: bool = False

    def __str__(self) -> str:
        says = "may contradict this" if self.differs else "says nearly the same"
        return f"{self.file}:{self.line} {says}."


def texts_of(place: Place, places: Places) -> dict[str, str]:
    """Return the text of a file, and of those that it brings in, by how they are called; unreadable ones are left."""
    found: dict[str, str] = {}
    waiting = [(place, 0)]
    while waiting and len(found) < MOST:
        one, depth = waiting.pop(0)
        text = _text(one)
        if text is None or one.stored in found:
            continue
        found[one.stored] = text
        for match in _IMPORT.finditer(text) if depth < DEEPEST else ():
            try:
                waiting.append((places.named(one.path.parent / Path(match["path"]).expanduser()), depth + 1))
            except (WorkbenchError, OSError, ValueError, RuntimeError):
                continue
    return found


def _text(place: Place) -> str | None:
    try:
        data = read(place.path)
        return None if data is None else decoded(data, place.stored)[0]
    except (WorkbenchError, OSError):
        return None


def brings_in(text: str, name: str) -> bool:
    """Tell whether a file brings in another one of its folder by `@`."""
    return any(found["path"].removeprefix("./") == name for found in _IMPORT.finditer(text))


def neighbours(texts: dict[str, str], contents: Sequence[str]) -> Iterator[Neighbour]:
    """Yield the lines that are much like one of some texts, each line once: those of our block, too."""
    words = [(content, word_set(content)) for content in contents]
    for file, text in texts.items():
        for line, said in _statements(text):
            has = word_set(said)
            alike = [content for content, own in words if own and has and much_alike(content, said, own, has)]
            if alike:
                yield Neighbour(file, line, all(conflicts(content, said) for content in alike))


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield what a file says, with its lines."""
    yield from ((one.line, one.text) for one in markdown.statements(text) if one.kind in ("item", "text"))


def size_of(place: Place, texts: dict[str, str], added: Sequence[str]) -> Size:
    """Return how large a file becomes with what it brings in and some texts that are added."""
    most, why = next(((most, why) for name, most, why in _LIMITS if name.fullmatch(place.path.name)), (0, ""))
    return Size.of(place.stored, (*texts.values(), *added), max(len(texts) - 1, 0), most, why)


def over_limit(size: Size) -> str:
    """Say that a file is larger than its tool takes; empty when it is not."""
    if not size.is_over:
        return ""
    beside = f" with the {size.others} it brings in" if size.others else ""
    return f"{size.file}{beside} is then {size.bytes:,} bytes, of {size.most:,}: {size.why}."


def size_said(size: Size) -> str:
    """Say how large a file becomes, against what its tool takes where that is known."""
    beside = f" with the {size.others} it brings in" if size.others else ""
    limit = f", {size.bytes:,} of {size.most:,} bytes" if size.most else ""
    return f"{size.file}{beside} is then {size.tokens:,} tokens{limit}."
