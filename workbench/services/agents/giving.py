"""Patterns for an agent: those in use alone, without secrets, without what gives orders, each with its source."""

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from workbench.core.agents.episodes.criteria import Criteria, Strategy, phase_of, told
from workbench.core.agents.episodes.episode import Episode
from workbench.core.agents.patterns.matching import Match, text_of
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.agents.read import UNKNOWN, AgentRead, Provenance
from workbench.core.document import to_doc
from workbench.core.record import InvalidQuery, StoreProblem, UnknownRecord, iso
from workbench.services.agents.aliases import alias_of, served_name
from workbench.services.agents.blocks import Blocks, Json, require_trusted
from workbench.services.agents.episode_finding import EpisodeFinder, FoundEpisode
from workbench.services.agents.episodes import Episodes
from workbench.services.agents.patterns import Found
from workbench.services.agents.reading_log import Asked, keep, new_id
from workbench.services.agents.serving import AgentContext, Item, Layer
from workbench.services.context import Context
from workbench.services.safety.masking import masked
from workbench.services.safety.provenance import provenances_of
from workbench.services.safety.safety import Safety
from workbench.services.safety.secret_filter import strings

# What an agent is given of episodes: trusted, without secrets, nothing that gives orders, with its origin; counted.
#
# What an episode says stands in one text, within a block that names its source where no person stands by it.


MOST = 20
"""Episodes that are given at once, at the most."""


class EpisodeGiving:
    """Gives the context's actor, an agent, episodes of a store that is trusted. Raises `WorkbenchError` otherwise."""

    def __init__(
        self,
        context: Context,
        finder: EpisodeFinder,
        safety: Safety,
        asked: Asked,
        keep: Callable[[AgentRead], None] | None = None,
    ) -> None:
        self._context, self._finder, self._safety, self._asked = context, finder, safety, asked
        self._keep = keep or self._keep_at_once
        self._episodes = Episodes(context)
        self._only_approved = context.settings.agents.only_approved(context.actor)

    def find(self, query: str, strategy: Strategy, criteria: Criteria, k: int) -> Json:
        """Return what a strategy finds, the best or the latest first, and why some were left out."""
        require_trusted(self._context.library)
        if criteria.phase == "deleted":
            raise InvalidQuery("What a person deleted is served to no agent.", "Ask for another phase.")
        left_out = Counter[str]()

        def may_pass(one: FoundEpisode) -> bool:
            """Tell whether the agent may have an episode, and count it where it may not."""
            why = self._refused(one.episode, [one.digest.whole, one.digest.session])
            if why:
                left_out[why] += 1
            return not why

        found = self._finder.find(query, strategy, criteria, max(1, min(k, MOST)), may_pass).found
        known = provenances_of(self._context, [one.episode for one in found])
        origins = {one.episode.id: known.get(("episodes", one.episode.id), UNKNOWN) for one in found}
        blocks = Blocks({}, origins)
        rows = [self._row(one, blocks, origins[one.episode.id]) for one in found]
        self._count([one.episode.id for one in found], self._safety.masked(query.strip()) or strategy, asks=True)
        return {"strategy": strategy, "episodes": rows, "left_out": dict(left_out), "mark": blocks.mark}

    def get(self, id: str, *, trace: bool = False) -> Json:
        """Return an episode whole, its trace only where it is asked for."""
        require_trusted(self._context.library)
        episode = self._named(id)
        opened = self._episodes.open(episode.id)
        if opened.phase == "deleted" or self._refused(episode, list(strings(opened.body.doc))):
            raise _not_given(id)
        known = provenances_of(self._context, [episode]).get(("episodes", episode.id), UNKNOWN)
        blocks = Blocks({}, {episode.id: known})
        doc = masked(opened.doc(trace=trace), self._safety.masked)
        doc["episode_id"] = served_name(episode.id, self._safety.findings)
        doc.pop("embeddings", None)
        if opened.cluster is not None:
            doc["consolidated"] = masked(to_doc(opened.cluster), self._safety.masked)
        self._count([episode.id], "", asks=False)
        text = json.dumps(doc, ensure_ascii=False, indent=1)
        return {"id": doc["episode_id"], "phase": opened.phase, "episode": blocks.enclosed(episode.id, text),
                "trace_is_open": trace, "provenance": _origin(known), "mark": blocks.mark}  # fmt: skip

    def _row(self, one: FoundEpisode, blocks: Blocks, known: Provenance) -> Json:
        head, digest = one.episode, one.digest
        row: dict[str, object] = {
            "id": served_name(head.id, self._safety.findings),
            "timestamp": iso(head.at),
            "outcome": head.outcome,
            "phase": one.phase,
            "domain": self._name(head.domain),
            "task_type": self._name(head.type),
            "text": blocks.enclosed(head.id, self._safety.masked(told(digest))),
            "provenance": _origin(known),
        }
        if one.terms is not None:
            row["score"] = round(one.total, 4)
            row["score_parts"] = {part.term: round(part.weighted, 4) for part in one.parts}
        if one.shared:
            row["shared"] = [feature for feature in one.shared if not feature.startswith("line:")]
        return row

    def _refused(self, episode: Episode, texts: Sequence[str]) -> str:
        """Return why the agent is not given an episode; empty when it is."""
        if self._only_approved:
            known = provenances_of(self._context, [episode]).get(("episodes", episode.id), UNKNOWN)
            if not known.approved:
                return "unapproved"
        said = (*texts, episode.domain, episode.type, *episode.tags)
        kinds = {finding.kind for text in said if text for finding in self._safety.sorts(text)}
        return "held" if kinds & {"injection", "hidden"} and self._safety.override(episode) is None else ""

    def _named(self, id: str) -> Episode:
        """Return an episode by its id or the alias it was given under; what there is not is answered alike."""
        try:
            return self._episodes.get(id)
        except UnknownRecord:
            found = next((one for one in self._episodes.all() if alias_of(one.id) == id), None)
        if found is None or phase_of(found, self._context.now()) == "deleted":
            raise _not_given(id)
        return found

    def _name(self, name: str) -> str:
        """Return a name within an episode as the agent may see it."""
        return served_name(name, self._safety.findings) if name else ""

    def _count(self, ids: Sequence[str], query: str, *, asks: bool) -> None:
        """Keep what was asked and given."""
        agent, now, asked = self._context.actor.removeprefix("agent:"), self._context.now(), self._asked
        self._keep(
            AgentRead(
                new_id(), agent, now, query, asked.session, asked.door, is_empty=not ids, episodes=tuple(ids),
                is_question=asks, parent=asked.parent, about="episodes",
            )
        )  # fmt: skip

    def _keep_at_once(self, read: AgentRead) -> None:
        """Count a reading in the store; one that cannot be written still gives what it has."""
        with contextlib.suppress(StoreProblem):
            keep(self._context, [read])


