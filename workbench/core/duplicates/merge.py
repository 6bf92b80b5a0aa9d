"""Merging near-duplicates of the stream (source 003, `merge_memory_group`).

The newest content wins, every vote is counted once, importance is averaged, old ids live on as
aliases. What was merged is noted in `metadata["merged"]`; the originals are archived, so that
undoing the transaction splits them again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from statistics import fmean

from workbench.core.playbook.book import Bullet
from workbench.core.record import UnknownRecord, WorkbenchError, iso
from workbench.core.review.lifecycle import LADDER, archive
from workbench.core.served import SERVED
from workbench.core.stream.memory import Memory, Status

MEMORY_COUNTS = (
    "helpful_imported", "helpful_created", "helpful_absorbed", "helpful_votes", "harmful_imported", "harmful_votes",
    "helpful_by_agents", "harmful_by_agents",
)  # fmt: skip


def merge_memories(
    group: Sequence[Memory], now: datetime, *, keep: str | None = None, content: str | None = None
) -> tuple[Memory, tuple[Memory, ...]]:
    """Return the merged memory and the archived originals of a group of duplicates.

    The id, the class and the metadata are those of `keep` (default: the newest), the content, its
    time and its summary those of the newest unless `content` overrides the text. The status is the
    one furthest along the lifecycle, and never one that takes a served memory out of service. A
    memory that occurs twice counts once, and so do votes that an earlier merge already brought in.
    Raises `WorkbenchError` for fewer than two memories or an archived one, `UnknownRecord` when
    `keep` is not in the group.
    """
    members = tuple({m.id: m for m in group}.values())
    _check(members, keep)
    newest = max(members, key=lambda m: (m.created_at, m.id))
    kept = newest if keep is None else next(m for m in members if m.id == keep)
    merged = _united(kept, newest, (kept, *(m for m in members if m is not kept)))
    text = newest.content if content is None else content
    summary = newest.summary if text == newest.content else ""
    note = merge_note(members, now, MEMORY_COUNTS)
    merged = replace(merged, content=text, summary=summary, metadata=with_note(kept.metadata, note))
    return merged, tuple(_archived(m, kept.id) for m in members if m is not kept)


def absorb(
    target: Memory, candidate: Memory, now: datetime, content: str | None = None
) -> tuple[Memory, tuple[Memory, ...]]:
    """Return `target` with what a candidate that nobody approved adds to it, and the archived candidate.

    It adds its votes, tags, citations and relations, and its id as an alias. The target's text (unless `content` is
    another one), its time, status, importance and standing stay its own. Raises as `merge_memories` does.
    """
    text = target.content if content is None else content
    merged, archived = merge_memories((candidate, target), now, keep=target.id, content=text)
    summaries = {candidate.content: candidate.summary, target.content: target.summary}
    return replace(merged, summary=summaries.get(text, ""), **{n: getattr(target, n) for n in _STANDING}), archived


_STANDING = (
    "created_at", "last_accessed_at", "access_count", "importance_score", "status", "confidence", "pinned",
    "promoted_to", "is_synthetic",
)  # fmt: skip


def merge_note(members: Iterable[Memory | Bullet], now: datetime, counts: Sequence[str]) -> dict[str, object]:
    """Describe what is merged, as JSON values: the time, and each record's id, content and counts."""
    records = [{"id": m.id, "content": m.content, "counts": {n: getattr(m, n) for n in counts}} for m in members]
    return {"at": iso(now), "records": records}


def with_note(metadata: Mapping[str, object], note: Mapping[str, object]) -> dict[str, object]:
    """Return `metadata` with `note` added to its list of merges."""
    return {**metadata, "merged": [*_notes(metadata), note]}


def counted_before(record: Memory | Bullet, member: str, name: str) -> int:
    """Return how much of `member`'s count `name` an earlier merge already brought into `record`."""
    for note in reversed(_notes(record.metadata)):
        for entry in _listed(note, "records"):
            counts = entry.get("counts")
            if entry.get("id") == member and isinstance(counts, Mapping):
                value = counts.get(name)
                return value if type(value) is int else 0
    return 0


def summed(members: Sequence[Memory | Bullet], name: str) -> int:
    """Add up one count over the group, leaving out what a member holds from another member already."""
    total = sum(int(getattr(m, name)) for m in members)
    doubled = sum(
        min(int(getattr(part, name)), counted_before(whole, part.id, name))
        for whole in members
        if _notes(whole.metadata)
        for part in members
        if whole is not part
    )
    return max(0, total - doubled)


def union(*groups: Iterable[str], without: Iterable[str] = ()) -> tuple[str, ...]:
    """Return every string of `groups` once, in order of appearance, except those in `without`."""
    dropped = frozenset(without)
    return tuple(x for x in dict.fromkeys(x for group in groups for x in group) if x not in dropped)


def _check(members: Sequence[Memory], keep: str | None) -> None:
    if len(members) < 2:
        raise WorkbenchError("A merge needs at least two different memories.", "Nothing was changed.")
    archived = next((m for m in members if m.status == "archived"), None)
    if archived is not None:
        raise WorkbenchError(f"Memory {archived.id} is archived and cannot be merged.", "Restore it first.")
    if keep is not None and all(m.id != keep for m in members):
        raise UnknownRecord(f"Memory {keep} is not among those to merge.", "Nothing was changed.")


def _united(kept: Memory, newest: Memory, members: Sequence[Memory]) -> Memory:
    ids = [m.id for m in members]
    return replace(
        kept,
        created_at=newest.created_at,
        last_accessed_at=max(m.last_accessed_at for m in members),
        tags=union(*(m.tags for m in members)),
        related=union(*(m.related for m in members), without=ids),
        citations=union(*(m.citations for m in members), without=ids),
        aliases=union(*((*m.aliases, m.id) for m in members), without=[kept.id]),
        importance_score=fmean(m.importance_score for m in members),
        last_feedback_at=max((m.last_feedback_at for m in members if m.last_feedback_at), default=None),
        pinned=any(m.pinned for m in members),
        status=_status(members),
        confidence=max(m.confidence for m in members),
        promoted_to=next((m.promoted_to for m in members if m.promoted_to), None),
        is_synthetic=newest.is_synthetic,
        access_count=sum(m.access_count for m in members),
        helpful_imported=summed(members, "helpful_imported"),
        helpful_created=summed(members, "helpful_created"),
        helpful_absorbed=summed(members, "helpful_absorbed"),
        helpful_votes=summed(members, "helpful_votes"),
        harmful_imported=summed(members, "harmful_imported"),
        harmful_votes=summed(members, "harmful_votes"),
        helpful_by_agents=summed(members, "helpful_by_agents"),
        harmful_by_agents=summed(members, "harmful_by_agents"),
    )


def _status(members: Sequence[Memory]) -> Status:
    """Return the status furthest along; a candidate is above a signal, but it is not served."""
    statuses = [m.status for m in members]
    return max([s for s in statuses if s in SERVED] or statuses, key=LADDER.index)


def _archived(memory: Memory, into: str) -> Memory:
    shelved = archive(memory, "merged")
    return replace(shelved, metadata={**shelved.metadata, "merged_into": into})


def _notes(metadata: Mapping[str, object]) -> list[Mapping[str, object]]:
    return _listed(metadata, "merged")


def _listed(holder: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    """Return the mappings in a list value; anything else (an import may bring any shape) is left out."""
    value = holder.get(key)
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []
