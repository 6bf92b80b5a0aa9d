"""Every stored text of a record that somebody may read once it has left the store."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

from workbench.core.agents.document import Document
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.stream.confidence import unmarked
from workbench.core.stream.memory import Memory
from workbench.services.safety.secret_filter import strings
from workbench.services.safety.suspicion import shown_texts
from workbench.store.records import place_of

if TYPE_CHECKING:
    from workbench.core.agents.episodes.episode import Episode
    from workbench.core.agents.patterns.pattern import Pattern

__all__ = ["Outward", "kept_edges", "kept_summary", "name_of", "place_of", "texts_of"]

Outward: TypeAlias = Union[Memory, Bullet, Section, Book, Document, "Episode", "Pattern"]
"""The records that exports, promotions and answers to agents carry."""


def texts_of(record: Outward) -> Iterator[str]:
    """Yield everything that may be written to a file: the shown texts, tags, notes, the lines
    around a bullet.
    """
    match record:
        case Memory():
            yield from shown_texts(record)
            yield from (text for text in (record.section, record.category, *record.tags) if text)
            yield from strings(unmarked(record.metadata))  # where a file lay is written to none
        case Bullet():
            yield record.content
            if record.raw is not None and record.content not in record.raw:
                yield record.raw
            yield from record.lead
            yield from strings(record.metadata)
        case Section():
            yield from (record.title, *record.lead)
        case Book():
            yield from record.tail
        case Document():
            yield record.content
        case _:
            yield from _texts_of_rare(record)


def _texts_of_rare(record: "Episode | Pattern") -> Iterator[str]:
    """Yield the texts of what most stores have none of; what it is made of is imported for those
    that have.
    """
    from workbench.core.agents.episodes.episode import Episode
    from workbench.core.agents.patterns.pattern import texts_of as texts_of_pattern

    if isinstance(record, Episode):
        # The hash stands for what lies beside the store: a permission is about that, and about
        # nothing else.
        yield from (
            record.hash,
            *(text for text in (record.type, record.domain, *record.tags) if text),
        )
    else:
        yield from (text for text in texts_of_pattern(record) if text)


def kept_edges(text: str, before: str) -> str:
    """Return an edited text without the empty lines that were added at its ends; those it had stay.

    `before` is the text before the edit.
    """
    inner = text.strip("\n")
    if not inner or not before.strip("\n"):
        return inner
    head = min(len(one) - len(one.lstrip("\n")) for one in (text, before))
    tail = min(len(one) - len(one.rstrip("\n")) for one in (text, before))
    return "\n" * head + inner + "\n" * tail


def kept_summary(summary: str, before: str) -> str:
    """Return the summary that an edited text keeps: its own, unless it was cut from the text
    `before`.

    A cut one would go on saying what the text no longer says.
    """
    return "" if before.startswith(summary.rstrip("… .")) else summary


def name_of(path: Path) -> str:
    """Return a path as a text that can be stored: bytes of a name that are no text are written
    `\\xff`.
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")
