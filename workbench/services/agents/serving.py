"""Retrieval for an agent: what it is given counts as read. A preview (`Tuning.rank`) never counts.

Text that gives orders to an agent, or hides characters, is held back unless a person allowed it;
secrets are masked. What no person wrote or approved is given with its source, and to some agents
not at all. Where nothing is relevant, nothing is given, and no memory that any question could have
found.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from workbench.core.agents.document import Document
from workbench.core.agents.layers import LayerKind
from workbench.core.agents.read import AgentRead, Provenance
from workbench.core.duplicates.groups import text_mark
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.budget import Standing
from workbench.core.record import InvalidRecord, StoreProblem, iso
from workbench.core.runtime import may_stop
from workbench.core.stream.filter import Predicate
from workbench.core.stream.memory import Memory, hidden_because
from workbench.core.text import counted
from workbench.core.tokens import beginning, tokens_of
from workbench.core.tuning.profile import Profile, ProfileInUse
from workbench.core.tuning.scoring import Scored
from workbench.retrieval.ranking.ranker import Ranking
from workbench.services.agents.blocks import Blocks, Guard, Json, framed
from workbench.services.agents.reading_log import BY_COMMAND, Asked, keep, reading
from workbench.services.context import Context
from workbench.services.safety.safety import Safety
from workbench.services.tuning.floors import AgainstFloor, against
from workbench.services.tuning.tuning import Tuning

if TYPE_CHECKING:
    from workbench.core.agents.episodes.episode import Episode
    from workbench.core.agents.patterns.pattern import Pattern
    from workbench.core.review.proposal import Proposal
    from workbench.services.stream.ingest import Ingested
    from workbench.services.tuning.session import Question


@dataclass(frozen=True, slots=True)
class Served:
    """What an agent was given, or would be, and why it could not be counted as read, when it could
    not.

    `top` holds it, the best first and with secrets masked; `ranking` says how it came about, and
    `floor` what was relevant at all: nothing is given for a query that is empty. `held` better ones
    were held back for what their text says, `unapproved` more because this agent gets only what a
    person approved, and `weak` of the best were left out. `blocks` go by the id in the store.
    """

    ranking: Ranking
    top: tuple[Scored, ...]
    floor: AgainstFloor
    held: int = 0
    problem: str = ""
    unapproved: int = 0
    blocks: Blocks = field(default_factory=Blocks)
    weak: int = 0

    @property
    def clock(self) -> str:
        """A sentence on memories that are dated after the moment of the question; empty where there
        are none.
        """
        later = self.ranking.pool.later(self.ranking.now)
        what = counted(later, "memory is", "memories are")
        moment = self.ranking.now.isoformat(timespec="minutes")
        return f"{what} dated after {moment}, this machine's clock, and left out." if later else ""

    @property
    def relevances(self) -> tuple[float, ...]:
        """How relevant each of what is given is, in its order."""
        return tuple(map(self.floor.relevance, self.ranking.ids))


def look(tuning: Tuning, query: str, k: int | None, profile: Profile, now: datetime) -> Served:
    """Rank the memories for a person, who only looks: nothing is held back, masked or counted."""
    ranking, floor = _ranked(tuning, query, k, profile, now)
    return Served(ranking, ranking.top, floor)


def serve(
    context: Context,
    tuning: Tuning,
    query: str,
    k: int | None,
    profile: Profile,
    safety: Safety | None = None,
    asked: Asked = BY_COMMAND,
) -> Served:
    """Rank the memories for the context's actor, an agent, and keep what it read in one journal
    line.

    A store that cannot be written still serves. Raises `InvalidRecord` when the actor is no agent.
    """
    safe = safety or Safety(context)
    served = give(context, tuning, query, k, profile, safe)
    try:
        keep(context, [read_of(context, served, query, asked, safe)])
    except StoreProblem as error:
        return replace(served, problem=f"The reads were not counted. {error}")
    return served


def give(
    context: Context,
    tuning: Tuning,
    query: str,
    k: int | None,
    profile: Profile,
    safe: Safety,
    wanted: Predicate | None = None,
) -> Served:
    """Rank the memories for the context's actor, an agent; what it read is kept by the caller.

    Only memories that are `wanted` are given. Raises `InvalidRecord` when the actor is no agent.
    """
    if not context.actor.startswith("agent:"):
        raise InvalidRecord("Only agents are served; a person reads without being counted.")
    context.library.refresh()
    ranking, floor = _ranked(tuning, query, k, profile, context.now())
    if floor.empty:
        return Served(_only(ranking, ()), (), floor)

    guard = Guard(context, safe)

    def judge(memories: Sequence[Memory]) -> Mapping[str, str]:
        unwanted = {m.id: "unwanted" for m in memories if wanted is not None and not wanted(m)}
        return unwanted | guard.refusals([m for m in memories if m.id not in unwanted])

    ranking, out = _without(ranking, judge)
    strong = tuple(id for id in ranking.ids if not floor.is_weak(id))
    ranking, weak = _only(ranking, strong), len(ranking.ids) - len(strong)
    shown, blocks = as_served(context, [scored.memory for scored in ranking.top], safe)
    top = tuple(replace(s, memory=one) for s, one in zip(ranking.top, shown, strict=True))
    return Served(ranking, top, floor, out["held"], "", out["unapproved"], blocks, weak)


def as_served(
    context: Context, memories: Sequence[Memory], safe: Safety
) -> tuple[tuple[Memory, ...], Blocks]:
    """Return memories that are served as an agent may see them: without secrets, and with the
    blocks that say how they are called and where they come from.
    """
    guard = Guard(context, safe)
    names = {name: guard.name(name) for m in memories for name in (m.id, m.session_id)}
    shown = tuple(map(guard.shown, memories))
    origins = guard.origins(memories)
    # An id that is a secret is given masked, and asked about by that name.
    both = zip(shown, memories, strict=True)
    origins |= {outward.id: origins[memory.id] for outward, memory in both}
    return shown, Blocks(origins, names)


def read_of(context: Context, served: Served, query: str, asked: Asked, safe: Safety) -> AgentRead:
    """Return what is kept of an answer; the question is masked."""
    ranking = served.ranking
    return reading(
        context, asked, safe.masked(query), profile=ranking.profile.name, memories=ranking.ids,
        scores=tuple(round(scored.total, 6) for scored in ranking.top), is_empty=served.floor.empty, held=served.held,
        unapproved=served.unapproved, weak=served.weak,
        relevances=tuple(round(value, 6) for value in served.relevances),
    )  # fmt: skip


def _ranked(
    tuning: Tuning, query: str, k: int | None, profile: Profile, now: datetime
) -> tuple[Ranking, AgainstFloor]:
    """Rank the memories and hold them against the floor, which is computed first where it is not
    known.

    Raises `Stopped`.
    """
    standard = tuning.floors.settled(query)
    ranker = tuning.retriever.ranker()  # one for both: others may change the store in between
    scores = ranker.relevance(query)
    may_stop()
    ranking = ranker.rank(scores, profile, now, k)
    return ranking, against(standard, scores, ranking)


def _without(
    ranking: Ranking, judge: Callable[[Sequence[Memory]], Mapping[str, str]]
) -> tuple[Ranking, Counter[str]]:
    """Return a ranking without what must not be served, filled up from below, and how much was left
    out, by reason.
    """
    wanted = looked = ranking.k
    why, judged = dict[str, str](), 0
    while True:
        best = ranking.top if looked == wanted else ranking.best(looked)
        why |= judge([scored.memory for scored in best[judged:]])
        judged = len(best)
        kept = [scored.memory.id for scored in best if scored.memory.id not in why][:wanted]
        if len(kept) == wanted or len(best) < looked:
            break
        looked *= 4
    ids = [scored.memory.id for scored in best]
    passed = ids[: ids.index(kept[-1])] if len(kept) == wanted else ids
    return _only(ranking, kept), Counter(why[id] for id in passed if id in why)


def first_of(served: Served, count: int) -> Served:
    """Return an answer of which only the first ones are given."""
    return replace(
        served, ranking=_only(served.ranking, served.ranking.ids[:count]), top=served.top[:count]
    )


def _only(ranking: Ranking, ids: Sequence[str]) -> Ranking:
    """Return a ranking of which only these memories are given, in this order."""
    if tuple(ids) == ranking.ids:
        return ranking
    place = ranking.candidates.position
    positions = [at for id in ids if (at := place(ranking.pool.row(id))) is not None]
    return replace(ranking, positions=np.array(positions, ranking.positions.dtype))


# Answers to an agent as values that JSON knows: what every door for agents prints.
#
# What no person wrote or approved stands in a block that names its source; ids and sessions are
# those an agent may see.


LINE = 300
"""Characters of a memory's line in a list."""

