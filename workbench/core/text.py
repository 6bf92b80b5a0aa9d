"""Stored text as data: inert on a terminal, in one line, cut to a width.

Stored text comes from agents, tools and other people's files, so it may hold escape
sequences, bidi overrides, invisible characters or broken Unicode. Everything that draws
it goes through `printable`; everything that stores it through `clean_for_store`.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise

MAX_KEPT = 65_536
"""Longest text of a record that is taken in at all, in characters: from a file, or beside a
content.
"""

REPLACEMENT = "\ufffd"
"""Stands for what is no character for display: C1 controls, surrogates, private use, unassigned."""

HIDDEN = "·"
"""Stands for what would be invisible or reorder the line: format characters, selectors, surplus
marks.
"""

NEWLINE = "⏎"
ELLIPSIS = "…"
TAB = "    "

MAX_MARKS = 4
"""Combining marks that one base character may carry; more of them climb into other lines."""

MAX_JOINED = 2 * MAX_MARKS
"""Characters without a cell of their own that one base may have, vowel signs that stand beside it
among them.
"""

LRM = "\u200e"
"""Takes no cell, and ends a stretch that runs from right to left where a terminal orders a line
itself.
"""

_MARKS = "\u0300"
"""The first combining mark: below it whatever is printable is ink."""

_SELECTORS = "\ufe0e\ufe0f"  # text and emoji presentation: the two that ordinary text uses
_INVISIBLE = frozenset(
    # Letters and marks that draw nothing, then the other variation selectors.
    "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0))))
)
_ZWJ = "\u200d"
_JOINERS = f"\u200c{_ZWJ}"
_JOINER = re.compile(f"[{_JOINERS}]")
_JOINING = re.compile(
    "[\u0600-\u0dff\u1000-\u109f\u1700-\u1cff\ua800-\uabff\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
)
"""Scripts whose letters a joiner joins or parts: Arabic and its kin, those of India and south-east
Asia, Mongolian.
"""

_JOINED = re.compile("[\u1161-\u11ff\ud7b0-\ud7fb\U0001f3fb-\U0001f3ff]")
"""What joins the character before it and is no mark: vowels and last consonants of Hangul, colours
of skin.
"""

_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_RIGHT_TO_LEFT = re.compile(f"[{_RTL}](?:(?!  | · |[\u2500-\u259f\n]).)*")
"""Text from a letter that is written from right to left to the end of its column: two spaces, a
line, a dot.
"""

_LETTER = re.compile(r"[^\W\d_]")
_NARROW = re.compile(
    "[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u2010-\u2027\u2400-\u2426\u2500-\u25fc]*"
)
"""Text whose characters take one cell each, told without the tables of widths."""

_EMOJI = "\u2194\u2195\u2600-\u27bf\u2b1b\U0001f000-\U0001faff"
_SEQUENCE = re.compile(f"(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])")
_LONG_SEQUENCE = re.compile(
    f"(?:[{_EMOJI}][\U0001f3fb-\U0001f3ff]?\ufe0f?\u200d){{{MAX_MARKS + 1}}}\\Z"
)
_LONGEST = 4 * MAX_MARKS + 4
"""Characters among which no more than so many joiners do what they are for."""

_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_AM = "\u0e33\u0eb3"
_VIRAMA = 9
"""The combining class of the mark that takes a consonant's vowel away."""

_UNSTORABLE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff\x00]")
_LINE_END = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def printable(text: str, *, keep_newlines: bool = False) -> str:
    """Return `text` with every character that is not plain ink replaced by a visible one-cell
    symbol.

    C0 controls and DEL become their control pictures, a newline `⏎` (or stays, with
    `keep_newlines`), format, bidi and zero-width characters `·` except joiners that are needed
    (`is_needed`), everything else unprintable U+FFFD; of more than `MAX_MARKS` combining marks in a
    row the rest become `·`, as do marks without a base. One character stays one character, except a
    tab, which becomes four spaces. Idempotent.
    """
    if text.isprintable() and (text.isascii() or max(text) < _MARKS):
        return text
    if keep_newlines:
        text = text.replace("\r\n", " \n")
    # Only the distinct characters are looked at, each once, so the cost hardly grows with the
    # length.
    seen = set(text)
    symbols = {ord(c): symbol for c in seen if (symbol := _symbol(c, keep_newlines)) is not None}
    joined = [c for c in seen if ord(c) not in symbols and not _has_cell(c)]
    marks = [c for c in joined if unicodedata.category(c) in ("Mn", "Me")]
    clean = text.translate(symbols) if symbols else text
    clean = _limit_marks(clean, sorted(marks), MAX_MARKS) if marks else clean
    clean = _limit_marks(clean, sorted(joined), MAX_JOINED) if len(joined) > len(marks) else clean
    if seen.isdisjoint(_JOINERS):
        return clean
    return _JOINER.sub(lambda found: found[0] if is_needed(clean, found.start()) else HIDDEN, clean)


