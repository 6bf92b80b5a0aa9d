"""Patterns as JSON: the shape of source 004 (3.3), with its conditions and templates.

What the schema does not know of an object is kept in the pattern's `metadata` under `UNKNOWN`, by
its path.
"""

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, get_args

import msgspec

from workbench.core.agents.patterns.pattern import (
    CATEGORIES,
    STATUSES,
    Body,
    ContentType,
    Parameter,
    Pattern,
    Template,
    conditions_of,
)
from workbench.core.record import InvalidQuery, InvalidRecord, as_object, iso
from workbench.core.text import clean_for_store
from workbench.core.values import WrongValue, cleaned, is_deeper, read_as

Problem = tuple[str, str]
"""A path and what is wrong there."""

# The language of conditions: `complexity >= 5 and not (domain in [legacy, cobol])`. It is read,
# never evaluated.
#
# A condition compares facts of a task with values. Facts are named (`domain`, `repo.size`), values
# are numbers, texts (quoted, or one bare word), `true`, `false`, `null`. Comparisons are `==` (or
# `=`), `!=`, `<`, `<=`, `>`, `>=`, `in [a, b]` and `has x` (a list holds it, a text contains it);
# `exists` asks whether a fact is given at all; a name alone asks whether it is true. They are
# joined by `and`, `or`, `not` and parentheses. Texts compare without case.

LONGEST, DEEPEST_CONDITION = 2_000, 40
"""Characters of a condition, and how deep its parts may lie in one another, at the most."""

Facts: TypeAlias = Mapping[str, object]
"""What is known of a task, by name; within a fact that is an object, `name.part` finds a part."""


class ConditionSyntax(InvalidRecord):
    """A condition that cannot be read. `position` counts characters from 1; `problem` says what is
    wrong there.
    """

    def __init__(self, text: str, position: int, problem: str) -> None:
        shown = text if len(text) <= 80 else f"{text[:79]}…"
        super().__init__(
            f"The condition “{shown}” cannot be read at position {position}: {problem}."
        )
        self.text, self.position, self.problem = text, position, problem


class Condition(NamedTuple):
    """A comparison of a fact with a value (`==`, `!=`, `<`, `<=`, `>`, `>=`, `in`, `has`,
    `exists`).

    Or else `and`, `or`, `not` over its parts.
    """

    op: str
    fact: str = ""
    value: object = None
    parts: tuple["Condition", ...] = ()


_TOKEN = re.compile(
    r"""\s* (?: (?P<text>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*') | (?P<number>[-+]?\d+(?:\.\d+)?(?![\w.-]))
    | (?P<mark>==|!=|<=|>=|[=<>()\[\],]) | (?P<word>\w[\w.\-/+\#]*) | (?P<end>\Z) | (?P<broken>.) )""",
    re.VERBOSE,
)
_ENCLOSED = re.compile(
    r"\(\s*(?!not\b)(\w[\w.\-/+\#]*)\s*\)(?=\s*(?:[=<>]|!=|(?:in|has|exists)\b))", re.IGNORECASE
)
"""The name of a fact in brackets, before a comparison."""

_JOINING = ("and", "or", "not", "in", "has", "exists")
_COMPARING = ("==", "=", "!=", "<", "<=", ">", ">=", "in", "has", "exists")
_CONSTANTS: Mapping[str, object] = {"true": True, "false": False, "null": None}


@lru_cache(maxsize=20_000)
def parsed(text: str) -> Condition:
    """Return what a condition says; raises `ConditionSyntax`."""
    if len(text) > LONGEST:
        raise ConditionSyntax(text, LONGEST + 1, f"it is longer than {LONGEST:,} characters")
    reading = _Reading(text)
    condition = reading.joined("or", 0)
    reading.end()
    return condition


