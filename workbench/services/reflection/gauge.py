"""The reflection gauge: what has come in since the last reflection."""

from workbench.core.reflection.trigger import Gauge, ReflectionState, gauge
from workbench.services.context import Context


def state_of(context: Context) -> ReflectionState:
    """Return the stored state, or a fresh one."""
    return context.library.reflection.find("reflection") or ReflectionState()


def gauge_of(context: Context) -> Gauge:
    """Return how far each condition is along."""
    return gauge(state_of(context), context.now(), context.settings.reflection)
