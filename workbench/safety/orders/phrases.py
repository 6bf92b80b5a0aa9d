"""Phrases that rules are written in, and how they are found: words with bounded gaps, never a pattern that backtracks.

A phrase is a line of items with spaces between them, all of which must follow each other in one sentence:

    ignore|skip    one of these words; `_` stands for a space within one
    {former}       one of the words of the class "former" (see `order_rules.WORDS`); a class and words mix
    the?           what may be missing
    ~3             up to three other words; ~~3 goes on over the end of a sentence
    !of            the next word is not this one
    :              a colon

Whatever stands between words (spaces, line ends, Markdown, brackets, commas) counts as a space.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from workbench.safety.folding import folded

_START = r"(?<![^\W_])"
_END = r"(?![^\W_])(?:\.[^\W_]++)*+"
_SPACE = r"(?:[^\w.!?;]|_)++\.?+"
_ANY_SPACE = r"(?:\W|_)++"
_WITHIN = r"[\W_]{0,2}"
_WORD = rf"[^\W_]++(?:\.[^\W_]++)*+{_SPACE}"
_ANY_WORD = rf"[^\W_]++{_ANY_SPACE}"

SPECIAL: Mapping[str, str] = {
    "url": r"(?:https?|s?ftps?|hxxps?|wss?)\s?:",
    "mail": r"[\w.+\-]{1,64}@[\w\-]{1,63}\.\w",
    "host": r"(?:[\w\-]{1,63}\.){1,4}(?:com|net|org|io|dev|sh|ru|cn|xyz|top|info|example|test)(?![\w.])",
    "number": r"\d{1,6}",
}
"""Classes that are patterns."""

_HINTS: Mapping[str, tuple[str, ...]] = {"url": (":",), "mail": ("@",), "host": (".",)}

_WORDS_ALONE = str.maketrans({chr(n): " " for n in range(128) if not chr(n).isalnum()})


def words_of(text: str) -> list[str]:
    """Return the words of a folded text, in order."""
    return text.translate(_WORDS_ALONE).split() if text.isascii() else re.findall(r"[^\W_]+", text)


class Phrase(NamedTuple):
    """A phrase of a rule: `needs` are sets of words (or pieces of text, `hints`), of each of which a text holds one.

    Of each pair in `either` it holds a word or a piece of text. `pattern` returns what the phrase is found by, made
    when a text may match it for the first time.
    """

    phrase: str
    needs: tuple[frozenset[str], ...]
    hints: tuple[tuple[str, ...], ...]
    either: tuple[tuple[frozenset[str], tuple[str, ...]], ...]
    pattern: Callable[[], re.Pattern[str]]

    def may_be_in(self, text: str, words: AbstractSet[str]) -> bool:
        """Tell whether a folded text, whose words are `words`, holds what the phrase cannot do without."""
        for need in self.needs:
            if need.isdisjoint(words):
                return False
        if not all(any(map(text.__contains__, hints)) for hints in self.hints):
            return False
        return all(not need.isdisjoint(words) or any(map(text.__contains__, hints)) for need, hints in self.either)

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of the phrase in a folded text."""
        return (match.span() for match in self.pattern().finditer(text))


def parsed(phrase: str, classes: Mapping[str, tuple[str, ...]]) -> Phrase:
    """Return a phrase that can be looked for. Raises `KeyError` for a class that there is not."""
    needs: list[frozenset[str]] = []
    hints: list[tuple[str, ...]] = []
    either: list[tuple[frozenset[str], tuple[str, ...]]] = []
    known = _KNOWN.setdefault(id(classes), _Known(classes, {}, {}))
    for item in phrase.split():
        if item[0] in "~!:" or item.endswith("?"):
            continue
        asked = known.items.get(item)
        if asked is None:
            asked = known.items[item] = _asked(item, known)
        words, pieces = asked
        if words and pieces:
            either.append(asked)
        elif words:
            needs.append(words)
        else:
            hints.append(pieces)
    ranked = tuple(sorted(needs, key=len))
    return Phrase(phrase, ranked, tuple(hints), tuple(either), cache(lambda: re.compile(_pattern(phrase, classes))))


class _Known(NamedTuple):
    """What the items and the classes of one set of classes ask for: rules use the same few again and again."""

    classes: Mapping[str, tuple[str, ...]]
    items: dict[str, tuple[frozenset[str], tuple[str, ...]]]
    words: dict[str, frozenset[str]]


_KNOWN: dict[int, _Known] = {}
"""By the identity of the classes, which an entry keeps alive."""


def _asked(item: str, known: _Known) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the words and the pieces of text, of all of which an item needs one."""
    names = item.split("|")
    special = [name for name in names if name.startswith("{") and name.strip("{}") in SPECIAL]
    words = frozenset().union(*(_needed(name, known) for name in names if name not in special))
    return words, tuple(hint for name in special for hint in _HINTS.get(name.strip("{}"), ("",)))


def _needed(name: str, known: _Known) -> frozenset[str]:
    """Return the words of which a name in an item needs one: the longest one of each of its members."""
    found = known.words.get(name)
    if found is None:
        found = known.words[name] = frozenset(map(_longest, _members(name, known.classes)))
    return found


def _longest(member: str) -> str:
    """Return the longest word of a member of a class."""
    if member.isalpha() and member.isascii() and member.islower():
        return member
    return max(words_of(folded(member).text), key=len)


def _pattern(phrase: str, classes: Mapping[str, tuple[str, ...]]) -> str:
    parts: list[str] = [_START]
    space = ""
    for item in phrase.split():
        if item.startswith("~"):
            parts.append((_ANY_SPACE if space and item.startswith("~~") else space) + _gap(item))
            space = ""
        elif item.startswith("!"):
            parts.append(f"(?!{space}{_alternatives(item[1:], classes)})")
        elif item == ":":
            parts.append(r"\W{0,4}?:")
        elif item.endswith("?"):
            pattern = _alternatives(item[:-1], classes)
            parts.append(f"(?:{space}{pattern})?" if space else f"(?:{pattern}{_SPACE})?")
        else:
            parts.append(space + _alternatives(item, classes))
            space = _SPACE
    return "".join(parts)


def _gap(item: str) -> str:
    number = int(item.strip("~"))
    return f"(?:{_ANY_WORD if item.startswith('~~') else _WORD}){{0,{number}}}?"


def _alternatives(item: str, classes: Mapping[str, tuple[str, ...]]) -> str:
    """Return the pattern of an item: the longer words first, so that none hides behind its beginning.

    What ends a word is said once for all that follow each other: it is most of the pattern otherwise, and of the time
    that compiling one takes.
    """
    patterns: list[tuple[str, str]] = []
    for name in item.split("|"):
        special = SPECIAL.get(name.strip("{}")) if name.startswith("{") else None
        if special is not None:
            patterns.append((special, ""))
            continue
        for member in _members(name, classes):
            words = (_WITHIN.join(words_of(folded(piece).text)) for piece in member.split())
            patterns.append((_SPACE.join(words), _END))
    patterns.sort(key=lambda pattern: len(pattern[0]) + len(pattern[1]), reverse=True)
    runs = groupby(patterns, key=itemgetter(1))
    return f"(?:{'|'.join(f'(?:{_any(run)}){end}' if end else _any(run) for end, run in runs)})"


def _any(patterns: Iterable[tuple[str, str]]) -> str:
    return "|".join(pattern for pattern, _ in patterns)


def _members(name: str, classes: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return classes[name.strip("{}")] if name.startswith("{") else (name.replace("_", " "),)
