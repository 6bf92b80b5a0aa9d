"""What stands in a file already where memories are promoted to: lines that say nearly the same or otherwise, its size.

What a file brings in by `@` is read with it: agents load both as one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.bench.promotion.placement_files import decoded, read
from workbench.bench.promotion.placement_paths import Place, Places
from workbench.core.duplicates.dedup import conflicts
from workbench.core.duplicates.groups import much_alike, word_set
from workbench.core.errors import WorkbenchError
from workbench.core.tokens import tokens_of
from workbench.formats import managed_block
from workbench.formats.shared import markdown

MOST, DEEPEST = 20, 5
"""Files that are read with one, and how far they may bring in each other."""

_IMPORT = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?@(?P<path>[^\s@`]+)[ \t]*$", re.MULTILINE)
_LIMITS = (
    (re.compile(r"AGENTS(?:\.override)?\.md", re.IGNORECASE), 8_192, "Codex loads no more of such files together"),
    (re.compile(r"CLAUDE(?:\.local)?\.md", re.IGNORECASE), 10_000, "Claude Code warns of a larger one"),
    (re.compile(r"\.windsurfrules", re.IGNORECASE), 3_000, "Windsurf takes no more of it"),
)
"""The tokens (UTF-8 bytes / 4) that tools take of a file, by its name."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A line that says nearly what a memory says, or, where it `differs`, perhaps something else."""

    file: str
    line: int
    differs: bool = False

    def __str__(self) -> str:
        says = "may say otherwise" if self.differs else "says nearly the same"
        return f"{self.file}:{self.line} {says} already."


def texts_of(place: Place, places: Places) -> dict[str, str]:
    """Return the text of a file, and of those that it brings in, by how they are called; unreadable ones are left."""
    found: dict[str, str] = {}
    waiting = [(place, 0)]
    while waiting and len(found) < MOST:
        one, depth = waiting.pop(0)
        text = _text(one)
        if text is None or one.stored in found:
            continue
        found[one.stored] = text
        for match in _IMPORT.finditer(text) if depth < DEEPEST else ():
            try:
                waiting.append((places.named(one.path.parent / Path(match["path"]).expanduser()), depth + 1))
            except (WorkbenchError, OSError, ValueError, RuntimeError):
                continue
    return found


def _text(place: Place) -> str | None:
    try:
        data = read(place.path)
        return None if data is None else decoded(data, place.stored)[0]
    except (WorkbenchError, OSError):
        return None


def neighbours(texts: dict[str, str], contents: Sequence[str]) -> Iterator[Neighbour]:
    """Yield the lines outside of our block that are much like one of some texts, each line once."""
    words = [(content, word_set(content)) for content in contents]
    for file, text in texts.items():
        for line, said in _statements(text):
            has = word_set(said)
            alike = [content for content, own in words if own and has and much_alike(content, said, own, has)]
            if alike:
                yield Neighbour(file, line, all(conflicts(content, said) for content in alike))


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield what a file says outside of our block, with its lines."""
    try:
        block = managed_block.find(text)
    except managed_block.BrokenBlock:
        return
    first = block.line if block is not None else 0
    last = first + text.count("\n", block.start, block.end) if block is not None else -1
    for one in markdown.statements(text):
        if one.kind in ("item", "text") and not first <= one.line <= last:
            yield one.line, one.text


def over_limit(place: Place, texts: dict[str, str], entries: Sequence[str]) -> str:
    """Say that a file, with what it brings in and some entries, is larger than its tool takes; empty when it is not."""
    limit = next(((most, why) for name, most, why in _LIMITS if name.fullmatch(place.path.name)), None)
    if limit is None:
        return ""
    tokens = sum(map(tokens_of, texts.values())) + sum(map(tokens_of, entries))
    most, why = limit
    beside = f" with the {len(texts) - 1} it brings in" if len(texts) > 1 else ""
    return f"{place.stored}{beside} is then {tokens:,} tokens, of {most:,}: {why}." if tokens > most else ""