def is_needed(text: str, at: int) -> bool:
    """Tell whether the joiner at a place (ZWJ, ZWNJ) does there what scripts and sequences of emoji
    need it for.
    """
    if _SEQUENCE.match(text, at):
        return _LONG_SEQUENCE.search(text[max(0, at - _LONGEST) : at + 1]) is None
    return text.count(_ZWJ, max(0, at - _LONGEST), at) < MAX_MARKS and _joins(
        text[at - 1 : at], text[at + 1 : at + 2]
    )


@lru_cache
def _joins(before: str, after: str) -> bool:
    first, second = (unicodedata.category(char) if char else "Zs" for char in (before, after))
    scripts = [
        bool(_JOINING.match(char)) and kind[0] in "LM"
        for char, kind in ((before, first), (after, second))
    ]
    if scripts[0] and unicodedata.combining(before) == _VIRAMA:
        return second[0] != "M" and not _JOINER.match(after)
    # Between marks it would let a letter carry any number of them.
    if second[0] == "M" and not (first[0] == "L" and unicodedata.combining(after) == _VIRAMA):
        return False
    return any(scripts) and first[0] not in "CZ" and second[0] not in "CZ"


def one_line(text: str, limit: int) -> str:
    """Return the first non-blank line, printable, its white space collapsed, in at most `limit`
    cells.
    """
    # Lines end in white space, so that the first character that is none stands in the line that is
    # shown.
    found = text.lstrip()
    end = _LINE_END.search(found)
    # A word is a character at least, so that of a long line only the words that can be seen are
    # parted.
    line = " ".join(
        (found[: end.start()] if end else found).split(maxsplit=limit * (MAX_MARKS + 1) + 1)
    )
    return clip(printable(head(line, limit)), limit)


def head(text: str, limit: int) -> str:
    """Return the beginning of a text, long enough to take more than `limit` cells once it is
    printable.

    A character takes a cell at least, but for the few that may join one, by themselves or by a
    joiner.
    """
    found = text[: limit * (MAX_MARKS + 1) * (MAX_JOINED + 2) + 1]
    if len(found) <= limit or found.isascii():
        return found[: limit + 1]
    pairs = enumerate(zip(f" {found}", found, strict=False), 1)
    inked = (index for index, (before, char) in pairs if before != _ZWJ and _has_cell(char))
    return found[: next(islice(inked, limit, None), None)]


def cell_width(text: str) -> int:
    """Return how many terminal cells a line of printable text takes, as Textual counts them."""
    if text.isascii() or _NARROW.fullmatch(text):
        return len(text)
    from rich.cells import (
        cell_len,
    )  # its tables take milliseconds to load, which most commands never need

    return cell_len(text)


def clip(text: str, width: int) -> str:
    """Cut one line of printable text to `width` terminal cells, the last one an ellipsis if
    anything is lost.
    """
    if width <= 0:
        return ""
    return text if cell_width(text) <= width else text[: fitting(text, width - 1)] + ELLIPSIS


def fitting(text: str, width: int) -> int:
    """Return how many characters of a line of printable text fit into `width` cells.

    What readers take for one character is not parted: letters with their marks, emoji, flags,
    conjuncts.
    """
    if text.isascii() or cell_width(text) <= width:
        return min(len(text), width) if text.isascii() else len(text)
    from rich.cells import split_graphemes

    used, end = 0, 0
    for start, _, taken in split_graphemes(text)[0]:
        if used > width:
            break
        if not _parts(text, start):
            end = start
        used += taken
    return end


def _parts(text: str, at: int) -> bool:
    """Tell whether a cut would part a flag, a conjunct of India, or a Thai or Lao vowel that is
    written as a letter.
    """
    before, after = text[max(0, at - 1) : at], text[at]
    if after in _FLAG_LETTERS and before in _FLAG_LETTERS:
        return len(text[:at]) - len(text[:at].rstrip(_FLAG_LETTERS)) & 1 == 1
    return after in _AM or (
        before != "" and unicodedata.combining(before) == _VIRAMA and after.isalpha()
    )


