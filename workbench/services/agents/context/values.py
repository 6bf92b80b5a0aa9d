"""The values of a context: what each layer gives, and what it leaves out, with the reason."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from workbench.core.agents.document import Document
from workbench.core.agents.layers import LayerKind
from workbench.core.agents.provenance import Provenance
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.budget import Standing
from workbench.core.stream.memory import Memory
from workbench.core.tokens import tokens_of
from workbench.core.tuning.profile import ProfileInUse
from workbench.services.agents.blocks import Blocks, framed

if TYPE_CHECKING:
    from workbench.core.agents.episodes.episode import Episode
    from workbench.core.agents.patterns.pattern import Pattern

Why = Literal["budget", "harmful", "held", "unapproved", "weak", "given", "placed", "untrusted"]
"""Why something is left out: over the budget, voted harmful more often than helpful, held back for what its text says,
not approved, below the floor, given already by a layer before, placed in a file that agents load whole, or in a
document that nobody has looked at."""


@dataclass(frozen=True, slots=True)
class Found:
    """Something that a layer would give: a record, and its score where it was ranked; of a memory its relevance, too.

    What it says is its content, unless it is `said` in another way; `beside` are more texts of it, which are looked at
    before it is given, and not given themselves. `standing` is that of a bullet among its playbook's. What does not
    `fit` the task is given within its layer's minimum only.
    """

    record: "Memory | Bullet | Document | Episode | Pattern"
    score: float | None = None
    said: str | None = None
    beside: tuple[str, ...] = ()
    relevance: float | None = None
    standing: Standing | None = None
    fits: bool = True

    @property
    def id(self) -> str:
        """Its id, with the playbook's before a bullet's."""
        return f"{self.record.book}/{self.record.id}" if isinstance(self.record, Bullet) else self.record.id

    @property
    def text(self) -> str:
        return str(getattr(self.record, "content", "")) if self.said is None else self.said


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is given: its id and text as the agent sees them, its tokens, its origin and its scores.

    One `is_long` may be cut; `standing` and `fits` are as it was found.
    """

    id: str
    text: str
    tokens: int
    provenance: Provenance
    score: float | None = None
    is_long: bool = False
    standing: Standing | None = None
    relevance: float | None = None
    fits: bool = True

    @property
    def row(self) -> tuple[str, Provenance]:
        """Its row in the text of a context, and where it comes from."""
        disputed = f"[{self.provenance.disputed}]\n" if self.provenance.disputed else ""
        return f"- [{self.id}] {disputed}{self.text}", self.provenance

    @property
    def alone(self) -> str:
        """Its text by itself, in a block of its own where nobody stands by it."""
        return Blocks({}, {self.id: self.provenance}).enclosed(self.id, self.text)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One thing that is not given; with the reason “budget”, by how many tokens it is `over`.

    A bullet that is over by none is net harmful, and better ones did not fit.
    """

    id: str
    why: Why
    over: int = 0


@dataclass(frozen=True)
class Layer:
    """One layer of a context: its part of the `budget`, what of that it used, and the mark of its blocks."""

    kind: LayerKind
    budget: int
    items: tuple[Item, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    mark: str = ""

    @property
    def text(self) -> str:
        """The text that an agent reads: a heading and what is given, in blocks; nothing where nothing is."""
        rows = framed((item.row for item in self.items), self.mark)
        return "\n".join((f"## {self.kind.title}", *rows)) if self.items else ""

    @cached_property
    def tokens(self) -> int:
        return tokens_of(f"{self.text}\n\n") if self.items else 0


@dataclass(frozen=True, slots=True)
class AgentContext:
    """What an agent is given for a task; with `is_empty` nothing in the store is relevant to it.

    `weak` memories that the ranking under `profile` found are left out, since any question could have found them.
    """

    task: str
    budget: int
    layers: tuple[Layer, ...]
    is_empty: bool = False
    weak: int = 0
    profile: ProfileInUse | None = None

    @property
    def tokens(self) -> int:
        return sum(layer.tokens for layer in self.layers)

    @property
    def given(self) -> tuple[Item, ...]:
        return tuple(item for layer in self.layers for item in layer.items)
