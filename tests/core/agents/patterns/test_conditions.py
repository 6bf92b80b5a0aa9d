"""Conditions: what they say, what stays unknown, and where one that cannot be read is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.agents.patterns.schema import (
    DEEPEST_CONDITION,
    LONGEST,
    Condition,
    ConditionSyntax,
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
    every = (Condition("==", "a", 1.0), Condition("not", parts=(Condition("==", "b", True),)))
    assert parsed("a == 1 and not b") == Condition("and", parts=every)
    assert facts_in(parsed("a == 1 and not (b or c.d in [x])")) == {"a", "b", "c.d"}
    assert parsed("a = 'it\\'s' ") == Condition("==", "a", "it's")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("domain == python", True),
        ("domain != python", False),
        ("(domain) == python", True),
        ("not (complexity) > 5 and (ci)", True),
        ("((domain) in [c, Python])", True),
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
    "text",
    [
        "", "a == ", "a == )", "a b", "a == 1 b", "a in b", "a in [b", 'a == "b', "a == 1; x", "a and and b", "not",
        "a < b < c", "(a, b)", "'a' == b", "a == [b]", "a in []", "a == -b", "__import__('os')", "a == lambda: 1",
        "a == b.c()", "not " * (DEEPEST_CONDITION + 1) + "a", "(" * 300 + "a" + ")" * 300, "a" * (LONGEST + 1),
    ],
)  # fmt: skip
def test_what_cannot_be_read_names_the_position(text: str) -> None:
    with pytest.raises(ConditionSyntax) as caught:
        parsed(text)
    assert 1 <= caught.value.position <= len(text) + 1
    assert f"position {caught.value.position}" in caught.value.message


def test_the_position_is_where_it_is_wrong() -> None:
    for text, position in (
        ("a == 1; x", 7),
        ("a == 1 and (b in c)", 18),
        ('ä == "ö" and b == "c', 19),
        ("a == -b", 6),
    ):
        with pytest.raises(ConditionSyntax) as caught:
            parsed(text)
        assert caught.value.position == position


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
