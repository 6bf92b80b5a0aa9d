"""Consolidating a store: stages that look at it and return what is carried out as it stands; and
the report.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from workbench.core.agents.actors import require_person
from workbench.core.agents.consolidation import (
    KEPT,
    STAGES,
    ConsolidationRun,
    StageKind,
    StageResult,
    due_at,
    goes_on,
)
from workbench.core.agents.episodes.criteria import EpisodeCluster, is_over, phase_of
from workbench.core.agents.episodes.episode import Episode, EpisodeBody, EpisodeUse, read_episode
from workbench.core.agents.patterns.matching import USED, weaknesses
from workbench.core.agents.patterns.pattern import CATEGORIES, Application, Pattern
from workbench.core.agents.patterns.statistics import Validation
from workbench.core.agents.read import AgentRead
from workbench.core.files.formats import detect
from workbench.core.record import (
    InvalidQuery,
    InvalidRecord,
    UnreadableFile,
    WorkbenchError,
    as_list,
    as_object,
    iso,
    minute,
)
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled, Progress
from workbench.core.stream.confidence import applied_in
from workbench.core.stream.memory import Memory
from workbench.core.text import counted, one_line
from workbench.formats.episodes import SUFFIXES, Found, episodes_in, files_in, read_text
from workbench.formats.patterns import NAME as ENTRIES
from workbench.services.agents.episode_finding import EpisodeFinder
from workbench.services.agents.episodes import (
    MOST,
    OUTCOMES,
    EpisodeEvidence,
    Episodes,
    Stored,
    bring,
    checked_docs,
)
from workbench.services.agents.patterns import ExperienceFile, PatternIntake, Patterns
from workbench.services.context import Context
from workbench.services.review.finders import merges, recurring
from workbench.services.safety.provenance import is_own
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.safety.texts import name_of
from workbench.services.tuning.retriever import Retriever

Becomes = Literal["archived", "validated", "under_review", "candidate", "deprecated", "proposed"]

WEAK = 2
"""Reasons for which a pattern goes out of use; for a single one it is only counted."""


class Change(NamedTuple):
    """One record that another stage of its life begins for; `by` is what stands for it then, or
    what is proposed.
    """

    id: str
    becomes: Becomes
    by: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """What a stage did, or would do: how many records it looked at, what changes, numbers by name,
    and how it is done.

    `measured` records are written again with other numbers. Without `carry_out` there is nothing to
    do.
    """

    looked: int
    changes: tuple[Change, ...] = ()
    measured: int = 0
    facts: Mapping[str, float] = field(default_factory=dict)
    carry_out: Callable[[], object] | None = None
    kind: StageKind = STAGES[0]


Tell = Callable[[StageKind, int, int], None]
"""Is told how far a stage is: so many of so many."""


class Consolidated(NamedTuple):
    """What a run did, or a dry run would do: stage by stage; the stages that are `left`; and its
    record, if it has one.

    With `again` it went on with a run that was broken off.
    """

    stages: tuple[Stage, ...]
    left: tuple[StageKind, ...] = ()
    run: ConsolidationRun | None = None
    again: bool = False


def nobody(kind: StageKind, done: int, total: int) -> None:
    """Tell nobody how far a stage is."""


class Consolidating:
    """Consolidates a store as the context's actor, a person. A dry run plans the same and writes
    nothing.
    """

    def __init__(
        self,
        context: Context,
        finder: EpisodeFinder,
        patterns: Patterns,
        retriever: Callable[[], Retriever],
    ) -> None:
        self._context, self._library, self._finder, self._retriever = (
            context,
            context.library,
            finder,
            retriever,
        )
        self._patterns = patterns.acting_for(context)

    def runs(self) -> tuple[ConsolidationRun, ...]:
        """Return the runs that are known, the latest first."""
        every = self._library.table(ConsolidationRun).all()
        return tuple(sorted(every, key=lambda one: (one.begun_at, one.id), reverse=True))

    def last(self) -> ConsolidationRun | None:
        """Return the latest run; `None` when there was none."""
        return next(iter(self.runs()), None)

    def chosen(self, names: Sequence[str]) -> tuple[StageKind, ...]:
        """Return stages by their names, in the order in which they run; all without a name. Raises
        `InvalidQuery`.
        """
        wrong = next((name for name in names if all(name != kind.id for kind in STAGES)), None)
        if wrong is not None:
            raise InvalidQuery(
                f"Unknown stage “{wrong}”.", f"Stages are: {', '.join(k.id for k in STAGES)}."
            )
        return tuple(kind for kind in STAGES if not names or kind.id in names)

    def look(
        self, names: Sequence[str] = (), tell: Tell = nobody, cancelled: Cancelled = lambda: False
    ) -> Consolidated:
        """Return what a run would do now; writes nothing. What is planned until it is cancelled is
        returned.
        """
        kinds = self.chosen(names)
        return self._through(kinds, kinds, tell, cancelled)

    def carry_out(
        self,
        names: Sequence[str] = (),
        tell: Tell = nobody,
        cancelled: Cancelled = lambda: False,
        *,
        anew: bool = False,
    ) -> Consolidated:
        """Run the stages; each that changes something is one action of its own, which undo takes
        back.

        Without names, and unless it is to begin `anew`, a run that was broken off goes on.
        Cancelled, it ends with the stage that is done, and the rest is left. Raises what a stage
        raises: what was done before it stands.
        """
        require_person(self._context.actor, "consolidate")
        last, now = self.last(), self._context.now()
        if last is not None and not names and not anew and goes_on(last, now):
            done = self._through(
                self.chosen(last.left), self.chosen(last.stages), tell, cancelled, last
            )
            return done._replace(again=True)
        kinds = self.chosen(names)
        id = f"consolidation-{uuid.uuid4().hex[:12]}"
        run = ConsolidationRun(id, now, self._context.actor, tuple(kind.id for kind in kinds))
        return self._through(kinds, kinds, tell, cancelled, run)

    def _through(
        self,
        kinds: tuple[StageKind, ...],
        chosen: tuple[StageKind, ...],
        tell: Tell,
        cancelled: Cancelled,
        run: ConsolidationRun | None = None,
    ) -> Consolidated:
        """Plan stages one after the other, and carry each out where there is a run to note it in."""
        stages, names = list[Stage](), frozenset(kind.id for kind in chosen)
        for place, kind in enumerate(kinds):

            def progress(done: int, total: int, kind: StageKind = kind) -> None:
                tell(kind, done, total)

            stage = replace(self._planned(kind.id, names, progress, cancelled), kind=kind)
            if cancelled() or (run is not None and not _is_done(stage, cancelled)):
                if run is not None:
                    self._keep(run)
                return Consolidated(tuple(stages), kinds[place:], run)
            if run is not None:
                run = self._noted(run, stage)
            stages.append(stage)
        return Consolidated(tuple(stages), (), run)

    def _noted(self, run: ConsolidationRun, stage: Stage) -> ConsolidationRun:
        now, changed = self._context.now(), len(stage.changes) + stage.measured
        result = StageResult(stage.kind.id, now, stage.looked, changed, dict(stage.facts))
        noted = replace(run, done=(*run.done, result))
        return self._keep(noted if noted.left else replace(noted, ended_at=now))

    def _keep(self, run: ConsolidationRun) -> ConsolidationRun:
        """Keep the record of a run, which is no change of a person's that an undo takes back."""
        with self._context.transaction("note a consolidation", kind="access") as tx:
            tx.put(run)
            for old in [one for one in self.runs() if one.id != run.id][KEPT - 1 :]:
                tx.delete(old)
        return run

    # The stages; one that is cancelled may plan less, and plans nothing that is not so

    def _planned(
        self, stage: str, chosen: frozenset[str], progress: Progress, cancelled: Cancelled
    ) -> Stage:
        match stage:
            case "episodes":
                return self._episodes(progress, cancelled)
            case "extraction":
                found = self._undecided(recurring(self._context, cancelled))
                looked = len(self._library.table(Episode))
                return Stage(
                    looked,
                    _proposed(found),
                    carry_out=(lambda: self._propose(found)) if found else None,
                )
            case "validation":
                return self._validation()
            case "refinement":
                return self._refinement(after_validation="validation" in chosen)
            case "indexes":
                return self._indexes(progress, cancelled)
            case _:
                return self._report()

    def _episodes(self, progress: Progress, cancelled: Cancelled) -> Stage:
        """Put episodes that say the same under one of them."""
        consolidation = self._finder.consolidation
        plan = consolidation.plan(cancelled, progress)
        stands = {id: one.representative for one in plan.clusters for id in one.members}
        changes = tuple(Change(id, "archived", stands[id]) for id in plan.archived)
        carry_out = (lambda: consolidation.carry_out(plan)) if plan.clusters else None
        return Stage(plan.looked, changes, 0, {"clusters": len(plan.clusters)}, carry_out)

    def _undecided(self, found: Iterable[Proposal]) -> tuple[Proposal, ...]:
        return tuple(one for one in found if self._library.proposals.find(one.id) is None)

    def _propose(self, found: Sequence[Proposal]) -> None:
        """Store proposals; one that asks the same with less to go by, and waits still, gives way."""
        asked = {one.id.rpartition("-")[0] for one in found if one.kind == "pattern"}
        label = f"propose {counted(len(found), 'change')} of patterns"
        with self._context.transaction(label) as tx:
            for old in self._library.proposals.all():
                if old.state == "open" and old.id.rpartition("-")[0] in asked:
                    tx.delete(old)
            for one in found:
                tx.put(one)

    def _validation(self) -> Stage:
        """Hold every pattern against its applications."""
        found = self._patterns.validations()
        changes = tuple(Change(one.after.id, one.after.status) for one in found if one.moves)
        measured = sum(one.after != one.before for one in found)
        waiting = sum(
            one.outlook == "insufficient" and one.before.status == "candidate" for one in found
        )
        carry_out = self._patterns.validate if measured else None
        return Stage(len(found), changes, measured, {"too_little_evidence": waiting}, carry_out)

    def _refinement(self, *, after_validation: bool) -> Stage:
        """Take patterns out of use that are worth little for several reasons; those that say the
        same wait in Review.

        Those that are worth little for one reason are counted.
        """
        every = self._patterns.all()
        if after_validation:  # as they stand then, whether or not it is done already
            every = tuple(one.after for one in self._patterns.validations())
        now = self._context.now()
        found = {pattern.id: weaknesses(pattern, now) for pattern in every}
        gone = tuple(id for id, why in found.items() if len(why) >= WEAK)
        same = self._undecided(merges(self._context, [one for one in every if one.id not in gone]))
        changes = (*(Change(id, "deprecated") for id in gone), *_proposed(same))

        def carry_out() -> None:
            if gone:
                self._patterns.prune(gone)
            if same:
                self._propose(same)

        facts = {"worth_little": sum(bool(why) for why in found.values())}
        return Stage(len(every), changes, 0, facts, carry_out if changes else None)

    def _indexes(self, progress: Progress, cancelled: Cancelled) -> Stage:
        """Work out what searches need, so that none of them waits for it."""
        many = len(self._library.table(Episode))

        def make() -> None:
            retriever = self._retriever()
            retriever.patterns.of(USED)
            if many:
                retriever.episodes.prepare(progress, cancelled)

        return Stage(many + len(self._library.table(Pattern)), carry_out=make)

    def _report(self) -> Stage:
        library, now = self._library, self._context.now()
        heads = library.table(Episode).all()
        facts = Counter(f"episodes_{phase_of(one, now)}" for one in heads)
        facts.update(f"patterns_{one.status}" for one in library.table(Pattern).all())
        every = {
            **facts,
            "episodes_retention_over": sum(is_over(one, now) for one in heads),
            "episodes_bytes": sum(path.stat().st_size for _, path in library.blobs.files()),
            "episodes_read": len(
                {id for read in library.table(AgentRead).all() for id in read.episodes}
            ),
            "episodes_referenced": sum(
                bool(one.referenced_by) for one in library.table(EpisodeUse).all()
            ),
            "clusters": len(library.table(EpisodeCluster)),
            "applications": len(library.table(Application)),
        }
        return Stage(len(heads) + len(library.table(Pattern)), facts=dict(sorted(every.items())))