def direction_marks(line: str) -> list[int]:
    """Return where `LRM` keeps the columns of a line in order beside text that is written from
    right to left.

    One ends each stretch of it, so that a number or a frame behind it is not drawn before it; one
    comes before it where it opens the line, as some terminals order a line by its first letter.
    Isolates would do the same for whole lines only: a dialog above one takes the character that
    closes them away.
    """
    if line.isascii():
        return []
    stretches = list(_RIGHT_TO_LEFT.finditer(line))
    ends = [stretch.end() for stretch in stretches]
    first = stretches[:1] if stretches and not _LETTER.search(line, 0, stretches[0].start()) else []
    return [*(stretch.start() for stretch in first), *ends]


def in_order(text: str) -> str:
    """Return lines for a terminal, with marks that keep the columns in order."""
    if text.isascii() or not _RIGHT_TO_LEFT.search(text):
        return text
    return "\n".join(_marked(line) for line in text.split("\n"))


def _marked(line: str) -> str:
    return LRM.join(line[start:end] for start, end in pairwise([0, *direction_marks(line), None]))


def clean_for_store(text: str) -> str:
    """Return `text` as it can be written: NUL and lone surrogates become U+FFFD, split pairs are
    joined.
    """
    if "\0" not in text and _is_encodable(text):
        return text
    return _UNSTORABLE.sub(_storable, text)


def _is_encodable(text: str) -> bool:
    """Tell whether a text holds no surrogates; the encoder sees that ten times sooner than a
    pattern does.
    """
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=4096)
def _symbol(char: str, keep_newlines: bool) -> str | None:
    """Return what `char` is shown as, or `None` when it may stay."""
    if char.isprintable() and char not in _INVISIBLE:
        return None
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


def _limit_marks(text: str, marks: Sequence[str], most: int) -> str:
    some = "[" + "".join(map(re.escape, marks)) + "]"
    # Marks that open a line, runs that are too long, and runs with a second selector.
    bad = rf"(?<![^\n]){some}+|{some}{{{most + 1},}}"
    if any(s in marks for s in _SELECTORS):
        bad += rf"|{some}*[{_SELECTORS}]{some}*[{_SELECTORS}]{some}*"
    return re.sub(bad, lambda match: _limited(match, most), text)


def _limited(match: re.Match[str], most: int) -> str:
    start = match.start()
    return _kept(match.group(), 0 if start == 0 or match.string[start - 1] == "\n" else most)


@lru_cache(maxsize=1024)
def _kept(run: str, allowed: int) -> str:
    """Return a run of marks with those that are too many made visible; a hostile text holds the
    same one very often.
    """
    out: list[str] = []
    for char in run:
        repeated = char in _SELECTORS and any(s in out for s in _SELECTORS)
        fits = len(out) < allowed and not repeated
        out.append(char if fits else HIDDEN)
    return "".join(out)


@lru_cache(maxsize=4096)
def _has_cell(char: str) -> bool:
    return (
        unicodedata.category(char) not in ("Mn", "Me", "Mc", "Cf") and _JOINED.match(char) is None
    )


def _storable(match: re.Match[str]) -> str:
    found = match.group()
    if len(found) == 2:
        return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    return REPLACEMENT


def in_words(value: object, leaf: Callable[[str], str] = str) -> str:
    """Return a stored value in one line for a person: its parts by their names, lists with commas,
    a text as `leaf` makes it.
    """
    if isinstance(value, str):
        return leaf(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1 else f"{value:.3f}".rstrip("0").rstrip(".")
    if isinstance(value, Mapping):
        parts = ((str(name).replace("_", " "), part) for name, part in value.items())
        return "; ".join(f"{name}: {in_words(part, leaf)}" for name, part in parts)
    if isinstance(value, list | tuple):
        return ", ".join(in_words(part, leaf) for part in value)
    return "–" if value is None else str(value)


def singular(table: str) -> str:
    """Return the name of one record of a table: "memory" of "memories"."""
    name = table.replace("_", " ")
    return f"{name.removesuffix('ies')}y" if name.endswith("ies") else name.removesuffix("s")


def begun_alike(one: Sequence[object], other: Sequence[object]) -> int:
    """Return how many letters, or lines, two texts have before the first that differs."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def counted(number: int, word: str, plural: str = "") -> str:
    """Return "1 memory", "2,000 memories"."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def named(names: Sequence[str], what: str) -> str:
    """Return the one name there is, or how many of `what` there are."""
    return names[0] if len(names) == 1 else f"{len(names):,} {what}"
