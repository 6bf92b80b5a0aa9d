"""Text that reads as an order to an agent, found by the rules of `orders.rules` in it and behind its disguises."""

import binascii
import re
import sys
from base64 import b32decode
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import cache, lru_cache
from operator import itemgetter
from pathlib import Path

from workbench.core.safety import Finding
from workbench.safety.folding import Folded, compiled, fold_char, folded, replaced, reversed_text
from workbench.safety.orders.phrases import Phrase, parsed, words_of
from workbench.safety.orders.rules import (
    COMMENT,
    COMMENT_PHRASES,
    COMMON,
    LEADS,
    NOT,
    RULES,
    SQUEEZED,
    WORDS,
    Mark,
    OrderRule,
)
from workbench.safety.repeated import of_repeated

# Which phrases of the order rules a text can hold, told from its words before any of them is parsed.
#
# A hook lives for a tenth of a second, and parsing all phrases takes a good part of it. `order_words.txt` says for
# each
# word which phrases wait for it: a line is the word and the numbers of the phrases, counted over all rules in their
# order. It is built again, whenever a rule changes, with
#
# python -m workbench.safety.orders.orders > workbench/safety/orders/order_words.txt


FILE = "order_words.txt"


def phrases_for(words: AbstractSet[str]) -> Iterator[tuple[OrderRule, Phrase]]:
    """Yield the phrases that a text with these words may hold, in the order of the rules."""
    index = _index()
    wanted = {int(number) for word in index.keys() & words for number in index[word].split()}
    yield from map(phrase_at, sorted(wanted))


def is_waited_for(word: str) -> bool:
    """Tell whether a phrase waits for a word."""
    return word in _index()


@cache
def longest_waited_for() -> int:
    """Return the length of the longest word that a phrase waits for."""
    return max(map(len, _index()))


@cache
def phrase_at(number: int) -> tuple[OrderRule, Phrase]:
    """Return the phrase with this number and its rule; raises `IndexError` when there is none."""
    rule, phrase = _all()[number]
    return rule, parsed(phrase, WORDS)


def phrases() -> Iterator[Phrase]:
    yield from (phrase_at(number)[1] for number in range(len(_all())))


Waiting = tuple[tuple[OrderRule, Mark], ...]
"""Marks that wait behind one piece of text, each with its rule."""


@cache
def all_marks() -> tuple[Waiting, ...]:
    """Return the marks of all rules, as `marks_for` does."""
    return tuple(waiting for _, _, _, waiting in _hinted())


def marks_for(text: str, words: AbstractSet[str]) -> Iterator[Waiting]:
    """Yield the marks that a folded text with these different words may hold: those whose piece of text it holds.

    The longest word of the piece, or the part of one, is looked for among the different words: those are few, however
    long the text is. Before that the text is asked for the other characters of the pieces, most of which it lacks.
    """
    vocabulary = " ".join(words)
    lacks = {char for char in _signs() if char not in text}
    held: dict[str, bool] = {}
    for hint, signs, longest, waiting in _hinted():
        if not lacks.isdisjoint(signs):
            continue
        if longest not in held:
            held[longest] = longest in vocabulary
        if held[longest] and (hint == longest or hint in text):
            yield waiting


@cache
def _hinted() -> tuple[tuple[str, frozenset[str], str, Waiting], ...]:
    """Return pieces of text with the characters in them that are in no word, their longest word, and what waits."""
    found: dict[str, list[tuple[OrderRule, Mark]]] = {}
    for rule in RULES:
        for mark in rule.marks:
            for hint in mark.hints:
                found.setdefault(hint, []).append((rule, mark))
    return tuple(
        (hint, frozenset(char for char in hint if not char.isalnum() and not char.isspace()), longest, tuple(marks))
        for hint, marks in found.items()
        for longest in (max(words_of(hint), key=len, default=""),)
    )


@cache
def _signs() -> frozenset[str]:
    return frozenset().union(*(signs for _, signs, _, _ in _hinted()))


