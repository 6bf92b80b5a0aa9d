"""What a scan finds: a place in a text, and why it should not travel."""

from datetime import datetime
from functools import cache
from typing import Literal, NamedTuple

from workbench.core.document import Record

# An override: a person lets one flagged record travel as it is.


class Override(Record, frozen=True):
    """Who let which record pass, when and why.

    `target` is the record's key in `table`. `texts` is the hash of its flagged texts: when one of
    them changes, or another one is flagged, the override holds no longer.
    """

    id: str
    table: str
    target: str
    texts: str
    actor: str
    at: datetime
    reason: str = ""
    version: int = 1


def override_id(table: str, target: str) -> str:
    """Name the one override that a record can have; a second one replaces it."""
    return f"{table}:{target}"


FindingKind = Literal["secret", "injection", "hidden"]


class Finding(NamedTuple):
    """Characters `start` to `end` of a text, and why they are flagged.

    `rule` names what was found in a word or two ("AWS key"), `reason` says it in a sentence;
    neither ever holds a part of a secret.
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
