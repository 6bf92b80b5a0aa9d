"""The ACE playbook as values: a book of sections of bullets, in file order.

Source 003 (ACE roles and bullets). A bullet and a section remember the line they were
read from and the lines above it that are neither (`lead`), so that writing an unchanged
playbook gives the same bytes and changing one bullet changes one line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from msgspec import field

from workbench.core.document import Record

Dialect = Literal["counts", "bare"]
"""`counts`: `[id] helpful=n harmful=m :: text`; `bare`: `[id] text`."""

BulletState = Literal["active", "deprecated"]


class Bullet(Record, frozen=True):
    """One bullet. `section` is a `Section.id`; `order` sorts within it; counts as for memories.

    `raw` is the exact line it was read from (without its line end), `lead` the raw lines above it.
    """

    id: str
    section: str
    content: str
    book: str = "main"
    order: float = 0.0
    helpful_imported: int = 0
    helpful_absorbed: int = 0
    helpful_votes: int = 0
    harmful_imported: int = 0
    harmful_votes: int = 0
    neutral_count: int = 0
    pinned: bool = False
    state: BulletState = "active"
    last_feedback_at: datetime | None = None
    created_at: datetime | None = None
    raw: str | None = None
    lead: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    version: int = 1
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def helpful_count(self) -> int:
        """Imported + absorbed + votes."""
        return self.helpful_imported + self.helpful_absorbed + self.helpful_votes

    @property
    def harmful_count(self) -> int:
        """Imported + votes."""
        return self.harmful_imported + self.harmful_votes


class Section(Record, frozen=True):
    """A heading and its place in the book; `key` is the normalised title (`section_key`)."""

    id: str
    key: str
    title: str
    book: str = "main"
    order: float = 0.0
    raw: str | None = None
    lead: tuple[str, ...] = ()
    version: int = 1

    @property
    def name(self) -> str:
        return self.title or self.key


class Book(Record, frozen=True):
    """A playbook file as a whole: how it is written and what stands after its last bullet.

    `budget` is how many tokens it may take of a prompt; 0 stands for no limit.
    """

    id: str = "main"
    name: str = "playbook"
    dialect: Dialect = "counts"
    newline: str = "\n"
    final_newline: bool = True
    tail: tuple[str, ...] = ()
    source: str = ""
    version: int = 1
    budget: int = 0


@dataclass(frozen=True, slots=True)
class Playbook:
    """A book with its sections and bullets, both in file order."""

    book: Book
    sections: tuple[Section, ...] = ()
    bullets: tuple[Bullet, ...] = ()

    @property
    def titles(self) -> Mapping[str, str]:
        """What each section is called, by its id."""
        return {section.id: section.name for section in self.sections}

    def in_section(self, section_id: str) -> tuple[Bullet, ...]:
        """Return the bullets of one section, in order."""
        return tuple(b for b in self.bullets if b.section == section_id)


def is_high_performing(bullet: Bullet) -> bool:
    """Helpful > 5 and harmful < 2, as the ACE tools count it."""
    return bullet.helpful_count > 5 and bullet.harmful_count < 2


def is_problematic(bullet: Bullet) -> bool:
    """Harmful ≥ helpful, and at least one harmful mark."""
    return bullet.harmful_count >= bullet.helpful_count and bullet.harmful_count > 0


def is_unused(bullet: Bullet) -> bool:
    """Neither a helpful nor a harmful mark."""
    return bullet.helpful_count == 0 and bullet.harmful_count == 0


_SLUGS = {
    "financial_strategies_and_insights": "fin", "formulas_and_calculations": "calc",
    "code_snippets_and_templates": "code", "useful_code_snippets_and_templates": "code",
    "common_mistakes_to_avoid": "err", "common_mistakes_and_correct_strategies": "cms",
    "problem_solving_heuristics": "prob", "problem_solving_heuristics_and_workflows": "psw",
    "context_clues_and_indicators": "ctx", "strategies_and_hard_rules": "shr", "hard_rules": "hr",
    "strategies_and_insights": "si", "apis_to_use_for_specific_information": "api",
    "verification_checklist": "vc", "troubleshooting_and_pitfalls": "ts", "others": "misc",
    "meta_strategies": "meta",
}  # fmt: skip


def section_key(title: str) -> str:
    """Normalise a heading: lower case, spaces to `_`, `&` to `and`, a trailing colon dropped."""
    text = title.strip().removesuffix(":").strip().lower()
    return text.replace("&", "and").replace(" ", "_")


def slug_for(key: str) -> str:
    """Return the id prefix of a section: a known slug, or initials, or the first four letters."""
    return _SLUGS.get(key.replace("-", "_")) or initials(key)


def initials(key: str) -> str:
    """Return the prefix that a section has when its slug is not a known one; some files have it all
    the same.
    """
    plain = key.replace("-", "_")
    words = [w for w in plain.split("_") if any(c.isalnum() for c in w)]
    if len(words) > 1:
        return "".join(next(c for c in w if c.isalnum()) for w in words[:5])
    return ("".join(c for c in plain if c.isalnum())[:4]) or "misc"


def next_number(bullets: tuple[Bullet, ...]) -> int:
    """Return the next number of the file-wide counter: one more than the highest in any id or
    alias.
    """
    numbers = [number_of(name) for b in bullets for name in (b.id, *b.aliases)]
    return max(numbers, default=0) + 1


def bullet_id(key: str, number: int) -> str:
    """Name a bullet: slug, hyphen, five digits."""
    return f"{slug_for(key)}-{number:05d}"


def number_of(name: str) -> int:
    """Return the number that an id ends in, 0 where it has none: the higher one was given later."""
    digits = name.rpartition("-")[2]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 12 else 0
