"""Learning from an episode (source 004, section 4.1): it is kept, what it says of patterns becomes their evidence.

Patterns that were applied count it for or against them; those that were discovered become candidates. A memory that
the task went by is the surer where it succeeded; a failure may be due to anything, and a harmful mark says so. Nothing
that stands elsewhere is decided by that: `outlook` says what a validation would come to.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.core.agents.episodes.episode import EpisodeBody, read_episode
from workbench.core.agents.patterns.pattern import CATEGORIES, Application, Pattern
from workbench.core.agents.patterns.statistics import Outlook
from workbench.core.files.formats import detect
from workbench.core.record import InvalidRecord, UnreadableFile
from workbench.core.stream.confidence import applied_in
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.formats.episodes import SUFFIXES, Found, episodes_in, files_in, read_text
from workbench.formats.patterns import NAME as ENTRIES
from workbench.services.agents.episodes import MOST, OUTCOMES, EpisodeEvidence, Episodes, Stored, bring, checked_docs
from workbench.services.agents.patterns import ExperienceFile, PatternIntake, Patterns
from workbench.services.context import Context
from workbench.services.safety.provenance import is_own
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.safety.texts import name_of

# Files of episodes and of patterns (source 004, agent-playbook): told from others, and taken in as any import is.


_HEAD = 1 << 16
"""Bytes at the beginning of a file in which its kind shows."""

_MARKS = (b'"original_input"', b'"pattern_id"', b'"situation"')
_ENTRIES = b'"patterns"'


def experience_in(context: Context, gate: SecretFilter, path: Path) -> tuple[ExperienceFile, ...]:
    """Return what a file, or the files in and below a folder, hold of episodes and of patterns, one of each at most.

    Nothing for a file that is none of these. Raises `InvalidRecord` for one of them that is not as it must be, by
    file, place and field, and `UnreadableFile` for one in a folder that is no JSON.
    """
    found: dict[str, list[Found]] = {}
    entries, holding = list[Path](), dict[str, list[Path]]()
    try:
        files = files_in(path, hidden=False)
    except OSError:
        return ()  # whoever reads it as another kind of file says what is wrong with it
    for file in files:
        head = _head(file, in_folder=file != path)
        some = _found(file, head, in_folder=file != path)
        kind = _kind(some[0]) if some else None
        if kind is not None:
            found.setdefault(kind, []).extend(some)
            holding.setdefault(kind, []).append(file)
        elif _ENTRIES in head and _is_of_entries(file, head):
            entries.append(file)
            holding.setdefault("patterns", []).append(file)
    name, made = name_of(Path(path.resolve().name)), list[ExperienceFile]()
    if "episodes" in found:
        made.append(_episodes(context, found["episodes"], name))
    if "patterns" in found or entries:
        made.append(PatternIntake(context, gate).compared(name, found.get("patterns", ()), entries))
    return tuple(replace(one, files=tuple(holding[one.kind])) for one in made)


def take(context: Context, experience: ExperienceFile) -> tuple[str, ...]:
    """Keep what is new, as one action; return the ids. What a person did not write is told from what they did."""
    if experience.kind == "patterns":
        PatternIntake(context, SecretFilter()).carry_out(experience)
        return tuple(pattern.id for pattern in experience.patterns)
    return tuple(one.episode.id for one in bring(context, experience.new, experience.name).stored)


def _head(path: Path, *, in_folder: bool) -> bytes:
    """Return how a file begins that may hold some; nothing of any other file."""
    try:
        if path.suffix.lower() not in SUFFIXES or not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        if not in_folder:
            return b""  # whoever reads it as another kind of file says what is wrong with it
        raise UnreadableFile(f"{name_of(Path(path.name))} cannot be read.", "Nothing was stored.") from error


def _found(path: Path, head: bytes, *, in_folder: bool) -> tuple[Found, ...]:
    """Return the JSON objects of a file that may hold some by how it begins."""
    if not any(mark in head for mark in _MARKS):
        return ()
    try:
        return episodes_in(read_text(path), name_of(Path(path.name)))
    except UnreadableFile:
        if in_folder:
            raise
        return ()


def _is_of_entries(path: Path, head: bytes) -> bool:
    """Tell whether a file is most likely one of agent-playbook's, of patterns by name."""
    likely = detect(path, head.decode("utf-8", "ignore"))
    return bool(likely) and likely[0].format == ENTRIES


def _kind(first: Found) -> str | None:
    doc = first.doc
    if not isinstance(doc, Mapping):
        return None
    task, outcome = doc.get("task"), doc.get("outcome")
    if isinstance(task, Mapping) and "original_input" in task and isinstance(outcome, Mapping):
        return "episodes"
    return "patterns" if isinstance(doc.get("pattern_id"), str) and doc.get("category") in CATEGORIES else None


def _episodes(context: Context, found: Sequence[Found], name: str) -> ExperienceFile:
    episodes = Episodes(context)
    bodies = [read_episode(one.doc) for one in checked_docs(found, name)]
    known = {one.id for one in episodes.all()}
    new = tuple(one for one, body in zip(found, bodies, strict=True) if body.id not in known)
    return ExperienceFile("episodes", name, new, tuple(body.id for body in bodies if body.id in known))


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
class Learned:
    """What came of an episode: how it was kept, its insights, the evidence of patterns, and what was not taken.

    `not_taken` names what was to be a pattern and is none, and why; `surer` are the ids of the memories for which it
    counts as applied with success.
    """

    stored: Stored
    insights: int
    evidence: tuple[Evidence, ...]
    not_taken: tuple[tuple[str, str], ...] = ()
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
            "not_taken": [{"name": name, "why": why} for name, why in self.not_taken],
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
            for pattern in new:
                outcome, took = OUTCOMES[body.outcome], body.number("execution.duration")
                self._patterns.record(pattern.id, stored.episode.id, outcome, task=body.task, time=took)
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

    def _discovered(self, body: EpisodeBody, applied: set[str]) -> tuple[list[Pattern], tuple[tuple[str, str], ...]]:
        """Return the patterns that were discovered: those that are known by their name, and new candidates."""
        said, found, left = body.get(DISCOVERED), list[Pattern](), list[tuple[str, str]]()
        for one in list(said)[:MOST] if isinstance(said, list | tuple) else ():
            if not isinstance(one, Mapping):
                continue  # a remark in words
            name = str(one.get("name", ""))
            known = self._known(str(one.get("pattern_id", one.get("id", ""))) or name) or self._known(name)
            try:
                pattern = known or self._patterns.add([one])[0]
            except InvalidRecord as error:
                left.append((one_line(name, 60), error.message))
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
