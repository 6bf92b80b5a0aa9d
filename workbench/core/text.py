"""Stored text as data: inert on a terminal, in one line, cut to a width, as words.

Stored text comes from agents, tools and other people's files, so it may hold escape
sequences, bidi overrides, invisible characters or broken Unicode. Everything that draws
it goes through `printable`; everything that stores it through `clean_for_store`.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice

REPLACEMENT = "\ufffd"
"""Stands for what is no character for display: C1 controls, surrogates, private use, unassigned."""

HIDDEN = "·"
"""Stands for what would be invisible or reorder the line: format characters, selectors, surplus marks."""

NEWLINE = "⏎"
ELLIPSIS = "…"
TAB = "    "

MAX_MARKS = 4
"""Combining marks that one base character may carry; more of them climb into other lines."""

_MARKS = "\u0300"
"""The first combining mark: below it whatever is printable is ink."""

_MANY = 1_000
"""Characters that are new in a text from which on those that are none are not learned one by one."""

_MOST_KNOWN = 262_144
"""Characters that are known after which those of a text are looked at for it alone."""

_SELECTORS = "\ufe0e\ufe0f"  # text and emoji presentation: the two that ordinary text uses
_INVISIBLE = frozenset(
    # Letters and marks that draw nothing, then the other variation selectors.
    "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0" + "".join(map(chr, (*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0))))
)
_JOINERS = "\u200c\u200d"
_JOINER = re.compile(f"[{_JOINERS}]")
_JOINING = re.compile(
    "[\u0600-\u0dff\u1000-\u109f\u1700-\u1cff\ua800-\uabff\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
)
"""Scripts whose letters a joiner joins or parts: Arabic and its kin, those of India and south-east Asia, Mongolian."""

_EMOJI = "\u2194\u2195\u2600-\u27bf\u2b1b\U0001f000-\U0001faff"
_SEQUENCE = re.compile(f"(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])")
_LONG_SEQUENCE = re.compile(f"(?:[{_EMOJI}][\U0001f3fb-\U0001f3ff]?\ufe0f?\u200d){{{MAX_MARKS + 1}}}\\Z")
_VIRAMA = 9
"""The combining class of the mark that takes a consonant's vowel away."""

_UNSTORABLE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff\x00]")
_NO_CHARACTERS = re.compile("[\ue000-\uf8ff\U00040000-\U000dffff\U000e0200-\U0010ffff]")
"""Private use, and what will be unassigned for long: a text may hold hundreds of thousands of different ones."""

_LINE_END = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_WORD = re.compile(r"\w+(?:['’]\w+)*")


def printable(text: str, *, keep_newlines: bool = False) -> str:
    """Return `text` with every character that is not plain ink replaced by a visible one-cell symbol.

    C0 controls and DEL become their control pictures, a newline `⏎` (or stays, with `keep_newlines`),
    format, bidi and zero-width characters `·` except joiners that are needed (`is_needed`), everything else
    unprintable U+FFFD; of more than `MAX_MARKS` combining marks in a row the rest become `·`, as do marks
    without a base.
    One character stays one character, except a tab, which becomes four spaces. Idempotent.
    """
    if text.isprintable() and (text.isascii() or max(text) < _MARKS):
        return text
    if keep_newlines:
        text = text.replace("\r\n", " \n")
    # Only the distinct characters are looked at, each once, so the cost hardly grows with the length.
    seen = set(text)
    inks = _inks(keep_newlines)
    if len(inks.known) > _MOST_KNOWN:
        inks = _Inks(keep_newlines)
    fresh = seen - inks.known
    if len(fresh) > _MANY:
        text = _NO_CHARACTERS.sub(REPLACEMENT, text)
        seen = set(text)
        fresh = seen - inks.known
    inks.learn(fresh)
    marks = inks.marks & seen
    clean = text if inks.odd.isdisjoint(seen) else text.translate(inks.symbols)
    clean = _limit_marks(clean, sorted(marks)) if marks else clean
    if seen.isdisjoint(_JOINERS):
        return clean
    return _JOINER.sub(lambda found: found[0] if is_needed(clean, found.start()) else HIDDEN, clean)


