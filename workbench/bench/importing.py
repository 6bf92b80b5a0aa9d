"""Importing files: read, compare with the store, write what is new in chunks that undo as one action."""

import contextlib
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b, sha256
from pathlib import Path

from workbench.bench.bookmerge import new_parts
from workbench.bench.context import Context
from workbench.bench.filebase import FileBases
from workbench.bench.reflecting import state_of
from workbench.core.errors import UnreadableFile
from workbench.core.importance import base_importance
from workbench.core.judgment import Judgment, SavedQuery, judgment_id
from workbench.core.memory import Memory
from workbench.core.playbook import Bullet
from workbench.core.record import iso
from workbench.core.trigger import record_observation
from workbench.formats import registry
from workbench.formats.model import JudgedQuery, Parsed, ReadContext
from workbench.store.library import Tx
from workbench.store.pause import collection_paused

CHUNK = 1000
"""Records that are committed with one fsync."""

Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What a file holds and what of it is new: exactly what importing would write.

    `present` counts records that are there already, `kept` names those whose stored version
    differs from the file's and stays as it is.
    """

    path: Path
    parsed: Parsed
    records: tuple[object, ...]
    present: int
    kept: tuple[str, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many new records of each kind, by a word a person knows."""
        kinds = (("memories", Memory), ("bullets", Bullet), ("queries", SavedQuery), ("judgments", Judgment))
        return {word: sum(isinstance(r, kind) for r in self.records) for word, kind in kinds}


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did. `group` undoes it; `written` < the plan's records when it was cancelled."""

    plan: ImportPlan
    written: int
    group: str
    cancelled: bool = False


class Importer:
    """Takes files into the store."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library

    def plan(
        self, path: Path, *, format: str | None = None, epoch: datetime | None = None, step_hours: float = 1.0
    ) -> ImportPlan:
        """Read a file and compare it with the store; writes nothing. Raises `UnreadableFile`.

        `epoch` and `step_hours` place records that have step counters instead of times.
        """
        context = ReadContext(
            now=self._context.now(),
            file=str(path),
            epoch=epoch,
            step_hours=step_hours,
            importance=base_importance,
        )
        with collection_paused():
            parsed = registry.read_file(path, format=format, context=context)
        new: list[object] = []
        kept: list[str] = []
        known = {alias for m in self._library.memories.all() for alias in m.aliases}
        for memory in parsed.memories:
            stored = self._library.memories.find(memory.id)
            if stored is None and memory.id not in known:
                new.append(memory)
            elif stored is not None and stored.content != memory.content:
                kept.append(memory.id)
        for playbook in parsed.playbooks:
            parts, differing = new_parts(self._library, playbook, path)
            new += parts
            kept += differing
        new += [r for query in parsed.queries for r in self._query(query)]
        read = len(parsed.memories) + sum(len(p.bullets) for p in parsed.playbooks)
        present = read - sum(isinstance(r, Memory | Bullet) for r in new) - len(kept)
        return ImportPlan(path, parsed, tuple(new), present, tuple(kept))

    def carry_out(
        self,
        plan: ImportPlan,
        *,
        as_new: bool = False,
        actor: str = "",
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> ImportReport:
        """Write what a plan holds, as `actor` (`import:FILE` unless told otherwise).

        `as_new` lets the memories feed the reflection gauge.
        """
        group = f"import-{uuid.uuid4().hex[:12]}"
        actor, label = actor or f"import:{plan.path.name}", f"import {plan.path.name}"
        done = 0
        for part, chunk in enumerate(_chunks(plan.records, CHUNK), 1):
            if cancelled is not None and cancelled():
                return ImportReport(plan, done, group, cancelled=True)
            more = done + len(chunk) < len(plan.records)
            with collection_paused(), self._library.transaction(actor, label, group=group, part=part, more=more) as tx:
                for record in chunk:
                    tx.put(record)
                if as_new:
                    self._count(tx, chunk)
            done += len(chunk)
            if progress is not None:
                progress(done, len(plan.records))
        self._agree(plan)
        return ImportReport(plan, done, group)

    def _agree(self, plan: ImportPlan) -> None:
        """Note what the file holds, unless the store says otherwise: an export then tells whose changes are whose."""
        if not plan.kept and plan.parsed.digest and registry.format_named(plan.parsed.format).writes:
            with contextlib.suppress(UnreadableFile):
                text = registry.read_text(plan.path)
                if sha256(text.encode()).hexdigest() == plan.parsed.digest:
                    FileBases(self._library.folder).keep(plan.path, text)

    def _count(self, tx: Tx, records: Sequence[object]) -> None:
        state, now = state_of(self._context), self._context.now()
        for record in records:
            if isinstance(record, Memory) and not record.is_synthetic:
                state = record_observation(state, record.importance_score, now)
        tx.put(state)

    def _query(self, query: JudgedQuery) -> Iterator[object]:
        at = self._context.now()
        # A query that is saved already may be named by its id, as TREC judgments do.
        known = self._library.queries.find(query.text)
        name = known.id if known else query_id(query.text, query.now)
        if name not in self._library.queries:
            yield SavedQuery(name, query.text, at, query.now, query.tags)
        for memory, grade in query.relevant.items():
            if judgment_id(name, memory) not in self._library.judgments:
                yield Judgment(judgment_id(name, memory), name, memory, grade, "import", at)


def query_id(text: str, now: datetime | None) -> str:
    """Name a saved query by what it asks, so that the same one is never stored twice."""
    moment = iso(now) if now else ""
    return "query-" + blake2b(f"{text}\n{moment}".encode(errors="replace"), digest_size=6).hexdigest()


def _chunks(records: Sequence[object], size: int) -> Iterator[Sequence[object]]:
    return (records[i : i + size] for i in range(0, len(records), size))