class _Reading:
    """Reads a condition from its beginning on, one token after the other."""

    def __init__(self, text: str) -> None:
        self._text, self._next = text, 0
        self._step()

    def joined(self, op: str, depth: int) -> Condition:
        """Return conditions that are joined by `or`; within it those that are joined by `and`."""
        parts = list[Condition]()
        while not parts or self._take(op):
            parts.append(self.joined("and", depth) if op == "or" else self._one(depth))
        return parts[0] if len(parts) == 1 else Condition(op, parts=tuple(parts))

    def end(self) -> None:
        if self._kind != "end":
            raise self._wrong("expected “and”, “or” or the end")

    def _one(self, depth: int) -> Condition:
        if depth > DEEPEST_CONDITION:
            raise self._wrong(f"it is nested deeper than {DEEPEST_CONDITION} levels")
        if self._take("not"):
            return Condition("not", parts=(self._one(depth + 1),))
        if not _ENCLOSED.match(self._text, self._at) and self._take("("):
            inner = self.joined("or", depth + 1)
            self._expect(")")
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        fact, enclosed = self._said, _ENCLOSED.match(self._text, self._at)
        if enclosed is not None:
            fact, self._next = enclosed[1], enclosed.end()
        elif self._kind != "word" or fact.lower() in _JOINING:
            raise self._wrong(
                "expected the name of a fact and a comparison (==, !=, <, <=, >, >=, in, has, exists)"
            )
        self._step()
        op = self._take(*_COMPARING)
        if op == "in":
            is_enclosed = self._take("(")
            self._expect("[", "expected a list after “in”, such as [a, b]")
            values = [self._value()]
            while self._take(",") and self._said != "]":
                values.append(self._value())
            self._expect("]")
            if is_enclosed:
                self._expect(")")
            return Condition("in", fact, tuple(values))
        if op == "exists":
            return Condition("exists", fact)
        if not op:
            return Condition("==", fact, True)
        return Condition("==" if op == "=" else op, fact, self._value())

    def _value(self, depth: int = 0) -> object:
        if depth > DEEPEST_CONDITION:
            raise self._wrong(f"it is nested deeper than {DEEPEST_CONDITION} levels")
        if self._take("("):
            inner = self._value(depth + 1)
            self._expect(")")
            return inner
        kind, said = self._kind, self._said
        if kind not in ("text", "number", "word") or said.lower() in _JOINING:
            raise self._wrong("expected a value")
        self._step()
        if kind == "text":
            return re.sub(r"\\(.)", r"\1", said[1:-1])
        return float(said) if kind == "number" else _CONSTANTS.get(said.lower(), said)

    def _take(self, *words: str) -> str:
        """Return the next token, and go on behind it, where it is one of some words or marks."""
        found = self._said.lower()
        if self._kind not in ("word", "mark") or found not in words:
            return ""
        self._step()
        return found

    def _expect(self, mark: str, problem: str = "") -> None:
        if not self._take(mark):
            raise self._wrong(problem or f"expected “{mark}”")

    def _step(self) -> None:
        found = _TOKEN.match(self._text, self._next)
        assert found is not None
        assert found.lastgroup is not None
        self._kind, self._said = found.lastgroup, found[found.lastgroup]
        self._at, self._next = found.start(found.lastgroup), found.end()
        if self._kind == "broken":
            is_text = self._said in "\"'"
            raise self._wrong(
                "this quoted text is not closed"
                if is_text
                else f"“{self._said}” is not expected here"
            )

    def _wrong(self, problem: str) -> ConditionSyntax:
        return ConditionSyntax(self._text, self._at + 1, problem)


def facts_in(condition: Condition) -> frozenset[str]:
    """Return the names of the facts that a condition asks for."""
    own = frozenset({condition.fact} if condition.fact else ())
    return own.union(*map(facts_in, condition.parts))


def holds(condition: Condition, facts: Facts) -> bool | None:
    """Tell whether a condition holds; `None` where that hangs on a fact that is not given, or
    cannot be compared.

    What is not known stays so through `and`, `or` and `not`, unless the other parts decide.
    """
    if not condition.parts:
        return _tested(condition, facts)
    parts = [holds(part, facts) for part in condition.parts]
    if condition.op == "not":
        return None if parts[0] is None else not parts[0]
    decides = condition.op == "or"
    return decides if decides in parts else None if None in parts else not decides


_ABSENT = object()
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def _find(facts: Facts, name: str) -> object:
    """Return a fact by its name, also a part of one."""
    if name in facts:
        return facts[name]
    head, _, rest = name.partition(".")
    inner = facts.get(head)
    return _find(inner, rest) if rest and isinstance(inner, Mapping) else _ABSENT


