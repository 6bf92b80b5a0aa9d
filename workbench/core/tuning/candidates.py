"""The candidate filter of a profile: which of the memories that may be served take part in a
ranking at all.

It is written in the filter language of the stream. What an agent is never served stays out,
whatever it says.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from workbench.core.record import InvalidQuery
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.core.stream.filter import Filter


def candidate_filter(text: str, now: datetime) -> "Filter":
    """Read a candidate filter; relative times count from `now`, days are those of UTC, as in every
    ranking.

    Raises `InvalidQuery` when it cannot be read, or holds a word that only a search could rank by.
    """
    from workbench.core.stream.filter import parse_filter  # most profiles have no filter

    found = parse_filter(text, now, zone=UTC)
    if found.words:
        hint = f'Write type:error, -tag:wip or "{one_line(found.words[0], 20)}".'
        raise InvalidQuery(f"“{one_line(found.words[0], 20)}” is not a condition.", hint)
    return found
