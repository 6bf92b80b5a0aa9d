"""Consolidating what agents did and learned (source 004, section 4.2): its stages, and the record
of a run.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec import field

from workbench.core.document import Record
from workbench.core.record import moved

EVERY = timedelta(days=7)
"""How long after a run the next one is due."""

GOES_ON = timedelta(days=1)
"""How long a run that was broken off may be gone on with; after that the store has moved on."""

KEPT = 50
"""Runs of which a store keeps the record."""


class StageKind(NamedTuple):
    """One stage: its id, and what it does in words."""

    id: str
    title: str


STAGES: tuple[StageKind, ...] = (
    StageKind("episodes", "Group similar episodes"),
    StageKind("extraction", "Propose recurring patterns"),
    StageKind("validation", "Validate patterns"),
    StageKind("refinement", "Retire weak patterns"),
    StageKind("indexes", "Update search indexes"),
    StageKind("report", "Count records"),
)
"""In the order in which they run."""


class StageResult(Record, frozen=True):
    """What a stage came to: how many records it looked at and changed, and numbers by name."""

    stage: str
    at: datetime
    looked: int = 0
    changed: int = 0
    facts: Mapping[str, float] = field(default_factory=dict)


class ConsolidationRun(Record, frozen=True):
    """One run: when it began, of which stages, what is done, and when it ended (`None` while stages
    are left).
    """

    id: str
    begun_at: datetime
    actor: str
    stages: tuple[str, ...]
    done: tuple[StageResult, ...] = ()
    ended_at: datetime | None = None
    version: int = 1

    @property
    def left(self) -> tuple[str, ...]:
        """The stages that are not done yet."""
        done = {one.stage for one in self.done}
        return tuple(stage for stage in self.stages if stage not in done)


def goes_on(run: ConsolidationRun | None, now: datetime) -> bool:
    """Tell whether the last run was broken off, a short while ago, and is gone on with."""
    return (
        run is not None and run.ended_at is None and bool(run.left) and now - run.begun_at < GOES_ON
    )


def due_at(run: ConsolidationRun | None) -> datetime | None:
    """Return when the next run is due; `None` for at once, since none was made yet."""
    return None if run is None else moved(run.ended_at or run.begun_at, EVERY)