def _is_done(stage: Stage, cancelled: Cancelled) -> bool:
    """Carry a stage out; tell whether it was not stopped meanwhile, as what only makes what is
    computed may be.
    """
    try:
        if stage.carry_out is not None:
            stage.carry_out()
    except WorkbenchError:
        if not cancelled():
            raise
        return False
    return True


def _proposed(found: Iterable[Proposal]) -> tuple[Change, ...]:
    return tuple(Change(one.id, "proposed", one.title) for one in found)


# The report, as JSON and as Markdown


def run_json(run: ConsolidationRun) -> dict[str, object]:
    due = due_at(run)
    return {
        "id": run.id,
        "begun_at": iso(run.begun_at),
        "ended_at": None if run.ended_at is None else iso(run.ended_at),
        "next_due_at": None if due is None else iso(due),
        "left": list(run.left),
        "stages": [{**asdict(one), "at": iso(one.at)} for one in run.done],
    }


def done_json(done: Consolidated, *, dry: bool) -> dict[str, object]:
    """Return what a run did, or would do."""
    return {
        "dry_run": dry,
        "stages": [
            {
                "stage": one.kind.id, "looked": one.looked, "measured": one.measured,
                "changes": [change._asdict() for change in one.changes], "facts": one.facts,
            }
            for one in done.stages
        ],
        "left": [kind.id for kind in done.left],
        "run": None if done.run is None else run_json(done.run),
    }  # fmt: skip


