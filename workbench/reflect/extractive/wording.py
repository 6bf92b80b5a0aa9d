"""How well a sentence is worded to be remembered: what holds beyond the moment, in plain words, by itself.

Each rule multiplies a quality of 1 by a factor; the factors are judgments, tried on transcripts of interviews, on
conversations and on the notes of coding agents. The words are those of the sentence's language (`languages`); where
none are known, only its length, digits and signs count, and support and importance order what is proposed.
"""

import math
import re

from workbench.core.words import words
from workbench.reflect.extractive.everyday import language_of
from workbench.reflect.extractive.languages import rules_for
from workbench.reflect.extractive.rules import Rules
from workbench.reflect.extractive.scripts import length

_DATED = re.compile(
    r"\d\d:\d\d|\d{4}-\d\d|\b\d{1,2}(?:st|nd|rd|th)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|#\d", re.I
)
_OUTPUT = re.compile(r" -> |=> |\b\d+ (?:passed|failed|skipped)\b")
_DONE = re.compile(r"\A[A-Z]\w+ed\b")
_SHORT, _LONG = 60, 200
"""Characters between which a sentence has the length of something to remember."""


def quality(text: str, told: str, language: str = "") -> float:
    """Return how well a sentence would read as a memory: above 1 for a rule or a habit, near 0 for passing remarks.

    `told` is the text as it would be proposed, with the speaker's name in front where there is one. Without a
    `language` that of the sentence counts.
    """
    digits = sum(c.isdigit() for c in text) / len(text)
    factors = (
        0.6 if _DATED.search(text) else 1.0,
        0.7 if _DONE.match(told) else 1.0,
        0.5 if _OUTPUT.search(text) else 1.0,
        0.7 if "!" in text or "！" in text else 1.0,
        max(0.3, 1 - 4 * digits),
        min(1.0, length(text) / _SHORT) * min(1.0, _LONG / length(text)),
        *_worded(text, told, rules_for(language or language_of(text))),
    )
    return math.prod(factors)


def _worded(text: str, told: str, rules: Rules | None) -> tuple[float, ...]:
    """Return the factors of the words of a sentence."""
    if rules is None:
        return ()
    found = words(text)
    distinct = set(found)
    return (
        1 + 0.25 * min(len(distinct & rules.lasting), 2),
        0.75 ** min(len(distinct & rules.passing), 3),
        0.3 if rules.leaning.match(told) else 1.0,
        0.7 ** len(rules.filling.findall(text)),
        0.6 ** len(rules.hedged.findall(text)),
        0.9 ** min(sum(word in rules.pointing for word in found), 3),
        0.6 if distinct & rules.addressing else 1.0,
    )