def _tested(test: Condition, facts: Facts) -> bool | None:
    fact, value = _find(facts, test.fact), test.value
    if test.op == "exists":
        return fact is not _ABSENT and fact is not None
    if fact is _ABSENT:
        return None
    if test.op in _ORDERS:
        return _ORDERS[test.op](fact, value) if _is_number(fact) and _is_number(value) else None
    if test.op == "has" and isinstance(fact, str) and isinstance(value, str):
        return value.casefold() in fact.casefold()
    found = any(_same(one, wanted) for one in _listed(fact) for wanted in _listed(value))
    return found if test.op != "!=" else not found


def _same(fact: object, value: object) -> bool:
    if isinstance(fact, str) and isinstance(value, str):
        return fact.casefold() == value.casefold()
    if isinstance(fact, bool) or isinstance(value, bool):
        return fact is value
    return fact == value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else (value,)


# Templates of patterns: their parameters, and the structure they become when they are filled.

ITEM = "item"
"""What stands for the item in a part that is repeated."""

MOST_REPEATS, LARGEST_TEMPLATE, DEEPEST = 1_000, 200_000, 60
"""Items that a part is repeated for, characters of what a template becomes, and levels of a
structure, at the most.
"""

_HOLE = re.compile(r"\{\{\s*([A-Za-z_][\w.\-]*)\s*\}\}")