def outlook_json(looked: Consolidated, last: ConsolidationRun | None) -> dict[str, object]:
    """Return what a run would change in numbers alone, and when the last one was and the next one
    is due.
    """
    due = due_at(last)
    return {
        "last_at": None if last is None else iso(last.ended_at or last.begun_at),
        "next_due_at": None if due is None else iso(due),
        "stages": [
            {"stage": one.kind.id, "looked": one.looked, "would_change": len(one.changes)}
            | ({"facts": dict(one.facts)} if one.kind.id == "report" else {})
            for one in looked.stages
        ],
        "note": "A person runs it: `workbench consolidate`.",
    }


def markdown(run: ConsolidationRun) -> str:
    """Return the report of a run as Markdown."""
    return "\n".join(_lines(run)) + "\n"


def _lines(run: ConsolidationRun) -> Iterator[str]:
    titles = {kind.id: kind.title for kind in STAGES}
    due = due_at(run)
    yield f"# Consolidation of {minute(run.begun_at)}"
    yield ""
    yield (
        f"Ended {minute(run.ended_at)}."
        if run.ended_at is not None
        else f"Remaining: {', '.join(run.left)}."
    )
    if due is not None:
        yield f"The next one is due {minute(due)}."
    for one in run.done:
        yield ""
        yield f"## {titles.get(one.stage, one.stage)}"
        yield ""
        yield f"- checked: {one.looked:,}"
        yield f"- changed: {one.changed:,}"
        yield from fact_lines(one.facts)


