"""Texts as rules compare them: folded, so that a disguise does not matter, with the way back to the
original.

Folding decomposes compatibility characters and accents, removes characters that nobody sees, reads
look-alikes as the ASCII characters that they look like, and drops the case.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from re import ASCII, Match, Pattern, compile
from typing import NamedTuple


@cache
def compiled(pattern: str, flags: int = ASCII) -> Pattern[str]:
    """Compile a pattern when it is first needed: a hook that meets clean text needs none of them."""
    return compile(pattern, flags)


class Folded(NamedTuple):
    """A text as it is compared, and where in the original each of its characters starts and ends."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original that a span of the text, at least one character long,
        came from.
        """
        first, last = sorted((start, end - 1), key=self.starts.__getitem__)
        return self.starts[first], self.ends[last]


def folded(text: str) -> Folded:
    size = len(text)
    if text.isascii():
        return Folded(text.lower(), range(size), range(1, size + 1))
    parts = {char: fold_char(char) for char in set(text)}
    new = "".join([parts[char] for char in text])
    if all(len(part) == 1 for part in parts.values()):
        return Folded(new, range(size), range(1, size + 1))
    starts = [at for at, char in enumerate(text) for _ in parts[char]]
    return Folded(new, starts, [at + 1 for at in starts])


_REMOVED = frozenset(("Mn", "Me", "Cf"))
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5\u2800")

_LONGEST = 4
"""Characters that one may stand for at most: a ligature of a whole sentence holds no word that a
rule knows.
"""


@lru_cache(maxsize=1 << 14)
def fold_char(char: str) -> str:
    """Return what stands for one character in a folded text; nothing for a character that nobody
    sees.
    """
    if char < "\x80":
        return char.lower()
    looks = _lookalikes()
    if char in looks:
        return looks[char]
    if char in _FILLERS:
        return ""
    kept = [
        c for c in unicodedata.normalize("NFKD", char) if unicodedata.category(c) not in _REMOVED
    ]
    return char if len(kept) > _LONGEST else "".join([looks.get(c) or c.casefold() for c in kept])


@cache
def _lookalikes() -> Mapping[str, str]:
    """Return what each look-alike stands for, in lower case.

    `lookalikes.txt` is after Unicode's table of confusables (UTS #39): an ASCII character, and the
    single characters that look like it and that compatibility decomposition does not turn into it.
    Letters on coloured squares and discs, and the halves of flags, are read as letters all the
    same.
    """
    lines = Path(__file__).with_name("lookalikes.txt").read_text("utf-8").splitlines()
    found = {char: line[0] for line in lines if line and line[0] != "#" for char in line[2:]}
    return found | {
        chr(start + n): chr(97 + n) for start in (0x1F150, 0x1F170, 0x1F1E6) for n in range(26)
    }


def replaced(
    before: Folded, pattern: Pattern[str], by: Callable[[Match[str]], str]
) -> Folded | None:
    """Return a folded text with every match of a pattern replaced; `None` when nothing matches.

    Whatever stands for a match came from all of it.
    """
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for match in pattern.finditer(before.text):
        start, end = match.span()
        new = by(match)
        parts += [before.text[at:start], new]
        starts += [*before.starts[at:start], *[before.starts[start]] * len(new)]
        ends += [*before.ends[at:start], *[before.ends[end - 1]] * len(new)]
        at = end
    if not parts:
        return None
    return Folded(
        "".join((*parts, before.text[at:])),
        [*starts, *before.starts[at:]],
        [*ends, *before.ends[at:]],
    )