def build() -> Iterator[str]:
    """Yield the lines of the file; a phrase waits for the words of which the fewest, and no common ones, are enough."""
    found: dict[str, list[int]] = {}
    for number in range(len(_all())):
        needs = phrase_at(number)[1].needs
        for word in min(needs, key=lambda need: (len(need & COMMON), len(need), sorted(need))):
            found.setdefault(word, []).append(number)
    yield from (f"{word}\t{' '.join(map(str, numbers))}" for word, numbers in sorted(found.items()))


@cache
def _all() -> tuple[tuple[OrderRule, str], ...]:
    return tuple((rule, phrase) for rule in RULES for phrase in rule.phrases)


@cache
def _index() -> Mapping[str, str]:
    """Return the numbers of the phrases that wait for each word, as they stand in the file."""
    lines = Path(__file__).with_name(FILE).read_text("utf-8").splitlines()
    return {word: numbers for word, _, numbers in (line.partition("\t") for line in lines)}


if __name__ == "__main__":  # pragma: no cover - run by hand when a rule changes
    sys.stdout.write("\n".join(build()) + "\n")


MOST = 20
"""Places that are reported of one rule in one text."""

_ENCODED = ("encoded order", "It holds an order that is written so that a person does not read it.")

_REMEMBERED = 1 << 12
"""Escapes whose meaning is remembered."""

_DEPTH = 2
"""How often a text within an encoded text is decoded."""


def prepare() -> None:
    """Make the patterns of all rules ready, which are otherwise made for the first text that may match them."""
    for phrase in (*phrases(), *_comment_phrases()):
        phrase.pattern()
    for waiting in all_marks():
        for _, mark in waiting:
            for pattern in filter(None, (mark.pattern, mark.before, mark.after)):
                compiled(pattern)


def find(text: str) -> Iterator[Finding]:
    """Yield the orders in a text, each rule once at a place."""
    yield from _find(text, 0)


def _find(text: str, depth: int) -> Iterator[Finding]:
    plain = folded(text)
    words = words_of(plain.text)
    found = _Found()
    for rule, start, end in (*_judged(plain.text, words), *_hidden_parts(plain.text)):
        found.add(rule, plain, start, end)
    for view, joined in _views(plain, words):
        judged = _squeezed(view.text) if joined else _judged(view.text, words_of(view.text))
        for rule, start, end in judged:
            found.add(rule, view, start, end)
    if depth < _DEPTH:
        for start, end in _encoded(text, depth):
            found.put(_ENCODED, start, end)
    yield from found.findings


class _Found:
    """The findings of one text: what a view shows again is not one more."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._of: dict[str, list[Finding]] = {}

    def add(self, rule: tuple[str, str], view: Folded, start: int, end: int) -> None:
        """Add a span of a view, unless that place is known for it."""
        if len(self._of.get(rule[0], ())) < MOST:
            self.put(rule, *view.place(start, end))

    def put(self, rule: tuple[str, str], start: int, end: int) -> None:
        """Add a span of the text itself."""
        known = self._of.setdefault(rule[0], [])
        if len(known) < MOST and not any(start < other.end and other.start < end for other in known):
            finding = Finding("injection", *rule, start, end)
            known.append(finding)
            self.findings.append(finding)


Judged = tuple[tuple[str, str], int, int]


def _judged(text: str, words: Sequence[str]) -> Iterator[Judged]:
    """Yield the rule and the span of every order in a folded text that is what it looks like."""
    present = set(words)
    for rule, phrase in phrases_for(present):
        if phrase.may_be_in(text, present):
            spans = (span for span in phrase.find(text) if _counts(rule, text, span[0]))
            yield from ((rule[:2], *span) for span in _first(spans))
    marks: dict[int, tuple[OrderRule, Mark]] = {}
    for waiting in marks_for(text, present):
        marks.update((id(mark), (rule, mark)) for rule, mark in waiting)
    unwrapped = compiled(_WRAPPED).sub(" ", text) if marks and "\n" in text else text
    for rule, mark in marks.values():
        for lines in (text, unwrapped) if unwrapped != text else (text,):
            spans = (span for span in _marked(mark, lines) if not rule.negatable or not _negated(text, span[0]))
            yield from ((rule[:2], *span) for span in _first(spans))


_GOES_ON = r"(?![\s>]{0,8}(?:[-*#+]\s|\d|\n|\Z))"
_WRAPPED = rf"[\r\n](?:(?=[\r\n]{_GOES_ON})|{_GOES_ON})"
"""One character of a line end, or of two, behind which neither an item of a list nor an empty line begins."""


def _first(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for _, span in zip(range(MOST), spans, strict=False):
        yield span


def _marked(mark: Mark, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a mark stands; what must be near it is looked for once, so that the work grows with the text only."""
    before: list[tuple[int, int]] | None = None
    after: list[tuple[int, int]] | None = None
    for match in compiled(mark.pattern).finditer(text):
        start, end = match.span()
        if mark.before:
            if before is None:
                before = [near.span() for near in compiled(mark.before).finditer(text)]
            if not before:
                return
            at = bisect_right(before, start, key=itemgetter(1)) - 1
            if at < 0 or not _near(mark, text, before[at][1], start):
                continue
            start = before[at][0]
        if mark.after:
            if after is None:
                after = [near.span() for near in compiled(mark.after).finditer(text)]
            at = bisect_left(after, (match.start(), 0))
            if at == len(after):
                return
            if not _near(mark, text, end, after[at][0]):
                continue
            end = max(end, after[at][1])
        yield start, end


