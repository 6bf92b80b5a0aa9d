"""Stretches of a long text that are secrets one after the other: known by their beginnings, and one finding each.

A dump of ten thousands of keys is no text that anybody reads, and naming each of them costs many times what looking at
prose of its length does.
"""

from collections.abc import Callable, Iterator
from re import Match

from workbench.core.safety import Finding, secret
from workbench.safety.lowering import compiled

RULE = "run of secrets"
"""What a stretch is called."""

LONG = 65_536
"""Characters from which a text is looked at for crowds."""

STRETCH, BEGINNING, CROWD = 16_384, 1_024, 16
"""Characters of a stretch and of its beginning, and how many secrets in that make a crowd of it."""

_BEYOND = 500
"""Characters around a stretch in which its first secret begins and its last one ends: at a line end, else a space."""

_LINE, _SPACE = r"[\r\n]", r"\s"

Find = Callable[[str, str], list[Finding]]


def crowds(text: str, low: str, find: Find) -> list[Finding]:
    """Return the crowded stretches of a text, in order; `low` is the text in lower case, `find` finds the secrets."""
    return list(_crowds(text, low, find)) if len(text) >= LONG else []


def _crowds(text: str, low: str, find: Find) -> Iterator[Finding]:
    at = done = 0
    while at < len(text):
        beginning = slice(at, at + BEGINNING)
        if len(find(text[beginning], low[beginning])) < CROWD:
            at += STRETCH
            continue
        start, end = max(done, _start_of_word(text, at)), _end_of_word(text, at + STRETCH)
        yield secret(RULE, start, end)
        at = done = end


def _start_of_word(text: str, at: int) -> int:
    """Return where the line begins that a place stands in, or the word, or the place itself when neither is near."""
    head = text[max(0, at - _BEYOND) : at]
    for edge in (_LINE, _SPACE):
        ends = [found.end() for found in compiled(edge).finditer(head)]
        if ends:
            return at - len(head) + ends[-1]
    return at


def _end_of_word(text: str, at: int) -> int:
    """Return where the line ends that a place stands in, or the word, or the place itself when neither does soon."""
    for edge in (_LINE, _SPACE):
        found: Match[str] | None = compiled(edge).search(text, at, at + _BEYOND)
        if found is not None:
            return found.start()
    return min(at, len(text))


def blanked(text: str, found: list[Finding]) -> str:
    """Return a text of the same length with spaces where something was found."""
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], " " * (one.end - one.start)]
        at = one.end
    return "".join((*parts, text[at:]))
