"""Which phrases of the order rules a text can hold, told from its words before any of them is parsed.

A hook lives for a tenth of a second, and parsing all phrases takes a good part of it. `order_words.txt` says for each
word which phrases wait for it: a line is the word and the numbers of the phrases, counted over all rules in their
order. It is built again, whenever a rule changes, with

    python -m workbench.safety.orders.index > workbench/safety/orders/order_words.txt
"""

import sys
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path

from workbench.safety.orders.phrases import Phrase, parsed, words_of
from workbench.safety.orders.rules import COMMON, RULES, WORDS, Mark, OrderRule

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
    """Yield every phrase of the rules."""
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
