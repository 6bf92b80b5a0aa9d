"""What was asked of a language model and what it cost: the record that a month's budget is counted from."""

from collections.abc import Iterable
from datetime import UTC, datetime

from workbench.core.document import Record

STAGES = {
    "questions": "asking what is worth asking",
    "insights": "looking for insights",
    "refine": "refining",
    "rate": "rating",
    "cluster": "looking for what recurs",
    "analyse": "asking the Reflector about the run",
    "curate": "asking the Curator",
    "merge": "writing one text",
    "propose": "asking what to do next",
}
"""What each stage of a use does, in words."""


class UnreadReply(Record, frozen=True):
    """A reply that could not be read, kept as it came: what it was for, why it could not be read, and the question.

    `memories` are the ids its citations count from 1, in order; without any, those of the run.
    """

    stage: str
    reply: str
    reason: str
    question: str = ""
    memories: tuple[str, ...] = ()


class LlmRun(Record, frozen=True):
    """One use of a language model: what for, when, and the tokens sent and received.

    `unread` are the replies nobody has dealt with yet; `memories` the ids their citations count from 1, in order.
    """

    id: str
    what: str
    made_at: datetime
    input: int = 0
    output: int = 0
    unread: tuple[UnreadReply, ...] = ()
    memories: tuple[str, ...] = ()
    version: int = 1

    @property
    def tokens(self) -> int:
        """Sent and received together."""
        return self.input + self.output


def spent_in_month(runs: Iterable[LlmRun], now: datetime) -> int:
    """Return the tokens of the runs made in the calendar month of `now`, in UTC."""
    month = now.astimezone(UTC).strftime("%Y-%m")
    return sum(run.tokens for run in runs if run.made_at.astimezone(UTC).strftime("%Y-%m") == month)


# When to reflect (source 000, algorithm 6): by force, importance, observations or hours, in that order.
