"""When a reflection is due."""

import pytest

from tests.core.samples import NOW, days
from workbench.core.limits import TriggerLimits
from workbench.core.reflection.trigger import (
    Condition,
    ReflectionState,
    gauge,
    record_observation,
)


def state(importance: float = 0.0, observations: int = 0, hours: float = 0.0) -> ReflectionState:
    return ReflectionState(importance, observations, NOW - days(hours / 24))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (state(149.9, 99, 23.9), None), (state(150), "importance"), (state(0, 100), "observations"),
        (state(0, 0, 24), "hours"), (state(150, 100, 24), "importance"), (state(0, 100, 24), "observations"),
        (ReflectionState(149.9, 99), None),
    ],
)  # fmt: skip
def test_conditions_in_order(given: ReflectionState, reason: str | None) -> None:
    """Each fires when it reaches its limit; the first one is named."""
    assert gauge(given, NOW).due == reason


def test_limits_are_a_parameter() -> None:
    """A person may set them; one of zero is always reached."""
    assert gauge(state(10), NOW, TriggerLimits(importance=10)).due == "importance"
    assert gauge(state(200, 200, 200), NOW, TriggerLimits(999, 999, 999)).due is None
    assert gauge(state(), NOW, TriggerLimits(observations=0)).due == "observations"
    assert gauge(state(), NOW, TriggerLimits(hours=0)).leading == Condition("hours", 0.0, 0, 1.0)


def test_observations_add_up() -> None:
    """Importance and count; nonsense adds nothing; the first one starts the clock."""
    one = record_observation(ReflectionState(), 9.0, NOW)
    assert one == ReflectionState(9.0, 1, NOW)
    two = record_observation(
        record_observation(one, -3.0, NOW + days(1)), float("nan"), NOW + days(1)
    )
    assert two == ReflectionState(9.0, 3, NOW)


def test_gauge() -> None:
    """Every condition's standing, and who leads."""
    shown = gauge(state(75, 80, 6), NOW)
    assert shown.conditions == (
        Condition("importance", 75, 150, 0.5),
        Condition("observations", 80, 100, 0.8),
        Condition("hours", 6.0, 24, 0.25),
    )
    assert shown.leading.name == "observations"
    assert gauge(state(75, 50, 12), NOW).leading.name == "importance"
    assert gauge(state(300), NOW).leading.fraction == 2.0
    assert gauge(ReflectionState(), NOW).conditions[2].value == 0.0