def fact_lines(facts: Mapping[str, float]) -> Iterator[str]:
    """Yield numbers by name, a line each."""
    for name, value in facts.items():
        yield f"- {name.replace('_', ' ')}: {value:,.0f}"


# Learning from files and from episodes


# Files of episodes and of patterns (source 004, agent-playbook): told from others, and taken in as
# any import is.


_HEAD = 1 << 16
"""Bytes at the beginning of a file in which its kind shows."""

_MARKS = (b'"original_input"', b'"pattern_id"', b'"situation"')
_ENTRIES = b'"patterns"'


def experience_in(context: Context, gate: SecretFilter, path: Path) -> tuple[ExperienceFile, ...]:
    """Return what a file, or the files in and below a folder, hold of episodes and of patterns, one
    of each at most.

    Nothing for a file that is none of these. Raises `InvalidRecord` for one of them that is not as
    it must be, by file, place and field, and `UnreadableFile` for one in a folder that is no JSON.
    """
    docs, files = defaultdict[str, list[Found]](list), defaultdict[str, list[Path]](list)
    name, made = name_of(Path(path.resolve().name)), list[ExperienceFile]()
    try:
        every = files_in(path, hidden=False)
    except OSError:
        return ()  # whoever reads it as another kind of file says what is wrong with it
    for file in every:
        try:
            kind, found = _sorted(file)
        except UnreadableFile:
            if file != path:
                raise
            return ()
        docs[kind] += found
        files[kind].append(file)
    if docs["episodes"]:
        made.append(
            _episodes(context, docs["episodes"], name)._replace(files=tuple(files["episodes"]))
        )
    if both := (*files["patterns"], *files[ENTRIES]):
        taken = PatternIntake(context, gate).compared(name, docs["patterns"], files[ENTRIES])
        made.append(taken._replace(files=both))
    return tuple(made)


