"""What a scan finds: a place in a text, and why it should not travel."""

from functools import cache
from typing import Literal, NamedTuple

FindingKind = Literal["secret", "injection", "hidden"]


class Finding(NamedTuple):
    """Characters `start` to `end` of a text, and why they are flagged.

    `rule` names what was found in a word or two ("AWS key"), `reason` says it in a sentence; neither ever
    holds a part of a secret.
    """

    kind: FindingKind
    rule: str
    reason: str
    start: int
    end: int


def secret(rule: str, start: int, end: int) -> Finding:
    """Return the finding of a secret called `rule`."""
    return Finding("secret", rule, _reason(rule), start, end)


@cache
def _reason(rule: str) -> str:
    article = "an" if rule[0] in "AEIOaeio" or rule.startswith("npm") else "a"
    return f"This looks like {article} {rule}."
