"""Patterns as JSON, and back: the shape of source 004 (3.3), read strictly, with the path of whatever is wrong.

What the schema does not know of an object is kept in the pattern's `metadata` under `UNKNOWN`, by its path.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from workbench.core.agents.patterns.pattern import Body, ComplexityRange, Parameter, Pattern, Step
from workbench.core.agents.patterns.templates import DEEPEST, ConditionSyntax, depth_of, parsed, problems_of
from workbench.core.record import InvalidRecord, iso, parse_time, present
from workbench.core.text import clean_for_store

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
