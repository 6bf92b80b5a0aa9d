"""Templates of patterns: their parameters, and the structure they become when they are filled."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from workbench.core.agents.patterns.pattern import Parameter, Rule, Template
from workbench.core.record import InvalidQuery, InvalidRecord

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
_WORDS = frozenset({"and", "or", "not", "in", "has", "exists"})
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
            kind = word if match.lastgroup == "word" and word in _WORDS else match.lastgroup
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