def is_needed(text: str, at: int) -> bool:
    """Tell whether the joiner at a place (ZWJ, ZWNJ) does there what scripts and sequences of emoji need it for."""
    if _SEQUENCE.match(text, at):
        return _LONG_SEQUENCE.search(text[max(0, at - 4 * MAX_MARKS - 4) : at + 1]) is None
    return _joins(text[at - 1 : at], text[at + 1 : at + 2])


@lru_cache
def _joins(before: str, after: str) -> bool:
    first, second = (unicodedata.category(char) if char else "Zs" for char in (before, after))
    scripts = [bool(_JOINING.match(char)) and kind[0] in "LM" for char, kind in ((before, first), (after, second))]
    if scripts[0] and unicodedata.combining(before) == _VIRAMA:
        return second[0] != "M" and not _JOINER.match(after)
    # Between marks it would let a letter carry any number of them.
    if second[0] == "M" and not (first[0] == "L" and unicodedata.combining(after) == _VIRAMA):
        return False
    return any(scripts) and first[0] not in "CZ" and second[0] not in "CZ"


class _Inks:
    """What is known of characters: the `symbols` that stand for the odd ones, by code, and which are `marks`."""

    def __init__(self, keep_newlines: bool) -> None:
        self.known: set[str] = set()
        self.odd: set[str] = set()
        self.marks: set[str] = set()
        self.symbols: dict[int, str] = {}
        self._keep_newlines = keep_newlines

    def learn(self, fresh: set[str]) -> None:
        """Look at characters that are not known yet."""
        odd = {c for c in fresh if not c.isprintable() or c in _INVISIBLE}
        symbols = {c: symbol for c in odd if (symbol := _symbol(c, self._keep_newlines)) is not None}
        plain = (c for c in fresh if not c.isalnum() and c not in symbols)
        self.marks.update(c for c in plain if unicodedata.category(c) in ("Mn", "Me"))
        self.symbols.update((ord(c), symbol) for c, symbol in symbols.items())
        self.odd.update(symbols)
        # Last, for other threads may ask at any moment.
        self.known |= fresh


@cache
def _inks(keep_newlines: bool) -> _Inks:
    return _Inks(keep_newlines)


def one_line(text: str, limit: int) -> str:
    """Return the first non-blank line, printable, its white space collapsed, in at most `limit` cells."""
    # Lines end in white space, so that the first character that is none stands in the line that is shown.
    found = text.lstrip()
    end = _LINE_END.search(found)
    # A word is a character at least, so that of a long line only the words that can be seen are parted.
    line = " ".join((found[: end.start()] if end else found).split(maxsplit=limit * (MAX_MARKS + 1) + 1))
    return clip(printable(head(line, limit)), limit)


def head(text: str, limit: int) -> str:
    """Return the beginning of a text, long enough to take more than `limit` cells once it is printable.

    A character takes a cell at least, but for the few marks that one may carry.
    """
    found = text[: limit * (MAX_MARKS + 2) + 1]
    if len(found) <= limit or found.isascii():
        return found[: limit + 1]
    inked = (index for index, char in enumerate(found, 1) if unicodedata.category(char) not in ("Mn", "Me", "Cf"))
    return found[: next(islice(inked, limit, None), None)]


def clip(text: str, width: int) -> str:
    """Cut one line of printable text to `width` terminal cells, the last one an ellipsis if anything is lost.

    Wide characters count as two cells and a narrow one with the emoji selector too, as terminals
    disagree about it; marks that take no cell stay with their base.
    """
    if width <= 0:
        return ""
    if text.isascii():
        return text if len(text) <= width else text[: width - 1] + ELLIPSIS
    used, end = 0, 0
    for index, cells in enumerate(_widths(text)):
        used += cells
        if used > width:
            return text[:end].rstrip(_JOINERS) + ELLIPSIS
        if used < width:
            end = index + 1
    return text


