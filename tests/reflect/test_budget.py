"""A month's tokens."""

import pytest

from workbench.core.reflection.reflector import ReflectionProblem
from workbench.reflect.claude.asker import Budget


@pytest.mark.parametrize(
    ("budget", "tokens", "exceeds"),
    [
        (Budget(10, 4), 6, False),
        (Budget(10, 4), 7, True),
        (Budget(10, 11), 0, True),
        (Budget(0, 11), 10**9, False),
    ],
)
def test_the_limit_may_be_reached_but_not_passed(
    budget: Budget, tokens: int, exceeds: bool
) -> None:
    if exceeds:
        with pytest.raises(ReflectionProblem, match="of this month's 10 are used"):
            budget.require(tokens, "It")
    else:
        budget.require(tokens, "It")