def _origin(known: Provenance) -> Mapping[str, object]:
    return {"approved": known.approved, "source": known.kind}


def _not_given(id: str) -> InvalidQuery:
    return InvalidQuery(f"No episode {id} is served to agents here.", "Search again: it may have been deleted.")


# The context of a task in its parts (source 004, section 4.4): patterns, episodes, failures, and what is known.


PARTS: Mapping[str, str] = {"patterns": "applicable_patterns", "episodes": "similar_episodes"}
"""The layers that are a part of their own; of what failed alike, patterns and episodes are; the rest is knowledge."""

FAILURES, RECOVERIES, KNOWLEDGE = "similar_failures", "recovery_patterns", "domain_knowledge"


def parted(context: Context, made: AgentContext) -> dict[str, object]:
    """Return a context as its parts, each thing with its id, its text and where that comes from."""
    parts: dict[str, list[object]] = {name: [] for name in (*PARTS.values(), FAILURES, RECOVERIES, KNOWLEDGE)}
    patterns = context.library.table_named("patterns")
    for layer, item in _items(made.layers):
        name = PARTS.get(layer, KNOWLEDGE)
        if layer == "failures":
            name = RECOVERIES if item.id in patterns else FAILURES
        parts[name].append(_row(layer, item))
    left = [one.why for layer in made.layers for one in layer.left_out]
    counts = {why: left.count(why) for why in dict.fromkeys(left)}
    return {**parts, "tokens": made.tokens, "left_out": counts, "nothing_relevant": made.is_empty}


def _items(layers: Iterable[Layer]) -> Iterable[tuple[str, Item]]:
    return ((layer.kind.id, item) for layer in layers for item in layer.items)


def _row(layer: str, item: Item) -> dict[str, object]:
    origin = {"approved": item.provenance.approved, "source": item.provenance.kind}
    row: dict[str, object] = {"id": item.id, "layer": layer, "text": item.alone, "provenance": origin}
    return row if item.score is None else {**row, "score": round(item.score, 4)}


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
