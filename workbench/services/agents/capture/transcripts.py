"""Capturing from transcripts: what sessions teach, all of them together, to be looked at before any
of it is stored.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from workbench.core.agents.episodes.episode import NO_EVIDENCE, Episode
from workbench.core.agents.transcript.events import Task, short_paths
from workbench.core.agents.transcript.summaries import (
    Lesson,
    Passed,
    Reason,
    ordered,
    same_lesson,
    told_once,
)
from workbench.core.record import InvalidRecord, iso
from workbench.core.reflection.trigger import record_observation
from workbench.core.stream.memory import Memory
from workbench.core.text import counted
from workbench.safety.secrets import mask
from workbench.services.agents.capture.memories import (
    Origin,
    lesson_of,
    memory_from,
    prints,
    prints_in,
    seen_again,
)
from workbench.services.agents.capture.progress import (
    Progress,
    folder_of,
    held,
    lessons_in,
    plain,
    read,
    write,
)
from workbench.services.agents.capture.reading import Tick, read_on, session_in
from workbench.services.agents.episodes import Episodes
from workbench.services.context import Context
from workbench.services.reflection.gauge import state_of
from workbench.services.stream.returned import Purged
from workbench.store.library import Tx

# The tasks of sessions as episodes: each once, under an id that follows from its first prompt.


def doc_of(task: Task, session: str) -> dict[str, Any]:
    """Return the episode that a task becomes (source 004, section 2.2)."""
    trace = [
        {"tool": step.tool, "action": step.action, "status": "failed" if step.failed else "ok"}
        | ({"error": step.error} if step.error else {})
        for step in task.trace
    ]
    execution: dict[str, Any] = {"trace": trace, "resource_usage": {"tool_calls": task.calls}}
    if task.at and task.ended:
        execution["duration"] = max((task.ended - task.at).total_seconds(), 0.0)
    evidence = [task.evidence or NO_EVIDENCE]
    evidence += [f"the agent said: “{task.claim}”"] if task.claim else []
    tags = [] if task.verdict else [NO_EVIDENCE]
    return {
        "episode_id": task.id,
        **({"timestamp": iso(task.ended)} if task.ended else {}),
        "session_id": session,
        "task": {"original_input": task.text},
        "execution": execution,
        "outcome": {
            "status": task.outcome, "evidence": evidence, "primary_output": task.said,
            "side_effects": [f"edited {path}" for path in task.edited],
        },
        "metadata": {
            "domain": task.domain, "task_type": task.kind, "tools_used": list(task.tools), "tags": tags,
            "captured": True,
        },
    }  # fmt: skip


def to_store(context: Context, tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks that are worth an episode which the store has not yet, or not as far as they
    went.

    What a person decided on stays: an episode that is approved, archived, deleted, purged or
    undone.
    """
    table, purged = context.library.table(Episode), Purged(context.library)

    def is_open(task: Task) -> bool:
        known = table.find(task.id)
        if known is None:
            return not task.is_stored and purged.find("", ("episodes", task.id)) is None
        return known.status == "active" and not known.approved and _went_on(known, task)

    return [task for task in tasks if task.is_worth and is_open(task)]


def keep_episodes(context: Context, session: str, tasks: Sequence[Task]) -> tuple[Episode, ...]:
    """Store the episodes of a session's tasks as one change. Raises `StoreProblem`."""
    docs = [doc_of(task, session) for task in to_store(context, tasks)]
    if not docs:
        return ()
    label = f"capture {'an episode' if len(docs) == 1 else f'{len(docs)} episodes'}"
    stored = Episodes(context).store_all(docs, session=session, label=label, goes_on=True)
    return tuple(one.episode for one in stored)


def _went_on(known: Episode, task: Task) -> bool:
    return (
        known.outcome != task.outcome
        or task.ended is None
        or known.at != task.ended.replace(microsecond=0)
    )


HOOK = "transcript"
"""What stands where a memory says by which hook it came."""


class Harvest(NamedTuple):
    """What transcripts teach: lessons, those first that count most, and what was passed over, by
    reason.

    `again` are lessons that the store has, from another session. `waiting` counts failures that
    nobody resolved yet. `follows` say how far each session was followed then. `tasks` become
    episodes.
    """

    lessons: tuple[Lesson, ...]
    again: tuple[tuple[str, Lesson], ...]
    passed: tuple[Passed, ...]
    waiting: int
    follows: tuple[Progress, ...]
    tasks: tuple[Task, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.lessons or self.again or self.tasks)

    @property
    def reasons(self) -> Mapping[Reason, int]:
        """How much was passed over, by reason, the most frequent first."""
        return dict(Counter(one.reason for one in self.passed).most_common())


class Captured(NamedTuple):
    """What was stored: new memories, those that were counted once more, and episodes."""

    created: tuple[Memory, ...]
    counted: tuple[Memory, ...]
    episodes: tuple[Episode, ...] = ()


