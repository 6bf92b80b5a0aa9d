"""What a reflector reads and what it says: plain values that cross threads."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from workbench.core.record import WorkbenchError
from workbench.core.reflection.llm import UnreadReply
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory

INSIGHT_IMPORTANCE = 8.0
"""The importance of an insight that nobody rated (source 000, algorithm 8)."""

RETRIEVED = 50
"""Memories that are sent with one question at most (source 000, algorithm 8)."""

Stage = Literal[
    "questions", "insights", "refine", "rate", "cluster", "analyse", "curate", "merge", "propose"
]


@dataclass(frozen=True, slots=True)
class Request:
    """What to reflect on: memories, oldest first, and what a person wants to know, if anything.

    The texts are already masked: a reflector sends them as they are.
    """

    memories: tuple[Memory, ...]
    focus: str = ""


@dataclass(frozen=True, slots=True)
class Insight:
    """One thing a reflection found.

    `citations` are ids of memories of the request; `unresolved` what was cited and names none of
    them. `rounds` are the texts before this one when it was refined, the first one first.
    `importance` runs 0–10, `label` says how it came to be (such as "extractive"), and `kinds` what
    it is as a lesson (corrects, instructs, generalises, recurs), as far as that is known.
    `standing` says that a user stated it for every time.
    """

    text: str
    citations: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    question: str = ""
    importance: float = INSIGHT_IMPORTANCE
    label: str = ""
    rounds: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    standing: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens sent and received."""

    input: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.input + self.output

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.input + other.input, self.output + other.output)


STOPPED = "You stopped it."
"""Why a reflection is not complete that a person stopped."""


@dataclass(frozen=True, slots=True)
class Reflection:
    """What a reflector found. `complete` is false when it stopped early, and `stopped` says why in
    a sentence.

    `by_person` is true when a person stopped it.
    """

    reflector: str
    insights: tuple[Insight, ...]
    questions: tuple[str, ...] = ()
    usage: Usage = Usage()
    unread: tuple[UnreadReply, ...] = ()
    complete: bool = True
    stopped: str = ""
    by_person: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """Where a reflection is: its stage, how far (`total` 0 when unknown), and the text that came in
    since.
    """

    stage: Stage
    done: int = 0
    total: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """What would leave the machine: one text per call that is known beforehand, and an estimate of
    all tokens.

    `texts` is empty when nothing leaves.
    """

    texts: tuple[str, ...] = ()
    estimate: Usage = Usage()
    remark: str = ""


Tell = Callable[[Step], None]
"""Hears of progress; called on the thread of the reflector."""


class ReflectionProblem(WorkbenchError):
    """A reflection could not be made, or not begun; what it found before is in `found`."""

    def __init__(self, message: str, hint: str = "", found: Reflection | None = None) -> None:
        super().__init__(message, hint)
        self.found = found


class Reflector(Protocol):
    """Makes insights of memories. Callable from any thread, one call at a time."""

    name: str

    def preview(self, request: Request) -> Preview:
        """Return what would be sent; sends nothing."""

    def reflect(self, request: Request, tell: Tell, cancelled: Cancelled) -> Reflection:
        """Return what was found; raises `ReflectionProblem`. A cancelled one returns what it has,
        not `complete`.
        """


# How deep a reflection stands: it may cite reflections, and those others again (source 003,
# reflection trees).


Find = Callable[[str], Memory | None]
"""Returns the memory that an id means, if any."""


def depth_of(memory: Memory, find: Find) -> int:
    """Return 0 for an observation, 1 for a reflection on observations, 2 for one on such
    reflections, and so on.

    What cannot be found counts as nothing, and so does a citation that leads back to where it came
    from.
    """
    return _depths(memory, find)[memory.id]


def depth_citing(citations: Iterable[str], find: Find) -> int:
    """Return the depth of a reflection that cites these: one more than the deepest of them."""
    cited = [memory for id in dict.fromkeys(citations) if (memory := find(id)) is not None]
    return 1 + max((depth_of(memory, find) for memory in cited), default=0)


def _depths(memory: Memory, find: Find) -> dict[str, int]:
    """Walk the tree without recursion, so that no chain of reflections is too long."""
    known: dict[str, int] = {}
    above: set[str] = set()
    waiting = [memory]
    while waiting:
        at = waiting[-1]
        if at.id in known:
            waiting.pop()
            continue
        if not at.is_synthetic:
            known[at.id] = 0
            continue
        cited = [found for id in dict.fromkeys(at.citations) if (found := find(id)) is not None]
        open_ones = [found for found in cited if found.id not in known and found.id not in above]
        if at.id not in above and [one for one in open_ones if one.id != at.id]:
            above.add(at.id)
            waiting += [one for one in open_ones if one.id != at.id]
            continue
        known[at.id] = 1 + max(
            (known.get(found.id, 0) for found in cited if found.id != at.id), default=0
        )
        above.discard(at.id)
    return known
