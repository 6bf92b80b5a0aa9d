"""Texts as words, in every script, and the scripts and languages that they are written in.

A word is a run of letters and digits with the marks on them, folded: NFKC, without case, ß as ss,
and without what only guides a line's layout (soft hyphen, zero-width space and joiners, Arabic's
stretching). What is written without spaces (ideographs, kana, Thai, Lao, Khmer, Burmese) becomes
overlapping pairs of letters with their marks; those and Hangul are parted from what is glued to
them.

The language of a text in Latin letters is told by its function words. A word in another script has
the language of its script: of several that share it, one stands for all.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

Script = Literal[
    "latin", "cyrillic", "greek", "arabic", "hebrew", "indic", "thai", "hangul", "cjk", "none"
]
"""`cjk` is ideographs and kana, `thai` all of south-east Asia that writes without spaces; `none`
has no letters.
"""

CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
)
THAI = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\uaa60-\uaa7f"
HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa1-\uffdc"
"""Characters of these scripts, for a class of a regular expression."""

_LETTERS: dict[Script, str] = {
    "cjk": f"[{CJK}]",
    "hangul": f"[{HANGUL}]",
    "thai": f"[{THAI}]",
    "cyrillic": "[\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f]",
    "greek": "[\u0370-\u03ff\u1f00-\u1fff]",
    "arabic": "[\u0600-\u077f\u0870-\u08ff\ufb50-\ufdff\ufe70-\ufeff]",
    "hebrew": "[\u0590-\u05ff\ufb1d-\ufb4f]",
    "indic": "[\u0900-\u0dff]",
    "latin": "[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff\uff21-\uff5a]",
}
_LATIN_WORTH = 0.34
"""What a Latin letter counts beside one of another script, in whose texts names and code are Latin."""


def script_of(text: str) -> Script:
    """Return the script of most of a text's letters; a Latin letter counts a third, as names and
    code are Latin.
    """
    if text.isascii():
        return "latin" if re.search(_LETTERS["latin"], text) else "none"
    counts = {script: float(len(re.findall(letters, text))) for script, letters in _LETTERS.items()}
    counts["latin"] *= _LATIN_WORTH
    best: Script = max(counts, key=lambda script: counts[script])
    return best if counts[best] else "none"


LAYOUT = (
    "\u00ad\u034f\u061c\u0640\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
)
"""Characters that no word is told by, for a class of a regular expression."""

_MOST_MARKS = 16
"""Marks on one letter that are looked at: to put many thousands in order takes the square of their
number.
"""

_SHORT = 48
"""Characters of a word that is worth remembering."""

_LAYOUT = re.compile(f"[{LAYOUT}]+")

_WITH_MARKS = (
    range(0x300, 0x3100), range(0xA600, 0xAC00), range(0xFB1E, 0xFB1F), range(0xFE20, 0xFE30), range(0x101FD, 0x12000),
    range(0x16AF0, 0x16FF2), range(0x1BC9D, 0x1BC9F), range(0x1CF00, 0x1D245), range(0x1DA00, 0x1E950),
)  # fmt: skip
"""Where the combining marks are; to look at all of Unicode takes ten times as long."""

_RARE = re.compile("[^\x00-\xac\xae-\u02ff\u1e00-\u200a\u2010-\u205f\u20a0-\u20cf\u2100-\u2bff]")
"""What only some texts have: marks, layout characters and scripts that need more than the simplest
pattern.
"""


@cache
def marks() -> str:
    """Return the combining marks, for a class of a regular expression; found when text beyond ASCII
    is first split.
    """
    return "".join(
        char
        for block in _WITH_MARKS
        for char in map(chr, block)
        if unicodedata.category(char)[0] == "M"
    )


def split(text: str) -> list[str]:
    """Return the words of a text in order; whatever is neither letter nor digit parts them."""
    if text.isascii():
        return text.encode().translate(_ASCII).decode().split()
    return [part for raw in cased(text) for part in parts(raw)]


def cased(text: str) -> list[str]:
    """Return the runs of letters and digits of a text as they are written, in order."""
    return (_with_marks(_RUNS) if _RARE.search(text) else _RUN).findall(text)


def words(text: str) -> list[str]:
    """Return the words of a text in order, with apostrophes and underscores inside ("don't",
    snake_case).
    """
    if text.isascii():
        found = _LONG_RUN.findall(text.lower())
    else:
        pattern = _with_marks(_LONG_RUNS) if _RARE.search(text) else _LONG_RUN
        found = [part for raw in pattern.findall(text) for part in parts(raw.replace("’", "'"))]
    return [word for raw in found if (word := raw.strip("_"))]


def word_pattern(text: str) -> re.Pattern[str]:
    """Return what matches the runs of letters, digits and underscores in a text, with marks."""
    return _with_marks(_UNDERSCORED_RUN) if _RARE.search(text) else _UNDERSCORED


def parts(run: str) -> tuple[str, ...]:
    """Return the words that one run of letters and digits holds: itself folded, or its pairs of
    letters.
    """
    if run.isascii():
        return (run.lower(),)
    return _remembered(run) if len(run) <= _SHORT else tuple(_parted(run))


def humps(run: str) -> tuple[str, ...]:
    """Return the folded words that a name like camelCase, HTTPServer or API12 is put together from,
    in order.
    """
    if run.isascii() and run[:1].isalpha() and _HUMPED.search(run):
        found = _HUMP.findall(run)
        if (
            len(found) <= _MOST_HUMPS
            and "".join(found) == run
            and all(len(p) > 1 or p.isdigit() for p in found)
        ):
            return tuple(part.lower() for part in found)
    return ()


def humped(text: str) -> list[str]:
    """Return the words, of two letters or more, that the names in a text are put together from."""
    return (
        [part for run in cased(text) for part in humps(run) if len(part) > 1]
        if _HUMPED.search(text)
        else []
    )


def folded(text: str) -> str:
    """Return a text as words are compared: NFKC, without case and layout characters."""
    if text.isascii():
        return text.lower()
    text = _LAYOUT.sub("", text)
    if len(text) > _MOST_MARKS:
        text = _with_marks(_MANY_MARKS).sub(r"\1", text)
    # Some letters are decomposed by what they are without case, or composed by it.
    lower = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return lower.replace("i\u0307", "i")  # of İ


def letters(text: str) -> list[str]:
    """Return the letters of a text, each with the marks that belong to it."""
    return _with_marks("(?s:.)[MARKS]*").findall(text)


_ASCII = bytes(ord(chr(c).lower()) if c < 128 and chr(c).isalnum() else 32 for c in range(256))
"""ASCII text is split by a byte table, six times faster than by the pattern that other text needs."""

_BEFORE, _BEHIND = "\u0e40-\u0e44\u0ec0-\u0ec4", "\u0e2f\u0e30\u0e32\u0e45\u0e46\u0eb0\u0eb2\u0ec6"
"""Vowels of Thai and Lao that stand before their consonant, and what stands behind it."""

_FRACTION = "\u2044"
_UNSPACED = f"[{CJK}{THAI}{HANGUL}]"
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
    """Return a word without what some leave out: accents, niqqud, harakat, a nukta; letters of two
    keyboards alike.

    The vowel signs of India and south-east Asia stay.
    """
    if word.isascii() or word >= _NOTHING_TO_BARE:
        return word
    parted = unicodedata.normalize("NFKD", word)
    kept = [
        c
        for c in parted
        if not ("\u0300" <= c < "\u0700" and unicodedata.combining(c)) and c not in _BARED
    ]
    return unicodedata.normalize("NFC", "".join(kept)).translate(_ALIKE)


_RUNS = rf"[^\W_]+(?:[MARKS{LAYOUT}]+[^\W_]*)*"
_UNDERSCORED_RUN = rf"\w+(?:[MARKS{LAYOUT}]+\w*)*"
_LONG_RUNS = rf"{_UNDERSCORED_RUN}(?:['’]{_UNDERSCORED_RUN})*"
_MANY_MARKS = rf"([MARKS]{{{_MOST_MARKS}}})[MARKS]+"
_UNITS = rf"[{_BEFORE}]?[^{_BEFORE}][MARKS{_BEHIND}]*|[{_BEFORE}]"
_PIECES = f"([{CJK}][{CJK}MARKS]*|[{THAI}][{THAI}MARKS]*)|[{HANGUL}]+|[^{CJK}{THAI}{HANGUL}]+"
"""What a word is parted into: unspaced runs, Hangul, and the rest."""


@cache
def _with_marks(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which `MARKS` stands for all combining marks."""
    return re.compile(pattern.replace("MARKS", marks()))