class Transcripts:
    """The way in for transcripts; `captures` is where it is kept how far sessions were followed."""

    def __init__(self, context: Context, captures: Path | None) -> None:
        self._context = context
        self._library = context.library
        self._captures = captures

    def read(
        self, paths: Sequence[Path], *, again: bool = False, tick: Tick | None = None
    ) -> Harvest:
        """Read what is new in transcripts, or all of them `again`; nothing is written.

        Raises `UnreadableFile`, and `Stopped` when `tick` says so.
        """
        sessions = [(path, plain(session_in(path))) for path in paths]
        memories = self._library.memories.all()
        known, liberal = prints_in(memories), self._context.settings.capture == "liberal"
        lessons: list[Lesson] = []
        passed: list[Passed] = []
        follows: list[Progress] = []
        for path, session in sessions:
            before = Progress(session) if again else self._before(session)
            after, told = read_on(path, before, tick=tick, liberal=liberal)
            file = mask(short_paths(str(path.absolute())))
            here = [replace(one, file=file, text=mask(one.text)) for one in lessons_in(told)]
            lessons += [one for one in here if known.isdisjoint(prints(one))]
            over = [one for one in told if isinstance(one, Passed)]
            follows.append(after.passing(over))
            passed += over
            passed += [
                Passed("known", one.text, one.ids[0])
                for one in here
                if not known.isdisjoint(prints(one))
            ]
        kept, late = told_once(lessons)
        follows = [
            one.passing(other for other in late if other.id.startswith(f"{one.session}/"))
            for one in follows
        ]
        said = [(m.id, one) for m in memories if (one := lesson_of(m)) is not None]
        by = [
            (next((id for id, other in said if same_lesson(one, other)), ""), one) for one in kept
        ]
        return Harvest(
            tuple(ordered(one for id, one in by if not id)),
            tuple((id, one) for id, one in by if id),
            (*passed, *late),
            sum(len(open) for one in follows for open in one.standing.open.values()),
            tuple(follows),
            tuple(to_store(self._context, [task for one in follows for task in one.tasks])),
        )

    def keep(self, harvest: Harvest) -> Captured:
        """Store what transcripts teach, as one change; what was stored meanwhile is not stored
        again.

        Raises `StoreProblem`.
        """
        created: list[Memory] = []
        counted: list[Memory] = []
        episodes: list[Episode] = []
        if not harvest.is_empty:
            actor = self._context.actor
            with self._library.turn(), self._library.transaction(actor, _label(harvest)) as tx:
                known = prints_in(self._library.memories.all())
                for id, lesson in harvest.again:
                    memory = self._library.memories.find(id)
                    if memory is not None and known.isdisjoint(prints(lesson)):
                        counted.append(seen_again(memory, lesson))
                        tx.put(counted[-1])
                created = self._created(
                    tx, [one for one in harvest.lessons if known.isdisjoint(prints(one))]
                )
                for after in harvest.follows if harvest.tasks else ():
                    episodes += keep_episodes(self._context, after.session, after.tasks)
        self._note(harvest)
        return Captured(tuple(created), tuple(counted), tuple(episodes))

    @property
    def _folder(self) -> Path | None:
        """Where it is kept how far sessions were followed: another place once there is a store."""
        return None if self._captures is None else folder_of(self._captures, self._library.folder)

    def _created(self, tx: Tx, lessons: Sequence[Lesson]) -> list[Memory]:
        state, found, purged = state_of(self._context), [], Purged(self._library)
        for lesson in lessons:
            now = self._context.now()
            try:
                memory = memory_from(lesson, tx.new_memory_id(now), now, Origin(HOOK), mask)
            except InvalidRecord:
                continue  # nothing is left of it
            if purged.find(memory.content) is not None:
                continue
            tx.put(memory)
            state = record_observation(state, memory.importance_score, now)
            found.append(memory)
        if found:
            tx.put(state)
        return found

    def _before(self, session: str) -> Progress:
        folder = self._folder
        if folder is None:
            return Progress(session)
        with held(folder, session) as path:
            return read(path, session)

    def _note(self, harvest: Harvest) -> None:
        """Keep how far the sessions were followed, and how much was passed over in them."""
        folder = self._folder
        if folder is None:
            return
        for after in harvest.follows:
            with held(folder, after.session) as path:
                told = sorted(prints_in(self._library.memories.all(), after.session))
                done, known = after.stored, read(path, after.session)
                known = replace(
                    known, standing=done.standing, offsets=done.offsets, tasks=done.tasks
                )
                write(path, replace(known, passed=done.passed, kept=tuple(told), is_whole=True))


def _label(harvest: Harvest) -> str:
    episodes = f" and {counted(len(harvest.tasks), 'episode')}" if harvest.tasks else ""
    return f"capture {len(harvest.lessons)}{episodes} from {len(harvest.follows)} transcripts"
