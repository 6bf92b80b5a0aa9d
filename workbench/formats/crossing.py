"""From memories to a playbook and back, for files whose format holds the other kind."""

from collections.abc import Iterable
from datetime import datetime

from workbench.core.memory import Memory
from workbench.core.playbook import Book, Bullet, Playbook, Section, section_key

NO_SECTION = "Others"


def playbook_of(memories: Iterable[Memory], name: str = "playbook") -> Playbook:
    """Return a playbook with a bullet for each memory, under its section or else its type; ids are kept.

    Line breaks inside a memory stay: the writers know what their format makes of them.
    """
    sections: dict[str, Section] = {}
    bullets: list[Bullet] = []
    for order, memory in enumerate(memories, 1):
        title = memory.section.strip() or memory.observation_type.replace("_", " ").upper() or NO_SECTION
        key = section_key(title)
        section = sections.setdefault(key, Section(key, key, title, order=float(len(sections) + 1)))
        bullets.append(
            Bullet(
                memory.id,
                section.id,
                memory.content,
                order=float(order),
                helpful_imported=memory.helpful_count,
                harmful_imported=memory.harmful_count,
                pinned=memory.pinned,
                created_at=memory.created_at,
                aliases=memory.aliases,
            )
        )
    return Playbook(Book(name=name), tuple(sections.values()), tuple(bullets))


def memories_of(playbook: Playbook, now: datetime) -> tuple[Memory, ...]:
    """Return a confirmed procedural memory for each bullet that is not deprecated; `now` stands in for absent times."""
    titles = {section.id: section.title or section.key for section in playbook.sections}
    return tuple(
        Memory(
            bullet.id,
            bullet.content,
            bullet.created_at or now,
            bullet.created_at or now,
            memory_type="procedural",
            observation_type="convention",
            section=titles.get(bullet.section, ""),
            helpful_imported=bullet.helpful_count,
            harmful_imported=bullet.harmful_count,
            pinned=bullet.pinned,
            status="confirmed",
            aliases=bullet.aliases,
        )
        for bullet in playbook.bullets
        if bullet.state != "deprecated"
    )