def units(run: str) -> list[str]:
    """Return what the pairs of an unspaced run are made of: letters, in Thai and Lao with the
    vowels around them.
    """
    return _with_marks(_UNITS).findall(run)


@lru_cache(1 << 16)
def _remembered(run: str) -> tuple[str, ...]:
    return tuple(map(sys.intern, _parted(run)))


def _parted(run: str) -> Iterator[str]:
    word = folded(run)
    if _FRACTION in word:  # 3½ is not 31⁄2
        word = run.casefold()
    # Folding may bring in what parts words.
    for part in (
        (word,) if word.replace("'", "").isalnum() else _with_marks(_LONG_RUNS).findall(word)
    ):
        if not re.search(_UNSPACED, part):
            yield part
            continue
        for piece in _with_marks(_PIECES).finditer(part):
            if piece[1]:
                yield from _pairs(units(piece[1]))
            else:
                yield piece[0]


def _pairs(found: list[str]) -> Iterator[str]:
    if len(found) < 2:
        yield from found
    for first, second in pairwise(found):
        yield first + second


ENGLISH = "en"
LATIN = ("de", "fr", "es", "it", "pt", "nl", "sv")
"""Languages in Latin letters that are told apart, besides English; a text in any other one counts
as English.
"""

_OF_SCRIPT: Mapping[Script, str] = {
    "cyrillic": "ru", "arabic": "ar", "hebrew": "he", "indic": "hi", "greek": "el", "hangul": "ko", "cjk": "zh",
    "thai": "th",
}  # fmt: skip
_FIRST = "\u0370"
"""The first letter that is not Latin."""

