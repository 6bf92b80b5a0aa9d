"""How many tokens a month may cost: the rule only; whoever keeps the numbers hands them in."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from workbench.core.reflection.reflector import ReflectionProblem


@dataclass(frozen=True, slots=True)
class Budget:
    """`limit` tokens a calendar month, sent and received (0: no limit), of which `spent` are gone."""

    limit: int = 0
    spent: int = 0

    def after(self, tokens: int) -> "Budget":
        """Return the budget when `tokens` more are spent."""
        return Budget(self.limit, self.spent + tokens)


def month_of(at: datetime) -> str:
    """Return the calendar month of `at` in UTC, such as `2026-11`."""
    return at.astimezone(UTC).strftime("%Y-%m")


def spent_in_month(spendings: Iterable[tuple[datetime, int]], now: datetime) -> int:
    """Sum the tokens of the spendings that fall in the month of `now`."""
    month = month_of(now)
    return sum(tokens for at, tokens in spendings if month_of(at) == month)


def would_exceed(budget: Budget, tokens: int) -> bool:
    """Tell whether spending `tokens` more would pass the limit."""
    return budget.limit > 0 and budget.spent + tokens > budget.limit


def require(budget: Budget, tokens: int, what: str) -> None:
    """Raise `ReflectionProblem` when `what`, which needs about `tokens`, would pass the limit."""
    if would_exceed(budget, tokens):
        raise ReflectionProblem(
            f"{what} needs about {tokens:,} tokens, and {budget.spent:,} of this month's {budget.limit:,} are used.",
            "Nothing was sent. Raise claude.monthly_tokens in the config (0 means no limit) or wait for next month.",
        )
