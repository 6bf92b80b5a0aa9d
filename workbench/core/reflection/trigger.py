"""When to reflect (source 000, algorithm 6): by force, importance, observations or hours, in that
order.
"""

from dataclasses import replace
from datetime import datetime
from typing import Literal, NamedTuple

from workbench.core.document import Record
from workbench.core.limits import TRIGGER_LIMITS, TriggerLimits
from workbench.core.tuning.recency import hours_between

Reason = Literal["importance", "observations", "hours"]


class ReflectionState(Record, frozen=True):
    """What has come in since the last reflection; one record per store.

    `accumulated_importance` sums importance scores (0–10 each). While `last_reflection_at` is
    `None` the clock has not started; the first observation starts it.
    """

    accumulated_importance: float = 0.0
    observations_since_last: int = 0
    last_reflection_at: datetime | None = None
    version: int = 1
    id: str = "reflection"


class Condition(NamedTuple):
    """One condition: where it stands, where it fires, and value / limit (above 1 when overdue)."""

    name: Reason
    value: float
    limit: float
    fraction: float


class Gauge(NamedTuple):
    """All conditions in trigger order, and the one that is furthest along."""

    conditions: tuple[Condition, ...]
    leading: Condition

    @property
    def reached(self) -> tuple[Reason, ...]:
        """Every condition that makes a reflection due, in trigger order."""
        return tuple(one.name for one in self.conditions if one.value >= one.limit)

    @property
    def due(self) -> Reason | None:
        """Why a reflection is due, by the first condition that says so; `None` when it is not."""
        return next(iter(self.reached), None)


def record_observation(state: ReflectionState, importance: float, now: datetime) -> ReflectionState:
    """Count one observation; a negative importance adds nothing."""
    return replace(
        state,
        accumulated_importance=state.accumulated_importance + max(0.0, importance),
        observations_since_last=state.observations_since_last + 1,
        last_reflection_at=state.last_reflection_at or now,
    )


def gauge(state: ReflectionState, now: datetime, limits: TriggerLimits = TRIGGER_LIMITS) -> Gauge:
    """Return each condition's standing; of equally advanced ones the earlier in trigger order
    leads.
    """
    hours = (
        0.0 if state.last_reflection_at is None else hours_between(state.last_reflection_at, now)
    )
    conditions = (
        _condition("importance", state.accumulated_importance, limits.importance),
        _condition("observations", state.observations_since_last, limits.observations),
        _condition("hours", hours, limits.hours),
    )
    return Gauge(conditions, max(conditions, key=lambda c: c.fraction))


def _condition(name: Reason, value: float, limit: float) -> Condition:
    return Condition(name, value, limit, value / limit if limit > 0 else 1.0)
