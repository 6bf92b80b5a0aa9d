"""How well a sentence is worded to be remembered: what holds beyond the moment, in plain words, by itself.

Each rule multiplies a quality of 1 by a factor; the factors are judgments, tried on transcripts of interviews, on
conversations and on the notes of coding agents. The words that they know are English: of a sentence in another language
only its length, digits and signs count, so that support and importance alone order what is proposed.
"""

import re

from workbench.core.text import words
from workbench.reflect.extractive.scripts import length

_LASTING = frozenset(
    words(
        "always never usually often generally every everyone everything whenever must should shall need needs require "
        "requires required because when unless until instead avoid ensure verify use prefer prefers keep rather than "
        "without before cannot can't don't doesn't love loves enjoy enjoys like likes value values believe believes "
        "care cares important helps help means makes goal dream passion family matter matters forbidden allowed "
        "mandatory default causes cause breaks"
    )
)
_PASSING = frozenset(
    words(
        "today yesterday tomorrow tonight now currently recently last next week monday tuesday wednesday thursday "
        "friday saturday sunday morning afternoon evening ago later soon gonna here todo fixme "
        "temporary temporarily merged opened passed failed green"
    )
)
_DATED = re.compile(
    r"\d\d:\d\d|\d{4}-\d\d|\b\d{1,2}(?:st|nd|rd|th)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|#\d", re.I
)
_LEANING = re.compile(
    r"\A(?:[A-Z][\w.'’ -]{0,40}: )?(?:and|but|so|or|then|also|because|which|it|its|this|that|these|those|they|he|she|"
    r"there|such|both|either|same|none|without (?:it|that)|anything else|otherwise|again|well|plus|you|your|"
    r"we'll|let's)"
    r"(?:['’]\w+)?\b",
    re.I,
)
_OUTPUT = re.compile(r" -> |=> |\b\d+ (?:passed|failed|skipped)\b")
_DONE = re.compile(r"\A[A-Z]\w+ed\b")
_FILLING = re.compile(r"\b(?:you know|sort of|kind of|i mean|like,|um+|uh+|anyway|stuff|again,|guess)\b", re.I)
_HEDGED = re.compile(r"\b(?:not sure|maybe|perhaps|probably|i think|i suppose|don't know|nothing)\b", re.I)
_POINTING = frozenset(words("it this that these those they them there"))
_ADDRESSING = frozenset(words("you your you're you've you'll yours"))

_SHORT, _LONG = 60, 200
"""Characters between which a sentence has the length of something to remember."""


def quality(text: str, told: str) -> float:
    """Return how well a sentence would read as a memory: above 1 for a rule or a habit, near 0 for passing remarks.

    `told` is the text as it would be proposed, with the speaker's name in front where there is one.
    """
    found = words(text)
    distinct = set(found)
    digits = sum(c.isdigit() for c in text) / len(text)
    factors = (
        1 + 0.25 * min(len(distinct & _LASTING), 2),
        0.75 ** min(len(distinct & _PASSING), 3),
        0.6 if _DATED.search(text) else 1.0,
        0.3 if _LEANING.match(told) else 1.0,
        0.7 if _DONE.match(told) else 1.0,
        0.5 if _OUTPUT.search(text) else 1.0,
        0.7 ** len(_FILLING.findall(text)),
        0.6 ** len(_HEDGED.findall(text)),
        0.9 ** min(sum(word in _POINTING for word in found), 3),
        0.6 if distinct & _ADDRESSING else 1.0,
        0.7 if "!" in text or "！" in text else 1.0,
        max(0.3, 1 - 4 * digits),
        min(1.0, length(text) / _SHORT) * min(1.0, _LONG / length(text)),
    )
    product = 1.0
    for factor in factors:
        product *= factor
    return product
