"""Conditions: what they say, what stays unknown, and where one that cannot be read is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.agents.patterns.schema import (
    DEEPEST_CONDITION,
    LONGEST,
    Comparison,
    ConditionSyntax,
    Every,
    Not,
    facts_in,
    holds,
    parsed,
)

FACTS = {
    "domain": "Python",
    "complexity": 5,
    "tools": ["pytest", "ruff"],
    "ci": True,
    "repo": {"size": 9},
    "none": None,
}


def test_a_condition_is_a_tree() -> None:
    assert parsed("a == 1 and not b") == Every((Comparison("a", "==", 1.0), Not(Comparison("b", "==", True))))
    assert facts_in(parsed("a == 1 and not (b or c.d in [x])")) == {"a", "b", "c.d"}
    assert parsed("a = 'it\\'s' ") == Comparison("a", "==", "it's")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("domain == python", True),
        ("domain != python", False),
        ('domain in ["c", Python]', True),
        ("complexity >= 5", True),
        ("complexity > 5", False),
        ("complexity < 5.5 and complexity <= 5", True),
        ("tools has pytest", True),
        ("tools has mypy", False),
        ("domain has yth", True),
        ("tools == ruff", True),
        ("tools in [mypy, ruff]", True),
        ("ci", True),
        ("not ci", False),
        ("ci == true", True),
        ("ci == 1", False),
        ("repo.size > 8", True),
        ("repo.size == 9", True),
        ("none exists", False),
        ("none == null", True),
        ("missing exists", False),
        ("not missing exists", True),
        ("missing", None),
        ("not missing == 1", None),
        ("missing or ci", True),
        ("missing and ci", None),
        ("missing and not ci", False),
        ("missing or not ci", None),
        ("domain > 3", None),
        ("complexity > text", None),
        ("repo.size.x == 1", None),
        ("ci > 0", None),
        ("not (ci and complexity > 9) and (domain == c or domain == python)", True),
    ],
)
def test_what_holds(text: str, expected: bool | None) -> None:
    assert holds(parsed(text), FACTS) is expected


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("", 1, "the name of a fact is expected"),
        ("a == ", 6, "a value is expected at the end"),
        ("a == )", 6, "a value is expected, not “)”"),
        ("a b", 3, "a comparison"),
        ("a == 1 b", 8, "“b”"),
        ("(a == 1", 8, "“(” at position 1"),
        ("a in b", 6, "a list is expected"),
        ("a in [b", 8, "“[” at position 6"),
        ('a == "b', 6, "does not end"),
        ("a == 1; x", 7, "“;” means nothing"),
        ("a and and b", 7, "the name of a fact"),
        ("not", 4, "the name of a fact"),
        ("__import__('os')", 11, "a comparison"),
        ("a == lambda: 1", 12, "“:”"),
        ("not " * (DEEPEST_CONDITION + 1) + "a", 4 * DEEPEST_CONDITION + 1, "deeper"),
        ("a" * (LONGEST + 1), LONGEST + 1, "longer"),
    ],
)
def test_what_cannot_be_read_names_the_position(text: str, position: int, problem: str) -> None:
    with pytest.raises(ConditionSyntax) as caught:
        parsed(text)
    assert caught.value.position == position
    assert problem in caught.value.problem
    assert f"position {position}" in caught.value.message


def test_facts_are_found_by_their_whole_name_first() -> None:
    assert holds(parsed("a.b == 1"), {"a.b": 1, "a": {"b": 2}}) is True
    assert holds(parsed("a.b == 2"), {"a": {"b": 2}}) is True
    assert holds(parsed("a.b == 3"), {"a": 3}) is None


@pytest.mark.slow
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_with_a_place_in_it(text: str) -> None:
    try:
        condition = parsed(text)
    except ConditionSyntax as error:
        position = error.position
    else:
        assert holds(condition, {}) in (True, False, None)
        assert facts_in(condition)
        return
    assert 1 <= position <= len(text) + 1
