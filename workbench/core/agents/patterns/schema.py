"""Patterns as JSON, and back: the shape of source 004 (3.3), read strictly, with the path of whatever is wrong.

What the schema does not know of an object is kept in the pattern's `metadata` under `UNKNOWN`, by its path.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from workbench.core.agents.patterns.pattern import Body, ComplexityRange, Parameter, Pattern, Rule, Step, Template
from workbench.core.record import InvalidQuery, InvalidRecord, iso, parse_time, present
from workbench.core.text import clean_for_store

# Templates of patterns: their parameters, and the structure they become when they are filled.


# The language of conditions: `complexity >= 5 and not (domain in [legacy, cobol])`. It is parsed, never evaluated.
#
# A condition compares facts of a task with values. Facts are named (`domain`, `repo.size`), values are numbers, texts
# (quoted, or one bare word), `true`, `false`, `null`. Comparisons are `==` (or `=`), `!=`, `<`, `<=`, `>`, `>=`,
# `in [a, b]` and `has x` (a list holds it, a text contains it); `exists` asks whether a fact is given at all; a name
# alone asks whether it is true. They are joined by `and`, `or`, `not` and parentheses. Texts compare without case.


LONGEST, DEEPEST_CONDITION = 2_000, 40
"""Characters of a condition, and how deep its parentheses may lie, at the most."""

Scalar: TypeAlias = str | float | bool | None
Facts: TypeAlias = Mapping[str, object]
"""What is known of a task, by name; within a fact that is an object, `name.part` finds a part."""


class ConditionSyntax(InvalidRecord):
    """A condition that cannot be read. `position` counts characters from 1; `problem` says what is wrong there."""

    def __init__(self, text: str, position: int, problem: str) -> None:
        shown = text if len(text) <= 80 else f"{text[:79]}…"
        super().__init__(f"The condition “{shown}” cannot be read at position {position}: {problem}.")
        self.text, self.position, self.problem = text, position, problem


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of a fact; `op` is one of `==`, `!=`, `<`, `<=`, `>`, `>=`, `in`, `has`, `exists`."""

    fact: str
    op: str
    value: Scalar | tuple[Scalar, ...] = None


@dataclass(frozen=True, slots=True)
class Not:
    """What holds where another condition does not."""

    inner: "Condition"


