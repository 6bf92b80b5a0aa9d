"""The lines of an ACE playbook: telling headings and bullets, and rendering them in the strict form.

The strict form is what the reference reader takes: `[id] helpful=n harmful=m :: text` on one line.
The tolerant one also takes a list dash, commas between the counts, `neutral=` among them, negative
counts (read as 0), `###` headings and, without counts, `[id] text`.
"""

import re
from dataclasses import dataclass

from workbench.core.playbook.book import Bullet, Dialect

BOM = "\ufeff"
MAX_ID = 200
_COUNTED = re.compile(
    r"(?:[-*•+]\s*)?\[([^\]]+)\]\s*((?:(?:helpful|harmful|neutral)\s*=\s*[+-]?[0-9]{1,12}[\s,;|]*)+)::\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
_COUNT = re.compile(r"(helpful|harmful|neutral)\s*=\s*([+-]?[0-9]+)", re.IGNORECASE)
_BARE = re.compile(r"(?:[-*•+]\s+)?\[([^\]\s]+)\](?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BulletLine:
    """What a bullet's lines say. `form` is how they are written; a bare bullet counts 0."""

    id: str
    content: str
    form: Dialect
    helpful: int = 0
    harmful: int = 0
    neutral: int = 0
    negative: bool = False


def heading(line: str) -> str | None:
    """Return the title when `line` starts a section (`##` or more), else None."""
    plain = _stripped(line)
    return plain.lstrip("#").strip() if plain.startswith("##") else None


def bullet(raw: str) -> BulletLine | None:
    """Read a bullet from its lines, joined by newlines; None when the first one is not a bullet.

    Lines after the first belong to the content, without their trailing white space.
    """
    first, *rest = raw.split("\n")
    plain = _stripped(first)
    found = _counted(plain) or _bare(plain)
    if found is None or not rest:
        return found
    content = "\n".join((found.content, *(line.rstrip() for line in rest))).strip("\n")
    return BulletLine(found.id, content, found.form, found.helpful, found.harmful, found.neutral, found.negative)


def _counted(plain: str) -> BulletLine | None:
    match = _COUNTED.fullmatch(plain)
    if match is None or len(match[1]) > MAX_ID:
        return None
    counts = {name.lower(): int(number) for name, number in _COUNT.findall(match[2])}
    helpful, harmful, neutral = (max(counts.get(name, 0), 0) for name in ("helpful", "harmful", "neutral"))
    return BulletLine(match[1], match[3], "counts", helpful, harmful, neutral, min(counts.values()) < 0)


def _bare(plain: str) -> BulletLine | None:
    """Without counts only a bracket that can be an id counts: one word with a letter and a digit."""
    match = _BARE.fullmatch(plain)
    if match is None or len(match[1]) > MAX_ID:
        return None
    name = match[1]
    is_id = any(c.isalpha() for c in name) and any(c.isdigit() for c in name)
    return BulletLine(name, match[2] or "", "bare") if is_id else None


def render(item: Bullet, dialect: Dialect) -> str:
    """Write a bullet on one line; line breaks become the two characters `\\n`.

    A bullet that could not be read back from the bare form is written with its counts.
    """
    content = flat(item.content)
    if dialect == "bare":
        line = f"[{item.id}] {content}".rstrip()
        again = bullet(line)
        if again is not None and (again.id, again.content, again.form) == (item.id, content, "bare"):
            return line
    return f"[{item.id}] helpful={item.helpful_count} harmful={item.harmful_count} :: {content}".rstrip()


def flat(text: str) -> str:
    """Put text on one line: line breaks become the two characters `\\n`."""
    # Replaced one after the other: that takes a third of what a pattern takes.
    return text.strip().replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\\n")


def _stripped(line: str) -> str:
    return line.removeprefix(BOM).strip()
