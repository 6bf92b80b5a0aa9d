"""Patterns for an agent: those in use alone, without secrets, without what gives orders, each with its source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.bench.agents.blocks import Blocks
from workbench.bench.agents.patterns.patterns import Found
from workbench.bench.agents.reads import Asked, new_id
from workbench.bench.agents.served_names import served_name
from workbench.bench.context import Context
from workbench.bench.safety.masking import masked
from workbench.bench.safety.provenance import provenances_of
from workbench.bench.safety.safety import Safety
from workbench.core.agents.patterns.matching import Match
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.agents.patterns.wording import text_of
from workbench.core.agents.provenance import Provenance
from workbench.core.agents.read import AgentRead


@dataclass(frozen=True, slots=True)
class ServedPatterns:
    """What an agent is given of what applies: `held` gave orders, `unapproved` no person stands by.

    `names` and `provenance` go by the id in the store.
    """

    matches: tuple[Match, ...]
    held: int
    unapproved: int
    names: Mapping[str, str]
    provenance: Mapping[str, Provenance]

    @property
    def rows(self) -> list[dict[str, object]]:
        """Return what is given as values: what no person stands by is enclosed in a block that names its source."""
        blocks = Blocks(self.names, self.provenance)
        return [
            {
                "id": blocks.name(one.pattern.id),
                "category": one.pattern.category,
                "score": round(one.score, 4),
                "confidence": round(one.pattern.support.confidence_score, 4),
                "success_rate": round(one.pattern.support.success_rate, 4),
                "text": blocks.enclosed(one.pattern.id, text_of(one.pattern)),
            }
            for one in self.matches
        ]


def served(context: Context, safety: Safety, found: Found, most: int) -> ServedPatterns:
    """Return what of the patterns that apply the context's agent is given, the best first."""
    patterns = [one.pattern for one in found.matches]
    refused = {held.record.id for held in safety.speaking(patterns)}
    known = {key: one for (_, key), one in provenances_of(context, patterns).items()}
    only_approved = context.settings.agents.only_approved(context.actor)
    unapproved = {id for id, one in known.items() if only_approved and not one.approved} - refused
    given = [one for one in found.matches if one.pattern.id not in refused | unapproved][:most]
    names = {one.pattern.id: served_name(one.pattern.id, safety.findings) for one in given}
    origins = {id: replace(one, name=served_name(one.name, safety.findings)) for id, one in known.items()}
    shown = tuple(replace(one, pattern=_masked(one.pattern, safety)) for one in given)
    return ServedPatterns(shown, len(refused), len(unapproved), names, origins)


def reading_of(context: Context, given: ServedPatterns, query: str, asked: Asked, safety: Safety) -> AgentRead:
    """Return what is kept of an answer: the question without secrets, and which patterns were given."""
    agent = context.actor.removeprefix("agent:")
    ids: Sequence[str] = [one.pattern.id for one in given.matches]
    return AgentRead(
        new_id(), agent, context.now(), safety.masked(query), asked.session, asked.door, documents=tuple(ids),
        is_empty=not ids, held=given.held, unapproved=given.unapproved, parent=asked.parent,
    )  # fmt: skip


def _masked(pattern: Pattern, safety: Safety) -> Pattern:
    return pattern if safety.override(pattern) is not None else masked(pattern, safety.masked)
