"""The demo store: the shipped files, imported into a fresh folder, with their times moved to the present."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from workbench.bench.files.imports.importing import query_id
from workbench.bench.open import Workbench
from workbench.core.agents.read import AgentRead
from workbench.core.record import from_doc
from workbench.core.reflection.trigger import ReflectionState
from workbench.core.stream.memory import Memory
from workbench.core.tuning.judgment import Judgment, SavedQuery, judgment_id

ANCHOR = datetime(2026, 3, 20, 17, 30, tzinfo=UTC)
"""The present of the shipped files; everything in them is before it."""

ACTOR = "demo"
"""Not a person: undo in the demo starts from what the person does."""

FILES = ("memories.jsonl", "playbook.txt", "queries.jsonl")

READS = "reads.jsonl"
"""What two agents asked in those weeks, and were given by the ranking at that moment."""


def fill(bench: Workbench, folder: Path) -> None:
    """Import the demo files of `folder` into an empty store, so that they end a moment ago."""
    shift = bench.context.now() - ANCHOR
    for name in FILES:
        plan = bench.importer.plan(folder / name)
        names = {r.id: _moved_query(r, shift).id for r in plan.records if isinstance(r, SavedQuery)}
        moved = tuple(_moved(record, shift, names) for record in plan.records)
        bench.importer.carry_out(replace(plan, records=moved), actor=ACTOR)
    _keep_reads(bench, folder / READS, shift)
    _start_gauge(bench)
    bench.library.maintenance.save_checkpoint()


def _moved_query(query: SavedQuery, shift: timedelta) -> SavedQuery:
    """Return a query at its new moment, under the name that it then has."""
    now = query.now + shift if query.now is not None else None
    return replace(query, id=query_id(query.text, now), now=now)


def _moved(record: object, shift: timedelta, names: Mapping[str, str]) -> object:
    if isinstance(record, Memory):
        return replace(
            record,
            created_at=record.created_at + shift,
            last_accessed_at=record.last_accessed_at + shift,
            last_feedback_at=record.last_feedback_at + shift if record.last_feedback_at else None,
            review_after=record.review_after + shift if record.review_after else None,
        )
    if isinstance(record, SavedQuery):
        return _moved_query(record, shift)
    if isinstance(record, Judgment):
        name = names[record.query]
        return replace(record, id=judgment_id(name, record.memory), query=name)
    return record


def _keep_reads(bench: Workbench, file: Path, shift: timedelta) -> None:
    """Keep the readings of a file, where there is one; the memories bring the counts of theirs along."""
    if not file.exists():
        return
    reads = [from_doc(AgentRead, json.loads(line)) for line in file.read_text("utf-8").splitlines()]
    with bench.library.transaction(ACTOR, f"{len(reads)} readings", kind="access") as tx:
        for read in reads:
            tx.put(replace(read, at=read.at + shift))


def _start_gauge(bench: Workbench) -> None:
    """Set the reflection gauge as if the last reflection had been when the newest candidate was made."""
    memories = bench.library.memories.all()
    last = max((m.created_at for m in memories if m.is_synthetic), default=bench.context.now())
    since = [m for m in memories if m.created_at > last and not m.is_synthetic]
    state = ReflectionState(sum(m.importance_score for m in since), len(since), last)
    with bench.library.transaction(ACTOR, "start the reflection gauge") as tx:
        tx.put(state)