class InvalidValues(InvalidQuery):
    """A template cannot be filled with the values given: parameters and what is wrong with each."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        told = "; ".join(f"{name} {problem}" for name, problem in problems)
        super().__init__(f"The template cannot be filled in: {told}.", "Nothing was made.")


def instantiate(template: Template, given: Mapping[str, object]) -> dict[str, object]:
    """Return the structure with its parameters filled in and its rules carried out. Raises
    `InvalidValues`.

    A text that is nothing but a parameter becomes its value, be it a list or a number.
    """
    rules, room = {rule.part: rule for rule in template.instantiation_rules}, LARGEST_TEMPLATE

    def copies(part: object, values: Mapping[str, object]) -> list[object]:
        """Return a part filled in, once for each time that it stands."""
        rule = rules.get(_part_id(part))
        if rule is None:
            return [fill(part, values)]
        items = _listed(values[rule.for_each]) if rule.for_each else ()
        every = [{**values, ITEM: one} for one in items] if rule.for_each else [values]
        return [fill(part, one) for one in every if not rule.when or holds(parsed(rule.when), one)]

    def fill(value: object, values: Mapping[str, object]) -> Any:
        nonlocal room
        if isinstance(value, list | tuple):
            return [copy for part in value for copy in copies(part, values)]
        if isinstance(value, Mapping):
            made = {}
            for key, part in value.items():
                found, rule = copies(part, values), rules.get(_part_id(part))
                if found:
                    made[key] = found if rule is not None and rule.for_each else found[0]
            return made
        if not isinstance(value, str):
            return value
        text = _filled(value, values)
        room -= len(str(text))
        if room < 0:
            raise InvalidValues([("the result", f"is longer than {LARGEST_TEMPLATE:,} characters")])
        return text

    return dict(fill(template.structure, _values(template.parameters, given)))


def _filled(text: str, values: Mapping[str, object]) -> object:
    whole = _HOLE.fullmatch(text)
    if whole is None:
        return _HOLE.sub(lambda hole: _word(values.get(hole[1], hole[0])), text)
    value = values.get(whole[1], text)
    return list(value) if isinstance(value, tuple) else value


def _values(parameters: Sequence[Parameter], given: Mapping[str, object]) -> dict[str, object]:
    known = {one.name for one in parameters}
    problems = [(name, "is not a parameter") for name in given if name not in known]
    values = {one.name: given.get(one.name, one.default) for one in parameters}
    for one in parameters:
        if problem := "is missing" if values[one.name] is None else _misfit(one, values[one.name]):
            problems.append((one.name, problem))
    if problems:
        raise InvalidValues(problems)
    return values


def _misfit(parameter: Parameter, value: object) -> str:
    """Return why a parameter does not take a value; empty when it does."""
    fits = {
        "text": isinstance(value, str), "number": _is_number(value), "boolean": isinstance(value, bool),
        "list": isinstance(value, list | tuple),
    }  # fmt: skip
    if not fits[parameter.type]:
        return f"must be a {parameter.type}"
    if parameter.choices and not {str(one) for one in _listed(value)} <= set(parameter.choices):
        return f"must be one of {', '.join(parameter.choices)}"
    return f"has more than {MOST_REPEATS:,} items" if len(_listed(value)) > MOST_REPEATS else ""


def _word(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _part_id(part: object) -> str:
    said = as_object(part)
    name = said.get("id", said.get("name"))
    return name if isinstance(name, str) else ""


def _parts(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield all values of a structure, each after its path."""
    yield path, value
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _parts(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _parts(item, f"{path}[{number}]")


def _of_template(template: Template) -> Iterator[Problem]:
    """Yield what is wrong with a template, by path below it: what it asks for and nobody can give."""
    names = [parameter.name for parameter in template.parameters]
    for number, one in enumerate(template.parameters):
        if one.name in names[:number]:
            yield f"parameters[{number}].name", f"appears twice: “{one.name[:40]}”"
        if not _HOLE.fullmatch("{{" + one.name + "}}"):
            yield (
                f"parameters[{number}].name",
                "is not a valid name: a letter, then letters, digits, _, - and .",
            )
        if one.default is not None and (problem := _misfit(one, one.default)):
            yield f"parameters[{number}].default", problem
    every, asked = list(_parts(template.structure, "structure")), list[Problem]()
    parts = {_part_id(value) for _, value in every} - {""}
    for number, rule in enumerate(template.instantiation_rules):
        path = f"instantiation_rules[{number}]"
        if rule.part not in parts:
            yield f"{path}.part", f"is not a part of the structure: “{rule.part[:40]}”"
        if not rule.when and not rule.for_each:
            yield f"{path}.when", "is missing, as is for_each: the rule does nothing"
        asked += [(f"{path}.for_each", rule.for_each)] if rule.for_each else []
        asked += [
            (f"{path}.when", name)
            for name in sorted(facts_in(parsed(rule.when)) if rule.when else ())
        ]
    asked += [
        (path, name)
        for path, text in every
        if isinstance(text, str)
        for name in _HOLE.findall(text)
    ]
    for path, name in asked:
        if name not in names and (name != ITEM or path.endswith(".for_each")):
            yield path, f"asks for “{name[:40]}”, which is not a parameter"


# Reading and writing

UNKNOWN = "unknown"
"""The key of `metadata` under which stands what the schema does not know."""

LARGEST = 1 << 18
"""Characters of all texts together, at the most."""


class InvalidPattern(InvalidRecord):
    """A pattern that cannot be read; `problems` are what is wrong, each with its path, in order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        told = "; ".join(f"{path}: {problem}" for path, problem in problems[:3])
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        super().__init__(f"The pattern cannot be read: {told}{more}.", "Nothing was written.")
        self.problems = tuple(problems)


_TOP = {
    "pattern_id": "id",
    "version": "edition",
    "content": "body",
    "application": "guidance",
    "evidence": "support",
}
"""The keys of a pattern in JSON that its fields have other names for."""

_LIFECYCLE = (
    "status",
    "status_reason",
    "usage_count",
    "last_used",
    "superseded_by",
    "evidence_since",
)
"""The fields that stand in `lifecycle`."""

_PATHS = {name: key for key, name in _TOP.items()} | {
    name: f"lifecycle.{name}" for name in _LIFECYCLE
}
_NAMES = {
    "equals": "==", "eq": "==", "=": "==", "ne": "!=", "not_equals": "!=", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "contains": "has",
} | {op: op for op in ("==", "!=", "<", "<=", ">", ">=", "in", "has", "exists")}  # fmt: skip
_CHOICES = {"category": CATEGORIES, "status": STATUSES, "body.type": get_args(ContentType)}
_RANGES = {"low": (0, 3), "medium": (3, 7), "high": (7, 10)}


def pattern_from(doc: object, now: datetime, id: str = "") -> Pattern:
    """Read a pattern; `now` and `id` stand in for times and an id that it does not bring. Raises
    `InvalidPattern`.
    """
    if not isinstance(doc, Mapping):
        raise InvalidPattern([("the pattern", "is not an object")])
    if is_deeper(doc, DEEPEST):
        raise InvalidPattern([("the pattern", f"is nested deeper than {DEEPEST} levels")])
    if any(isinstance(one, float) and not math.isfinite(one) for _, one in _parts(doc, "")):
        raise InvalidPattern([("the pattern", "contains a number that JSON does not have")])
    flat = _normal(cleaned(doc, clean_for_store))
    known = {key: value for key, value in flat.items() if key != "version" and value is not None}
    if not known.get("name"):
        raise InvalidPattern([("name", "is missing")])
    begun = known.get("created_at", iso(now))
    try:
        pattern = read_as(
            Pattern, {"id": id, "created_at": iso(now), "last_updated": begun} | known
        )
    except WrongValue as error:
        choices = _CHOICES.get(error.path, ())
        told = f"{error.problem}; it is one of {', '.join(choices)}" if choices else error.problem
        raise InvalidPattern([(_in_json(error.path), told)]) from error
    unknown = {_in_json(path): value for path, value in _unknown(flat, pattern, "")}
    if unknown:
        kept = {**as_object(pattern.metadata.get(UNKNOWN)), **unknown}
        pattern = replace(pattern, metadata={**pattern.metadata, UNKNOWN: kept})
    if problems := list(_problems(pattern)):
        raise InvalidPattern(problems)
    return pattern


def pattern_doc(pattern: Pattern) -> dict[str, object]:
    """Return a pattern as `pattern_from` reads it, every field included."""
    plain = msgspec.to_builtins(pattern)
    lifecycle = {name: plain.pop(name) for name in _LIFECYCLE}
    lifecycle["deprecation_reason"] = (
        pattern.status_reason if pattern.status == "deprecated" else None
    )
    metadata = plain.pop("metadata")
    order = dict.fromkeys(
        ("id", "name", "category", "edition", "created_at", "last_updated", *plain)
    )
    del order["version"]
    doc = {_PATHS.get(name, name): plain[name] for name in order}
    return {**doc, "lifecycle": lifecycle, "metadata": metadata}


def _normal(doc: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a pattern by their own names, each in the one form in which it is read."""
    flat: dict[str, Any] = {
        _TOP.get(key, key): value for key, value in doc.items() if key != "lifecycle"
    }
    lifecycle = doc.get("lifecycle")
    if isinstance(lifecycle, Mapping):
        said = dict(lifecycle)
        why = said.pop("deprecation_reason", None)
        said["status_reason"] = said.get("status_reason") or flat.get("status_reason") or why
        flat |= {
            key if key in _LIFECYCLE else f"lifecycle.{key}": v
            for key, v in said.items()
            if v is not None
        }
    elif lifecycle is not None:
        raise InvalidPattern([("lifecycle", "is not an object")])
    for path, change in _FORMS.items():
        flat = _changed(flat, path.split(), change)
    return flat


def _changed(value: Any, path: Sequence[str], change: Callable[[Any], Any]) -> Any:
    """Return a value with what stands at a path in it changed; `*` stands for each item of a list."""
    if not path:
        return value if value is None else change(value)
    name, rest = path[0], path[1:]
    if name == "*":
        return (
            [_changed(item, rest, change) for item in value] if isinstance(value, list) else value
        )
    if isinstance(value, Mapping) and name in value:
        return {**value, name: _changed(value[name], rest, change)}
    return value


def _choice(value: Any) -> Any:
    return (
        value.strip().lower().replace(" ", "_").replace("-", "_")
        if isinstance(value, str)
        else value
    )


def _range(value: Any) -> Any:
    if isinstance(value, str):
        value = _RANGES.get(value.strip().lower(), value)
    return (
        dict(zip(("min", "max"), value, strict=True))
        if isinstance(value, list | tuple) and len(value) == 2
        else value
    )


def _part(value: Any, field: str, others: Sequence[str]) -> Any:
    """Return a part that may be given as a text alone, or with another word for a field."""
    if isinstance(value, str):
        return {field: value}
    other = next((name for name in others if as_object(value).get(name) is not None), None)
    if other is None or value.get(field) is not None:
        return value
    return {field if name == other else name: item for name, item in value.items()}


def _parameter(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _changed(_part(value, "about", ("description",)), ["type"], _choice)
    return _part(value, "name", ())


def _as_condition(value: Any) -> Any:
    """Return a condition that is given as an object of field, operator and value as a text."""
    if not isinstance(value, Mapping):
        return value
    name, asked = value.get("field", value.get("fact")), value.get("value")
    op = _NAMES.get(str(value.get("operator", value.get("op", "=="))).strip().lower())
    if not isinstance(name, str) or op is None:
        return value
    if op == "exists":
        return f"{name} exists"
    values = ", ".join(map(_quoted, _listed(asked)))
    return (
        f"{name} in [{values}]"
        if isinstance(asked, list) or op == "in"
        else f"{name} {op} {values}"
    )


def _quoted(value: object) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return "null" if value is None else _word(value)


_FORMS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("category", "status", "body type"), _choice),
    "applicability task_features complexity": _range,
    "body procedure steps *": lambda value: _part(value, "text", ("action", "description", "step", "name")),
    "body template parameters *": _parameter,
    **dict.fromkeys(
        (
            "applicability context_conditions *", "applicability anti_conditions *", "body heuristic condition",
            "body template instantiation_rules * when", "body procedure branching_logic * when",
            "body procedure termination_conditions *",
        ),
        _as_condition,
    ),
}  # fmt: skip
"""What may be written in several ways, by where it stands."""


