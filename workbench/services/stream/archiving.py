"""Archiving what is old, by status and date: source 001's `archive(before_date, status_filter)`."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from workbench.core.agents.actors import require_person
from workbench.core.files.format import ReadContext
from workbench.core.record import UnreadableFile
from workbench.core.review import lifecycle
from workbench.core.stream.memory import ArchivedReason, Memory, Status
from workbench.core.text import counted
from workbench.formats import opening
from workbench.services.context import Service

_REASON: Mapping[Status, ArchivedReason] = {
    "signal": "pruned",
    "candidate": "pruned",
    "confirmed": "done",
    "promoted": "done",
}
"""Why a memory of a status is archived when it is old: nobody stood by it, or it did what it was
for.
"""


class ArchivePlan(NamedTuple):
    """The memories that are archived, or with status `archived` were before; `pinned` more are left
    alone.
    """

    status: Status
    before: datetime
    memories: tuple[Memory, ...]
    pinned: int = 0

    @property
    def changes(self) -> bool:
        """Whether carrying it out changes the store."""
        return bool(self.memories) and self.status != "archived"


class Archiving(Service):
    """Archives memories of a store together."""

    def plan(self, status: Status, before: datetime) -> ArchivePlan:
        """Return which memories of a status were made before a moment, the oldest first; pinned
        ones stay.
        """
        old = [
            m for m in self._library.memories.all() if m.status == status and m.created_at < before
        ]
        old.sort(key=lambda m: (m.created_at, m.id))
        loose = tuple(m for m in old if not m.pinned or status == "archived")
        return ArchivePlan(status, before, loose, len(old) - len(loose))

    def for_file(self, plan: ArchivePlan, path: Path) -> tuple[Memory, ...]:
        """Return, as they are now, the memories of a plan and the archived ones that the file at
        `path` holds.
        """
        context = self._context
        reading = ReadContext(now=context.now(), file=path.name, path=str(path))
        try:
            present = opening.read_file(path, context=reading).memories
        except UnreadableFile:
            present = ()  # none, or somebody else's, which is not replaced
        asked = dict.fromkeys(memory.id for memory in plan.memories)
        kept = [
            m
            for m in self._library.memories.among(memory.id for memory in present)
            if m.status == "archived"
        ]
        return (*(m for m in kept if m.id not in asked), *self._library.memories.among(asked))

    def carry_out(self, plan: ArchivePlan) -> None:
        """Archive what a plan names, as one action; what is pinned or of another status by now
        stays.

        Raises `WorkbenchError` for an agent.
        """
        require_person(self._context.actor, "archive memories")
        if not plan.changes:
            return
        many = counted(len(plan.memories), "memory", "memories")
        label = f"archive {many} of status {plan.status} from before {plan.before:%Y-%m-%d}"
        with self._context.transaction(label) as tx:
            for memory in plan.memories:
                now = self._library.memories.find(memory.id)
                if now is not None and now.status == plan.status and not now.pinned:
                    tx.put(lifecycle.archive(now, _REASON[plan.status]))
