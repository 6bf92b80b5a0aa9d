"""Answers to an agent as values that JSON knows: what every door for agents prints.

What no person wrote or approved stands in a block that names its source; ids and sessions are those an agent may see.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from workbench.core.duplicates.groups import text_mark
from workbench.core.record import iso
from workbench.core.served import hidden_because
from workbench.core.stream.memory import Memory
from workbench.core.tokens import beginning, tokens_of
from workbench.services.agents.aliases import served_name
from workbench.services.agents.blocks import Blocks
from workbench.services.agents.serving import Served, as_served, judges_of
from workbench.services.context import Context
from workbench.services.safety.safety import Safety

if TYPE_CHECKING:
    from workbench.core.review.proposal import Proposal
    from workbench.services.agents.context.values import AgentContext
    from workbench.services.stream.ingest import Ingested
    from workbench.services.tuning.session import Question

Json: TypeAlias = dict[str, object]

LINE = 300
"""Characters of a memory's line in a list."""

PART = 16_000
"""Characters of one memory's text that are given at once."""


class Answering:
    """Puts what an agent is given into values."""

    def __init__(self, context: Context, safety: Safety) -> None:
        self._context, self._safety = context, safety

    def withheld(self, memories: Sequence[Memory]) -> set[str]:
        """Return the ids of those memories that this agent is not given."""
        _, held, unapproved = judges_of(self._context, self._safety)
        return held(memories) | unapproved(memories)

    def told(self, memories: Sequence[Memory]) -> list[Memory]:
        """Return those memories that stand in no block, as the agent may see them: what a person stands by."""
        refused, outward = self.withheld(memories), as_served(self._context, memories, self._safety)
        known = outward.provenance
        both = zip(outward.named, memories, strict=True)
        return [shown for shown, stored in both if stored.id not in refused and known[stored.id].approved]

    def search(self, served: Served, most: int, explained: "Question | None" = None) -> Json:
        """Return a ranking a line each, in at most so many tokens."""
        clock: Json = {"clock": served.clock} if served.clock else {}
        if served.floor.empty:
            note = "Nothing in this store is relevant to the query."
            return {"results": [], "nothing_relevant": True, "note": note, **clock}
        blocks, rows, spent = Blocks(served.names, served.provenance), list[Json](), 0
        for stored, scored in zip(served.ranking.ids, served.top, strict=True):
            row = self._line(scored.memory, blocks, text_mark(scored.memory.content))
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
        left_out = {"held_back": served.held, "unapproved": served.unapproved, "weak": served.weak, "cut": more}
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
        outward = as_served(self._context, [memory], self._safety)
        return Blocks(outward.names, outward.provenance).name(outward.memories[0].id)

    def lines(self, memories: Sequence[Memory]) -> list[Json]:
        outward = as_served(self._context, memories, self._safety)
        blocks = Blocks(outward.names, outward.provenance)
        rows = zip(outward.memories, memories, strict=True)
        return [self._line(shown, blocks, text_mark(stored.content)) for shown, stored in rows]

    def full(self, memories: Sequence[Memory], near: Mapping[str, Sequence[Memory]], most: int, offset: int) -> Json:
        """Return memories in full in at most so many tokens, the first from a character on; `next` goes on there."""
        outward = as_served(self._context, memories, self._safety)
        blocks, rows, spent = Blocks(outward.names, outward.provenance), list[Json](), 0
        for shown, stored in zip(outward.memories, memories, strict=True):
            begin = 0 if rows else min(offset, len(shown.content))
            text = beginning(shown.content[begin : begin + PART], most - spent - 100)
            if rows and len(text) < len(shown.content) - begin:
                return {"memories": rows, "next": {"id": blocks.name(shown.id), "offset": 0}}
            row = self._line(shown, blocks, text_mark(stored.content))
            del row["line"]
            # Words beside the text that nobody stands by are left out, as in every answer to an agent.
            stands = blocks.provenance(shown.id).approved
            row |= {
                "text": blocks.enclosed(shown.id, text),
                "tags": list(shown.tags) if stands else [],
                "section": shown.section if stands else "",
            }
            row["around"] = self.lines(near.get(stored.id, ()))
            rows.append(row)
            spent += tokens_of(str(row))
            if begin + len(text) < len(shown.content):
                return {"memories": rows, "next": {"id": blocks.name(shown.id), "offset": begin + len(text)}}
        return {"memories": rows, "next": None}

    def whole(self, memory: Memory) -> str:
        outward = as_served(self._context, [memory], self._safety)
        (shown,) = outward.memories
        return Blocks(outward.names, outward.provenance).enclosed(shown.id, shown.content)

    def saved(self, done: "Ingested", resembling: Sequence[Memory]) -> Json:
        """Return what became of something that was saved; an agent sees no more of what waits than that it does."""
        actions = {"created": "created", "skipped": "known", "absorbed": "updated", "restored": "updated"}
        memory = done.memory
        if done.outcome in ("seen", "purged"):
            note = "A person archived or erased this, so it is not stored."
            return {"id": None, "action": "known", "note": note}
        if self.withheld([memory]) or hidden_because(memory, self._context.now()):
            return {"id": None, "action": "waiting", "note": "Something of this waits for a person."}
        row: Json = {
            "id": self.name(memory),
            "action": actions.get(done.outcome, "created"),
            "status": memory.status,
            "importance": memory.importance_score,
            "citations": [served_name(id, self._safety.findings) for id in memory.citations],
            "resembles": self.lines([m for m in resembling if m.id != memory.id and not self.withheld([m])]),
        }
        if done.outcome in ("proposed", "contradicts"):
            row["note"] = "A person decides what becomes of it and of what it resembles."
        elif done.unwanted is not None:
            row["note"] = "It resembles what a person archived."
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
                "left_out": _counts([left.why for left in layer.left_out]),
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
        known = blocks.provenance(memory.id)
        line = memory.line if len(memory.line) <= LINE else f"{memory.line[:LINE]}…"
        return {
            "id": blocks.name(memory.id),
            "line": blocks.enclosed(memory.id, line),
            "kind": memory.observation_type,
            "memory_type": memory.memory_type,
            "status": memory.status,
            "importance": memory.importance_score,
            "age_days": round((self._context.now() - memory.created_at).total_seconds() / 86_400, 1),
            "created_at": iso(memory.created_at),
            "citations": [served_name(id, self._safety.findings) for id in memory.citations],
            "approved": known.approved,
            "mark": mark,
        }


def text_of(made: "AgentContext") -> str:
    """Return a context as the text that an agent reads: a heading for each layer that gives something."""
    return "\n\n".join(layer.text for layer in made.layers if layer.items)


def _counts(words: Sequence[str]) -> dict[str, int]:
    return {word: words.count(word) for word in dict.fromkeys(words)}
