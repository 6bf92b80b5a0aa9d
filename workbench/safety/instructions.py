"""Text that reads as an order to an agent, found by the rules of `instructions.toml` in it and
behind its disguises.

A phrase becomes an expression of words with bounded gaps between them, which is compiled for the
first text that has the words it cannot do without. Whatever stands between words (spaces, line
ends, Markdown, brackets, commas) counts as a space.
"""

import binascii
import re
import tomllib
from base64 import b32decode
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from workbench.core.safety import Finding
from workbench.safety.folding import Folded, compiled, fold_char, folded, replaced

MOST = 20
"""Places that are reported of one rule in one text."""


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("instructions.toml").read_text("utf-8"))


class Rule(NamedTuple):
    """One kind of order, as its table in the file has it."""

    name: str
    reason: str
    phrases: "Sequence[Phrase]" = ()
    marks: Sequence[Mapping[str, Any]] = ()
    imperative: bool = False
    negatable: bool = False
    comments: bool = False
    encoded: bool = False
    squeezed: str = ""


@cache
def rules() -> tuple[Rule, ...]:
    return tuple(
        Rule(**{**one, "phrases": tuple(map(Phrase, one.get("phrases", "").splitlines()))})
        for one in _data()["rule"]
    )


@cache
def _known(name: str) -> frozenset[str]:
    """Return the words of one of the lists of the file."""
    return frozenset(_data()[name].split())


# Phrases: words, and what a text must hold for one to be looked for.


_START = r"(?<![^\W_])"
_END = r"(?![^\W_])(?:\.[^\W_]++)*+"
_SPACE = r"(?:[^\w.!?;]|_)++\.?+"
_ANY_SPACE = r"(?:\W|_)++"
_WORD = rf"[^\W_]++(?:\.[^\W_]++)*+{_SPACE}"
_ANY_WORD = rf"[^\W_]++{_ANY_SPACE}"

SPECIAL = {
    "{url}": (":", r"(?:https?|s?ftps?|hxxps?|wss?)\s?:"),
    "{mail}": ("@", r"[\w.+\-]{1,64}@[\w\-]{1,63}\.\w"),
    "{host}": (
        ".",
        r"(?:[\w\-]{1,63}\.){1,4}(?:com|net|org|io|dev|sh|ru|cn|xyz|top|info|example|test)(?![\w.])",
    ),
    "{number}": ("", r"\d{1,6}"),
}
"""Classes that are patterns, and what a text with one holds."""

_WORDS_ALONE = str.maketrans({chr(n): " " for n in range(128) if not chr(n).isalnum()})


def words_of(text: str) -> list[str]:
    """Return the words of a folded text, in order."""
    return text.translate(_WORDS_ALONE).split() if text.isascii() else re.findall(r"[^\W_]+", text)


class Phrase:
    """A phrase of a rule; `needs` are words and pieces of text, of each of which a text must hold
    one.
    """

    def __init__(self, phrase: str) -> None:
        self.items = phrase.split()
        needs = [_needed(item) for item in self.items if item[0] not in "~!:" and item[-1] != "?"]
        self.needs = sorted(needs, key=lambda need: (len(need[1]), len(need[0])))

    def may_be_in(self, text: str, words: AbstractSet[str]) -> bool:
        """Tell whether a folded text, whose words are `words`, holds what the phrase cannot do
        without.
        """
        for need, pieces in self.needs:
            if need.isdisjoint(words) and not any(piece in text for piece in pieces):
                return False
        return True

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        parts = [_START]
        space = ""
        for item in self.items:
            if item[0] == "~":
                is_any = item.startswith("~~")
                word = _ANY_WORD if is_any else _WORD
                parts.append(
                    f"{_ANY_SPACE if space and is_any else space}(?:{word}){{0,{item.strip('~')}}}?"
                )
                space = ""
            elif item[0] == "!":
                parts.append(f"(?!{space}{_alternatives(item[1:])})")
            elif item == ":":
                parts.append(r"\W{0,4}?:")
            elif item[-1] == "?":
                pattern = _alternatives(item[:-1])
                parts.append(f"(?:{space}{pattern})?" if space else f"(?:{pattern}{_SPACE})?")
            else:
                parts.append(space + _alternatives(item))
                space = _SPACE
        return re.compile("".join(parts))


