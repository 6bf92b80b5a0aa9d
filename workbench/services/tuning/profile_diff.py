"""What tells two profiles apart, parameter by parameter, under the names their files have."""

from dataclasses import dataclass
from typing import Any

from workbench.core.tuning.profile import Profile, parameters_of

Value = str | int | float | bool | None

_NO_SETTINGS = ("name", "about")
_TABLES = ("frozen",)
"""What is a table when it is there at all."""


@dataclass(frozen=True, slots=True)
class Changed:
    """One parameter with its values in the first and in the second profile."""

    parameter: str
    before: Value
    after: Value


def values_of(profile: Profile) -> dict[str, Value]:
    """Return every parameter by the dotted name it has in a file; what only names a profile is left out."""
    values: dict[str, Value] = {}
    for name, value in parameters_of(profile).items():
        if isinstance(value, dict):
            values |= {f"{name}.{inner}": _plain(one) for inner, one in value.items()}
        elif name not in _NO_SETTINGS and name not in _TABLES:
            values[name] = _plain(value)
    return values


def changes(before: Profile, after: Profile) -> tuple[Changed, ...]:
    """Return the parameters that differ, in the order of the file."""
    one, other = values_of(before), values_of(after)
    names = dict.fromkeys((*one, *other))
    return tuple(Changed(name, one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name))


def _plain(value: Any) -> Value:
    """Return a pair of numbers as one text; other values as they are."""
    return " … ".join(f"{one:.4g}" for one in value) if isinstance(value, tuple | list) else value
