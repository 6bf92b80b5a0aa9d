"""Looking at a text before it is kept, shown, promoted or exported.

Clean text costs microseconds: every rule waits behind a few plain searches for what it cannot do
without. The rules are loaded with the first text that is looked at: a prompt that shows a store's
state needs none.
"""

import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from workbench.core.safety import Finding
from workbench.core.text import is_needed
from workbench.safety.folding import compiled

# Characters that a person does not see and a language model reads, or that change what a terminal
# shows.


_CONTROLS = "\x00-\x08\x0b\x0e-\x1f\x7f"
_ASCII = f"[{_CONTROLS}]+"
_JOINERS = "\u200c\u200d"
_MARKS = "\u200e\u200f\u061c"


class HiddenRule(NamedTuple):
    """One class of hidden characters."""

    rule: str
    chars: str
    reason: str


_CONTROL = HiddenRule(
    "control characters",
    f"{_CONTROLS}\x80-\x84\x86-\x9f",
    "It holds control characters that a terminal obeys.",
)
_TAGS = HiddenRule(
    "tag characters",
    "\U000e0000-\U000e007f",
    "It holds tag characters, which can spell hidden text.",
)
_BIDI = HiddenRule(
    "bidi characters",
    f"\u202a-\u202e\u2066-\u2069{_MARKS}",
    "It holds characters that change the direction, so that it reads otherwise than it is.",
)
_NO_WIDTH = HiddenRule(
    "zero-width characters",
    f"\u200b\u2060-\u2065\ufeff\u180e\u034f\u115f\u1160\u3164\uffa0{_JOINERS}",
    "It holds characters that take no room and can hide or split words.",
)
_SELECTORS = HiddenRule(
    "variation selectors",
    "\ufe00-\ufe0f\U000e0100-\U000e01ef",
    "It holds a row of variation selectors, which can spell hidden text.",
)
RULES = (_CONTROL, _TAGS, _BIDI, _NO_WIDTH, _SELECTORS)

MOST = 100
"""Places that are reported of one rule in one text: whoever looks at that many sees what it is."""

_ANY = "[" + "".join(rule.chars for rule in RULES) + "]"


def find(text: str) -> Iterator[Finding]:
    """Yield runs of hidden characters; what emoji and scripts need to be written is none."""
    if text.isascii():
        if not text.isprintable():
            for run in islice(compiled(_ASCII).finditer(text), MOST):
                yield Finding("hidden", _CONTROL.rule, _CONTROL.reason, *run.span())
        return
    if compiled(_ANY).search(text) is None:
        return
    right_to_left = any(unicodedata.bidirectional(char) in ("R", "AL") for char in set(text))
    for rule in RULES:
        runs = (run.span() for run in compiled(f"[{rule.chars}]+").finditer(text))
        useless = (span for span in runs if not _has_use(rule, text, *span, right_to_left))
        yield from (
            Finding("hidden", rule.rule, rule.reason, *span) for span in islice(useless, MOST)
        )


def _has_use(rule: HiddenRule, text: str, start: int, end: int, right_to_left: bool) -> bool:
    """Tell whether characters do at their place what they are made for; marks of direction, in a
    text that has two.
    """
    chars = text[start:end]
    if rule is _TAGS:
        # The flags of England, Scotland and Wales: a black flag, letters as tags, and the closing
        # tag.
        return (
            text[start - 1 : start] == "\U0001f3f4"
            and chars[-1] == "\U000e007f"
            and len(chars) <= 7
        )
    if rule is _SELECTORS:
        return len(chars) == 1
    if rule is _NO_WIDTH:
        begins = start == 0 and chars == "\ufeff"
        return begins or (len(chars) == 1 and chars in _JOINERS and is_needed(text, start))
    return rule is _BIDI and set(chars) <= set(_MARKS) and right_to_left


def scan(text: str) -> tuple[Finding, ...]:
    """Return what a text holds that should not travel: secrets, orders to an agent, hidden
    characters; in order.
    """
    from workbench.safety import instructions, secrets

    found = [*secrets.find_secrets(text), *instructions.find(text), *find(text)]
    return tuple(sorted(found, key=lambda f: (f.start, f.end))) if found else ()


def prepare() -> None:
    """Make every rule ready: who answers again and again has no text wait for the rules that it is
    the first to need.

    It takes a third of a second, on any thread.
    """
    from workbench.safety import instructions

    scan("")
    instructions.prepare()


def secrets_in(text: str) -> list[Finding]:
    """Return the secrets of a text alone, in order."""
    from workbench.safety import secrets

    return secrets.find_secrets(text)


def mask(text: str) -> str:
    """Return a text with each secret replaced by a marker that names it; line breaks stay where
    they are.
    """
    from workbench.safety import secrets

    return secrets.mask(text)


def without(text: str, found: list[Finding]) -> str:
    """Return a text with a marker for each finding; they are in order, none within another."""
    from workbench.safety import secrets

    return secrets.without(text, found)
