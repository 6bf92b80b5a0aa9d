"""Episodes and patterns for an agent: trusted, without secrets, nothing that gives orders, each
with its source.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from workbench.core.agents.episodes.criteria import Criteria, Strategy, phase_of, told
from workbench.core.agents.episodes.episode import Episode
from workbench.core.agents.patterns.matching import Match, text_of
from workbench.core.agents.read import UNKNOWN, AgentRead, Provenance
from workbench.core.document import to_doc
from workbench.core.record import InvalidQuery, UnknownRecord, iso
from workbench.services.agents.blocks import Blocks, Guard, Json, require_trusted
from workbench.services.agents.episode_finding import EpisodeFinder, FoundEpisode
from workbench.services.agents.episodes import Episodes
from workbench.services.agents.patterns import Found
from workbench.services.agents.reading_log import Asked, reading
from workbench.services.agents.serving import AgentContext, Item
from workbench.services.context import Context
from workbench.services.safety.masking import alias_of, masked
from workbench.services.safety.safety import Safety
from workbench.services.safety.secret_filter import strings

MOST = 20
"""Episodes that are given at once, at the most."""


class EpisodeGiving:
    """Gives the context's actor, an agent, episodes of a store that is trusted. Raises
    `WorkbenchError` otherwise.

    What an episode says stands in one text, within a block that names its source where no person
    stands by it.
    """

    def __init__(
        self,
        context: Context,
        finder: EpisodeFinder,
        safety: Safety,
        asked: Asked,
        add: Callable[[AgentRead], object],
    ) -> None:
        self._context, self._finder, self._safety, self._asked = context, finder, safety, asked
        self._guard = Guard(context, safety)
        self._add = add
        self._episodes = Episodes(context)

    def find(self, query: str, strategy: Strategy, criteria: Criteria, k: int) -> Json:
        """Return what a strategy finds, the best or the latest first, and why some were left out."""
        require_trusted(self._context.library)
        if criteria.phase == "deleted":
            raise InvalidQuery("Deleted episodes are not served.", "Ask for another phase.")
        left_out = Counter[str]()

        def may_pass(one: FoundEpisode) -> bool:
            why = self._refused(one.episode, [one.digest.whole, one.digest.session])
            left_out.update([why] if why else [])
            return not why

        found = self._finder.find(query, strategy, criteria, min(k, MOST), may_pass).found
        blocks = Blocks(self._guard.origins([one.episode for one in found]))
        rows = [self._row(one, blocks) for one in found]
        self._count(
            [one.episode.id for one in found],
            self._safety.masked(query.strip()) or strategy,
            asks=True,
        )
        return {
            "strategy": strategy,
            "episodes": rows,
            "left_out": dict(left_out),
            "mark": blocks.mark,
        }

    def get(self, id: str, *, trace: bool = False) -> Json:
        """Return an episode whole, its trace only where it is asked for."""
        require_trusted(self._context.library)
        episode = self._named(id)
        opened = self._episodes.open(episode.id)
        if opened.phase == "deleted" or self._refused(episode, list(strings(opened.body.doc))):
            raise _not_given(id)
        known = self._guard.origin(episode)
        blocks = Blocks({episode.id: known})
        doc = masked(opened.doc(trace=trace), self._safety.masked)
        doc["episode_id"] = self._guard.name(episode.id)
        doc.pop("embeddings", None)
        if opened.cluster is not None:
            doc["consolidated"] = masked(to_doc(opened.cluster), self._safety.masked)
        self._count([episode.id], "", asks=False)
        text = json.dumps(doc, ensure_ascii=False, indent=1)
        return {
            "id": doc["episode_id"], "phase": opened.phase, "episode": blocks.enclosed(episode.id, text),
            "trace_is_open": trace, "provenance": _origin(known), "mark": blocks.mark,
        }  # fmt: skip

    def _row(self, one: FoundEpisode, blocks: Blocks) -> Json:
        head = one.episode
        row: Json = {
            "id": self._guard.name(head.id), "timestamp": iso(head.at), "outcome": head.outcome, "phase": one.phase,
            "domain": self._guard.name(head.domain), "task_type": self._guard.name(head.type),
            "text": blocks.enclosed(head.id, self._safety.masked(told(one.digest))),
            "provenance": _origin(blocks.origins[head.id]),
        }  # fmt: skip
        if one.terms is not None:
            row["score"] = round(one.total, 4)
            row["score_parts"] = {part.term: round(part.weighted, 4) for part in one.parts}
        if one.shared:
            row["shared"] = [feature for feature in one.shared if not feature.startswith("line:")]
        return row

    def _refused(self, episode: Episode, texts: Sequence[str]) -> str:
        """Return why the agent is not given an episode; empty when it is."""
        origin = self._guard.origin(episode) if self._guard.only_approved else UNKNOWN
        said = (*texts, episode.domain, episode.type, *episode.tags)
        return self._guard.refused(episode, said, origin) or ""

    def _named(self, id: str) -> Episode:
        """Return an episode by its id or the alias it was given under; what there is not is
        answered alike.
        """
        try:
            return self._episodes.get(id)
        except UnknownRecord:
            found = next((one for one in self._episodes.all() if alias_of(one.id) == id), None)
        if found is None or phase_of(found, self._context.now()) == "deleted":
            raise _not_given(id)
        return found

    def _count(self, ids: Sequence[str], query: str, *, asks: bool) -> None:
        given = {
            "is_empty": not ids,
            "episodes": tuple(ids),
            "is_question": asks,
            "about": "episodes",
        }
        self._add(reading(self._context, self._asked, query, **given))


def _origin(known: Provenance) -> Json:
    return {"approved": known.approved, "source": known.kind}


def _not_given(id: str) -> InvalidQuery:
    return InvalidQuery(
        f"No episode {id} is served to agents here.", "Search again: it may have been deleted."
    )


# The context of a task in its parts (source 004, section 4.4): patterns, episodes, failures, and
# what is known.


PARTS: Mapping[str, str] = {"patterns": "applicable_patterns", "episodes": "similar_episodes"}
"""The layers that are a part of their own; of what failed alike, patterns and episodes are; the
rest is knowledge.
"""

FAILURES, RECOVERIES, KNOWLEDGE = "similar_failures", "recovery_patterns", "domain_knowledge"


def parted(context: Context, made: AgentContext) -> Json:
    """Return a context as its parts, each thing with its id, its text and where that comes from."""
    parts: Json = {name: [] for name in (*PARTS.values(), FAILURES, RECOVERIES, KNOWLEDGE)}
    patterns = context.library.table_named("patterns")
    for layer in made.layers:
        for item in layer.items:
            name = PARTS.get(layer.kind.id, KNOWLEDGE)
            if layer.kind.id == "failures":
                name = RECOVERIES if item.id in patterns else FAILURES
            parts[name].append(_part(layer.kind.id, item))
    counts = dict(Counter(one.why for layer in made.layers for one in layer.left_out))
    return {**parts, "tokens": made.tokens, "left_out": counts, "nothing_relevant": made.is_empty}


def _part(layer: str, item: Item) -> Json:
    score = {} if item.score is None else {"score": round(item.score, 4)}
    return {
        "id": item.id,
        "layer": layer,
        "text": item.alone,
        "provenance": _origin(item.provenance),
        **score,
    }


class ServedPatterns(NamedTuple):
    """What an agent is given of what applies, by id: `held` ones gave orders, `unapproved` ones no
    person stands by.
    """

    rows: list[Json]
    ids: tuple[str, ...]
    held: int
    unapproved: int


def served(context: Context, safety: Safety, found: Found, most: int) -> ServedPatterns:
    """Return what of the patterns that apply the context's agent is given, the best first.

    Only as many are looked at as it takes; what is counted as left out stood before the last one
    that is given.
    """
    guard, left_out = Guard(context, safety), Counter[str]()
    rows, ids, origins = list[Json](), list[str](), dict[str, Provenance]()
    blocks = Blocks(origins)
    for one, origin in _with_origins(guard, found.matches, 2 * most):
        if len(rows) == most:
            break
        id = one.pattern.id
        if why := guard.refused(one.pattern, safety.texts(one.pattern), origin):
            left_out[why] += 1
            continue
        origins[id], pattern = origin, guard.shown(one.pattern)
        ids.append(id)
        rows.append({
            "id": guard.name(id),
            "category": pattern.category,
            "score": round(one.score, 4),
            "confidence": round(pattern.support.confidence_score, 4),
            "success_rate": round(pattern.support.success_rate, 4),
            "text": blocks.enclosed(id, text_of(pattern)),
        })  # fmt: skip
    return ServedPatterns(rows, tuple(ids), left_out["held"], left_out["unapproved"])


def _with_origins(
    guard: Guard, matches: Sequence[Match], some: int
) -> Iterator[tuple[Match, Provenance]]:
    """Yield matches with where each comes from, which is looked up for some of them at a time."""
    for place in range(0, len(matches), max(some, 1)):
        part = matches[place : place + max(some, 1)]
        known = guard.origins([one.pattern for one in part])
        yield from ((one, known[one.pattern.id]) for one in part)


def reading_of(
    context: Context, given: ServedPatterns, query: str, asked: Asked, safety: Safety
) -> AgentRead:
    """Return what is kept of an answer: the question without secrets, and which patterns were
    given.
    """
    return reading(
        context, asked, safety.masked(query), documents=given.ids, is_empty=not given.ids, held=given.held,
        unapproved=given.unapproved, about="patterns",
    )  # fmt: skip
