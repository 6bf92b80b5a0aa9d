"""The tasks of sessions as episodes: each once, under an id that follows from its first prompt."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workbench.core.agents.episodes.episode import NO_EVIDENCE, Episode
from workbench.core.agents.transcript.progress import Task
from workbench.core.record import iso
from workbench.services.agents.capture.progress import Progress
from workbench.services.agents.episodes.keeping import Episodes
from workbench.services.context import Context
from workbench.services.stream.returned import Purged


def doc_of(task: Task, session: str) -> dict[str, Any]:
    """Return the episode that a task becomes (source 004, section 2.2)."""
    seconds = (task.ended - task.at).total_seconds() if task.at and task.ended else None
    trace = [
        {"tool": step.tool, "action": step.action, "status": "failed" if step.failed else "ok"}
        | ({"error": step.error} if step.error else {})
        for step in task.trace
    ]
    execution = {"trace": trace, "resource_usage": {"tool_calls": task.calls}}
    evidence = [one for one in (task.evidence or NO_EVIDENCE, task.claim and f"the agent said: “{task.claim}”") if one]
    tags = [] if task.verdict else [NO_EVIDENCE]
    return {
        "episode_id": task.id,
        **({"timestamp": iso(task.ended)} if task.ended else {}),
        "session_id": session,
        "task": {"original_input": task.text},
        "execution": execution if seconds is None else {**execution, "duration": max(seconds, 0.0)},
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
    """Return the tasks that are worth an episode which the store has not yet, or not as far as they went.

    What a person decided on stays: an episode that is approved, archived, deleted, purged or undone.
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


def after_storing(progress: Progress) -> Progress:
    """Return how far a session was followed once its episodes are stored: only what runs is needed."""
    return replace(progress, tasks=tuple(replace(one, is_stored=one.is_worth) for one in progress.tasks[-1:]))


def _went_on(known: Episode, task: Task) -> bool:
    return known.outcome != task.outcome or task.ended is None or known.at != task.ended.replace(microsecond=0)