def _near(mark: Mark, text: str, end: int, start: int) -> bool:
    """Tell whether `start` is close enough behind `end`, with nothing between that parts them."""
    if start <= end:
        return True
    return start - end <= mark.reach and not any(text.find(char, end, start) >= 0 for char in mark.stop)


_BEFORE = 48


def _counts(rule: OrderRule, text: str, start: int) -> bool:
    """Tell whether a phrase of a rule orders something where it stands."""
    if rule.imperative and not _leads(text, start):
        return False
    return not (rule.negatable and _negated(text, start))


def _leads(text: str, start: int) -> bool:
    """Tell whether an order can begin at a place: at the start of a sentence, or behind a word that leads to one."""
    before = text[max(0, start - _BEFORE) : start]
    stripped = before.rstrip(" \t\"'`*_>#-([{~\\/=|")
    if not stripped or stripped[-1] in ".!?:;,\n\r)]}>&…-":
        return True
    word = stripped.split()[-1].strip("\"'`*_([{,")
    return word in LEADS or word.endswith("ly") or not word.isalpha()


def _negated(text: str, start: int) -> bool:
    """Tell whether what begins at a place is forbidden: "never", "do not" stand shortly before in the sentence."""
    before = re.split(r"[.!?;:]\s|\n\s*\n", text[max(0, start - _BEFORE) : start])[-1]
    return any(word in NOT for word in re.findall(r"[^\W_]+(?:['’][^\W_]+)?", before)[-4:] if word != "must")


@cache
def _comment_phrases() -> tuple[Phrase, ...]:
    return tuple(parsed(phrase, WORDS) for phrase in COMMENT_PHRASES)


_STYLE = (
    r"<\w{1,12}\b[^<>]{0,200}?(?:\bhidden\b|display\s?:\s?none|font-size\s?:\s?0|visibility\s?:\s?hidden|opacity\s?:\s?0|"
    r"color\s?:\s?(?:white|transparent|#fff))[^<>]{0,200}>"
)
_HIDERS: tuple[tuple[str, str, str], ...] = (
    ("<!--", r"<!--", "-->"),
    ("]: ", r"\[[^\]\n]{1,40}\]:\s{1,4}(?:#|<>)\s{0,4}[(\"']", "\n"),
    ("{#", r"\{#(?=\s)", "#}"),
    ("{{!", r"\{\{!", "}}"),
    ("/*", r"/\*", "*/"),
    ("hidden", _STYLE, "</"),
    ("none", _STYLE, "</"),
    ("font", _STYLE, "</"),
    ("opacity", _STYLE, "</"),
    ("color", _STYLE, "</"),
)
"""What hides a text on a page: a hint, how it begins, how it ends."""