def take(context: Context, experience: ExperienceFile) -> tuple[str, ...]:
    """Keep what is new, as one action; return the ids. What a person did not write is told from
    what they did.
    """
    if experience.kind == "patterns":
        PatternIntake(context, SecretFilter()).carry_out(experience)
        return tuple(pattern.id for pattern in experience.patterns)
    return tuple(one.episode.id for one in bring(context, experience.new, experience.name).stored)


def _sorted(path: Path) -> tuple[str, tuple[Found, ...]]:
    """Return of what kind a file is (none, as a rule), by how it begins, and the JSON objects in
    it.

    Raises `UnreadableFile` for one that seems to be of a kind and cannot be read.
    """
    name = name_of(Path(path.name))
    try:
        if path.suffix.lower() not in SUFFIXES or not path.is_file():
            return "", ()
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise UnreadableFile(f"{name} cannot be read.", "Nothing was stored.") from error
    found = episodes_in(read_text(path), name) if any(mark in head for mark in _MARKS) else ()
    first = found[0].doc if found else None
    if isinstance(first, Mapping):
        task, outcome = first.get("task"), first.get("outcome")
        if isinstance(task, Mapping) and "original_input" in task and isinstance(outcome, Mapping):
            return "episodes", found
        if isinstance(first.get("pattern_id"), str) and first.get("category") in CATEGORIES:
            return "patterns", found
    likely = detect(path, head.decode("utf-8", "ignore")) if _ENTRIES in head else ()
    return (ENTRIES if likely and likely[0].format == ENTRIES else ""), ()


def _episodes(context: Context, found: Sequence[Found], name: str) -> ExperienceFile:
    episodes = Episodes(context)
    bodies = [read_episode(one.doc) for one in checked_docs(found, name)]
    known = {one.id for one in episodes.all()}
    new = tuple(one for one, body in zip(found, bodies, strict=True) if body.id not in known)
    return ExperienceFile(
        "episodes", name, new, tuple(body.id for body in bodies if body.id in known)
    )


WENT_BY = "metadata.memories_applied"
"""Where an episode names the memories that its task went by, by their ids."""

DISCOVERED = "reflection.patterns_discovered"
INSIGHTS = "insights"


