"""Characters that a person does not see and a language model reads, or that change what a terminal shows."""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from workbench.core.safety import Finding
from workbench.safety.lowering import compiled

_CONTROLS = "\x00-\x08\x0b\x0e-\x1f\x7f"
_ASCII = f"[{_CONTROLS}]+"
_JOINERS = "\u200c\u200d"
_MARKS = "\u200e\u200f\u061c"


class HiddenRule(NamedTuple):
    """One class of hidden characters."""

    rule: str
    chars: str
    reason: str


RULES = (
    HiddenRule(
        "control characters", f"{_CONTROLS}\x80-\x84\x86-\x9f", "It holds control characters that a terminal obeys."
    ),
    HiddenRule("tag characters", "\U000e0000-\U000e007f", "It holds tag characters, which can spell hidden text."),
    HiddenRule(
        "bidi characters",
        f"\u202a-\u202e\u2066-\u2069{_MARKS}",
        "It holds characters that change the direction, so that it reads otherwise than it is.",
    ),
    HiddenRule(
        "zero-width characters",
        f"\u200b\u2060-\u2065\ufeff\u180e\u034f\u115f\u1160\u3164\uffa0{_JOINERS}",
        "It holds characters that take no room and can hide or split words.",
    ),
    HiddenRule(
        "variation selectors",
        "\ufe00-\ufe0f\U000e0100-\U000e01ef",
        "It holds a row of variation selectors, which can spell hidden text.",
    ),
)

MOST = 100
"""Places that are reported of one rule in one text: whoever looks at that many sees what it is."""

_ANY = "[" + "".join(rule.chars for rule in RULES) + "]"


def find(text: str) -> Iterator[Finding]:
    """Yield runs of hidden characters; what emoji and scripts need to be written is none."""
    if text.isascii():
        if not text.isprintable():
            for run in islice(compiled(_ASCII).finditer(text), MOST):
                yield Finding("hidden", RULES[0].rule, RULES[0].reason, *run.span())
        return
    if compiled(_ANY).search(text) is None:
        return
    right_to_left = False
    for rule in RULES:
        if rule.rule == "bidi characters":
            right_to_left = _is_right_to_left(text)
        runs = (run.span() for run in compiled(f"[{rule.chars}]+").finditer(text))
        useless = (span for span in runs if not _has_use(rule.rule, text, *span, right_to_left))
        yield from (Finding("hidden", rule.rule, rule.reason, *span) for span in islice(useless, MOST))


def _has_use(rule: str, text: str, start: int, end: int, right_to_left: bool) -> bool:
    """Tell whether characters do at their place what they are made for; marks of direction, in a text that has two."""
    chars = text[start:end]
    before, after = text[start - 1 : start], text[end : end + 1]
    match rule:
        case "tag characters":
            # The flags of England, Scotland and Wales: a black flag, letters as tags, and the closing tag.
            return before == "\U0001f3f4" and chars[-1] == "\U000e007f" and len(chars) <= 7
        case "variation selectors":
            return len(chars) == 1
        case "zero-width characters" if start == 0 and chars == "\ufeff":
            return True
        case "zero-width characters":
            return set(chars) <= set(_JOINERS) and len(chars) == 1 and _joins(before) and _joins(after)
        case "bidi characters":
            return set(chars) <= set(_MARKS) and right_to_left
        case _:
            return False


@lru_cache
def _joins(char: str) -> bool:
    """Tell whether a joiner can matter beside a character: an emoji, or a letter of a script that joins its letters."""
    return bool(char) and ord(char) > 0x2FF and unicodedata.category(char)[0] in "SLM"


def _is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in set(text))
