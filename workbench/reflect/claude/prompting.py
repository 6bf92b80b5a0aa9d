"""Prompts as values: a text from `prompts/` with data put into it.

Stored text is data. It goes in literally (braces in it mean nothing), and between marks that occur nowhere in it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files

from workbench.core.reflection.reflector import ReflectionProblem, Stage
from workbench.core.stream.memory import Memory
from workbench.core.tokens import tokens_of

# How many tokens a month may cost: the rule only; whoever keeps the numbers hands them in.


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


_PLACE = re.compile(r"\{\{(\w+)\}\}")
_PART = "\n---\n"

FENCE = "records"
FENCE_PLACE = "fence"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent in one call, and the longest reply (in tokens) that it is usually worth."""

    stage: Stage
    system: str
    user: str
    reply_tokens: int

    @property
    def text(self) -> str:
        """Everything that leaves the machine, as a person reads it: the system text, a blank line, the message."""
        return f"{self.system}\n\n{self.user}"

    @property
    def tokens(self) -> int:
        """An estimate of the tokens sent."""
        return tokens_of(self.system) + tokens_of(self.user)


def prompt(
    stage: Stage, name: str, reply_tokens: int, data: Mapping[str, str], words: Mapping[str, str] | None = None
) -> Prompt:
    """Fill in `prompts/<name>.md`. `data` is fenced text from elsewhere, `words` is the workbench's own."""
    system, _, user = template(name).partition(_PART)
    values = {**data, **(words or {}), FENCE_PLACE: fence_for(data.values())}
    return Prompt(stage, filled(system, values), filled(user, values), reply_tokens)


def template(name: str) -> str:
    """Return the text of `prompts/<name>.md`: the system text, a line of three hyphens, and the message."""
    return (files("workbench.reflect") / "prompts" / f"{name}.md").read_text("utf-8").strip()


def filled(text: str, values: Mapping[str, str]) -> str:
    """Put the values into the `{{places}}` of `text`; what a value holds is never looked at again."""
    return _PLACE.sub(lambda place: values[place.group(1)], text)


def fence_for(texts: Iterable[str]) -> str:
    """Return a tag name whose tags occur in none of the texts, so that none can end the fence."""
    everything = "\n".join(texts).lower()
    fence, number = FENCE, 1
    while re.search(rf"<\s*/?\s*{fence}\s*>", everything):
        number += 1
        fence = f"{FENCE}-{number}"
    return fence


def numbered(texts: Sequence[str]) -> str:
    """Number texts from 1, one item each; further lines are indented, so that none looks like an item of its own."""
    return "\n".join(f"{place}. {indented(text)}" for place, text in enumerate(texts, start=1))


def indented(text: str) -> str:
    """Indent every line after the first by three spaces."""
    return "\n   ".join(text.strip().splitlines())


def memory_lines(memories: Sequence[Memory]) -> str:
    """Return the memories numbered from 1, each with its day (UTC) and whether it is a reflection itself."""
    return numbered(
        [f"[{m.created_at:%Y-%m-%d}{', reflection' if m.is_synthetic else ''}] {m.content}" for m in memories]
    )