PART = 16_000
"""Characters of one memory's text that are given at once."""


class Answering:
    """Puts what an agent is given into values."""

    def __init__(self, context: Context, safety: Safety) -> None:
        self._context, self._safety, self._guard = context, safety, Guard(context, safety)

    def _outward(self, memories: Sequence[Memory]) -> tuple[tuple[Memory, ...], Blocks]:
        return as_served(self._context, memories, self._safety)

    def withheld(self, memories: Sequence[Memory]) -> set[str]:
        """Return the ids of those memories that this agent is not given."""
        return set(self._guard.refusals(memories))

    def told(self, memories: Sequence[Memory]) -> list[Memory]:
        """Return those memories that stand in no block, as the agent may see them: what a person
        stands by.
        """
        held, (outward, blocks) = self.withheld(memories), self._outward(memories)
        return [
            replace(shown, id=blocks.name(shown.id))
            for shown, stored in zip(outward, memories, strict=True)
            if stored.id not in held and blocks.origins[stored.id].approved
        ]

    def search(self, served: Served, most: int, explained: "Question | None" = None) -> Json:
        """Return a ranking a line each, in at most so many tokens."""
        clock: Json = {"clock": served.clock} if served.clock else {}
        if served.floor.empty:
            note = "Nothing in this store is relevant to the query."
            return {"results": [], "nothing_relevant": True, "note": note, **clock}
        rows, spent = list[Json](), 0
        for stored, scored in zip(served.ranking.ids, served.top, strict=True):
            row = self._line(scored.memory, served.blocks, text_mark(scored.memory.content))
            row["score"] = round(scored.total, 4)
            row["relevance"] = round(served.floor.relevance(stored), 4)
            if explained is not None:
                row["factors"] = {name: round(part, 4) for name, part in scored.weighted.items()}
                row["relevance_parts"] = {
                    s.part.id: round(s.value, 4) for s in explained.shares(served.ranking, stored)
                }
            spent += tokens_of(str(row))
            if rows and spent > most:
                break
            rows.append(row)
        more = len(served.top) - len(rows)
        left_out = {
            "held_back": served.held,
            "unapproved": served.unapproved,
            "weak": served.weak,
            "cut": more,
        }
        return {
            "results": rows,
            "nothing_relevant": False,
            "profile": served.ranking.profile.name,
            "profile_from": self._context.profile.origin,
            "left_out": {name: count for name, count in left_out.items() if count},
            **clock,
        }

    def name(self, memory: Memory) -> str:
        """Return a memory's id as an agent may see it."""
        (shown,), blocks = self._outward([memory])
        return blocks.name(shown.id)

    def lines(self, memories: Sequence[Memory]) -> list[Json]:
        shown, blocks = self._outward(memories)
        both = zip(shown, memories, strict=True)
        return [self._line(one, blocks, text_mark(stored.content)) for one, stored in both]

    def full(
        self,
        memories: Sequence[Memory],
        near: Mapping[str, Sequence[Memory]],
        most: int,
        offset: int,
    ) -> Json:
        """Return memories in full in at most so many tokens, the first from a character on; `next`
        goes on there.
        """
        outward, blocks = self._outward(memories)
        rows, spent = list[Json](), 0
        for shown, stored in zip(outward, memories, strict=True):
            begin = 0 if rows else min(offset, len(shown.content))
            text = beginning(shown.content[begin : begin + PART], most - spent - 100)
            if rows and len(text) < len(shown.content) - begin:
                return {"memories": rows, "next": {"id": blocks.name(shown.id), "offset": 0}}
            row = self._line(shown, blocks, text_mark(stored.content))
            del row["line"]
            # Words beside the text that nobody stands by are left out, as in every answer to an
            # agent.
            stands = blocks.origins[shown.id].approved
            row |= {
                "text": blocks.enclosed(shown.id, text),
                "tags": list(shown.tags) if stands else [],
                "section": shown.section if stands else "",
            }
            row["around"] = self.lines(near.get(stored.id, ()))
            rows.append(row)
            spent += tokens_of(str(row))
            if begin + len(text) < len(shown.content):
                return {
                    "memories": rows,
                    "next": {"id": blocks.name(shown.id), "offset": begin + len(text)},
                }
        return {"memories": rows, "next": None}

    def whole(self, memory: Memory) -> str:
        (shown,), blocks = self._outward([memory])
        return blocks.enclosed(shown.id, shown.content)

    def saved(self, done: "Ingested", resembling: Sequence[Memory]) -> Json:
        """Return what became of something that was saved; an agent sees no more of what waits than
        that it does.
        """
        actions = {
            "created": "created",
            "skipped": "known",
            "absorbed": "updated",
            "restored": "updated",
        }
        memory = done.memory
        if done.outcome in ("seen", "purged"):
            note = "A person archived or erased this, so it is not stored."
            return {"id": None, "action": "known", "note": note}
        if self.withheld([memory]) or hidden_because(memory, self._context.now()):
            return {
                "id": None,
                "action": "waiting",
                "note": "A part of this waits for a person.",
            }
        row: Json = {
            "id": self.name(memory),
            "action": actions.get(done.outcome, "created"),
            "status": memory.status,
            "importance": memory.importance_score,
            "citations": list(map(self._guard.name, memory.citations)),
            "resembles": self.lines(
                [m for m in resembling if m.id != memory.id and not self.withheld([m])]
            ),
        }
        if done.outcome in ("proposed", "contradicts"):
            row["note"] = "A person decides what to do with it and the memory it resembles."
        elif done.unwanted is not None:
            row["note"] = "It resembles a memory that a person archived."
        return row

    def wished(self, proposal: "Proposal", old: Memory) -> Json:
        """Return what became of a wish to replace a memory."""
        note = "A person decides; until then the old one is served and this is not."
        return {"id": proposal.id, "action": "proposed", "replaces": self.name(old), "note": note}

    def context(self, made: "AgentContext") -> Json:
        """Return a context, as text and layer by layer."""
        layers = [
            {
                "layer": layer.kind.id,
                "tokens": layer.tokens,
                "budget": layer.budget,
                "ids": [item.id for item in layer.items],
                "left_out": dict(Counter(left.why for left in layer.left_out)),
            }
            for layer in made.layers
        ]
        answer: Json = {
            "text": text_of(made),
            "tokens": made.tokens,
            "layers": layers,
            "nothing_relevant": made.is_empty,
        }
        used = made.profile or self._context.profile
        return {**answer, "profile": used.name, "profile_from": used.origin}

    def _line(self, memory: Memory, blocks: Blocks, mark: str) -> Json:
        known = blocks.origins[memory.id]
        line = memory.line if len(memory.line) <= LINE else f"{memory.line[:LINE]}…"
        return {
            "id": blocks.name(memory.id),
            "line": blocks.enclosed(memory.id, line),
            "kind": memory.observation_type,
            "memory_type": memory.memory_type,
            "status": memory.status,
            "importance": memory.importance_score,
            "age_days": round(
                (self._context.now() - memory.created_at).total_seconds() / 86_400, 1
            ),
            "created_at": iso(memory.created_at),
            "citations": list(map(self._guard.name, memory.citations)),
            "approved": known.approved,
            "mark": mark,
        }