@cache
def _members(item: str) -> tuple[str, ...]:
    """Return the words and groups of words that an item stands for, as folded texts have them."""
    names = [name for name in item.split("|") if name not in SPECIAL]
    members = [
        m
        for name in names
        for m in (_class(name[1:-1]) if name[0] == "{" else [name.replace("_", " ")])
    ]
    return tuple(member if member.isascii() else folded(member).text for member in members)


@cache
def _class(name: str) -> list[str]:
    return [word.strip() for word in _data()["words"][name].split(",")]


@cache
def _needed(item: str) -> tuple[frozenset[str], tuple[str, ...]]:
    words = frozenset(m if m.isalpha() else max(words_of(m), key=len) for m in _members(item))
    return words, tuple(SPECIAL[name][0] for name in item.split("|") if name in SPECIAL)


def _alternatives(item: str) -> str:
    """Return the pattern of an item: the longer members first, so that none hides behind its
    beginning.
    """
    split = (
        [r"[\W_]{0,2}".join(words_of(piece)) for piece in member.split()]
        for member in _members(item)
    )
    members = sorted(map(_SPACE.join, split), key=len, reverse=True)
    found = [SPECIAL[name][1] for name in item.split("|") if name in SPECIAL]
    if members:
        found.append(f"(?:{'|'.join(members)}){_END}")
    return f"(?:{'|'.join(found)})"


@cache
def _mark(pattern: str) -> re.Pattern[str]:
    return re.compile(
        re.sub(r"\(\?&(\w+)\)", lambda part: f"(?:{_data()['parts'][part[1]]})", pattern)
    )


def prepare() -> None:
    """Make the patterns of all rules ready, which are otherwise made for the first text that may
    match them.
    """
    for rule in rules():
        for phrase in rule.phrases:
            assert phrase.pattern
        for mark in rule.marks:
            _mark(mark["pattern"])


# A text, and as it reads without the disguises it seems to wear.


def find(text: str) -> list[Finding]:
    """Return the orders in a text, each rule once at a place."""
    return _find(text, 0)


def _find(text: str, depth: int) -> list[Finding]:
    found: list[Finding] = []
    plain = folded(text)
    words = words_of(plain.text)
    for rule, start, end in (*_judged(plain.text, words), *_hidden_parts(plain.text)):
        _add(found, rule, *plain.place(start, end))
    for view, is_joined in _views(plain, words):
        for rule, start, end in (
            _squeezed(view.text) if is_joined else _judged(view.text, words_of(view.text))
        ):
            _add(found, rule, *view.place(start, end))
    if depth < 2:  # a text within an encoded text is decoded as well
        encoded = next(rule for rule in rules() if rule.encoded)
        for start, end in _encoded(text, depth):
            _add(found, encoded, start, end)
    return found


def _add(found: list[Finding], rule: Rule, start: int, end: int) -> None:
    """Add a finding, unless that place is known for it: what a view shows again is not one more."""
    same = [one for one in found if one.rule == rule.name]
    if len(same) < MOST and not any(start < other.end and other.start < end for other in same):
        found.append(Finding("injection", rule.name, rule.reason, start, end))


Judged = tuple[Rule, int, int]


def _judged(text: str, words: Collection[str]) -> Iterator[Judged]:
    """Yield the rule and the span of every order in a folded text that is what it looks like."""
    present = set(words)
    phrases, waiting = _waiting()
    found: list[Judged] = []
    for number in sorted({number for word in waiting.keys() & present for number in waiting[word]}):
        rule, phrase = phrases[number]
        if phrase.may_be_in(text, present):
            spans = (match.span() for match in phrase.pattern.finditer(text))
            found += [
                (rule, *span) for span in spans if not rule.imperative or _leads(text, span[0])
            ]
    unwrapped = ""
    for rule in rules():
        for mark in rule.marks:
            if any(hint in text for hint in mark["hints"]):
                unwrapped = unwrapped or compiled(_WRAPPED).sub(" ", text)
                for lines in dict.fromkeys((text, unwrapped)):
                    found += [
                        (rule, *match.span()) for match in _mark(mark["pattern"]).finditer(lines)
                    ]
    for rule, start, end in found:
        if not (rule.negatable and _negated(text, start)):
            yield rule, start, end


