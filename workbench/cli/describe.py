"""Records as JSON objects: every field and the sums a person sees; and single values in one line."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import picked, plain
from workbench.core.playbook.book import Bullet
from workbench.core.stream.confidence import Confidence, scored
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.text import in_words

if TYPE_CHECKING:
    from workbench.core.tuning.scoring import Scored
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
        value = {name: part for name, part in value.items() if name != FILE_KEY}
    return in_words(plain(value))
