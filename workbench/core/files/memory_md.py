"""How much of MEMORY.md Claude Code loads."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.core.files.lint import BLANKS, lines
from workbench.core.text import clean_for_store

# What a Markdown file says of itself: front matter between rules, or a META comment in either
# spelling.


_META = re.compile(r"<!--\s*META:?[ \t]*\r?\n", re.IGNORECASE)
_FACT = re.compile(r"^[ \t]*(?:-[ \t]+)?(\w+):(.*)$", re.MULTILINE)
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


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


def front_matter(text: str) -> Mapping[str, str]:
    """Return what a file says of itself; where front matter and a META comment name the same, the
    comment counts.
    """
    front, comment = _FRONT.match(text), meta(text)
    return {**facts(front[1] if front else ""), **facts(comment[0] if comment else "")}


MAX_LINES = 200
"""How many lines of MEMORY.md Claude Code loads."""

MAX_BYTES = 25_000
"""How many bytes of MEMORY.md Claude Code loads."""


def cut_at(text: str) -> tuple[int, str] | None:
    """Return the first line that is not loaded whole, and which limit it is below; `None` when all
    are loaded.

    Empty lines at the end do not count.
    """
    size = 3 if text.startswith("\ufeff") else 0
    for line in lines(text):
        size += len(line.text.encode(errors="replace"))
        if line.text.strip() and (line.number > MAX_LINES or size > MAX_BYTES):
            return (
                line.number,
                f"line {MAX_LINES}" if line.number > MAX_LINES else f"byte {MAX_BYTES:,}",
            )
        size += 2 if text[line.end : line.end + 2] == "\r\n" else 1
    return None


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
    """Return every line with its bytes, line ends included, and on which side of the cut it is."""
    at, found = cut_at(text), list(lines(text))
    first = at[0] if at else len(found) + 1
    size = 3 if text.startswith("\ufeff") else 0
    out: list[CutLine] = []
    for line, after in zip(found, [*(other.start for other in found[1:]), len(text)], strict=True):
        size += len(text[line.start : after].encode(errors="replace"))
        out.append(CutLine(line.number, size, line.text, line.number < first))
    return Cut(tuple(out), size, at[1] if at else "")