def _hidden_parts(text: str) -> Iterator[Judged]:
    """Yield the hidden parts of a folded text that hold orders; one that is not closed goes to the end."""
    done: set[str] = set()
    for hint, begin, close in _HIDERS:
        if hint not in text or begin in done:
            continue
        done.add(begin)
        at = 0
        while (match := compiled(begin).search(text, at)) is not None:
            end = text.find(close, match.end())
            end = len(text) if end < 0 else end + len(close)
            if _orders_in_comment(text[match.end() : end]):
                yield COMMENT, match.start(), end
            at = end


@of_repeated
def _orders_in_comment(inner: str) -> bool:
    words = set(words_of(inner))
    return any(True for phrase in _comment_phrases() if phrase.may_be_in(inner, words) for _ in phrase.find(inner))


_MIXED = r"[a-z][0134578]|[0134578][a-z]"
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_TURNS = {by: str.maketrans(_ALPHABET, _ALPHABET[by:] + _ALPHABET[:by]) for by in range(1, 26)}
_LEET = str.maketrans("0134578", "oieastb")
_ENTITY = r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});"
_PERCENT = r"(?:%[0-9a-f]{2}){1,16}"
_ESCAPED = r"\\u[0-9a-f]{4}|\\x[0-9a-f]{2}"
_INSIDE = r"(?<=[^\W_])(?:\*{1,3}|~~|``?|</?[a-z]{1,6}>|<!--[^<>]{0,40}-->|-[ \t]{0,4}\r?\n\s{0,8}|\\\r?\n)(?=[^\W_])"
"""A mark within a word."""

_WRITTEN = f"{_ENTITY}|{_PERCENT}|{_ESCAPED}|{_INSIDE}"
_WRITTEN_HINTS = ("&", "%", "*", "~~", "`", "<", "-\n", "-\r", "- \n", "\\")
# Every second character of a match is one that stands between two letters.
_LETTERS = r"(?<![^\W_])[^\W_](?:[ .\-_*|/,·][^\W_](?![^\W_])){2,}"


def _views(plain: Folded, words: Sequence[str]) -> Iterator[tuple[Folded, bool]]:
    """Yield the text as it reads without disguises it seems to wear, and whether the spaces between words are lost."""
    unescaped = _unescaped(plain)
    if unescaped is not None:
        yield unescaped, False
    yield from ((view, False) for view in _respelled(plain, words))
    sizes = list(map(len, words))
    if sizes.count(1) >= 8:
        view = replaced(plain, compiled(_LETTERS), lambda m: m.group()[::2])
        if view is not None:
            yield view, False
            yield view, True
    if max(sizes, default=0) >= 16:
        yield plain, True


def _unescaped(plain: Folded) -> Folded | None:
    """Return the text with its escapes and the marks within its words resolved; `None` when it has none."""
    if not any(map(plain.text.__contains__, _WRITTEN_HINTS)):
        return None
    view = replaced(plain, compiled(_WRITTEN), _meant)
    return view if view is not None and view.text != plain.text else None


def _respelled(plain: Folded, words: Sequence[str]) -> Iterator[Folded]:
    """Yield the text with digits read as letters, with its letters turned back, and from its end."""
    text = plain.text
    if compiled(_MIXED).search(text) is not None:
        counted = {w: count for w, count in Counter(words).items() if not w.isalpha() and not w.isdecimal()}
        mixed = sum(counted.values())
        if mixed >= 2 and mixed * 6 >= len(words) and _tells(counted):
            yield Folded(text.translate(_LEET), None, plain)
    turned, back = _telling()
    present = set(words)
    told = Counter(by for word in turned.keys() & present for by in turned[word])
    for by, count in told.most_common(_MOST_TURNS):
        if count >= 2:
            yield Folded(text.translate(_TURNS[26 - by]), None, plain)
    if len(back & present) >= 2:
        yield reversed_text(plain)


def _tells(mixed: Iterable[str]) -> bool:
    """Tell whether a word of letters and digits is one that orders hold when its digits are read as letters."""
    longest = max(longest_waited_for(), _MOST_READ)
    known = (word.translate(_LEET) for word in mixed if _LEAST_READ <= len(word) <= longest)
    return any(word in _TELLING or is_waited_for(word) for word in known)


