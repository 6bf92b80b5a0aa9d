"""What tells a failure again: the names of errors, codes and tools in what was said of it, and its lines."""

import re
from collections.abc import Sequence

from workbench.core.agents.transcript.errors import mark_of

MOST = 32
"""Features of one failure at the most."""

_ERRORS = re.compile(r"\b[A-Za-z_][\w.]*(?:Error|Exception|Failure|Panic|Timeout|Fault)\b")
_NAMED = re.compile(r"^\s*[\w.]*(?:Error|Exception|Failure|error|fatal)\b:\s*")
_CODES = re.compile(
    r"\b(?:E[A-Z]{4,}|E\d{3,5}|[45]\d\d(?= |$|:|,)|TS\d{4}|SIG[A-Z]{3,4})\b|\bexit(?: code| status)? (\d+)"
)


def features_of(texts: Sequence[str], tools: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the features of a failure, each once: `error:`, `code:` and `tool:` with a name, `line:` with a mark.

    A line's mark leaves out numbers, hashes and folders, which differ from run to run.
    """
    found: dict[str, None] = {}
    for text in texts:
        for match in _ERRORS.finditer(text):
            found[f"error:{match[0].rpartition('.')[2].lower()}"] = None
        for match in _CODES.finditer(text):
            found[f"code:exit {match[1]}" if match[1] else f"code:{match[0].lower()}"] = None
        for line in text.splitlines():
            plain = _NAMED.sub("", line).strip()
            if plain:
                found[f"line:{mark_of(plain)}"] = None
    for tool in tools:
        if tool.strip():
            found[f"tool:{tool.strip().lower()}"] = None
    return tuple(found)[:MOST]


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Return how much two failures have in common, 0–1: what both have, of what either has; a tool counts half."""
    left, right = frozenset(one), frozenset(other)
    if left.isdisjoint(right):
        return 0.0
    either = sum(map(_weight, left | right))
    return sum(map(_weight, left & right)) / either if either else 0.0


def shared(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """Return the features that both have, those that can be read first."""
    both = [feature for feature in one if feature in set(other)]
    return tuple(sorted(both, key=lambda feature: feature.startswith("line:")))


def _weight(feature: str) -> float:
    return 0.5 if feature.startswith("tool:") else 1.0