STOP_WORDS = Path(__file__).with_name("stop_words.txt")
"""The file of the words that say nothing, a line for each language."""

_ALSO = {"ja": "zh"}
_ALSO_ENGLISH = frozenset({
    "no", "not", "yes", "oh", "got", "get", "like", "one", "two", "use", "used", "uses", "set", "let", "via", "new",
    "also", "run", "see", "per", "com", "org", "www", "http", "un", "al", "col", "ai", "aura", "bin", "come", "comment",
    "contra", "dig", "dir", "door", "dove", "era", "fast", "font", "hen", "io", "logo", "mag", "mai", "men", "min",
    "mon", "pendant", "plus", "prima", "sea", "sera", "solo", "state", "till", "ton", "var", "vi", "want", "word",
})  # fmt: skip
"""Words of English texts that are function words elsewhere, or stand in English beside few others."""
_HINTS = {
    "de": "äöüß", "fr": "éèêàçâîôûœ", "es": "ñáíóúé¿", "it": "èàòùì", "pt": "ãõçáâêé", "nl": "ëï", "sv": "åäö"
}  # fmt: skip
"""Letters that speak for a language whose words a text has."""

_WORD = 60
"""What a function word counts, and as much again, shared by the languages that have it; whole
numbers add up alike.
"""

_LETTER = 30
"""What one counts that is a single letter."""

_HINTED = {
    letter: [name for name, some in _HINTS.items() if letter in some]
    for letter in "".join(_HINTS.values())
}
_HINT = 90
"""What a letter counts that only one language has."""

_AHEAD = 90
"""What another language needs more than English where a text has words of both."""

_ALONE = 130
_FEW = 8
"""What one needs in a text of few words without an English one, and how many are few: a function
word and a letter.

A function word alone may be a name or an abbreviation in an English title ("Los Angeles", "MIT
license").
"""

_ENOUGH = 180
"""What a language needs: two words that it shares with another one, or one of its own and its
letters.
"""


def language_of_word(word: str) -> str:
    """Return the language that a word has by the script of its first letter; nothing for one in
    Latin letters.
    """
    return "" if word < _FIRST else _language_of_letter(word[0])


@lru_cache(1 << 14)
def _language_of_letter(letter: str) -> str:
    return _OF_SCRIPT.get(script_of(letter), "")


def latin_language(text: str, words: Iterable[str]) -> str:
    """Return the language of a text in Latin letters, told by its words; nothing where it cannot be
    told.

    It takes two function words, or one and letters that fit; one that other languages do not have
    counts more.
    """
    known, said = _languages_of(), frozenset(words)
    # Most texts are English, and this is all that is asked of them.
    if said.isdisjoint(_not_english()):
        return "" if said.isdisjoint(known) else ENGLISH
    found = [(word, known[word]) for word in said if word in known]
    counts = dict.fromkeys((ENGLISH, *LATIN), 0)
    for word, languages in found:
        for language in languages:
            counts[language] += _WORD + _WORD // len(languages) if len(word) > 1 else _LETTER
    if not text.isascii():
        lower = set(text.lower())
        for language, hints in _HINTS.items():
            if counts[language]:
                counts[language] += sum(
                    _HINT // len(_HINTED[letter]) for letter in lower.intersection(hints)
                )
    best = max(counts, key=lambda language: counts[language])
    if counts[ENGLISH] and counts[best] - counts[ENGLISH] < _AHEAD:
        return ENGLISH
    enough = _ENOUGH if counts[ENGLISH] or len(said) > _FEW else _ALONE
    return best if counts[best] >= enough else ""


@cache
def stop_words(language: str = ENGLISH) -> frozenset[str]:
    """Return the words, as `split` has them, that say nothing in a language; full text ignores them
    outside quotes.
    """
    return frozenset(split(_stop_lines()[language]))


@cache
def _stop_lines() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for line in STOP_WORDS.read_text("utf-8").splitlines():
        language, _, some = line.partition(" ")
        language = _ALSO.get(language, language)
        found[language] = f"{found.get(language, '')} {some}"
    return found


def only_stop_words(text: str) -> bool:
    """Tell whether full text finds nothing by a text, since it has only words that are in every
    text.
    """
    said = split(text)
    language = latin_language(text, said) or ENGLISH
    return all(word in stop_words(language_of_word(word) or language) for word in said)


@cache
def _languages_of() -> Mapping[str, tuple[str, ...]]:
    """Return the languages, of those in Latin letters, in which each function word is one."""
    found: dict[str, list[str]] = {}
    for language in (ENGLISH, *LATIN):
        for word in (*stop_words(language), *(_ALSO_ENGLISH if language == ENGLISH else ())):
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}


@cache
def _not_english() -> frozenset[str]:
    return frozenset(
        word for word, languages in _languages_of().items() if ENGLISH not in languages
    )
