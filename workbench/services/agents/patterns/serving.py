"""Patterns for an agent: those in use alone, without secrets, without what gives orders, each with its source."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from workbench.core.agents.patterns.matching import Match
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.agents.patterns.wording import text_of
from workbench.core.agents.provenance import Provenance
from workbench.core.agents.read import AgentRead
from workbench.services.agents.aliases import served_name
from workbench.services.agents.blocks import Blocks
from workbench.services.agents.patterns.patterns import Found
from workbench.services.agents.reading_log import Asked, new_id
from workbench.services.context import Context
from workbench.services.safety.masking import masked
from workbench.services.safety.provenance import provenances_of
from workbench.services.safety.safety import Safety


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
    """Return what of the patterns that apply the context's agent is given, the best first.

    Only as many are looked at as it takes; what is counted as left out stood before the last one that is given.
    """
    given, held, unapproved, known = list[Match](), 0, 0, dict[str, Provenance]()
    for one in _looked_at(context, safety, found, most):
        if len(given) == most:
            break
        held += one.is_held
        unapproved += one.is_unapproved
        if not one.is_held and not one.is_unapproved:
            given.append(one.match)
            origin = one.provenance
            known[one.match.pattern.id] = replace(origin, name=served_name(origin.name, safety.findings))
    names = {one.pattern.id: served_name(one.pattern.id, safety.findings) for one in given}
    shown = tuple(replace(one, pattern=_masked(one.pattern, safety)) for one in given)
    return ServedPatterns(shown, held, unapproved, names, known)


class _Looked(NamedTuple):
    """A pattern that applies, and whether this agent may have it."""

    match: Match
    provenance: Provenance
    is_held: bool
    is_unapproved: bool


def _looked_at(context: Context, safety: Safety, found: Found, most: int) -> Iterator[_Looked]:
    only_approved = context.settings.agents.only_approved(context.actor)
    step = max(2 * most, 1)
    for begin in range(0, len(found.matches), step):
        part = found.matches[begin : begin + step]
        patterns = [one.pattern for one in part]
        speaking = {held.record.id for held in safety.speaking(patterns)}
        known = {key: one for (_, key), one in provenances_of(context, patterns).items()}
        for one in part:
            id = one.pattern.id
            is_held = id in speaking
            yield _Looked(one, known[id], is_held, only_approved and not known[id].approved and not is_held)


def reading_of(context: Context, given: ServedPatterns, query: str, asked: Asked, safety: Safety) -> AgentRead:
    """Return what is kept of an answer: the question without secrets, and which patterns were given."""
    agent = context.actor.removeprefix("agent:")
    ids: Sequence[str] = [one.pattern.id for one in given.matches]
    return AgentRead(
        new_id(), agent, context.now(), safety.masked(query), asked.session, asked.door, documents=tuple(ids),
        is_empty=not ids, held=given.held, unapproved=given.unapproved, parent=asked.parent,
        about="patterns",
    )  # fmt: skip


def _masked(pattern: Pattern, safety: Safety) -> Pattern:
    return pattern if safety.override(pattern) is not None else masked(pattern, safety.masked)