def text_of(made: "AgentContext") -> str:
    """Return a context as the text that an agent reads: a heading for each layer that gives
    something.
    """
    return "\n\n".join(layer.text for layer in made.layers if layer.items)


# The values of a context: what each layer gives, and what it leaves out, with the reason.


Why = Literal[
    "budget", "harmful", "replaced", "held", "unapproved", "weak", "given", "placed", "untrusted"
]
"""Why something is left out: over the budget, voted harmful more often than helpful, a decision that
a later one replaces, held back for what its text says, not approved, below the floor, given already
by a layer before, placed in a file that agents load whole, or in a document that nobody has looked
at.
"""


class Found(NamedTuple):
    """Something that a layer would give: a record, and its score where it was ranked; of a memory
    its relevance, too.

    What it says is its content, unless it is `said` in another way; `beside` are more texts of it,
    which are looked at before it is given, and not given themselves. `standing` is that of a bullet
    among its playbook's. What does not `fit` the task is given within its layer's minimum only.
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
        return (
            f"{self.record.book}/{self.record.id}"
            if isinstance(self.record, Bullet)
            else self.record.id
        )

    @property
    def text(self) -> str:
        return str(getattr(self.record, "content", "")) if self.said is None else self.said


class Item(NamedTuple):
    """One thing that is given: its id and text as the agent sees them, its tokens, its origin and
    its scores.

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
        return Blocks({self.id: self.provenance}).enclosed(self.id, self.text)


class LeftOut(NamedTuple):
    """One thing that is not given; with the reason “budget”, by how many tokens it is `over`.

    A bullet that is over by none is net harmful, and better ones did not fit.
    """

    id: str
    why: Why
    over: int = 0


@dataclass(frozen=True)
class Layer:
    """One layer of a context: its part of the `budget`, what of that it used, and the mark of its
    blocks.
    """

    kind: LayerKind
    budget: int
    items: tuple[Item, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    mark: str = ""

    @property
    def text(self) -> str:
        """The text that an agent reads: a heading and what is given, in blocks; nothing where
        nothing is.
        """
        rows = framed((item.row for item in self.items), self.mark)
        return "\n".join((f"## {self.kind.title}", *rows)) if self.items else ""

    @cached_property
    def tokens(self) -> int:
        return tokens_of(f"{self.text}\n\n") if self.items else 0


class AgentContext(NamedTuple):
    """What an agent is given for a task; with `is_empty` nothing in the store is relevant to it.

    `weak` memories that the ranking under `profile` found are left out, since any question could
    have found them.
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
