"""What may still be left in a file of a promoted text that could not be taken out of it: somebody edited it."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from workbench.core.errors import WorkbenchError
from workbench.core.promotion.placement import Placement, PlacementKind
from workbench.formats import managed_block
from workbench.services.promotion.placement_files import decoded, read

ALIKE = 0.6
"""How much of a line must be the same (0–1) to be taken for an edited one."""

_LEAST = 12
"""Characters of a line that is worth looking for."""


@dataclass(frozen=True, slots=True)
class Left:
    """A place that may still hold an erased text: a file, and the line (from 1), when one is suspected."""

    path: Path
    line: int | None = None

    def __str__(self) -> str:
        """Return `FILE:LINE`."""
        return str(self.path) if self.line is None else f"{self.path}:{self.line}"


def left_in(path: Path, kind: PlacementKind, text: str, living: Iterable[Placement]) -> Left | None:
    """Return where a file may still hold what a placement wrote, or `None` when nothing in it looks like that.

    `text` is what was written, or empty when nobody knows it any more. `living` are the placements that are there by
    right. A file that cannot be read may hold anything.
    """
    try:
        data = read(path)
        if data is None:
            return None
        lines = decoded(data, str(path))[0].splitlines()
        at = _alike(lines, text) or (1 if kind == "file" else _foreign(lines, [p.text for p in living]))
    except WorkbenchError:
        return Left(path)
    return None if at is None else Left(path, at)


def of_id(id: str, memory: str) -> tuple[PlacementKind, str] | None:
    """Return the kind and the path that the id of a memory's placement names; `None` for bullets and other ids."""
    kind, _, path = id.removeprefix(f"{memory}:").partition(":")
    return ("entry" if kind == "entry" else "file", path) if kind in ("entry", "file") and path else None


def _alike(lines: list[str], text: str) -> int | None:
    """Return the number of the line that looks most like one of the text, if one does."""
    wanted = [line.strip() for line in text.splitlines() if len(line.strip()) >= _LEAST]
    best, at = ALIKE, None
    for number, line in enumerate(lines, 1):
        for needle in wanted if len(line.strip()) >= _LEAST else ():
            alike = SequenceMatcher(None, line.strip(), needle, autojunk=False).ratio()
            if alike > best:
                best, at = alike, number
    return at


def _foreign(lines: list[str], known: list[str]) -> int | None:
    """Return the number of the first line of the managed block that no placement wrote, if there is one."""
    block = managed_block.find("\n".join(lines))
    for item in block.entries if block is not None else ():
        if not any(managed_block.same(item, text) for text in known):
            first = item.strip().split("\n", 1)[0].strip()
            return next((n for n, line in enumerate(lines, 1) if first and first in line), None)
    return None
