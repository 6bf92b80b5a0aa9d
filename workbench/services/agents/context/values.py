"""The values of a context: what each layer gives, and what it leaves out, with the reason."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from workbench.core.agents.document import Document
from workbench.core.agents.layers import LayerKind
from workbench.core.agents.provenance import Provenance
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.budget import Standing
from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import ProfileInUse

if TYPE_CHECKING:
    from workbench.core.agents.episodes.episode import Episode
    from workbench.core.agents.patterns.pattern import Pattern

Why = Literal["budget", "held", "unapproved", "weak", "given", "placed", "untrusted"]
"""Why something is left out: over the budget, held back for what its text says, not approved, below the floor, given
already by a layer before, placed in a file that agents load whole, or in a document that nobody has looked at."""


@dataclass(frozen=True, slots=True)
class Found:
    """Something that a layer would give: a record, and its score where it was ranked; of a memory its relevance, too.

    What it says is its content, unless it is `said` in another way; `beside` are more texts of it, which are looked at
    before it is given, and not given themselves.
    """

    record: "Memory | Bullet | Document | Episode | Pattern"
    score: float | None = None
    said: str | None = None
    beside: tuple[str, ...] = ()
    relevance: float | None = None

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

    `inside` is what of the text stands in its block, where it is so long that it may be cut; else it is empty.
    `standing` is that of a bullet among its playbook's.
    """

    id: str
    text: str
    tokens: int
    provenance: Provenance
    score: float | None = None
    inside: str = ""
    standing: Standing | None = None
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One thing that is not given; with the reason “budget”, by how many tokens it is `over`.

    A bullet that is over by none is net harmful, and better ones did not fit.
    """

    id: str
    why: Why
    over: int = 0


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a context; `budget` is what it might have used: its `own`, and what those before it left."""

    kind: LayerKind
    budget: int
    items: tuple[Item, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    own: int = 0

    @property
    def left_before(self) -> int:
        """What those before it left of their budgets, which it might have used, too."""
        return max(0, self.budget - self.own)

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.items)


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
