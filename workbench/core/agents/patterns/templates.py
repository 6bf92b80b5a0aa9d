"""Templates of patterns: their parameters, and the structure they become when they are filled."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.core.agents.patterns.conditions import facts_in, holds, parsed
from workbench.core.agents.patterns.pattern import Parameter, Rule, Template
from workbench.core.errors import InvalidQuery

ITEM = "item"
"""What stands for the item in a part that is repeated."""

MOST_REPEATS, LARGEST, DEEPEST = 1_000, 200_000, 60
"""Items that a part is repeated for, characters of what a template becomes, and levels of a structure, at the most."""

_HOLE = re.compile(r"\{\{\s*([A-Za-z_][\w.\-]*)\s*\}\}")
_KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list, tuple),
}


class InvalidValues(InvalidQuery):
    """A template cannot be filled with the values given; `problems` are parameters and what is wrong with each."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        told = "; ".join(f"{name} {problem}" for name, problem in problems)
        super().__init__(f"The template cannot be filled: {told}.", "Nothing was made.")
        self.problems = tuple(problems)


def instantiate(template: Template, given: Mapping[str, object]) -> dict[str, object]:
    """Return the structure with its parameters filled in and its rules carried out. Raises `InvalidValues`.

    A text that is nothing but a parameter becomes its value, be it a list or a number.
    """
    values = _values(template.parameters, given)
    filler = _Filler({rule.part: rule for rule in template.instantiation_rules})
    made = filler.fill(template.structure, values)
    assert isinstance(made, dict)
    return made


def problems_of(template: Template) -> list[tuple[str, str]]:
    """Return what is wrong with a template, by path below it: what it asks for and nobody can give."""
    names = [parameter.name for parameter in template.parameters]
    found = [
        (f"parameters[{n}].name", f"is there twice: “{name[:40]}”") for n, name in enumerate(names) if name in names[:n]
    ]
    for number, one in enumerate(template.parameters):
        if not _HOLE.fullmatch("{{" + one.name + "}}"):
            found.append((f"parameters[{number}].name", "is no name: letters, digits, _, - and . after a letter"))
        if one.default is not None and (problem := _misfit(one, one.default)):
            found.append((f"parameters[{number}].default", problem))
    if depth_of(template.structure) > DEEPEST:
        return [*found, ("structure", f"goes deeper than {DEEPEST} levels")]
    parts = set(_part_ids(template.structure))
    for number, rule in enumerate(template.instantiation_rules):
        found += [(f"instantiation_rules[{number}].{path}", problem) for path, problem in _of_rule(rule, names, parts)]
    for path, text in _leaves(template.structure, "structure"):
        for name in _HOLE.findall(text):
            if name not in names and name != ITEM:
                found.append((path, f"asks for “{name[:40]}”, which is no parameter"))
    return found


def _of_rule(rule: Rule, names: Sequence[str], parts: set[str]) -> Iterator[tuple[str, str]]:
    if rule.part not in parts:
        yield "part", f"names no part of the structure: “{rule.part[:40]}”"
    if rule.for_each and rule.for_each not in names:
        yield "for_each", f"is no parameter: “{rule.for_each[:40]}”"
    if not rule.when and not rule.for_each:
        yield "when", "is missing, and so is for_each: the rule does nothing"
    for name in sorted(facts_in(parsed(rule.when))) if rule.when else ():
        if name not in names and name != ITEM:
            yield "when", f"asks for “{name[:40]}”, which is no parameter"


def _values(parameters: Sequence[Parameter], given: Mapping[str, object]) -> dict[str, object]:
    problems, values = list[tuple[str, str]](), dict[str, object]()
    known = {one.name for one in parameters}
    problems += [(name, "is no parameter") for name in given if name not in known]
    for one in parameters:
        value = given.get(one.name, one.default)
        if value is None:
            problems.append((one.name, "is missing"))
        elif problem := _misfit(one, value):
            problems.append((one.name, problem))
        else:
            values[one.name] = value
    if problems:
        raise InvalidValues(problems)
    return values


def _misfit(parameter: Parameter, value: object) -> str:
    """Return why a parameter does not take a value; empty when it does."""
    kinds = _KINDS[parameter.type]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        return f"takes a {parameter.type}"
    if parameter.choices and not {str(one) for one in _listed(value)} <= set(parameter.choices):
        return f"is one of {', '.join(parameter.choices)}"
    if isinstance(value, list | tuple) and len(value) > MOST_REPEATS:
        return f"has more than {MOST_REPEATS:,} items"
    return ""


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else (value,)


class _Filler:
    """Fills one structure; `rules` say which parts stand, and how often."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self._rules = rules
        self._room = LARGEST

    def fill(self, value: object, values: Mapping[str, object]) -> object:
        """Return a value of the structure filled in."""
        if isinstance(value, str):
            return self._text(value, values)
        if isinstance(value, Mapping):
            pairs = ((key, item) for key, item in value.items() if self._times(item, values))
            return {key: self._first(item, values) for key, item in pairs}
        if isinstance(value, list | tuple):
            return [self.fill(item, inner) for item in value for inner in self._times(item, values)]
        return value

    def _first(self, item: object, values: Mapping[str, object]) -> object:
        made = [self.fill(item, inner) for inner in self._times(item, values)]
        rule = self._rules.get(_part_id(item))
        return made if rule is not None and rule.for_each else made[0]

    def _times(self, item: object, values: Mapping[str, object]) -> list[Mapping[str, object]]:
        """Return the values that a part is filled with, once for each time that it stands."""
        rule = self._rules.get(_part_id(item))
        if rule is None:
            return [values]
        every: list[Mapping[str, object]] = [values]
        if rule.for_each:
            every = [{**values, ITEM: one} for one in _listed(values[rule.for_each])]
        return [one for one in every if not rule.when or holds(parsed(rule.when), one)]

    def _text(self, text: str, values: Mapping[str, object]) -> object:
        whole = _HOLE.fullmatch(text)
        made: object
        if whole is not None:
            made = values.get(whole[1], text)
        else:
            made = _HOLE.sub(lambda hole: _word(values.get(hole[1], hole[0])), text)
        self._room -= len(str(made))
        if self._room < 0:
            raise InvalidValues([("what it becomes", f"is longer than {LARGEST:,} characters")])
        return list(made) if isinstance(made, tuple) else made


def _word(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _part_id(item: object) -> str:
    if not isinstance(item, Mapping):
        return ""
    name = item.get("id", item.get("name"))
    return name if isinstance(name, str) else ""


def _part_ids(value: Any) -> Iterator[str]:
    if name := _part_id(value):
        yield name
    if isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _part_ids(item)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{path}[{number}]")


def depth_of(value: Any) -> int:
    """Return how many levels a JSON value has, counted no farther than is allowed."""
    levels = 0
    layer = [value]
    while layer and levels <= DEEPEST:
        levels += 1
        layer = [
            inner
            for one in layer
            if isinstance(one, Mapping | list | tuple)
            for inner in (one.values() if isinstance(one, Mapping) else one)
        ]
    return levels
