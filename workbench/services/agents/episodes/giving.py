"""What an agent is given of episodes: trusted, without secrets, nothing that gives orders, with its origin; counted.

What an episode says stands in one text, within a block that names its source where no person stands by it.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from workbench.core.agents.episodes.criteria import Criteria, Strategy, phase_of, told
from workbench.core.agents.episodes.episode import Episode
from workbench.core.agents.provenance import UNKNOWN, Provenance
from workbench.core.agents.read import AgentRead
from workbench.core.record import InvalidQuery, StoreProblem, UnknownRecord, iso, to_doc
from workbench.services.agents.aliases import alias_of, served_name
from workbench.services.agents.answers import Json
from workbench.services.agents.blocks import Blocks
from workbench.services.agents.episodes.finding import EpisodeFinder, FoundEpisode
from workbench.services.agents.episodes.keeping import Episodes
from workbench.services.agents.reading_log import Asked, keep, new_id
from workbench.services.context import Context
from workbench.services.safety.masking import masked
from workbench.services.safety.provenance import provenances_of
from workbench.services.safety.safety import Safety
from workbench.services.safety.secret_filter import strings

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
        self._trusted()
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
        self._trusted()
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

    def _trusted(self) -> None:
        self._context.library.refresh()
        if not self._context.library.standing.trusted:
            message = "This store came from elsewhere and no person has looked at it, so nothing of it is served."
            raise StoreProblem(message, "A person can look and decide: `workbench trust`.")


def _origin(known: Provenance) -> Mapping[str, object]:
    return {"approved": known.approved, "source": known.kind}


def _not_given(id: str) -> InvalidQuery:
    return InvalidQuery(f"No episode {id} is served to agents here.", "Search again: it may have been deleted.")
