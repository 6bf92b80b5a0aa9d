"""A month's tokens."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from workbench.core.reflection.reflector import ReflectionProblem
from workbench.reflect.claude.prompting import Budget, month_of, require, spent_in_month, would_exceed

NOW = datetime(2026, 11, 30, 23, 59, tzinfo=UTC)


def test_a_month_is_a_calendar_month_in_utc() -> None:
    assert month_of(NOW) == "2026-11"
    assert month_of(NOW.astimezone(timezone(timedelta(hours=9)))) == "2026-11"
    assert month_of(NOW + timedelta(minutes=1)) == "2026-12"


def test_only_this_month_counts() -> None:
    spendings = [
        (NOW, 5),
        (NOW - timedelta(days=29), 7),
        (NOW - timedelta(days=30), 100),
        (NOW.replace(year=2025), 1_000),
    ]
    assert spent_in_month(spendings, NOW) == 12


@pytest.mark.parametrize(
    ("budget", "tokens", "exceeds"),
    [(Budget(10, 4), 6, False), (Budget(10, 4), 7, True), (Budget(10, 11), 0, True), (Budget(0, 11), 10**9, False)],
)
def test_the_limit_may_be_reached_but_not_passed(budget: Budget, tokens: int, exceeds: bool) -> None:
    assert would_exceed(budget, tokens) == exceeds
    if exceeds:
        with pytest.raises(ReflectionProblem, match="of this month's 10 are used"):
            require(budget, tokens, "It")
    else:
        require(budget, tokens, "It")
    assert budget.after(tokens).spent == budget.spent + tokens
