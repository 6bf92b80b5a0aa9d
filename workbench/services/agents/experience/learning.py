"""Learning from an episode (source 004, section 4.1): it is kept, what it says of patterns becomes their evidence.

Patterns that were applied count it for or against them; those that were discovered become candidates. A memory that
the task went by is the surer where it succeeded; a failure may be due to anything, and a harmful mark says so. Nothing
that stands elsewhere is decided by that: `outlook` says what a validation would come to.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.core.agents.episodes.episode import EpisodeBody, read_episode
from workbench.core.agents.patterns.pattern import Application, Pattern
from workbench.core.agents.patterns.statistics import Outlook
from workbench.core.record import InvalidRecord
from workbench.core.stream.confidence import applied_in
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.services.agents.episodes.keeping import Episodes, Stored
from workbench.services.agents.patterns.evidence import MOST, OUTCOMES, EpisodeEvidence
from workbench.services.agents.patterns.patterns import Patterns
from workbench.services.context import Context
from workbench.services.safety.provenance import is_own

WENT_BY = "metadata.memories_applied"
"""Where an episode names the memories that its task went by, by their ids."""

DISCOVERED = "reflection.patterns_discovered"
INSIGHTS = "insights"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What now speaks for a pattern: so many episodes, the successes among them, and what that comes to.

    With `is_new` it was discovered in the episode and is a candidate now.
    """

    pattern: str
    episodes: int
    successes: int
    confidence: float
    outlook: Outlook
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class NotTaken:
    """Something that was to be a pattern and is none: its name, as far as it has one, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Learned:
    """What came of an episode: how it was kept, its insights, the evidence of patterns, and what was not taken.

    `surer` are the ids of the memories for which it counts as applied with success.
    """

    stored: Stored
    insights: int
    evidence: tuple[Evidence, ...]
    not_taken: tuple[NotTaken, ...] = ()
    surer: tuple[str, ...] = ()

    @property
    def doc(self) -> dict[str, object]:
        """The learning summary, as JSON has it."""
        episode = self.stored.episode
        rows = [
            {
                "pattern": one.pattern, "is_new": one.is_new, "episodes": one.episodes, "successes": one.successes,
                "confidence": round(one.confidence, 4), "outlook": one.outlook,
            }
            for one in self.evidence
        ]  # fmt: skip
        return {
            "episode": episode.id,
            "stored": self.stored.is_new,
            "outcome": episode.outcome,
            "masked": list(self.stored.masked),
            "insights": self.insights,
            "patterns": rows,
            "memories": list(self.surer),
            "not_taken": [{"name": one.name, "why": one.why} for one in self.not_taken],
        }


class Learning:
    """Learns from episodes as the context's actor."""

    def __init__(self, context: Context, patterns: Patterns) -> None:
        self._context = context
        self._episodes = Episodes(context)
        self._patterns = patterns.acting_for(context)

    def learn(self, doc: object, insights: Sequence[str] = (), *, session: str = "") -> Learned:
        """Keep an episode, with `insights` beside its own, and count it for its patterns: all of it or nothing.

        Said again, it changes nothing. Raises `InvalidEpisode`, and `InvalidRecord` when another episode has its name.
        """
        body = read_episode(_with(doc, insights))
        library, label = self._context.library, "learn from an episode"
        with library.turn(), library.transaction(self._context.actor, label) as tx:
            stored = self._episodes.store(body.doc, session=session)
            tx.relabel(f"learn from episode {stored.episode.id}")
            if not stored.is_new:  # by an older version, perhaps, which did not count it
                known = self._episodes.open(stored.episode.id).body
                self._episodes.count_for_patterns(tx, stored.episode, known, EpisodeEvidence(self._context))
            every = library.table(Application)
            rows = (one for one in (*every.all(), *every.staged()) if one.episode == stored.episode.id and one.counts)
            applied = [library.table(Pattern).get(id) for id in sorted({one.pattern for one in rows})]
            new, not_taken = self._discovered(body, {pattern.id for pattern in applied})
            took = body.get("execution.duration")
            seconds = float(took) if isinstance(took, int | float) else None
            for pattern in new:
                outcome = OUTCOMES[body.outcome]
                self._patterns.record(pattern.id, stored.episode.id, outcome, task=body.task, time=seconds)
            surer = tuple(memory.id for memory in self._gone_by(body))
            for id in surer:
                tx.put(applied_in(library.memories.get(id), stored.episode.id))
        fresh = {pattern.id for pattern in new if pattern.support.last_validated is None and pattern.usage_count == 0}
        evidence = tuple(self._evidence([pattern.id for pattern in (*applied, *new)], fresh))
        said = body.get(f"reflection.{INSIGHTS}")
        return Learned(stored, len(said) if isinstance(said, list | tuple) else 0, evidence, not_taken, surer)

    def _gone_by(self, body: EpisodeBody) -> list[Memory]:
        """Return the memories that a successful task went by, without what this agent wrote itself."""
        if body.outcome != "SUCCESS":
            return []
        named = list(dict.fromkeys(body.texts(WENT_BY)))[:MOST]
        found = (self._context.library.memories.find(id.strip()) for id in named)
        return [memory for memory in found if memory is not None and not is_own(self._context, memory)]

    def _discovered(self, body: EpisodeBody, applied: set[str]) -> tuple[list[Pattern], tuple[NotTaken, ...]]:
        """Return the patterns that were discovered: those that are known by their name, and new candidates."""
        said, found, left = body.get(DISCOVERED), list[Pattern](), list[NotTaken]()
        for one in list(said)[:MOST] if isinstance(said, list | tuple) else ():
            if not isinstance(one, Mapping):
                continue  # a remark in words
            name = str(one.get("name", ""))
            known = self._known(str(one.get("pattern_id", one.get("id", ""))) or name) or self._known(name)
            try:
                pattern = known or self._patterns.add([one])[0]
            except InvalidRecord as error:
                left.append(NotTaken(one_line(name, 60), error.message))
                continue
            if pattern.id not in applied and pattern not in found:
                found.append(pattern)
        return found, tuple(left)

    def _known(self, name: str) -> Pattern | None:
        """Return a pattern by its id or its name; what is history counts nothing any more."""
        wanted = name.casefold()
        named = (one for one in self._patterns.all() if one.id == name or one.name.casefold() == wanted)
        return next((one for one in named if one.status != "deprecated"), None) if wanted else None

    def _evidence(self, ids: Sequence[str], fresh: set[str]) -> Iterator[Evidence]:
        for one in self._patterns.validations(ids) if ids else ():
            found, id = one.finding, one.before.id
            yield Evidence(id, found.episodes, found.successes, found.confidence, one.outlook, id in fresh)


def _with(doc: object, insights: Sequence[str]) -> object:
    """Return an episode with insights beside its own; what is no episode is left for the reader to refuse."""
    more = [text.strip() for text in insights if text.strip()]
    if not more or not isinstance(doc, Mapping):
        return doc
    reflection = doc.get("reflection", {})
    known = reflection.get(INSIGHTS, []) if isinstance(reflection, Mapping) else None
    if not isinstance(reflection, Mapping) or not isinstance(known, list | tuple):
        return doc
    return {**doc, "reflection": {**reflection, INSIGHTS: [*known, *(text for text in more if text not in known)]}}
