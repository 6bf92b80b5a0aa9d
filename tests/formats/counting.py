"""Counts the records of a file without the readers: by what the format says a record is, and
nothing else.
"""

import json
import re
from collections.abc import Callable
from typing import Any

_RECORD = r"(?m)^"


def _lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.removeprefix("\ufeff").split("\n"))


def _matches(pattern: str) -> Callable[[str], int]:
    return lambda text: len(re.findall(_RECORD + pattern, text.replace("\r\n", "\n")))


def _json(text: str) -> Any:
    """Return a JSON value, also when it is JSON inside a JSON string."""
    value = json.loads(text.removeprefix("\ufeff"))
    return json.loads(value) if isinstance(value, str) else value


def _listed(*names: str) -> Callable[[str], int]:
    """Count what stands in the lists (or objects) of these names."""

    def count(text: str) -> int:
        value = _json(text)
        found = [value] if isinstance(value, list) else [value.get(name) for name in names]
        return sum(len(part) for part in found if part)

    return count


COUNTERS: dict[str, Callable[[str], int]] = {
    "lifecycle": _lines,
    "ace": _matches(r"[ \t]*(?:[-*][ \t]+)?\[[^\]\n]+\][ \t]"),
    "queries": _lines,
    "skillbook": _listed("skills", "bullets"),
    "cass": _matches(r"[ ]+- (?:id:|\{id:)"),
    "semantic-patterns": _listed("patterns"),
    "learnings": _matches(r"## (?:\[[A-Z]+-\d|\d{4}-\d\d-\d\d)"),
    "beads": _lines,
    "mcp-memory": lambda text: len(re.findall(r'"type"\s*:\s*"(?:entity|relation)"', text)),
    "mem0": _listed("results", "relations"),
    "letta": _listed("blocks"),
    "genagents": _listed(),
    "generative-agents": lambda text: len(_json(text)),
    "claude-mem": _listed("observations", "sessions", "summaries", "prompts"),
    "external-messages": _lines,
    "json-lines": _lines,
}
"""How many records a text of each format holds; Markdown without record marks is counted by hand."""

BY_HAND = {"claude-memory": 5, "external-overview": 3, "external-detail": 3}
"""How many statements the hand-written files of these formats hold (see `others`)."""
