"""Taking a merge of bullets apart again, from the note that the merge left."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from workbench.core.playbook import operations
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.record import InvalidRecord

UNCHANGED = "The playbook was not changed."


def merged_from(bullet: Bullet) -> tuple[Mapping[str, Any], ...]:
    """Return the records of the bullet's latest merge (id, content, counts), itself first; empty when there is none."""
    notes = bullet.metadata.get("merged")
    if not isinstance(notes, list) or not notes or not isinstance(notes[-1], Mapping):
        return ()
    records = notes[-1].get("records")
    found = [r for r in records if isinstance(r, Mapping)] if isinstance(records, list) else []
    whole = all(isinstance(r.get("id"), str) and isinstance(r.get("content"), str) for r in found)
    return tuple(found) if whole and len(found) > 1 and found[0]["id"] == bullet.id else ()


def split(playbook: Playbook, bullet_id: str, now: datetime) -> Playbook:
    """Return the playbook with the bullets that the latest merge of this one united.

    Each gets back its text and the counts it had; what was voted since stays with the bullet that was kept, and so
    does a text that was edited since. Raises `InvalidRecord` when nothing was merged, or an id is taken meanwhile.
    """
    bullet = operations.find_bullet(playbook, bullet_id, aliases=False)
    records = merged_from(bullet)
    if not records:
        raise InvalidRecord(f"Bullet {bullet.id} was not made by a merge.", UNCHANGED)
    names = [str(record["id"]) for record in records[1:]]
    taken = next((b.id for b in playbook.bullets if b.id in names), None)
    if taken is not None:
        raise InvalidRecord(f"The id {taken} is in use again.", UNCHANGED)
    playbook = _with(playbook, bullet, _kept(bullet, records))
    for record in records[1:]:
        add = operations.Add(bullet.section, str(record["content"]), str(record["id"]))
        playbook = operations.apply(playbook, add, now)
        made = operations.find_bullet(playbook, add.id or "")
        playbook = _with(playbook, made, replace(made, **_counts(record)))
    return _beside(playbook, bullet, names, now)


def _kept(bullet: Bullet, records: tuple[Mapping[str, Any], ...]) -> Bullet:
    notes = bullet.metadata.get("merged")
    left = list(notes)[:-1] if isinstance(notes, list) else []
    rest = {key: value for key, value in bullet.metadata.items() if key != "merged"}
    others = [_counts(record) for record in records[1:]]
    counts = {
        name: max(0, getattr(bullet, name) - sum(other.get(name, 0) for other in others))
        for name in operations.BULLET_COUNTS
    }
    gone = {str(record["id"]) for record in records[1:]}
    return replace(
        bullet,
        aliases=tuple(alias for alias in bullet.aliases if alias not in gone),
        metadata={**rest, "merged": left} if left else rest,
        raw=None,
        **counts,
    )


def _counts(record: Mapping[str, Any]) -> dict[str, Any]:
    counts = record.get("counts")
    if not isinstance(counts, Mapping):
        return {}
    return {
        name: counts[name] for name in operations.BULLET_COUNTS if type(counts.get(name)) is int and counts[name] >= 0
    }


def _beside(playbook: Playbook, bullet: Bullet, names: list[str], now: datetime) -> Playbook:
    """Put the bullets that came back right after the one they were part of."""
    place = [b.id for b in playbook.in_section(bullet.section)].index(bullet.id)
    for step, name in enumerate(names, 1):
        playbook = operations.apply(playbook, operations.Move(name, bullet.section, place + step), now)
    return playbook


def _with(playbook: Playbook, old: Bullet, new: Bullet) -> Playbook:
    return replace(playbook, bullets=tuple(new if b.id == old.id else b for b in playbook.bullets))
