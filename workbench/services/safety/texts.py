"""Every stored text of a record that somebody may read once it has left the store, and what lies
beside the store.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

from workbench.core.agents.document import Document
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.stream.confidence import unmarked
from workbench.core.stream.memory import Memory
from workbench.core.values import cleaned
from workbench.services.safety.secret_filter import strings
from workbench.services.safety.suspicion import shown_texts
from workbench.store.blobs import BlobProblem
from workbench.store.records import IN_BLOBS, place_of

if TYPE_CHECKING:
    from workbench.core.agents.episodes.episode import Episode
    from workbench.core.agents.patterns.pattern import Pattern
    from workbench.store.library import Library

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


# What records keep beside the store, looked through for secrets, and written again without them.


def packed(doc: object) -> bytes:
    """Return JSON values as they are kept beside the store: the same values, the same bytes."""
    return json.dumps(doc, separators=(",", ":"), allow_nan=False).encode()


def body_of(library: "Library", name: str) -> Mapping[str, object]:
    """Return the JSON object that is kept under a hash. Raises `BlobProblem`, also when it is none."""
    try:
        doc = json.loads(library.blobs.read(name))
    except (ValueError, RecursionError) as error:
        raise BlobProblem(name, "damaged") from error
    if not isinstance(doc, dict):
        raise BlobProblem(name, "damaged")
    return doc


def texts_beside(library: "Library") -> Iterator[tuple[str, str]]:
    """Yield every text that is kept beside the store, with its place in words; what cannot be read
    is passed over.
    """
    owners = _owners(library)
    for name in library.blobs.names():
        try:
            doc = body_of(library, name)
        except BlobProblem:
            continue
        for part, value in doc.items():
            for text in strings({part: value}):
                yield f"{owners.get(name, f'blobs {name[:12]}')}, {part}", text


def rewritten(library: "Library", clean: Callable[[str], str]) -> dict[str, str]:
    """Write everything beside the store again as `clean` has it; return what takes the place of
    which hash.

    What took the place of another one before is among it. The old ones are still there. Raises
    `StoreProblem`.
    """
    found = dict(library.blobs.replaced())
    for name in library.blobs.names():
        try:
            doc = body_of(library, name)
        except BlobProblem:
            continue
        new = cleaned(doc, clean)
        if new != doc:
            found[name] = library.blobs.put(packed(new))
    return {old: _last(found, now) for old, now in found.items()}


def _last(found: Mapping[str, str], name: str) -> str:
    for _ in range(len(found)):
        if name not in found:
            break
        name = found[name]
    return name


def _owners(library: "Library") -> dict[str, str]:
    """Return which record names which hash, as "table id"."""
    found: dict[str, str] = {}
    for table, kind in IN_BLOBS.items():
        for _, key, doc in library.every_field(table):
            found[str(doc.get(kind.field))] = f"{table} {key}"
    return found