class Learned(NamedTuple):
    """What came of an episode: how it was kept, its insights, the evidence of patterns, and what
    was not taken.

    Of the patterns, the `new` ones were discovered in the episode and are candidates now.
    `not_taken` names what was to be a pattern and is none, and why; `surer` are the ids of the
    memories for which it counts as applied with success.
    """

    stored: Stored
    insights: int
    evidence: tuple[Validation, ...]
    new: frozenset[str] = frozenset()
    not_taken: tuple[tuple[str, str], ...] = ()
    surer: tuple[str, ...] = ()

    @property
    def doc(self) -> dict[str, object]:
        """The learning summary, as JSON has it."""
        episode = self.stored.episode
        rows = [
            {
                "pattern": one.before.id, "episodes": one.finding.episodes, "successes": one.finding.successes,
                "confidence": round(one.finding.confidence, 4), "outlook": one.outlook,
                "is_new": one.before.id in self.new,
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
        """Keep an episode, with `insights` beside its own, and count it for its patterns: all of it
        or nothing.

        Said again, it changes nothing. Raises `InvalidEpisode`, and `InvalidRecord` when another
        episode has its name.
        """
        body = read_episode(_with(doc, insights))
        library, label = self._context.library, "learn from an episode"
        with library.turn(), self._context.transaction(label) as tx:
            stored = self._episodes.store(body.doc, session=session)
            tx.relabel(f"learn from episode {stored.episode.id}")
            if not stored.is_new:  # by an older version, perhaps, which did not count it
                known = self._episodes.open(stored.episode.id).body
                self._episodes.count_for_patterns(
                    tx, stored.episode, known, EpisodeEvidence(self._context)
                )
            rows = library.table(Application).staged()
            applied = sorted(
                {row.pattern for row in rows if row.episode == stored.episode.id and row.counts}
            )
            new, not_taken = self._discovered(body, applied)
            for pattern in new:
                outcome, took = OUTCOMES[body.outcome], body.number("execution.duration")
                self._patterns.record(
                    pattern.id, stored.episode.id, outcome, task=body.task, time=took
                )
            surer = tuple(memory.id for memory in self._gone_by(body))
            for id in surer:
                tx.put(applied_in(library.memories.get(id), stored.episode.id))
        fresh = (p.id for p in new if p.support.last_validated is None and p.usage_count == 0)
        named = [*applied, *(pattern.id for pattern in new)]
        evidence = self._patterns.validations(named) if named else ()
        said = body.get(f"reflection.{INSIGHTS}")
        count = len(said) if isinstance(said, list | tuple) else 0
        return Learned(stored, count, evidence, frozenset(fresh), not_taken, surer)

    def _gone_by(self, body: EpisodeBody) -> list[Memory]:
        """Return the memories that a successful task went by, without what this agent wrote itself."""
        if body.outcome != "SUCCESS":
            return []
        named = list(dict.fromkeys(body.texts(WENT_BY)))[:MOST]
        found = (self._context.library.memories.find(id.strip()) for id in named)
        return [
            memory for memory in found if memory is not None and not is_own(self._context, memory)
        ]

    def _discovered(
        self, body: EpisodeBody, applied: Collection[str]
    ) -> tuple[list[Pattern], tuple[tuple[str, str], ...]]:
        """Return the patterns that were discovered: those that are known by their name, and new
        candidates.
        """
        found, left = list[Pattern](), list[tuple[str, str]]()
        for one in as_list(body.get(DISCOVERED))[:MOST]:
            if not isinstance(one, Mapping):
                continue  # a remark in words
            name, id = str(one.get("name", "")), str(one.get("pattern_id", one.get("id", "")))
            try:
                pattern = self._known(id) or self._known(name) or self._patterns.add([one])[0]
            except InvalidRecord as error:
                left.append((one_line(name, 60), error.message))
                continue
            if pattern.id not in applied and pattern not in found:
                found.append(pattern)
        return found, tuple(left)

    def _known(self, name: str) -> Pattern | None:
        """Return a pattern by its id or its name; what is history counts nothing any more."""
        wanted, every = name.casefold(), self._patterns.all() if name else ()
        named = (one for one in every if one.id == name or one.name.casefold() == wanted)
        return next((one for one in named if one.status != "deprecated"), None)


def _with(doc: object, insights: Sequence[str]) -> object:
    """Return an episode with insights beside its own; what is no episode is left for the reader to
    refuse.
    """
    more = list(filter(None, map(str.strip, insights)))
    reflection = as_object(doc).get("reflection", {})
    if not more or not isinstance(doc, Mapping) or not isinstance(reflection, Mapping):
        return doc
    known = reflection.get(INSIGHTS, [])
    if not isinstance(known, list | tuple):
        return doc
    said = [*known, *(text for text in more if text not in known)]
    return {**doc, "reflection": {**reflection, INSIGHTS: said}}
