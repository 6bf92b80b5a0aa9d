"""The demo store: the shipped files, imported into a fresh folder, with their times moved to the present."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from workbench.bench.workbench import Workbench
from workbench.core.judgment import SavedQuery
from workbench.core.memory import Memory
from workbench.core.trigger import ReflectionState

ANCHOR = datetime(2026, 3, 20, 17, 30, tzinfo=UTC)
"""The present of the shipped files; everything in them is before it."""

ACTOR = "demo"
"""Not a person: undo in the demo starts from what the person does."""

FILES = ("memories.jsonl", "playbook.txt", "queries.jsonl")


def fill(bench: Workbench, folder: Path) -> None:
    """Import the demo files of `folder` into an empty store, so that they end a moment ago."""
    shift = bench.context.now() - ANCHOR
    for name in FILES:
        plan = bench.importer.plan(folder / name)
        moved = tuple(_moved(record, shift) for record in plan.records)
        bench.importer.carry_out(replace(plan, records=moved), actor=ACTOR)
    _start_gauge(bench)
    bench.library.journal.save_checkpoint()


def _moved(record: object, shift: timedelta) -> object:
    if isinstance(record, Memory):
        return replace(
            record,
            created_at=record.created_at + shift,
            last_accessed_at=record.last_accessed_at + shift,
            last_feedback_at=record.last_feedback_at + shift if record.last_feedback_at else None,
            review_after=record.review_after + shift if record.review_after else None,
        )
    if isinstance(record, SavedQuery) and record.now is not None:
        return replace(record, now=record.now + shift)
    return record


def _start_gauge(bench: Workbench) -> None:
    """Set the reflection gauge as if the last reflection had been when the newest candidate was made."""
    memories = bench.library.memories.all()
    last = max((m.created_at for m in memories if m.is_synthetic), default=bench.context.now())
    since = [m for m in memories if m.created_at > last and not m.is_synthetic]
    state = ReflectionState(sum(m.importance_score for m in since), len(since), last)
    with bench.library.transaction(ACTOR, "start the reflection gauge") as tx:
        tx.put(state)
