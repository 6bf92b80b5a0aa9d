"""Texts as rules compare them: folded, so that a disguise does not matter, with the way back to the original.

Folding decomposes compatibility characters and accents, removes characters that nobody sees, reads look-alikes as the
ASCII characters that they look like, and drops the case. It looks at each character once.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import accumulate
from re import ASCII, Match, Pattern, compile

from workbench.core.safety import Finding
from workbench.safety.orders.lookalikes import table

# Lower case without moving a character, so that a place in one text is a place in the other.


def lowered(text: str) -> str:
    """Return the text in lower case, as long as the text; ASCII only where the full rules would lengthen it."""
    low = text.lower()
    return low if len(low) == len(text) else text.translate(_ascii())


@cache
def _ascii() -> dict[int, int]:
    return {upper: upper + 32 for upper in range(65, 91)}


@cache
def compiled(pattern: str, flags: int = 0) -> Pattern[str]:
    """Compile a pattern when it is first needed: a hook that meets clean text needs none of them."""
    return compile(pattern, flags)


# Looking around hints only, so that no text, however it is made, costs more than its length.
#
# A pattern that is tried at every hint costs hints times reach. Within one unbroken word that is bounded by giving up
# after some tries in vain: no word holds so many beginnings of keys and then a key.


TRIES = 24
"""Hints in vain after which the rest of a word is passed over."""

_EDGE = r"[^\w\-+/=.:~%]"
"""What no key holds: it ends a word."""


def anchored(text: str, anchor: str, ask: Callable[[Match[str]], Iterator[Finding]]) -> Iterator[Finding]:
    """Yield what `ask` finds at the places where `anchor` matches, none of them within what was found before.

    The anchor must be cheap: a few literals, or characters of one kind and a number of them.
    """
    hint, edge = compiled(anchor, ASCII), compiled(_EDGE, ASCII)
    at = end_of_word = tries = 0
    while (match := hint.search(text, at)) is not None:
        start = match.start()
        if tries >= TRIES and start < end_of_word:
            at = max(end_of_word, match.end())
            continue
        at = start + 1
        tries += 1
        for finding in ask(match):
            at = max(at, finding.end)
            tries = 0
            yield finding
        if tries and start >= end_of_word:
            after = edge.search(text, match.end())
            end_of_word, tries = len(text) if after is None else after.start(), 1


_REMOVED = frozenset(("Mn", "Me", "Cf"))
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5\u2800")
_REMEMBERED = 1 << 14

_MANY = 1_000
"""Different characters that stand for themselves from which on a text is not looked through one by one for them."""

_LONGEST = 4
"""Characters that one may stand for at most: a ligature of a whole sentence holds no word that a rule knows."""

_ONES = r"\u3400-\u4e35\u4e40-\ua4cf\ud7a4-\uf8ff\U00020000-\U0002f7ff\U0002fa1e-\U000e0000\U000e01f0-\U0010ffff"
_SAME, _OTHERS = f"[{_ONES}]+", f"[^{_ONES}]+"
"""Characters beyond ASCII that stand for themselves: a text may hold a hundred thousand different ones."""


class Folded:
    """A text as it is compared, and where each of its characters came from.

    `text` is what rules look at; `place(start, end)` returns the span of the original that became a span of it.
    """

    __slots__ = ("_ends", "_inner", "_make", "text")

    def __init__(self, text: str, ends: Callable[[], list[int]] | None, inner: "Folded | None" = None) -> None:
        """`ends` returns where each original character's part of the text ends; `None` when nothing moved.

        `inner` is the folded text that this one was made of, where it was not made of the original.
        """
        self.text = text
        self._make = ends
        self._ends: list[int] | None = None
        self._inner = inner

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original that a span of the text, at least one character long, came from."""
        if self._make is not None:
            if self._ends is None:
                self._ends = self._make()
            last = self._ends[bisect_right(self._ends, end - 1)]
            start, end = bisect_right(self._ends, start), bisect_right(self._ends, last)
        return (start, end) if self._inner is None else self._inner.place(start, end)


def folded(text: str) -> Folded:
    if text.isascii():
        return Folded(text.lower(), None)
    chars = set(text)
    changed = {ord(char): fold_char(char) for char in compiled(_SAME).sub("", "".join(chars))}
    if len(chars) - len(changed) > _MANY:
        new = compiled(_OTHERS).sub(lambda run: run.group().translate(changed), text)
    else:
        new = text.translate({**{ord(char): char for char in chars}, **changed})
    if all(len(part) == 1 for part in changed.values()):
        return Folded(new, None)
    return Folded(new, lambda: list(accumulate(len(changed.get(ord(char), char)) for char in text)))


@lru_cache(maxsize=_REMEMBERED)
def fold_char(char: str) -> str:
    """Return what stands for one character in a folded text; nothing for a character that nobody sees."""
    if char < "\x80":
        return char.lower()
    looks = table()
    if char in looks:
        return looks[char]
    if char in _FILLERS:
        return ""
    kept = [c for c in unicodedata.normalize("NFKD", char) if unicodedata.category(c) not in _REMOVED]
    return char if len(kept) > _LONGEST else "".join([looks.get(c) or c.casefold() for c in kept])


def replaced(before: Folded, pattern: Pattern[str], by: Callable[[Match[str]], str]) -> Folded | None:
    """Return a folded text with every match of a pattern replaced; `None` when nothing matches.

    Whatever stands for a match came from all of it. Where things came from is worked out when somebody asks.
    """
    new, count = pattern.subn(by, before.text)
    return Folded(new, lambda: _ends(_pieces(before.text, pattern, by)), before) if count else None


def _pieces(text: str, pattern: Pattern[str], by: Callable[[Match[str]], str]) -> Iterator[tuple[int, int]]:
    """Yield how long each piece of a text is, and what stands for it; between two matches it stays as it is."""
    at = 0
    for match in pattern.finditer(text):
        yield match.start() - at, match.start() - at
        at = match.end()
        yield at - match.start(), len(by(match))
    yield len(text) - at, len(text) - at


def reversed_text(before: Folded) -> Folded:
    """Return a folded text from its last character to its first."""
    return _Reversed(before)


class _Reversed(Folded):
    """A text read backwards."""

    __slots__ = ("_before",)

    def __init__(self, before: Folded) -> None:
        super().__init__(before.text[::-1], None)
        self._before = before

    def place(self, start: int, end: int) -> tuple[int, int]:
        size = len(self.text)
        return self._before.place(size - end, size - start)


def _ends(pieces: Iterable[tuple[int, int]]) -> list[int]:
    """Return where each old character's part of the new text ends; a replaced piece is kept by its first one."""
    found: list[int] = []
    at = 0
    for old, new in pieces:
        if old == new:
            found += range(at + 1, at + new + 1)
        else:
            found += [at + new] * old
        at += new
    return found