def clean_for_store(text: str) -> str:
    """Return `text` as it can be written: NUL and lone surrogates become U+FFFD, split pairs are joined."""
    if "\0" not in text and _is_encodable(text):
        return text
    return _UNSTORABLE.sub(_storable, text)


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case and in order.

    A word is a run of letters, digits and underscores, with apostrophes inside ("don't"); hyphens
    part words. Underscores around a word (Markdown emphasis) do not belong to it.
    """
    found = _WORD.findall(unicodedata.normalize("NFC", text).lower().replace("’", "'"))
    return [word for raw in found if (word := raw.strip("_"))]


class Folded:
    """A text in which words are looked for whatever the case of their letters (`word in folded`).

    Words are given case-folded. Beyond ASCII, folding all of a text takes ten times as long as looking for an ASCII
    word in its bytes, so it is done for what is not found there.
    """

    __slots__ = ("_bytes", "_text", "_whole")

    def __init__(self, text: str) -> None:
        plain = text.isascii()
        self._text = text
        self._bytes = b"" if plain else text.encode("utf-8", "surrogatepass").lower()
        self._whole: str | None = text.casefold() if plain else None

    def __contains__(self, word: str) -> bool:
        if self._whole is None:
            if word.isascii() and word.encode() in self._bytes:
                return True
            self._whole = self._text.casefold()
        return word in self._whole


def _is_encodable(text: str) -> bool:
    """Tell whether a text holds no surrogates; the encoder sees that ten times sooner than a pattern does."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _symbol(char: str, keep_newlines: bool) -> str | None:
    """Return what `char` is shown as, or `None` when it may stay."""
    if char == "\n":
        return None if keep_newlines else NEWLINE
    if char == "\t":
        return TAB
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    category = unicodedata.category(char)
    if char in _JOINERS:
        return None  # whether one is needed is told by what stands beside it
    if char in _INVISIBLE or category in ("Cf", "Zl", "Zp") or 0xE0000 <= code <= 0xE007F:
        return HIDDEN
    return REPLACEMENT if category in ("Cc", "Cs", "Co", "Cn") else None


def _limit_marks(text: str, marks: Sequence[str]) -> str:
    some = "[" + "".join(map(re.escape, marks)) + "]"
    # Marks that open a line, runs that are too long, and runs with a second selector.
    bad = rf"(?<![^\n]){some}+|{some}{{{MAX_MARKS + 1},}}"
    if any(s in marks for s in _SELECTORS):
        bad += rf"|{some}*[{_SELECTORS}]{some}*[{_SELECTORS}]{some}*"
    return re.sub(bad, _limited, text)


def _limited(match: re.Match[str]) -> str:
    start = match.start()
    return _kept(match.group(), 0 if start == 0 or match.string[start - 1] == "\n" else MAX_MARKS)


@lru_cache(maxsize=1024)
def _kept(run: str, allowed: int) -> str:
    """Return a run of marks with those that are too many made visible; a hostile text holds the same one very often."""
    out: list[str] = []
    for char in run:
        repeated = char in _SELECTORS and any(s in out for s in _SELECTORS)
        fits = len(out) < allowed and not repeated
        out.append(char if fits else HIDDEN)
    return "".join(out)


def _widths(text: str) -> Iterator[int]:
    """Yield the cells that each character adds."""
    base = 0
    for char in text:
        if char == "\ufe0f":
            cells = 1 if base == 1 else 0
        elif char in _JOINERS or unicodedata.category(char) in ("Mn", "Me"):
            cells = 0
        else:
            cells = base = 2 if unicodedata.east_asian_width(char) in "WF" else 1
        yield cells


def _storable(match: re.Match[str]) -> str:
    found = match.group()
    if len(found) == 2:
        return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    return REPLACEMENT
