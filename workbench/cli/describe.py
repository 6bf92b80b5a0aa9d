"""Records as JSON objects: every field and the sums a person sees; and single values in one line."""

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from workbench.cli.output import picked, plain
from workbench.core.playbook.book import Bullet
from workbench.core.record import UnknownRecord, WorkbenchError, without
from workbench.core.stream.confidence import Confidence, scored
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.text import in_words

if TYPE_CHECKING:
    from workbench.core.tuning.scoring import Scored
    from workbench.services.open import Workbench
    from workbench.services.tuning.session import TermPart


def memory_json(memory: Memory) -> dict[str, object]:
    """Return a memory with all its fields, both counts and its confidence with the reasons.

    Who said it is there only where that is known.
    """
    source = plain(memory.source)
    assert isinstance(source, dict)
    if memory.source.speaker is None:
        del source["speaker"]
    return {
        **_with_counts(memory),
        "source": source,
        "confidence_scored": _confidence_json(scored(memory)),
    }


def bullet_json(bullet: Bullet) -> dict[str, object]:
    """Return a bullet with all its fields and both counts."""
    return _with_counts(bullet)


def found_json(rank: int, scored: "Scored", terms: "Sequence[TermPart]" = ()) -> dict[str, object]:
    """Return one line of a ranking; `parts` holds each factor raw, normalised and weighted.

    For a score of episodes `terms` holds what its factors are made of.
    """
    memory = scored.memory
    parts = picked(scored, "raw", "normalised:norm", "weighted")
    if terms:
        parts["terms"] = {t.term: picked(t, "value", "weight", "weighted") for t in terms}
    return {
        "id": memory.id,
        "rank": rank,
        "score": scored.total,
        "parts": parts,
        **picked(memory, "content", "summary", "memory_type", "observation_type", "status", "importance_score",
                 "helpful_count", "harmful_count", "pinned", "tags", "session_id", "created_at", "last_accessed_at"),
    }  # fmt: skip


def _confidence_json(found: Confidence) -> dict[str, object]:
    reasons = [
        {"rule": one.rule.id, **picked(one, "count:held", "points")} for one in found.reasons
    ]
    return {**picked(found, "value", "said"), "reasons": reasons}


def _with_counts(record: Memory | Bullet) -> dict[str, object]:
    doc = plain(record)
    assert isinstance(doc, dict)
    return {**doc, "helpful_count": record.helpful_count, "harmful_count": record.harmful_count}


def compact(value: object) -> str:
    """Return a stored value in one line of words, without how a file was laid out."""
    if isinstance(value, Mapping):
        value = without(value, FILE_KEY)
    return in_words(plain(value))


# Ids that a person gives a command: what they mean, and the nearest one where they mean nothing.


MOST = 5_000
"""Ids that an unknown one is compared with; those that begin or end like it come first."""

UNCHANGED = "Nothing was changed."

R = TypeVar("R", Memory, Bullet)


def records(bench: "Workbench", ids: Sequence[str]) -> list[Memory | Bullet]:
    """Return the memories and bullets that ids mean, each once; raises `UnknownRecord`, which names
    the nearest id.
    """
    from workbench.services.stream.votable import find_votable

    found: list[Memory | Bullet] = []
    for id in dict.fromkeys(ids):
        try:
            record = find_votable(bench.context, id)
        except UnknownRecord as error:
            known = [
                record.id
                for table in (bench.library.memories, bench.library.bullets)
                for record in table.all()
            ]
            near = nearest(id, known)
            raise UnknownRecord(
                error.message, _hint("" if bench.safety.masked(near) != near else near)
            ) from error
        if record not in found:
            found.append(record)
    return found


def memories(bench: "Workbench", ids: Sequence[str]) -> list[Memory]:
    """Return the memories that ids mean, each once; raises `UnknownRecord`, and `WorkbenchError`
    for a bullet's.
    """
    return _only(Memory, "a bullet, not a memory", bench, ids)


def bullets(bench: "Workbench", ids: Sequence[str]) -> list[Bullet]:
    """Return the bullets that ids mean, each once; raises `UnknownRecord`, and `WorkbenchError` for
    a memory's.
    """
    return _only(Bullet, "a memory, not a bullet", bench, ids)


def _only(kind: type[R], other: str, bench: "Workbench", ids: Sequence[str]) -> list[R]:
    found = []
    for record in records(bench, ids):
        if not isinstance(record, kind):
            raise WorkbenchError(f"{record.id} is {other}.", UNCHANGED)
        found.append(record)
    return found


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the known id that is most like a name; empty when none is."""
    likely = [id for id in known if id[:4] == name[:4] or id[-4:] == name[-4:]][:MOST] or known[
        :MOST
    ]
    return next(iter(difflib.get_close_matches(name, likely, n=1)), "")


def _hint(near: str) -> str:
    return (
        f"{UNCHANGED} Did you mean {near}?"
        if near
        else f"{UNCHANGED} `workbench list` shows the memories."
    )
