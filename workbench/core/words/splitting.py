"""Texts as words, in every script.

A word is a run of letters and digits with the marks on them, folded: NFKC, without case, ß as ss, and without what only
guides a line's layout (soft hyphen, zero-width space and joiners, Arabic's stretching). What is written without spaces
(ideographs, kana, Thai, Lao, Khmer, Burmese) becomes overlapping pairs of letters with their marks; those and
Hangul are parted from what is glued to them.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

from workbench.core.words.scripts import CJK, HANGUL, THAI

LAYOUT = (
    "\u00ad\u034f\u061c\u0640\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
)
"""Characters that no word is told by, for a class of a regular expression."""

_MOST_MARKS = 16
"""Marks on one letter that are looked at: to put many thousands in order takes the square of their number."""

_SHORT = 48
"""Characters of a word that is worth remembering."""

_LAYOUT = re.compile(f"[{LAYOUT}]+")

_WITH_MARKS = (
    range(0x300, 0x3100), range(0xA600, 0xAC00), range(0xFB1E, 0xFB1F), range(0xFE20, 0xFE30), range(0x101FD, 0x12000),
    range(0x16AF0, 0x16FF2), range(0x1BC9D, 0x1BC9F), range(0x1CF00, 0x1D245), range(0x1DA00, 0x1E950),
)  # fmt: skip
"""Where the combining marks are; to look at all of Unicode takes ten times as long."""

_RARE = re.compile("[^\x00-\xac\xae-\u02ff\u1e00-\u200a\u2010-\u205f\u20a0-\u20cf\u2100-\u2bff]")
"""What only some texts have: marks, layout characters and scripts that need more than the simplest pattern."""


@cache
def marks() -> str:
    """Return the combining marks, for a class of a regular expression; found when text beyond ASCII is first split."""
    return "".join(char for block in _WITH_MARKS for char in map(chr, block) if unicodedata.category(char)[0] == "M")


def split(text: str) -> list[str]:
    """Return the words of a text in order; whatever is neither letter nor digit parts them."""
    if text.isascii():
        return text.encode().translate(_ASCII).decode().split()
    return [part for raw in cased(text) for part in parts(raw)]


def cased(text: str) -> list[str]:
    """Return the runs of letters and digits of a text as they are written, in order."""
    return (_runs() if _RARE.search(text) else _RUN).findall(text)


def words(text: str) -> list[str]:
    """Return the words of a text in order, with apostrophes and underscores inside ("don't", snake_case)."""
    if text.isascii():
        found = _LONG_RUN.findall(text.lower())
    else:
        pattern = _long_runs() if _RARE.search(text) else _LONG_RUN
        found = [part for raw in pattern.findall(text) for part in parts(raw.replace("’", "'"))]
    return [word for raw in found if (word := raw.strip("_"))]


def word_pattern(text: str) -> re.Pattern[str]:
    """Return what matches the runs of letters, digits and underscores in a text, with marks."""
    return _underscored() if _RARE.search(text) else _UNDERSCORED


def parts(run: str) -> tuple[str, ...]:
    """Return the words that one run of letters and digits holds: itself folded, or its pairs of letters."""
    if run.isascii():
        return (run.lower(),)
    return _remembered(run) if len(run) <= _SHORT else tuple(_parted(run))


def humps(run: str) -> tuple[str, ...]:
    """Return the folded words that a name like camelCase, HTTPServer or API12 is put together from, in order."""
    if run.isascii() and run[:1].isalpha() and _HUMPED.search(run):
        found = _HUMP.findall(run)
        if len(found) <= _MOST_HUMPS and "".join(found) == run and all(len(p) > 1 or p.isdigit() for p in found):
            return tuple(part.lower() for part in found)
    return ()


def humped(text: str) -> list[str]:
    """Return the words, of two letters or more, that the names in a text are put together from."""
    return [part for run in cased(text) for part in humps(run) if len(part) > 1] if _HUMPED.search(text) else []


def folded(text: str) -> str:
    """Return a text as words are compared: NFKC, without case and layout characters."""
    if text.isascii():
        return text.lower()
    text = _LAYOUT.sub("", text)
    if len(text) > _MOST_MARKS:
        text = _many_marks().sub(r"\1", text)
    # Some letters are decomposed by what they are without case, or composed by it.
    lower = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return lower.replace("i\u0307", "i")  # of İ


def letters(text: str) -> list[str]:
    """Return the letters of a text, each with the marks that belong to it."""
    return _letters().findall(text)


_ASCII = bytes(ord(chr(c).lower()) if c < 128 and chr(c).isalnum() else 32 for c in range(256))
"""ASCII text is split by a byte table, six times faster than by the pattern that other text needs."""

_BEFORE, _BEHIND = "\u0e40-\u0e44\u0ec0-\u0ec4", "\u0e2f\u0e30\u0e32\u0e45\u0e46\u0eb0\u0eb2\u0ec6"
"""Vowels of Thai and Lao that stand before their consonant, and what stands behind it."""

_FRACTION = "\u2044"
_UNSPACED = re.compile(f"[{CJK}{THAI}{HANGUL}]")
_RUN = re.compile(r"[^\W_]+")
_HUMPED = re.compile("[a-z][A-Z]|[A-Z][A-Z][a-z]|[A-Za-z][A-Za-z][0-9]")
_HUMP = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_MOST_HUMPS = 8
_UNDERSCORED = re.compile(r"\w+")
_LONG_RUN = re.compile(r"\w+(?:['’]\w+)*")


_NOTHING_TO_BARE = "\u0e00"
_BARED = frozenset("\u093c")
_ALIKE = str.maketrans({
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th",
    "ى": "ي", "ی": "ي", "ة": "ه", "ک": "ك",
})  # fmt: skip


def bare(word: str) -> str:
    """Return a word without what some leave out: accents, niqqud, harakat, a nukta; letters of two keyboards alike.

    The vowel signs of India and south-east Asia stay.
    """
    if word.isascii() or word >= _NOTHING_TO_BARE:
        return word
    parted = unicodedata.normalize("NFKD", word)
    kept = [c for c in parted if not ("\u0300" <= c < "\u0700" and unicodedata.combining(c)) and c not in _BARED]
    return unicodedata.normalize("NFC", "".join(kept)).translate(_ALIKE)


@cache
def _runs() -> re.Pattern[str]:
    return re.compile(rf"[^\W_]+(?:[{marks()}{LAYOUT}]+[^\W_]*)*")


@cache
def _underscored() -> re.Pattern[str]:
    return re.compile(rf"\w+(?:[{marks()}{LAYOUT}]+\w*)*")


@cache
def _long_runs() -> re.Pattern[str]:
    run = _underscored().pattern
    return re.compile(rf"{run}(?:['’]{run})*")


@cache
def _many_marks() -> re.Pattern[str]:
    return re.compile(rf"([{marks()}]{{{_MOST_MARKS}}})[{marks()}]+")


def units(run: str) -> list[str]:
    """Return what the pairs of an unspaced run are made of: letters, in Thai and Lao with the vowels around them."""
    return _units().findall(run)


@cache
def _units() -> re.Pattern[str]:
    return re.compile(rf"[{_BEFORE}]?[^{_BEFORE}][{marks()}{_BEHIND}]*|[{_BEFORE}]")


@cache
def _letters() -> re.Pattern[str]:
    return re.compile(rf"(?s:.)[{marks()}]*")


@cache
def _pieces() -> re.Pattern[str]:
    """What a word is parted into: unspaced runs, Hangul, and the rest."""
    close = f"[{CJK}][{CJK}{marks()}]*|[{THAI}][{THAI}{marks()}]*"
    return re.compile(f"({close})|[{HANGUL}]+|[^{CJK}{THAI}{HANGUL}]+")


@lru_cache(1 << 16)
def _remembered(run: str) -> tuple[str, ...]:
    return tuple(map(sys.intern, _parted(run)))


def _parted(run: str) -> Iterator[str]:
    word = folded(run)
    if _FRACTION in word:  # 3½ is not 31⁄2
        word = run.casefold()
    # Folding may bring in what parts words.
    for part in (word,) if word.replace("'", "").isalnum() else _long_runs().findall(word):
        if not _UNSPACED.search(part):
            yield part
            continue
        for piece in _pieces().finditer(part):
            if piece[1]:
                yield from _pairs(units(piece[1]))
            else:
                yield piece[0]


def _pairs(found: list[str]) -> Iterator[str]:
    if len(found) < 2:
        yield from found
    for first, second in pairwise(found):
        yield first + second
