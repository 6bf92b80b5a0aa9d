"""What became of a candidate: rejected, and why; parted into several; refined in rounds that are
all kept.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from workbench.core.record import InvalidRecord, as_list, parse_time, without
from workbench.core.review.lifecycle import archive
from workbench.core.stream.memory import MAX_CONTENT, Memory
from workbench.core.text import clean_for_store

REJECTED_AT, REJECTED_BECAUSE = "rejected_at", "rejected_because"
"""Metadata keys of a rejected memory."""


class Rejection(NamedTuple):
    """When a memory was rejected and why, as far as that is known."""

    at: datetime | None = None
    reason: str = ""


def rejection_of(memory: Memory) -> Rejection:
    """Return when and why a rejected memory was rejected."""
    at, reason = memory.metadata.get(REJECTED_AT), memory.metadata.get(REJECTED_BECAUSE)
    try:
        when = parse_time(at) if isinstance(at, str) else None
    except ValueError:
        when = None
    return Rejection(when, reason if isinstance(reason, str) else "")


# Other words for a candidate: parted into several, or refined in rounds that are all kept.


ROUNDS = "rounds"
"""Metadata key of a refined candidate: the texts it had before, the first one first."""

SPLIT_FROM, SPLIT_INTO = "split_from", "split_into"
"""Metadata keys of a part, and of what was parted."""

UNCHANGED = "Nothing was changed."

_RULE = re.compile(r"^[ \t]*-{3,}[ \t]*$", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


def parts_of(text: str) -> tuple[str, ...]:
    """Return the parts of a text: between `---` lines when it has any, else between blank lines."""
    found = _RULE.split(text) if _RULE.search(text) else _BLANK.split(text)
    return tuple(part.strip("\n").rstrip() for part in found if part.strip())


def check_parts(parts: Sequence[str]) -> None:
    """Raise `InvalidRecord` unless there are at least two parts, all different and none too long."""
    if len(parts) < 2:
        raise InvalidRecord(
            "That is one part.", "A blank line, or a line of ---, starts the next one."
        )
    if len(set(parts)) < len(parts):
        raise InvalidRecord("Two parts are the same.", "Remove one of them.")
    if any(len(part) > MAX_CONTENT for part in parts):
        raise InvalidRecord(f"A part is longer than {MAX_CONTENT:,} characters.", UNCHANGED)


def part_of(memory: Memory, id: str, text: str) -> Memory:
    """Return a part of a candidate: its class, citations, importance and age, with a text of its
    own and no votes.
    """
    metadata = without(memory.metadata, ROUNDS)
    return replace(
        memory,
        id=id,
        content=clean_for_store(text),
        summary="",
        helpful_imported=0,
        helpful_created=0,
        helpful_absorbed=0,
        helpful_votes=0,
        harmful_imported=0,
        harmful_votes=0,
        helpful_by_agents=0,
        harmful_by_agents=0,
        last_feedback_at=None,
        access_count=0,
        aliases=(),
        review_after=None,
        metadata={**metadata, SPLIT_FROM: memory.id},
    )


def split_up(memory: Memory, into: Sequence[str]) -> Memory:
    """Return what was parted, archived as superseded by its parts."""
    shelved = archive(memory, "superseded")
    return replace(shelved, metadata={**shelved.metadata, SPLIT_INTO: list(into)})


def rounds_of(memory: Memory) -> tuple[str, ...]:
    """Return every text a candidate had, the first one first; the present one is the last."""
    texts = [text for text in as_list(memory.metadata.get(ROUNDS)) if isinstance(text, str)]
    return (*(text for text in dict.fromkeys(texts) if text != memory.content), memory.content)


def with_rounds(memory: Memory, texts: Sequence[str], chosen: str) -> Memory:
    """Return a candidate that says `chosen`; the other texts stay with it as its rounds.

    Raises `InvalidRecord` when the chosen text is too long.
    """
    from workbench.services.stream.fields import with_text

    after = with_text(memory, chosen)
    others = [text for text in dict.fromkeys(map(clean_for_store, texts)) if text != after.content]
    metadata = without(memory.metadata, ROUNDS)
    return replace(
        after,
        summary=memory.summary if after is memory else "",
        metadata={**metadata, **({ROUNDS: others} if others else {})},
    )
