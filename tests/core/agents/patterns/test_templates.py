"""Templates: filled with values by their rules, and refused where they ask for what nobody can
give.
"""

import copy
from typing import Any

import pytest

from tests.core.agents.patterns.samples import NOW, TEMPLATE
from workbench.core.agents.patterns.pattern import Parameter, Template
from workbench.core.agents.patterns.schema import (
    InvalidPattern,
    InvalidValues,
    instantiate,
    pattern_from,
)


def template() -> Template:
    body = pattern_from(TEMPLATE, NOW, "pat-1").body
    assert body is not None
    assert body.template is not None
    return body.template


def test_a_template_is_filled_by_its_rules() -> None:
    made = instantiate(
        template(),
        {"name": "search", "endpoints": ["list", "skip", "get"], "tables": True, "tags": ["a"]},
    )
    assert made == {
        "goal": "Add search",
        "subtasks": [
            {"id": "design", "text": "Design search with 2 people", "minutes": 30},
            {"id": "endpoint", "text": "Implement list", "after": ["design"]},
            {"id": "endpoint", "text": "Implement get", "after": ["design"]},
            {"id": "migrate", "text": "Migrate the tables"},
        ],
        "tags": ["a"],
    }
    less = instantiate(template(), {"name": "{{people}}", "endpoints": []})
    assert [part["id"] for part in less["subtasks"]] == ["design"]  # type: ignore[attr-defined]
    assert less["goal"] == "Add {{people}}", "a value is no template"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "name is missing; endpoints is missing"),
        ({"name": 5, "endpoints": []}, "name must be a text"),
        ({"name": "x", "endpoints": [], "people": True}, "people must be a number"),
        ({"name": "x", "endpoints": [], "tags": ["c"]}, "tags must be one of a, b"),
        ({"name": "x", "endpoints": [], "colour": "red"}, "colour is not a parameter"),
        ({"name": "x", "endpoints": ["e"] * 1_001}, "more than 1,000 items"),
        ({"name": "x" * 150_000, "endpoints": []}, "longer than 200,000"),
    ],
)
def test_values_that_do_not_fit_are_named(given: dict[str, object], problem: str) -> None:
    with pytest.raises(InvalidValues, match=problem):
        instantiate(template(), given)


@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("structure", {"a": "{{who}}"}, "content.template.structure.a"),
        ("parameters", ["name", "name"], "content.template.parameters[1].name"),
        ("parameters", ["a b"], "content.template.parameters[0].name"),
        (
            "parameters",
            [{"name": "n", "type": "number", "default": "x"}],
            "content.template.parameters[0].default",
        ),
        (
            "instantiation_rules",
            [{"part": "nope", "when": "tables"}],
            "content.template.instantiation_rules[0].part",
        ),
        (
            "instantiation_rules",
            [{"part": "design"}],
            "content.template.instantiation_rules[0].when",
        ),
        (
            "instantiation_rules",
            [{"part": "design", "when": "who"}],
            "content.template.instantiation_rules[0].when",
        ),
        (
            "instantiation_rules",
            [{"part": "design", "for_each": "x"}],
            "content.template.instantiation_rules[0].for_each",
        ),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused(key: str, value: object, path: str) -> None:
    doc: Any = copy.deepcopy(TEMPLATE)
    doc["content"]["template"][key] = value
    with pytest.raises(InvalidPattern) as caught:
        pattern_from(doc, NOW, "pat-1")
    assert path in dict(caught.value.problems)


def test_a_number_stays_one() -> None:
    made = instantiate(
        Template(
            {"n": "{{n}}", "t": "{{n}} of {{b}}"},
            (Parameter("n", "number"), Parameter("b", "boolean")),
        ),
        {"n": 3, "b": False},
    )
    assert made == {"n": 3, "t": "3 of false"}
