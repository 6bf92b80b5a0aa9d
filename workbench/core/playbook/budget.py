"""What of a playbook fits a budget of tokens: in the order of the file, or by value per token."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.core.playbook.book import Bullet, Playbook, Section
from workbench.core.tokens import estimated_tokens


@dataclass(frozen=True, slots=True)
class Costs:
    """Estimated tokens by bullet id and by section id (its heading and its bullets), and of the whole file.

    Every part is rounded up by itself, so that the parts may add up to a few tokens more than the file.
    """

    bullets: Mapping[str, int]
    sections: Mapping[str, int]
    total: int


@dataclass(frozen=True, slots=True)
class Fitting:
    """What fits into `budget` tokens: the ids of bullets that are in and out, and the tokens the first ones take."""

    budget: int
    inside: tuple[str, ...]
    outside: tuple[str, ...]
    tokens: int


def costs(playbook: Playbook, characters: int) -> Costs:
    """Return what each part of a playbook costs; `characters` is the length of its file."""
    bullets = {b.id: bullet_tokens(b) for b in playbook.bullets}
    sections = {s.id: heading_tokens(s) for s in playbook.sections}
    for bullet in playbook.bullets:
        if bullet.state != "deprecated" and bullet.section in sections:
            sections[bullet.section] += bullets[bullet.id]
    return Costs(bullets, sections, estimated_tokens(characters))


def bullet_tokens(bullet: Bullet) -> int:
    """Return the estimated tokens of a bullet's line: as it stands in its file, or else with its counts."""
    if bullet.raw is not None:
        return estimated_tokens(len(bullet.raw) + 1)
    marks = f"[{bullet.id}] helpful={bullet.helpful_count} harmful={bullet.harmful_count} :: "
    return estimated_tokens(len(marks) + len(bullet.content) + 1)


def heading_tokens(section: Section) -> int:
    """Return the estimated tokens of a section's heading and the blank line above it."""
    return estimated_tokens(len(section.title) + 5)


def worth(bullet: Bullet) -> float:
    """Return what a bullet is worth, 0…1: how likely it helps by its votes, half when nobody voted.

    It is the mean of Beta(1 + helpful, 1 + harmful): a bullet with few votes is held to be neither good nor bad.
    """
    return (1 + bullet.helpful_count) / (2 + bullet.helpful_count + bullet.harmful_count)


def in_order(playbook: Playbook, budget: int) -> Fitting:
    """Return what fits when the file is cut where the budget ends, as a reader that stops there would see it."""
    return _taken(playbook, playbook.bullets, budget, stop=True)


def by_value(playbook: Playbook, budget: int) -> Fitting:
    """Return what fits when the bullets with the most worth per token come first; pinned ones come before all.

    Greedy: a bullet that no longer fits is left out, and smaller ones after it may still come in.
    """
    ranked = sorted(playbook.bullets, key=lambda b: (not b.pinned, -worth(b) / bullet_tokens(b)))
    return _taken(playbook, ranked, budget, stop=False)


def _taken(playbook: Playbook, ranked: Sequence[Bullet], budget: int, *, stop: bool) -> Fitting:
    headings = {s.id: heading_tokens(s) for s in playbook.sections}
    inside: set[str] = set()
    spent, full, opened = 0, False, set[str]()
    for bullet in ranked:
        if bullet.state == "deprecated":
            continue
        cost = bullet_tokens(bullet) + (0 if bullet.section in opened else headings.get(bullet.section, 0))
        if full or spent + cost > budget:
            full = full or stop
            continue
        spent += cost
        opened.add(bullet.section)
        inside.add(bullet.id)
    living = [b.id for b in playbook.bullets if b.state != "deprecated"]
    return Fitting(
        budget, tuple(id for id in living if id in inside), tuple(id for id in living if id not in inside), spent
    )