@cache
def _waiting() -> tuple[list[tuple[Rule, Phrase]], dict[str, list[int]]]:
    """Return the phrases that may stand anywhere, and by word the numbers of those that need it or
    one like it.
    """
    phrases = [(rule, phrase) for rule in rules() if not rule.comments for phrase in rule.phrases]
    waiting: dict[str, list[int]] = {}
    for number, (_, phrase) in enumerate(phrases):
        for word in phrase.needs[0][0]:
            waiting.setdefault(word, []).append(number)
    return phrases, waiting


_GOES_ON = r"(?![\s>]{0,8}(?:[-*#+]\s|\d|\n|\Z))"
_WRAPPED = rf"[\r\n](?:(?=[\r\n]{_GOES_ON})|{_GOES_ON})"
"""One character of a line end, or of two, behind which neither an item of a list nor an empty line
begins.
"""

_BEFORE = 48


def _leads(text: str, start: int) -> bool:
    """Tell whether an order can begin at a place: at the start of a sentence, or behind a word that
    leads to one.
    """
    before = text[max(0, start - _BEFORE) : start]
    stripped = before.rstrip(" \t\"'`*_>#-([{~\\/=|")
    if not stripped or stripped[-1] in ".!?:;,\n\r)]}>&…-":
        return True
    word = stripped.split()[-1].strip("\"'`*_([{,")
    return word in _known("leads") or word.endswith("ly") or not word.isalpha()


def _negated(text: str, start: int) -> bool:
    """Tell whether what begins at a place is forbidden: "never", "do not" stand shortly before in
    the sentence.
    """
    before = re.split(r"[.!?;:]\s|\n\s*\n", text[max(0, start - _BEFORE) : start])[-1]
    return not _known("not").isdisjoint(re.findall(r"[^\W_]+(?:['’][^\W_]+)?", before)[-4:])


_HIDERS = (
    (r"<!--", "-->"),
    (r"\[[^\]\n]{1,40}\]:\s{1,4}(?:#|<>)\s{0,4}[(\"']", "\n"),
    (r"\{#(?=\s)", "#}"),
    (r"\{\{!", "}}"),
    (r"/\*", "*/"),
    (
        r"<\w{1,12}\b[^<>]{0,200}?(?:\bhidden\b|display\s?:\s?none|font-size\s?:\s?0|visibility\s?:\s?hidden|"
        r"opacity\s?:\s?0|color\s?:\s?(?:white|transparent|#fff))[^<>]{0,200}>",
        "</",
    ),
)
"""What hides a text on a page: how it begins, how it ends."""


def _hidden_parts(text: str) -> Iterator[Judged]:
    """Yield the hidden parts of a folded text that hold orders; one that is not closed goes to the
    end.
    """
    for begin, close in _HIDERS:
        at = 0
        while (match := compiled(begin).search(text, at)) is not None:
            at = text.find(close, match.end())
            at = len(text) if at < 0 else at + len(close)
            inner = text[match.end() : at]
            words = set(words_of(inner))
            for rule in rules():
                if rule.comments and any(
                    p.may_be_in(inner, words) and p.pattern.search(inner) for p in rule.phrases
                ):
                    yield rule, match.start(), at


_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_TURNS = {by: str.maketrans(_ALPHABET, _ALPHABET[by:] + _ALPHABET[:by]) for by in range(1, 26)}
_LEET = str.maketrans("0134578", "oieastb")
_WRITTEN = (
    r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});|(?:%[0-9a-f]{2}){1,16}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|"
    r"(?<=[^\W_])(?:\*{1,3}|~~|``?|</?[a-z]{1,6}>|<!--[^<>]{0,40}-->|-[ \t]{0,4}\r?\n\s{0,8}|\\\r?\n)(?=[^\W_])"
)
"""Escapes, and marks within a word."""
_LETTERS = r"(?<![^\W_])[^\W_](?:[ .\-_*|/,·][^\W_](?![^\W_])){2,}"
"""Every second character of a match is one that stands between two letters."""


