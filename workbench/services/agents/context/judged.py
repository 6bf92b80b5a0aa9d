"""Judged tasks: how many of the texts that help or mislead in each a context serves, under a budget."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.core.record import InvalidRecord, UnreadableFile, from_doc
from workbench.services.agents.answers import text_of
from workbench.services.agents.context.making import gathered
from workbench.services.context import Context

if TYPE_CHECKING:
    from workbench.services.open import Workbench

TASKS = "tasks.jsonl"
"""The judged tasks of the demo, in its folder."""

BUDGETS = (4_000, 8_000, 20_000)
"""The budgets that are looked at where nobody names one."""


@dataclass(frozen=True, slots=True)
class JudgedTask:
    """A task, what just failed in it, and the ids of what helps and what misleads there.

    One that is `held_out` is for checking a change, not for making it.
    """

    task: str
    error: str = ""
    helps: tuple[str, ...] = ()
    misleads: tuple[str, ...] = ()
    held_out: bool = False


@dataclass(frozen=True, slots=True)
class JudgedContext:
    """What of a judged task's texts its context serves under a budget, and the part of its bytes that is frames."""

    task: JudgedTask
    budget: int
    helpful: tuple[str, ...]
    misleading: tuple[str, ...]
    tokens: int
    frames: float


def read_tasks(file: Path) -> tuple[JudgedTask, ...]:
    """Read judged tasks, a JSON object a line; raises `UnreadableFile`."""
    try:
        lines = enumerate(file.read_text("utf-8").splitlines(), 1)
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{file} cannot be read: {error}.") from error
    found = []
    for number, line in lines:
        try:
            found += [from_doc(JudgedTask, json.loads(line))] if line.strip() else []
        except (ValueError, InvalidRecord, AttributeError) as error:
            raise UnreadableFile(f"{file}:{number}: {error}") from error
    return tuple(found)


def judged(
    bench: "Workbench", asker: Context, tasks: Sequence[JudgedTask], budgets: Sequence[int]
) -> Iterator[JudgedContext]:
    """Yield what the asker would be served for each task under each budget; nothing counts as read."""
    for task in tasks:
        material = gathered(asker, bench.tuning, bench.playbooks, task.task, error=task.error)
        for budget in budgets:
            made = material.cut(budget)
            ids, text = {item.id for item in made.given}, text_of(made)
            helpful, misleading = (tuple(id for id in some if id in ids) for some in (task.helps, task.misleads))
            yield JudgedContext(task, budget, helpful, misleading, made.tokens, _frames(text))


def summed(contexts: Sequence[JudgedContext]) -> Mapping[str, float]:
    """Return the sums over contexts, and the means of their tokens and frames."""
    count = len(contexts) or 1
    return {
        "tasks": len(contexts),
        "helpful": sum(len(one.helpful) for one in contexts),
        "helps": sum(len(one.task.helps) for one in contexts),
        "misleading": sum(len(one.misleading) for one in contexts),
        "misleads": sum(len(one.task.misleads) for one in contexts),
        "tokens": round(sum(one.tokens for one in contexts) / count),
        "frames": round(sum(one.frames for one in contexts) / count, 3),
    }


def _frames(text: str) -> float:
    """Return the part of a context's bytes that names layers, ids and sources."""
    lines = text.split("\n")
    said = [line.partition("] ")[2] if line.startswith("- [") else line for line in lines]
    told = [line for line in said if not line.startswith(("[", "## "))]
    return 1 - len("\n".join(told).encode()) / max(1, len(text.encode()))