def _meant(match: re.Match[str]) -> str:
    return _meaning(match.group())


@lru_cache(maxsize=_REMEMBERED)
def _meaning(written: str) -> str:
    """Return what an escape stands for in a folded text; nothing for a mark within a word."""
    if written[0] == "&":
        from html import unescape

        return folded(unescape(written)).text or " "
    if written[0] == "%":
        return folded(bytes.fromhex(written.replace("%", "")).decode("utf-8", "replace")).text or " "
    if written[0] == "\\" and written[1] in "ux":
        return fold_char(chr(int(written[2:], 16))) or " "
    return ""


_TELLING_WORDS = (
    "ignore previous instructions instruction prompt disregard forget system send password passwords curl bash "
    "execute user secret secrets credentials keys policy rules agent agents assistant developer tell run your you "
    "the and systemprompt sistema anweisungen regeln alle instrucciones reglas instrucoes istruzioni regras "
    "usuario utente utilisateur nutzer contrasenas senhas passworter "
)


_TELLING = frozenset(_TELLING_WORDS.split())

_MOST_READ = max(map(len, _TELLING))

_LEAST_READ = 4
"""Letters of a word that tells of digits read as letters: chance makes shorter ones."""

_MOST_TURNS = 3
"""Turns of the alphabet in which a text is looked at, those that most words tell of: who turns letters does it once."""

_SURE = 5
"""Letters of a word from which on it is hardly another word turned; thirteen is what people turn by, so all count."""


@cache
def _telling() -> tuple[Mapping[str, tuple[int, ...]], frozenset[str]]:
    """Return how words that orders hold look turned, and by how many letters, and how they look read backwards."""
    turned: dict[str, tuple[int, ...]] = {}
    for by, table in _TURNS.items():
        for word in _TELLING:
            if (by == 13 or len(word) >= _SURE) and (written := word.translate(table)) not in _TELLING:
                turned[written] = (*turned.get(written, ()), by)
    return turned, frozenset(word[::-1] for word in _TELLING) - _TELLING


def _squeezed(text: str) -> Iterator[Judged]:
    """Yield the orders in a folded text whose spaces are gone."""
    for name, hints, pattern in SQUEEZED:
        if any(map(text.__contains__, hints)):
            rule = next(rule for rule in RULES if rule.rule == name)
            yield from ((rule[:2], *match.span()) for match in compiled(pattern).finditer(text))


_BASE64 = r"[A-Za-z0-9+/_\-]{16,}={0,2}(?:\s{1,4}[A-Za-z0-9+/_\-]{16,}={0,2})*+"
_LONGEST = 65_536


def _encoded(text: str, depth: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that hold an order when they are decoded."""
    if max(map(len, text.split()), default=0) < 16:
        return
    for match in compiled(_BASE64).finditer(text):
        if match.end() - match.start() >= 24 and _orders_in_code(match.group()[:_LONGEST], depth):
            yield match.span()


@of_repeated
def _orders_in_code(code: str, depth: int) -> bool:
    return any(any(_find(inner, depth + 1)) for inner in _decoded(code))


def _decoded(code: str) -> Iterator[str]:
    """Yield what a run of letters and digits may stand for: hexadecimal, Base32, Base64 of either alphabet."""
    joined = re.sub(r"\s+", "", code).rstrip("=")
    if re.fullmatch(r"[A-Z2-7]+", joined):
        with suppress(binascii.Error):
            yield from _readable(b32decode(joined + "=" * (-len(joined) % 8)))
    if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", joined):
        yield from _readable(bytes.fromhex(joined))
    standard = joined.replace("-", "+").replace("_", "/")
    try:
        yield from _readable(binascii.a2b_base64(standard + "=" * (-len(standard) % 4)))
    except binascii.Error:
        return


def _readable(data: bytes) -> Iterator[str]:
    """Yield the text that bytes are, when they are one that can be read."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    if sum(char.isprintable() or char.isspace() for char in text) == len(text):
        yield text
