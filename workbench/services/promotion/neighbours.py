"""What stands in a file already where memories are promoted to: lines that say nearly the same or otherwise, its size.

What a file brings in by `@` is read with it: agents load both as one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.core.duplicates.dedup import conflicts
from workbench.core.duplicates.groups import much_alike, word_set
from workbench.core.errors import WorkbenchError
from workbench.core.files.memory_md import MAX_BYTES
from workbench.formats.shared import markdown
from workbench.services.promotion.placement_files import decoded, read
from workbench.services.promotion.placement_paths import Place, Places
from workbench.services.promotion.plan import Size

MOST, DEEPEST = 20, 5
"""Files that are read with one, and how far they may bring in each other."""

_IMPORT = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?@(?P<path>[^\s@`]+)[ \t]*$", re.MULTILINE)
_LIMITS = (
    (re.compile(r"AGENTS(?:\.override)?\.md", re.IGNORECASE), 32_768, "Codex loads no more of such files together"),
    (re.compile(r"CLAUDE(?:\.local)?\.md", re.IGNORECASE), 40_000, "Claude Code warns of a larger one"),
    (re.compile(r"\.windsurfrules", re.IGNORECASE), 12_000, "Windsurf takes no more of it"),
    (re.compile(r"copilot-instructions\.md", re.IGNORECASE), 4_000, "Copilot's reviews read no more of it"),
    (re.compile(r"SKILL\.md", re.IGNORECASE), 20_000, "a longer skill is better parted into files beside it"),
    (re.compile(r"MEMORY\.md", re.IGNORECASE), MAX_BYTES, "Claude Code loads no more of it"),
)
"""The bytes that tools take of a file, by its name."""


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


def brings_in(text: str, name: str) -> bool:
    """Tell whether a file brings in another one of its folder by `@`."""
    return any(found["path"].removeprefix("./") == name for found in _IMPORT.finditer(text))


def neighbours(texts: dict[str, str], contents: Sequence[str]) -> Iterator[Neighbour]:
    """Yield the lines that are much like one of some texts, each line once: those of our block, too."""
    words = [(content, word_set(content)) for content in contents]
    for file, text in texts.items():
        for line, said in _statements(text):
            has = word_set(said)
            alike = [content for content, own in words if own and has and much_alike(content, said, own, has)]
            if alike:
                yield Neighbour(file, line, all(conflicts(content, said) for content in alike))


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield what a file says, with its lines."""
    yield from ((one.line, one.text) for one in markdown.statements(text) if one.kind in ("item", "text"))


def size_of(place: Place, texts: dict[str, str], added: Sequence[str]) -> Size:
    """Return how large a file becomes with what it brings in and some texts that are added."""
    most, why = next(((most, why) for name, most, why in _LIMITS if name.fullmatch(place.path.name)), (0, ""))
    return Size.of(place.stored, (*texts.values(), *added), max(len(texts) - 1, 0), most, why)


def over_limit(size: Size) -> str:
    """Say that a file is larger than its tool takes; empty when it is not."""
    if not size.is_over:
        return ""
    beside = f" with the {size.others} it brings in" if size.others else ""
    return f"{size.file}{beside} is then {size.bytes:,} bytes, of {size.most:,}: {size.why}."


def size_said(size: Size) -> str:
    """Say how large a file becomes, against what its tool takes where that is known."""
    beside = f" with the {size.others} it brings in" if size.others else ""
    limit = f", {size.bytes:,} of {size.most:,} bytes" if size.most else ""
    return f"{size.file}{beside} is then {size.tokens:,} tokens{limit}."