@dataclass(frozen=True, slots=True)
class Every:
    """What holds where all of its parts hold."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Either:
    """What holds where one of its parts holds."""

    parts: tuple["Condition", ...]


Condition: TypeAlias = Comparison | Not | Every | Either


@lru_cache(maxsize=20_000)
def parsed(text: str) -> Condition:
    """Return what a condition says; raises `ConditionSyntax`."""
    if len(text) > LONGEST:
        raise ConditionSyntax(text, LONGEST + 1, f"it is longer than {LONGEST:,} characters")
    return _Parser(text).whole()


def facts_in(condition: Condition) -> frozenset[str]:
    """Return the names of the facts that a condition asks for."""
    match condition:
        case Comparison():
            return frozenset({condition.fact})
        case Not():
            return facts_in(condition.inner)
        case Every() | Either():
            return frozenset[str]().union(*map(facts_in, condition.parts))


def holds(condition: Condition, facts: Facts) -> bool | None:
    """Tell whether a condition holds; `None` where that hangs on a fact that is not given, or cannot be compared.

    What is not known stays so through `and`, `or` and `not`, unless the other parts decide.
    """
    match condition:
        case Comparison():
            return _tested(condition, facts)
        case Not():
            inner = holds(condition.inner, facts)
            return None if inner is None else not inner
        case Every():
            return _decided([holds(part, facts) for part in condition.parts], by=False)
        case Either():
            return _decided([holds(part, facts) for part in condition.parts], by=True)


def _decided(parts: Sequence[bool | None], *, by: bool) -> bool | None:
    if by in parts:
        return by
    return None if None in parts else not by


_ABSENT = object()


def _find(facts: Facts, name: str) -> object:
    """Return a fact by its name, also a part of one."""
    if name in facts:
        return facts[name]
    head, _, rest = name.partition(".")
    inner = facts.get(head)
    return _find(inner, rest) if rest and isinstance(inner, Mapping) else _ABSENT


def _tested(test: Comparison, facts: Facts) -> bool | None:
    fact = _find(facts, test.fact)
    if test.op == "exists":
        return fact is not _ABSENT and fact is not None
    if fact is _ABSENT:
        return None
    if test.op in ("<", "<=", ">", ">="):
        return _ordered(fact, test.op, test.value)
    if test.op == "has":
        return _has(fact, test.value)
    wanted = test.value if isinstance(test.value, tuple) else (test.value,)
    found = any(_same(one, value) for one in _listed(fact) for value in wanted)
    return found if test.op in ("==", "in") else not found


def _same(fact: object, value: object) -> bool:
    if isinstance(fact, str) and isinstance(value, str):
        return fact.casefold() == value.casefold()
    if isinstance(fact, bool) or isinstance(value, bool):
        return fact is value
    return fact == value


def _ordered(fact: object, op: str, value: object) -> bool | None:
    if not _is_number(fact) or not _is_number(value):
        return None
    assert isinstance(fact, int | float)
    assert isinstance(value, int | float)
    return {"<": fact < value, "<=": fact <= value, ">": fact > value, ">=": fact >= value}[op]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _has(fact: object, value: object) -> bool:
    if isinstance(fact, str) and isinstance(value, str):
        return value.casefold() in fact.casefold()
    return any(_same(one, value) for one in _listed(fact))


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


_TOKEN = re.compile(
    r"""\s+ | (?P<text>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*') | (?P<number>[-+]?\d+(?:\.\d+)?(?![\w.-]))
    | (?P<op>==|!=|<=|>=|=|<|>) | (?P<mark>[()\[\],]) | (?P<word>\w[\w.\-/+\#]*)""",
    re.VERBOSE,
)
_CONDITION_WORDS = frozenset({"and", "or", "not", "in", "has", "exists"})
_CONSTANTS: Mapping[str, Scalar] = {"true": True, "false": False, "null": None}


def _tokens(text: str) -> list[_Token]:
    found, at = list[_Token](), 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            broken = "a text that begins here does not end" if text[at] in "\"'" else f"“{text[at]}” means nothing here"
            raise ConditionSyntax(text, at + 1, broken)
        if match.lastgroup is not None:
            word = match[0].lower()
            kind = word if match.lastgroup == "word" and word in _CONDITION_WORDS else match.lastgroup
            found.append(_Token(kind, match[0], at + 1))
        at = match.end()
    return [*found, _Token("end", "", len(text) + 1)]


class _Parser:
    """Reads one condition by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = 0
        self._depth = 0

    def whole(self) -> Condition:
        """Return the condition that is all of the text."""
        found = self._either()
        if self._peek.kind != "end":
            raise self._wrong(f"“and” or “or” is expected before “{self._peek.text}”")
        return found

    @property
    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._peek
        self._next += 1
        return token

    def _wrong(self, problem: str, token: _Token | None = None) -> ConditionSyntax:
        return ConditionSyntax(self._text, (token or self._peek).at, problem)

    def _either(self) -> Condition:
        parts = [self._every()]
        while self._peek.kind == "or":
            self._take()
            parts.append(self._every())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _every(self) -> Condition:
        parts = [self._not()]
        while self._peek.kind == "and":
            self._take()
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def _not(self) -> Condition:
        token = self._peek
        if token.kind != "not" and token.text != "(":
            return self._test()
        self._depth += 1
        if self._depth > DEEPEST_CONDITION:
            raise self._wrong(f"it goes deeper than {DEEPEST_CONDITION} levels")
        self._take()
        if token.kind == "not":
            found: Condition = Not(self._not())
        else:
            found = self._either()
            if self._peek.text != ")":
                raise self._wrong(f"“)” is expected for the “(” at position {token.at}")
            self._take()
        self._depth -= 1
        return found

    def _test(self) -> Condition:
        name = self._peek
        if name.kind != "word":
            raise self._wrong("the name of a fact is expected")
        self._take()
        if self._peek.kind == "exists":
            self._take()
            return Comparison(name.text, "exists")
        if self._peek.kind == "op":
            op = self._take().text
            return Comparison(name.text, "==" if op == "=" else op, self._value())
        if self._peek.kind == "has":
            self._take()
            return Comparison(name.text, "has", self._value())
        if self._peek.kind == "in":
            self._take()
            return Comparison(name.text, "in", self._list())
        if self._peek.kind == "end" or self._peek.kind in ("and", "or") or self._peek.text == ")":
            return Comparison(name.text, "==", True)
        raise self._wrong(f"a comparison (==, !=, <, <=, >, >=, in, has, exists) is expected after “{name.text}”")

    def _list(self) -> tuple[Scalar, ...]:
        if self._peek.text != "[":
            raise self._wrong("a list is expected after “in”, as in [a, b]")
        begin = self._take()
        values = [self._value()]
        while self._peek.text == ",":
            self._take()
            values.append(self._value())
        if self._peek.text != "]":
            raise self._wrong(f"“]” is expected for the “[” at position {begin.at}")
        self._take()
        return tuple(values)

    def _value(self) -> Scalar:
        token = self._peek
        if token.kind == "end":
            raise self._wrong("a value is expected at the end")
        if token.kind not in ("text", "number", "word"):
            raise self._wrong(f"a value is expected, not “{token.text}”")
        self._take()
        if token.kind == "text":
            return re.sub(r"\\(.)", r"\1", token.text[1:-1])
        if token.kind == "number":
            return float(token.text)
        return _CONSTANTS.get(token.text.lower(), token.text)


ITEM = "item"
"""What stands for the item in a part that is repeated."""

MOST_REPEATS, LARGEST_TEMPLATE, DEEPEST = 1_000, 200_000, 60
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
        self._room = LARGEST_TEMPLATE

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
            raise InvalidValues([("what it becomes", f"is longer than {LARGEST_TEMPLATE:,} characters")])
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


UNKNOWN = "unknown"
"""The key of `metadata` under which stands what the schema does not know."""

LONGEST_TEXT, LONGEST_NAME, MOST_ITEMS, LARGEST = 20_000, 200, 500, 1 << 18
"""Characters of a text and of a name or id, items of a list, and characters of all texts together, at the most."""

Problem = tuple[str, str]
"""A path and what is wrong there."""


class InvalidPattern(InvalidRecord):
    """A pattern that cannot be read; `problems` are all that is wrong, each with its path, in order."""

    def __init__(self, problems: list[Problem]) -> None:
        told = "; ".join(f"{path}: {problem}" for path, problem in problems[:3])
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        super().__init__(f"The pattern cannot be read: {told}{more}.", "Nothing was written.")
        self.problems = tuple(problems)


_TOP = {"pattern_id": "id", "version": "edition", "content": "body", "application": "guidance", "evidence": "support"}
"""The keys of a pattern in JSON that its fields have other names for."""

_LIFECYCLE = {
    "status": "status", "status_reason": "status_reason", "deprecation_reason": "status_reason",
    "usage_count": "usage_count", "last_used": "last_used", "superseded_by": "superseded_by",
    "evidence_since": "evidence_since",
}  # fmt: skip
"""The keys of `lifecycle`, and the fields they stand for."""

_SAME: Mapping[type, Mapping[str, str]] = {
    Step: {"action": "text", "description": "text", "step": "text", "name": "text"},
    Parameter: {"description": "about"},
}
"""Other words for keys of parts."""

_SHORT: Mapping[type, str] = {Step: "text", Parameter: "name"}
"""The parts that may be given as a text alone, and the field it is."""

_CONDITIONS = frozenset({"context_conditions", "anti_conditions", "condition", "when", "termination_conditions"})
_OPERATORS = {
    "equals": "==", "eq": "==", "=": "==", "==": "==", "ne": "!=", "not_equals": "!=", "!=": "!=", "lt": "<", "<": "<",
    "le": "<=", "<=": "<=", "gt": ">", ">": ">", "ge": ">=", ">=": ">=", "in": "in", "has": "has", "contains": "has",
    "exists": "exists",
}  # fmt: skip
_WORDS = {"low": ComplexityRange(0, 3), "medium": ComplexityRange(3, 7), "high": ComplexityRange(7, 10)}
_SHARES = frozenset({"success_rate", "confidence_score", "statistical_significance"})
_WRONG: Any = object()


def pattern_from(doc: object, now: datetime, id: str = "") -> Pattern:
    """Read a pattern; `now` and `id` stand in for times and an id that it does not bring. Raises `InvalidPattern`."""
    reader = _Reader()
    if not isinstance(doc, Mapping):
        raise InvalidPattern([("the pattern", f"is {_a(doc)}, not an object")])
    if depth_of(doc) > DEEPEST:
        raise InvalidPattern([("the pattern", f"goes deeper than {DEEPEST} levels")])
    flat = reader.flattened({str(key): reader.clean(item, str(key)) for key, item in doc.items()})
    flat = {"id": id, "created_at": iso(now), "last_updated": flat.get("created_at") or iso(now)} | {
        key: value for key, value in flat.items() if value is not None
    }
    pattern = reader.read(Pattern, flat, "")
    if reader.problems:
        raise InvalidPattern(reader.problems)
    assert isinstance(pattern, Pattern)
    if reader.unknown:
        known = pattern.metadata.get(UNKNOWN)
        kept = {**known, **reader.unknown} if isinstance(known, Mapping) else reader.unknown
        pattern = replace(pattern, metadata={**pattern.metadata, UNKNOWN: kept})
    return checked(pattern)


def checked(pattern: Pattern) -> Pattern:
    """Return the pattern; raises `InvalidPattern` where it breaks a rule that is not about single fields."""
    problems = [*_of_whole(pattern), *_of_body(pattern.body)]
    if problems:
        raise InvalidPattern(problems)
    return pattern


def pattern_doc(pattern: Pattern) -> dict[str, object]:
    """Return a pattern as `pattern_from` reads it, every field included."""
    plain = {spec.name: _plain(getattr(pattern, spec.name)) for spec in fields(pattern)}
    lifecycle = {key: plain.pop(name) for key, name in _LIFECYCLE.items() if key != "deprecation_reason"}
    lifecycle["deprecation_reason"] = pattern.status_reason if pattern.status == "deprecated" else None
    del plain["version"]
    names = {name: key for key, name in _TOP.items()}
    order = ("id", "name", "category", "edition", "created_at", "last_updated")
    doc = {names.get(name, name): plain[name] for name in (*order, *(name for name in plain if name not in order))}
    metadata = doc.pop("metadata")
    return {**doc, "lifecycle": lifecycle, "metadata": metadata}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return iso(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {spec.name: _plain(getattr(value, spec.name)) for spec in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


class _Reader:
    """Reads values by the types of the fields they are for; `problems` are collected, not raised."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.unknown: dict[str, object] = {}

    def flattened(self, doc: Mapping[str, object]) -> dict[str, object]:
        """Return the fields of a pattern by their own names."""
        flat = {_TOP.get(str(key), str(key)): value for key, value in doc.items() if key != "lifecycle"}
        lifecycle = doc.get("lifecycle")
        if lifecycle is not None and not isinstance(lifecycle, Mapping):
            self._wrong("lifecycle", f"is {_a(lifecycle)}, not an object")
            return flat
        for key, value in (lifecycle or {}).items():
            if key not in _LIFECYCLE:
                self.unknown[f"lifecycle.{key}"] = value
            elif value is not None and not (key == "deprecation_reason" and flat.get("status_reason")):
                flat[_LIFECYCLE[key]] = value
        return flat

    def clean(self, value: object, path: str) -> object:
        """Return a JSON value whose texts can be stored."""
        if isinstance(value, str):
            return clean_for_store(value)
        if isinstance(value, Mapping):
            return {clean_for_store(str(key)): self.clean(item, f"{path}.{key}") for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.clean(item, f"{path}[{number}]") for number, item in enumerate(value)]
        if isinstance(value, float) and not math.isfinite(value):
            self._wrong(path, "is no number that JSON knows")
        return value

    def read(self, hint: Any, value: object, path: str) -> Any:
        """Return a value as a field of this type holds it."""
        hint = present(hint)
        origin = get_origin(hint)
        if isinstance(hint, type) and is_dataclass(hint):
            return self._object(hint, value, path)
        if origin is tuple:
            return self._list(get_args(hint)[0], value, path)
        if origin is Literal:
            return self._choice(get_args(hint), value, path)
        if origin is not None and issubclass(origin, Mapping):
            return value if isinstance(value, Mapping) else self._wrong(path, f"is {_a(value)}, not an object")
        return _PLAIN[hint](self, value, path) if hint in _PLAIN else value

    def _object(self, kind: type, value: object, path: str) -> Any:
        if kind in _SHORT and isinstance(value, str):
            value = {_SHORT[kind]: value}
        if kind is ComplexityRange:
            value = _range(value)
        if not isinstance(value, Mapping):
            return self._wrong(path, f"is {_a(value)}, not an object")
        made, hints = dict[str, Any](), _hints(kind)
        for key, item in value.items():
            name = str(key) if key in hints else _SAME.get(kind, {}).get(str(key), "")
            below = f"{path}.{key}" if path else _JSON_NAMES.get(str(key), str(key))
            if not name or (kind is Pattern and name == "version"):
                self.unknown[below] = item
            elif item is not None and name not in made:
                is_condition = name in _CONDITIONS
                made[name] = (self._conditions if is_condition else self.read)(hints[name], item, below)
        missing = [spec.name for spec in _required(kind) if not _is_given(made.get(spec.name))]
        for name in missing:
            self._wrong(f"{path}.{name}" if path else _JSON_NAMES.get(name, name), "is missing")
        return _WRONG if missing or any(item is _WRONG for item in made.values()) else kind(**made)

    def _list(self, hint: Any, value: object, path: str, read: "Callable[..., Any] | None" = None) -> Any:
        if not isinstance(value, list | tuple):
            return self._wrong(path, f"is {_a(value)}, not a list")
        if len(value) > MOST_ITEMS:
            return self._wrong(path, f"has {len(value):,} items, more than {MOST_ITEMS}")
        items = [(read or self.read)(hint, item, f"{path}[{number}]") for number, item in enumerate(value)]
        return _WRONG if any(item is _WRONG for item in items) else tuple(items)

    def _conditions(self, hint: Any, value: object, path: str) -> Any:
        if get_origin(hint) is tuple:
            return self._list(str, value, path, self._conditions)
        if value == "" and "[" not in path.rpartition(".")[2]:
            return ""  # a field that may be empty is given so
        text = _as_text(value) if isinstance(value, Mapping) else value
        if not isinstance(text, str):
            return self._wrong(path, f"is {_a(value)}, not a condition")
        try:
            parsed(text)
        except ConditionSyntax as error:
            return self._wrong(path, f"position {error.position} of “{text[:80]}”: {error.problem}")
        return text

    def _choice(self, choices: tuple[str, ...], value: object, path: str) -> Any:
        word = value.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(value, str) else ""
        if word in choices:
            return word
        shown = f"“{value[:40]}”" if isinstance(value, str) else _a(value)
        return self._wrong(path, f"is {shown}, not one of {', '.join(choices)}")

    def text(self, value: object, path: str) -> Any:
        if not isinstance(value, str):
            return self._wrong(path, f"is {_a(value)}, not a text")
        most = LONGEST_NAME if path in ("name", "pattern_id", "lifecycle.superseded_by") else LONGEST_TEXT
        if len(value) > most:
            return self._wrong(path, f"has {len(value):,} characters, more than {most:,}")
        return value

    def number(self, value: object, path: str) -> Any:
        """Read a number; a share is one from 0 to 1."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return self._wrong(path, f"is {_a(value)}, not a number")
        if not math.isfinite(value):
            return _WRONG  # said already
        if path.rpartition(".")[2] in _SHARES and not 0 <= value <= 1:
            return self._wrong(path, f"is {value:g}, not between 0 and 1")
        return float(value)

    def whole(self, value: object, path: str) -> Any:
        """Read a whole number that is not negative."""
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**12:
            return self._wrong(path, f"is {value!r}"[:40] + ", not a count")
        return value

    def time(self, value: object, path: str) -> Any:
        try:
            return parse_time(value) if isinstance(value, str) else self._wrong(path, f"is {_a(value)}, not a time")
        except ValueError:
            return self._wrong(path, f"is “{str(value)[:40]}”, not a time such as 2026-11-24T08:00:00Z")

    def _wrong(self, path: str, problem: str) -> Any:
        self.problems.append((path, problem))
        return _WRONG


_PLAIN: Mapping[type, Callable[[_Reader, object, str], Any]] = {
    str: _Reader.text, float: _Reader.number, int: _Reader.whole, datetime: _Reader.time,
}  # fmt: skip

_JSON_NAMES = {name: key for key, name in _TOP.items()} | {
    name: f"lifecycle.{key}" for key, name in _LIFECYCLE.items() if key != "deprecation_reason"
}


@cache
def _required(kind: type) -> tuple[Any, ...]:
    from dataclasses import MISSING

    return tuple(f for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING)


def _is_given(value: object) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())


def _a(value: object) -> str:
    """Return what a JSON value is, in words."""
    if value is None:
        return "nothing"
    names: dict[type, str] = {bool: "true or false", str: "a text", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), "an object")


def _range(value: object) -> object:
    if isinstance(value, str):
        found = _WORDS.get(value.strip().lower())
        return value if found is None else {"min": found.min, "max": found.max}
    if isinstance(value, list | tuple) and len(value) == 2:
        return {"min": value[0], "max": value[1]}
    return value


def _as_text(given: Mapping[str, object]) -> object:
    """Return a condition that is given as an object of field, operator and value."""
    name, value = given.get("field", given.get("fact")), given.get("value")
    op = _OPERATORS.get(str(given.get("operator", given.get("op", "=="))).strip().lower())
    if not isinstance(name, str) or op is None:
        return None
    if op == "exists":
        return f"{name} exists"
    values = [_quoted(item) for item in value] if isinstance(value, list) else [_quoted(value)]
    return f"{name} in [{', '.join(values)}]" if isinstance(value, list) or op == "in" else f"{name} {op} {values[0]}"


def _quoted(value: object) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _of_whole(pattern: Pattern) -> list[Problem]:
    found, where = list[Problem](), pattern.applicability.task_features.complexity
    if where is not None and not 0 <= where.min <= where.max <= 10:
        found.append(("applicability.task_features.complexity", "has to go from 0 to 10, the lower end first"))
    if pattern.superseded_by == pattern.id:
        found.append(("lifecycle.superseded_by", "is the pattern itself"))
    if pattern.edition < 1:
        found.append(("version", "is 0, and counting begins with 1"))
    if not (pattern.description or pattern.summary or pattern.detailed_explanation or pattern.body):
        found.append(("description", "is missing: the pattern says nothing beside its name"))
    size = len(pattern.content) + sum(map(len, pattern.applicability.context_conditions)) + len(str(pattern.metadata))
    if size > LARGEST:
        found.append(("the pattern", f"has {size:,} characters, more than {LARGEST:,}"))
    return found


def _of_body(body: Body | None) -> list[Problem]:
    if body is None:
        return []
    found = list[Problem]()
    if getattr(body, body.type) is None:
        found.append((f"content.{body.type}", "is missing, and content.type says it is there"))
    if body.procedure is not None:
        steps = body.procedure.steps
        known = {step.id for step in steps if step.id}
        for number, step in enumerate(steps):
            for other in step.depends_on:
                if other not in known:
                    found.append((f"content.procedure.steps[{number}].depends_on", f"names no step: “{other[:40]}”"))
        for number, branch in enumerate(body.procedure.branching_logic):
            if branch.go_to not in known:
                path = f"content.procedure.branching_logic[{number}].go_to"
                found.append((path, f"names no step: “{branch.go_to[:40]}”"))
    if body.template is not None:
        found += [(f"content.template.{path}", problem) for path, problem in problems_of(body.template)]
    return found
