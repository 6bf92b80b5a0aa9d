"""What a heading, a sentence that leads to a list, or a statement itself says of what is to be done."""

import re

_FORBIDS = re.compile(
    r"\b(?:do not|don['’]?ts?|don['’]ts|never|avoid|anti-?patterns?|forbidden|prohibited|not allowed|disallowed|"
    r"bad|wrong|incorrect|mistakes?|pitfalls?|must not|mustn['’]t|should not|shouldn['’]t|cannot|can['’]t|"
    r"not to(?: do)?|no-?gos?|off[- ]limits|out of scope|not recommended|discouraged|deprecated|banned|red flags?|"
    r"smells?|non-goals?)\b|[❌🚫⛔✗✘]",
    re.IGNORECASE,
)
_ALLOWS = re.compile(
    r"^\W*(?:do|dos|do['’]s|good|better|correct|right|instead|preferred|prefer|always|allowed|must|recommended|use|"
    r"fix|solution)\b(?![ ]+not\b)|^\W*[✅✓✔]",
    re.IGNORECASE,
)
_MIXED = re.compile(
    r"\bdo['’]?s?\s*(?:and|&|/|\||vs\.?|or|,)\s*(?:do not|don['’]?t)|"
    r"\b(?:good|right|correct|always)\b.{0,12}\b(?:bad|wrong|incorrect|never)\b|"
    r"\b(?:bad|wrong|incorrect|never)\b.{0,12}\b(?:good|right|correct|always)\b",
    re.IGNORECASE,
)
_NEVERTHELESS = re.compile(
    r"^\W*to avoid\b|\b(?:(?:do not|don['’]t|never) (?:forget|hesitate|skip|miss|neglect|ignore)|"
    r"(?:how|order) to avoid|avoid\w* .{1,40} by|(?:if|when|why) .{0,40}(?:not|wrong|bad)|not only)\b",
    re.IGNORECASE,
)
_SHOWN_BAD = re.compile(r"^\W{0,4}(?:bad|wrong|incorrect|anti-?pattern|don['’]t do)\b\W|^\s*[❌🚫⛔✗✘]", re.IGNORECASE)
_SHOWN_GOOD = re.compile(
    r"^\W{0,4}(?:do this(?: instead)?|instead|do|good|better|correct|right|fix|solution|preferred|recommended)\W{0,3}:|"
    r"^\s*[✅✓✔]",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"^\W*(?:if|when|whenever|where|once|unless|until|in case|while|as long as)\b", re.IGNORECASE)
_OF_ONE_THING = re.compile(
    r"\b(?:do not|don['’]?t|never|avoid)\s+"
    r"(?!(?:do|doing|the following|these|those|this|any of|in|on|at|when|if|for)\b)\S+\s+\S+",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])[\"”’)*_]*\s+(?=\S)")


def forbids(said: str) -> bool | None:
    """Whether what stands under a heading or a leading sentence is not to be done; `None` when that cannot be told.

    Of several sentences the last one leads; a condition forbids nothing. What stands under the prohibition of one
    thing is mostly its reason, or what to do instead.
    """
    last = _SENTENCE.split(said.strip())[-1]
    if _CONDITION.search(last):
        last = last.partition(",")[2]
    if _MIXED.search(last):
        return None
    if _NEVERTHELESS.search(last) or _ALLOWS.search(last) or not _FORBIDS.search(last):
        return False
    return None if _OF_ONE_THING.search(last) else True


def speaks(said: str) -> bool:
    """Whether a heading or a leading sentence says of what is below it if that is to be done."""
    last = _SENTENCE.split(said.strip())[-1]
    return bool(_FORBIDS.search(last) or _ALLOWS.search(last))


def is_shown_bad(said: str) -> bool:
    """Whether a statement says of itself that it is an example of what not to do."""
    return _SHOWN_BAD.search(said) is not None


def is_shown_good(said: str) -> bool:
    """Whether a statement says of itself that it is what to do."""
    return _SHOWN_GOOD.search(said) is not None


def says_no(said: str) -> bool:
    """Whether a statement begins with a prohibition of its own."""
    return re.match(r"^\W*(?:do not|don['’]?t|never|avoid|no|beware)\b", said, re.IGNORECASE) is not None
