"""Heuristic importance of an observation (source 000, algorithm 3, stage 1).

A table gives a base score per observation type and boosts for words that a text begins with: a long
one is not important for holding more words. Words are whole words in any case ("prod" is not
"product"); the score is capped at 10. Stage 2, the adjustment by votes, is
`feedback.effective_importance`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from workbench.core.record import UnknownRecord

HIGHEST = 10.0
DEFAULT_BASE = 5.0
"""Score of a type that the table does not name."""

OPENING = 40
"""Words at the beginning of a text that may earn it points."""


class Boost(NamedTuple):
    """Points added once when the content holds at least one phrase of every group (lower-case
    words).
    """

    points: float
    groups: tuple[tuple[str, ...], ...]


class ImportanceTable(NamedTuple):
    """A named table: base scores (0–10) per observation type, and content boosts."""

    name: str
    base: Mapping[str, float]
    boosts: tuple[Boost, ...]
    about: str = ""


class Rating(NamedTuple):
    """A score with what it is made of; `boosts` pairs the points with the words that earned them."""

    score: float
    base: float
    boosts: tuple[tuple[float, str], ...] = ()


_LIFECYCLE = {
    "correction": 9.0, "failure": 9.0, "gotcha": 8.0, "convention": 7.0, "pattern": 7.0, "command": 6.0,
    "discovery": 6.0,
}  # fmt: skip

_GENERAL = _LIFECYCLE | {
    "instruction": 10.0, "error": 9.0, "decision": 8.0, "code_change": 7.0, "insight": 7.0, "test_result": 6.0,
    "plan": 7.0, "general": 5.0, "tool_output": 3.0,
}  # fmt: skip

_CODE = _GENERAL | {
    "production_incident": 10.0, "security_issue": 10.0, "architectural_decision": 9.0, "error": 9.0,
    "test_failure": 8.0, "api_design": 8.0, "code_review_feedback": 8.0, "bug_fix": 7.0,
    "feature_implementation": 7.0, "configuration_change": 7.0, "refactoring": 6.0, "dependency_change": 6.0,
    "test_success": 5.0, "general": 5.0, "file_read": 2.0,
}  # fmt: skip

GENERAL = ImportanceTable(
    "general",
    MappingProxyType(_GENERAL),
    (Boost(2, (("critical", "breaking", "security"),)), Boost(1, (("todo", "fixme", "hack"),))),
    about="ENGRAM's general table with the learning-lifecycle types",
)

CODE = ImportanceTable(
    "code",
    MappingProxyType(_CODE),
    (
        Boost(3, (("breaking", "critical", "security", "cve"),)),
        Boost(2, (("test", "tests"), ("failed",))),
        Boost(1, (("prod", "production", "main branch"),)),
    ),
    about="ENGRAM's code-specific table; other types use the general one",
)

TABLES: tuple[ImportanceTable, ...] = (GENERAL, CODE)


def table_named(name: str) -> ImportanceTable:
    """Return a built-in table; raises `UnknownRecord` when there is none of that name."""
    for table in TABLES:
        if table.name == name:
            return table
    known = ", ".join(table.name for table in TABLES)
    raise UnknownRecord(f"Unknown importance table “{name}”.", f"Known tables: {known}.")


def rate(observation_type: str, content: str, table: ImportanceTable = GENERAL) -> Rating:
    """Score an observation 0–10 and say why."""
    from workbench.core.words import (
        folded,
        words,
    )  # the settings name the tables, and are read by every command

    base = table.base.get(observation_type, DEFAULT_BASE)
    line = f" {' '.join(words(content)[:OPENING])} " if _may_hit(table, folded(content)) else ""
    earned = tuple((b.points, hit) for b in table.boosts if (hit := _hit(b, line)))
    return Rating(min(HIGHEST, base + sum(points for points, _ in earned)), base, earned)


def base_importance(observation_type: str, content: str, table: ImportanceTable = GENERAL) -> float:
    """Return only the score of `rate`."""
    return rate(observation_type, content, table).score


def _may_hit(table: ImportanceTable, low: str) -> bool:
    """Tell whether a text in lower case holds the first word of a phrase; parting it into its words
    costs more.
    """
    phrases = (phrase for boost in table.boosts for group in boost.groups for phrase in group)
    return any(phrase.partition(" ")[0] in low for phrase in phrases)


def _hit(boost: Boost, line: str) -> str:
    """Return the phrases that earn `boost`, or an empty string; `line` is words between single
    spaces.
    """
    found = [next((p for p in group if f" {p} " in line), "") for group in boost.groups]
    return " + ".join(found) if all(found) else ""