def _in_json(path: str) -> str:
    """Return a path in a pattern as JSON has it."""
    head = re.match(r"\w*", path)
    assert head is not None
    return _PATHS.get(head[0], head[0]) + path[head.end() :]


def _unknown(value: object, made: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield what of a value is not in the part of a pattern that was made of it, by its path."""
    if isinstance(value, list) and isinstance(made, tuple):
        for number, item in enumerate(value):
            yield from _unknown(item, made[number], f"{path}[{number}]")
    elif isinstance(value, Mapping) and is_dataclass(made):
        names = {spec.name for spec in fields(made)}
        for key, item in value.items():
            below = f"{path}.{key}" if path else key
            if key not in names or below == "version":
                yield below, item
            else:
                yield from _unknown(item, getattr(made, key), below)


def _problems(pattern: Pattern) -> Iterator[Problem]:
    """Yield the rules that a pattern breaks beyond the types of its fields."""
    hard = pattern.applicability.task_features.complexity
    if hard is not None and hard.min > hard.max:
        yield (
            "applicability.task_features.complexity",
            "must be between 0 and 10, the lower end first",
        )
    if pattern.superseded_by == pattern.id:
        yield "lifecycle.superseded_by", "is the pattern itself"
    if not (pattern.description or pattern.summary or pattern.detailed_explanation or pattern.body):
        yield "description", "is missing: the pattern has nothing but its name"
    size = (
        len(pattern.content)
        + sum(map(len, pattern.applicability.context_conditions))
        + len(str(pattern.metadata))
    )
    if size > LARGEST:
        yield "the pattern", f"has {size:,} characters, more than {LARGEST:,}"
    wrong = list(_of_conditions(pattern))
    yield from wrong or _of_body(pattern.body)


def _of_conditions(pattern: Pattern) -> Iterator[Problem]:
    for path, text in conditions_of(pattern):
        try:
            parsed(text)
        except ConditionSyntax as error:
            yield path, f"position {error.position} of “{text[:80]}”: {error.problem}"


def _of_body(body: Body | None) -> Iterator[Problem]:
    if body is None:
        return
    if getattr(body, body.type) is None:
        yield f"content.{body.type}", "is missing, although content.type requires it"
    if body.procedure is not None:
        steps, path = body.procedure.steps, "content.procedure"
        known = {step.id for step in steps if step.id}
        named = [
            (f"{path}.steps[{n}].depends_on", id)
            for n, step in enumerate(steps)
            for id in step.depends_on
        ]
        named += [
            (f"{path}.branching_logic[{n}].go_to", b.go_to)
            for n, b in enumerate(body.procedure.branching_logic)
        ]
        yield from ((path, f"is not a step: “{id[:40]}”") for path, id in named if id not in known)
        yield from (
            (f"{path}.steps[{n}].text", "is missing")
            for n, step in enumerate(steps)
            if not step.text.strip()
        )
    if body.template is not None:
        yield from (
            (f"content.template.{path}", problem) for path, problem in _of_template(body.template)
        )
