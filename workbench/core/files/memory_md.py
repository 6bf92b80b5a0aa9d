"""How much of MEMORY.md Claude Code loads."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.core.files.lint import BLANKS, lines
from workbench.core.text import clean_for_store

# What a Markdown file says of itself: front matter between rules, or a META comment in either
# spelling.


FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_META = re.compile(r"<!--\s*META:?[ \t]*\r?\n", re.IGNORECASE)
_FACT = re.compile(r"^[ \t]*(?:-[ \t]+)?([\w-]+):(.*)$", re.MULTILINE)


def meta(text: str) -> tuple[str, int] | None:
    """Return what the META comment says and where it ends; `None` when there is none, or it never
    ends.
    """
    opened = _META.search(text)
    end = text.find("-->", opened.end()) if opened else -1
    return None if opened is None or end < 0 else (text[opened.end() : end], end + len("-->"))


def facts(said: str) -> dict[str, str]:
    """Return the names and values of lines `name: value`, with or without a list dash before them."""
    return {name: value.strip(BLANKS) for name, value in _FACT.findall(clean_for_store(said))}


def front_matter(text: str) -> tuple[dict[str, str], int]:
    """Return what the front matter says that a text begins with, and how many lines it takes."""
    found = FRONT.match(text)
    if found is None:
        return {}, 0
    said = {name: value.strip("\"'") for name, value in facts(found[1]).items() if value}
    return said, found.group().count("\n") + (not found.group().endswith("\n"))


def facts_of(text: str) -> Mapping[str, str]:
    """Return what a file says of itself; where front matter and a META comment name the same, the
    comment counts.
    """
    front, comment = FRONT.match(text), meta(text)
    return {**facts(front[1] if front else ""), **facts(comment[0] if comment else "")}


MAX_LINES = 200
"""How many lines of MEMORY.md Claude Code loads."""

MAX_BYTES = 25_000
"""How many bytes of MEMORY.md Claude Code loads."""


@dataclass(frozen=True, slots=True)
class CutLine:
    """One line of MEMORY.md: its number, the bytes of the file up to its end, and whether it is
    loaded whole.
    """

    number: int
    bytes: int
    text: str
    loaded: bool


@dataclass(frozen=True, slots=True)
class Cut:
    """The lines of MEMORY.md against what is loaded of it. `limit` names the limit that some lie
    below, if any do.
    """

    lines: tuple[CutLine, ...]
    bytes: int
    limit: str = ""

    @property
    def below(self) -> tuple[CutLine, ...]:
        """The lines that say something and are not loaded whole."""
        return tuple(line for line in self.lines if not line.loaded and line.text.strip())


def measure(text: str) -> Cut:
    """Return every line with its bytes, line ends included, and on which side of the cut it is.

    The cut is above the first line that says something and is not loaded whole.
    """
    size, limit = 3 if text.startswith("\ufeff") else 0, ""
    out: list[CutLine] = []
    for line in lines(text):
        if not limit and line.text.strip():
            if line.number > MAX_LINES:
                limit = f"line {MAX_LINES}"
            elif size + len(line.text.encode(errors="replace")) > MAX_BYTES:
                limit = f"byte {MAX_BYTES:,}"
        size += len(text[line.start : line.stop].encode(errors="replace"))
        out.append(CutLine(line.number, size, line.text, not limit))
    return Cut(tuple(out), size, limit)


def cut_at(text: str) -> tuple[int, str] | None:
    """Return the first line that is not loaded whole, and which limit it is below; `None` when all
    are loaded.
    """
    cut = measure(text)
    return (cut.below[0].number, cut.limit) if cut.limit else None
