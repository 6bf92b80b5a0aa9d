"""What a language model replied: the JSON in its reply, and whether an insight is specific enough."""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from workbench.core.document import Record
from workbench.core.record import WorkbenchError
from workbench.core.words import words

_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_MAX_STARTS = 1_000
"""Places of a text that are tried; more brackets than that are no reply with an object in it."""


class UnreadableReply(WorkbenchError):
    """A reply of a language model is not of the form that was asked for."""


def find_json(text: str, *keys: str) -> dict[str, object] | list[object]:
    """Return the JSON value in `text`: alone, in a code fence, or with prose around it.

    An object that has one of `keys` wins over any other value, else the longest one. Raw line
    breaks inside strings are accepted. Raises `UnreadableReply` when there is none.
    """
    best: tuple[bool, int] = (False, 0)
    value: dict[str, object] | list[object] | None = None
    for found, length in _values(text):
        rank = (isinstance(found, dict) and any(key in found for key in keys), length)
        if rank > best:
            best, value = rank, found
    if value is None:
        raise UnreadableReply(_why(text), "The reply is shown unchanged.")
    return value


def _values(text: str) -> Iterator[tuple[dict[str, object] | list[object], int]]:
    for part in (text, *_FENCED.findall(text)):
        yield from _embedded(part)


def _embedded(text: str) -> Iterator[tuple[dict[str, object] | list[object], int]]:
    """Yield the objects and arrays of `text` that are inside no other one, with their lengths in
    characters.
    """
    decoder = json.JSONDecoder(strict=False)
    place = 0
    for _ in range(_MAX_STARTS):
        start = _OPENING.search(text, place)
        if start is None:
            return
        try:
            value, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            place = start.end()
            continue
        yield value, end - start.start()
        place = end


def _why(text: str) -> str:
    if not text.strip():
        return "The reply is empty."
    if "{" not in text:
        return "The reply contains no JSON."
    return "The JSON in the reply is cut off or malformed."


# When an insight is specific enough (source 000, algorithm 9).


ACTIONABLE = frozenset(
    {"because", "when", "always", "never", "should", "avoid", "ensure", "verify", "use", "instead"}
)  # fmt: skip
"""Words of a rule one can follow; each counts once, and only as a whole word."""

ENOUGH_CHARACTERS = 100
ENOUGH_WORDS = 2


class Substance(NamedTuple):
    """What an insight has to it: its length in characters and the distinct actionable words, in
    order.
    """

    characters: int
    actionable: tuple[str, ...]

    @property
    def enough(self) -> bool:
        """Whether it needs no further round."""
        return self.characters >= ENOUGH_CHARACTERS and len(self.actionable) >= ENOUGH_WORDS


def substance(text: str) -> Substance:
    """Measure an insight; white space around it does not count."""
    found = dict.fromkeys(word for word in words(text) if word in ACTIONABLE)
    return Substance(len(text.strip()), tuple(found))


def needs_round(text: str, made: int, limit: int) -> bool:
    """Tell whether to refine once more after `made` of at most `limit` rounds."""
    return made < limit and not substance(text).enough


# What was asked of a language model and what it cost: the record that a month's budget is counted
# from.


STAGES = {
    "questions": "collecting questions",
    "insights": "looking for insights",
    "refine": "refining",
    "rate": "rating",
    "cluster": "looking for recurring statements",
    "analyse": "asking the Reflector about the run",
    "curate": "asking the Curator",
    "merge": "writing one text",
    "propose": "asking what to do next",
}
"""What each stage of a use does, in words."""


class UnreadReply(Record, frozen=True):
    """A reply that could not be read, kept as it came: what it was for, why it could not be read,
    and the question.

    `memories` are the ids its citations count from 1, in order; without any, those of the run.
    """

    stage: str
    reply: str
    reason: str
    question: str = ""
    memories: tuple[str, ...] = ()


class LlmRun(Record, frozen=True):
    """One use of a language model: what for, when, and the tokens sent and received.

    `unread` are the replies nobody has dealt with yet; `memories` the ids their citations count
    from 1, in order.
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


# When to reflect (source 000, algorithm 6): by force, importance, observations or hours, in that
# order.
