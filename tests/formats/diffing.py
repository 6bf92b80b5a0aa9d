"""What a change does to a file, line by line."""

import difflib
from dataclasses import replace
from typing import Any

from workbench.core.files.format import Parsed
from workbench.core.files.formats import format_named
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.stream.memory import Memory


def changed_lines(before: str, after: str) -> list[str]:
    """Return the removed and added lines, with their signs."""
    diff = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0)
    return [line for line in diff if line[0] in "+-" and not line.startswith(("+++", "---"))]


def after(parsed: Parsed, original: str, name: str, **values: Any) -> str:
    """Return the file after one record got other values; a Memory's or a Bullet's."""
    memories = tuple(replace(m, **values) if m.id == name else m for m in parsed.memories)
    books = tuple(
        replace(p, bullets=tuple(replace(b, **values) if b.id == name else b for b in p.bullets))
        for p in parsed.playbooks
    )
    return written(replace(parsed, memories=memories, playbooks=books), original)


def without(parsed: Parsed, original: str, *names: str) -> str:
    """Return the file after some records are gone."""
    memories = tuple(m for m in parsed.memories if m.id not in names)
    books = tuple(
        replace(p, bullets=tuple(b for b in p.bullets if b.id not in names))
        for p in parsed.playbooks
    )
    return written(replace(parsed, memories=memories, playbooks=books), original)


def grown(parsed: Parsed, original: str, *records: Memory | Bullet) -> str:
    """Return the file after some records are new."""
    memories = (*parsed.memories, *(r for r in records if isinstance(r, Memory)))
    bullets = tuple(r for r in records if isinstance(r, Bullet))
    books: tuple[Playbook, ...] = tuple(
        replace(p, bullets=(*p.bullets, *bullets)) for p in parsed.playbooks
    )
    return written(replace(parsed, memories=memories, playbooks=books), original)


def written(parsed: Parsed, original: str | None) -> str:
    """Return what the file's own format writes."""
    known = format_named(parsed.format)
    return known.write(parsed, original)