def _views(plain: Folded, words: list[str]) -> Iterator[tuple[Folded, bool]]:
    """Yield the text as it reads without disguises it seems to wear, and whether the spaces between
    words are lost.
    """
    unescaped = replaced(plain, re.compile(_WRITTEN), lambda written: _meaning(written.group()))
    if unescaped is not None and unescaped.text != plain.text:
        yield unescaped, False
    yield from ((view, False) for view in _respelled(plain, words))
    sizes = list(map(len, words))
    if sizes.count(1) >= 8:
        view = replaced(plain, re.compile(_LETTERS), lambda letters: letters.group()[::2])
        if view is not None:
            yield view, False
            yield view, True
    if max(sizes, default=0) >= 16:
        yield plain, True


def _meaning(written: str) -> str:
    """Return what an escape stands for in a folded text; nothing for a mark within a word."""
    if written[0] == "&":
        from html import unescape

        return folded(unescape(written)).text or " "
    if written[0] == "%":
        return (
            folded(bytes.fromhex(written.replace("%", "")).decode("utf-8", "replace")).text or " "
        )
    if written[0] == "\\" and written[1] in "ux":
        return fold_char(chr(int(written[2:], 16))) or " "
    return ""


def _respelled(plain: Folded, words: list[str]) -> Iterator[Folded]:
    """Yield the text with digits read as letters, with its letters turned back, and from its end."""
    mixed = [word for word in words if not word.isalpha() and not word.isdecimal()]
    if len(mixed) >= 2 and len(mixed) * 6 >= len(words):
        read = {word.translate(_LEET) for word in mixed if len(word) >= 4}
        if not read.isdisjoint(_needed_words()):
            yield plain._replace(text=plain.text.translate(_LEET))
    turned, back = _telling()
    present = set(words)
    told = Counter(by for word in turned.keys() & present for by in turned[word])
    for by, count in told.most_common(3):
        if count >= 2:
            yield plain._replace(text=plain.text.translate(_TURNS[26 - by]))
    if len(back & present) >= 2:
        yield Folded(plain.text[::-1], plain.starts[::-1], plain.ends[::-1])


@cache
def _needed_words() -> frozenset[str]:
    return _known("telling").union(
        *(need for rule in rules() for phrase in rule.phrases for need, _ in phrase.needs)
    )


@cache
def _telling() -> tuple[Mapping[str, list[int]], frozenset[str]]:
    """Return how words that orders hold look turned, and by how many letters, and how they look
    read backwards.

    A short word turned may well be another word; thirteen is what people turn by, so all count.
    """
    telling = _known("telling")
    turned: dict[str, list[int]] = {}
    for by, table in _TURNS.items():
        for word in telling:
            if (by == 13 or len(word) >= 5) and (written := word.translate(table)) not in telling:
                turned.setdefault(written, []).append(by)
    return turned, frozenset(word[::-1] for word in telling) - telling


def _squeezed(text: str) -> Iterator[Judged]:
    """Yield the orders in a folded text whose spaces are gone."""
    for rule in rules():
        if rule.squeezed:
            yield from ((rule, *match.span()) for match in compiled(rule.squeezed).finditer(text))


_BASE64 = r"[A-Za-z0-9+/_\-]{16,}={0,2}(?:\s{1,4}[A-Za-z0-9+/_\-]{16,}={0,2})*+"


def _encoded(text: str, depth: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that hold an order when they are decoded."""
    for match in compiled(_BASE64).finditer(text):
        code = match.group()[:65_536]
        if len(code) >= 24 and any(_find(inner, depth + 1) for inner in _decoded(code)):
            yield match.span()


def _decoded(code: str) -> Iterator[str]:
    """Yield what a run of letters and digits may stand for: hexadecimal, Base32, Base64 of either
    alphabet.
    """
    joined = re.sub(r"\s+", "", code).rstrip("=")
    found = []
    with suppress(binascii.Error):
        if re.fullmatch(r"[A-Z2-7]+", joined):
            found.append(b32decode(joined + "=" * (-len(joined) % 8)))
    if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", joined):
        found.append(bytes.fromhex(joined))
    with suppress(binascii.Error):
        standard = joined.replace("-", "+").replace("_", "/")
        found.append(binascii.a2b_base64(standard + "=" * (-len(standard) % 4)))
    for data in found:
        with suppress(UnicodeDecodeError):
            text = data.decode("utf-8")
            if all(char.isprintable() or char.isspace() for char in text):
                yield text
