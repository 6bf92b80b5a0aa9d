"""Patterns as JSON: everything goes in and comes out again, and what is wrong is named by its path."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.agents.patterns.samples import FULL, NOW, TEMPLATE, full
from workbench.core.agents.patterns.pattern import (
    Applicability,
    ComplexityRange,
    Pattern,
    Step,
    conditions_of,
)
from workbench.core.agents.patterns.schema import InvalidPattern, pattern_doc, pattern_from
from workbench.core.document import from_doc, to_doc


def test_every_field_is_read() -> None:
    pattern = full()
    assert (pattern.id, pattern.category, pattern.edition, pattern.version) == (
        "pat-20260301-0000007",
        "recovery",
        3,
        1,
    )
    assert pattern.applicability.task_features.complexity == ComplexityRange(1, 6)
    assert pattern.applicability.context_conditions == ("attempts < 5", "status in [429, 503]")
    assert pattern.body is not None
    assert pattern.body.procedure is not None
    assert pattern.body.procedure.steps == (
        Step("Wait"),
        Step("Ask again", "ask", ("wait",)),
        Step("Wait", "wait"),
    )
    assert (pattern.status, pattern.usage_count, pattern.support.success_rate) == (
        "validated",
        40,
        0.9,
    )
    assert pattern.baseline.time == 120
    assert pattern.relationships.specializes == "pat-y"
    assert pattern.metadata == {"team": "core", "unknown": {"source": "review"}}
    assert [path for path, _ in conditions_of(pattern)] == [
        "applicability.context_conditions[0]",
        "applicability.context_conditions[1]",
        "applicability.anti_conditions[0]",
        "content.procedure.branching_logic[0].when",
        "content.procedure.termination_conditions[0]",
    ]
    assert pattern.content.startswith("Retry with backoff\nRetry with growing pauses.\nAn API")
    assert "Ask again" in pattern.content


def test_it_comes_out_as_it_went_in() -> None:
    for doc in (FULL, TEMPLATE, {"name": "n", "category": "domain", "description": "d"}):
        pattern = pattern_from(doc, NOW, "pat-1")
        again = json.loads(json.dumps(pattern_doc(pattern)))
        assert pattern_from(again, NOW) == pattern
        assert from_doc(Pattern, json.loads(json.dumps(to_doc(pattern)))) == pattern
    assert set(FULL) - {"source"} <= set(pattern_doc(full()))


def test_what_is_not_given_goes_without_saying() -> None:
    pattern = pattern_from(
        {"name": "n", "category": "tool selection", "summary": "s", "applicability": None},
        NOW,
        "pat-1",
    )
    assert (pattern.id, pattern.created_at, pattern.last_updated) == ("pat-1", NOW, NOW)
    assert (pattern.category, pattern.applicability, pattern.status) == (
        "tool_selection",
        Applicability(),
        "candidate",
    )
    words = pattern_from({**FULL, "applicability": {"task_features": {"complexity": "high"}}}, NOW)
    assert words.applicability.task_features.complexity == ComplexityRange(7, 10)


def _set(path: str, value: object) -> Callable[[], dict[str, Any]]:
    def changed() -> dict[str, Any]:
        doc: Any = copy.deepcopy(FULL)
        inner, *names = doc, *path.split(".")
        for name in names[:-1]:
            inner = inner[name]
        inner[names[-1]] = value
        whole: dict[str, Any] = doc
        return whole

    return changed


@pytest.mark.parametrize(
    ("make", "path", "problem"),
    [
        (_set("name", ""), "name", "is missing"),
        (_set("name", 5), "name", "expected a text"),
        (_set("name", "x" * 201), "name", "length <= 200"),
        (_set("category", "habit"), "category", "it is one of strategy"),
        (_set("created_at", "soon"), "created_at", "soon"),
        (_set("version", -1), "version", ">= 1"),
        (_set("version", 0), "version", ">= 1"),
        (_set("lifecycle", []), "lifecycle", "an object"),
        (_set("lifecycle.status", "DONE"), "lifecycle.status", "it is one of candidate"),
        (_set("lifecycle.usage_count", True), "lifecycle.usage_count", "whole number"),
        (
            _set("applicability.problem_types", "api"),
            "applicability.problem_types",
            "expected a list",
        ),
        (
            _set("applicability.task_features.domain", ["a", 2]),
            "applicability.task_features.domain[1]",
            "expected a text",
        ),
        (
            _set("applicability.task_features.complexity", {"min": 5, "max": 4}),
            "applicability.task_features.complexity",
            "lower end first",
        ),
        (
            _set("applicability.anti_conditions", ["ok", "a =="]),
            "applicability.anti_conditions[1]",
            "of “a ==”",
        ),
        (
            _set("applicability.anti_conditions", [{"field": "a", "operator": "~"}]),
            "applicability.anti_conditions[0]",
            "expected a text",
        ),
        (_set("content.type", "template"), "content.template", "content.type"),
        (
            _set("content.procedure.steps", [{"id": "x"}]),
            "content.procedure.steps[0].text",
            "is missing",
        ),
        (
            _set("content.procedure.steps", [{"text": "x", "depends_on": ["y"]}]),
            "content.procedure.steps[0].depends_on",
            "“y”",
        ),
        (
            _set("content.procedure.branching_logic", [{"when": "a", "go_to": "q"}]),
            "content.procedure.branching_logic[0].go_to",
            "“q”",
        ),
        (_set("evidence.success_rate", 90), "evidence.success_rate", "<= 1"),
        (_set("evidence.confidence_score", float("nan")), "the pattern", "a number"),
        (_set("metadata", "x"), "metadata", "expected an object"),
        (
            _set("lifecycle.superseded_by", "pat-20260301-0000007"),
            "lifecycle.superseded_by",
            "itself",
        ),
        (lambda: {"name": "n", "category": "domain"}, "description", "is missing"),
        (lambda: [1], "the pattern", "an object"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(
    make: Callable[[], object], path: str, problem: str
) -> None:
    with pytest.raises(InvalidPattern) as caught:
        pattern_from(make(), NOW, "pat-1")
    found = dict(caught.value.problems)
    assert path in found
    assert problem in found[path]
    assert path in caught.value.message


def test_a_pattern_that_is_too_deep_or_too_long_is_refused() -> None:
    deep: dict[str, object] = {}
    for _ in range(5_000):
        deep = {"a": deep}
    with pytest.raises(InvalidPattern, match="levels"):
        pattern_from({**FULL, "metadata": deep}, NOW)
    with pytest.raises(InvalidPattern, match="characters"):
        pattern_from({**FULL, "metadata": {str(n): "x" * 9_000 for n in range(40)}}, NOW)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "type", "steps", "when", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from([*FULL, "id", "status"]), JSON, max_size=6))
def test_any_object_is_read_or_refused(changes: dict[str, object]) -> None:
    try:
        pattern = pattern_from({**FULL, **changes}, NOW, "pat-1")
    except InvalidPattern:
        return
    assert pattern_from(pattern_doc(pattern), NOW) == pattern
