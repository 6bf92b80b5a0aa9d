"""Looking around hints only, so that no text, however it is made, costs more than its length.

A pattern that is tried at every hint costs hints times reach. Within one unbroken word that is bounded by giving up
after some tries in vain: no word holds so many beginnings of keys and then a key.
"""

from collections.abc import Callable, Iterator
from re import ASCII, Match

from workbench.core.safety import Finding
from workbench.safety.lowering import compiled

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
