"""What is wrong with a call of a tool, in sentences that help a model to make it right.

They name the argument and what was wanted. The library's own name its types and its web pages, and repeat what was
given, secrets and all.
"""

import difflib
import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from pydantic import ValidationError

from workbench.core.text import clean_for_store, one_line

MOST = 5
"""Arguments that are told of; the others are counted."""

_GIVEN = 40
"""Cells of a value that is told back."""

_LOOKED_AT = 2_000
"""Characters of a value that are looked through for secrets before the first of them are shown."""

_TEXT, _WHOLE, _NUMBER, _YES_OR_NO = "a text", "a whole number", "a number", "true or false"

_WANTED: Mapping[str, str] = {
    "string_type": _TEXT,
    "int_type": _WHOLE, "int_parsing": _WHOLE, "int_from_float": _WHOLE, "int_parsing_size": _WHOLE,
    "float_type": _NUMBER, "float_parsing": _NUMBER, "finite_number": _NUMBER,
    "bool_type": _YES_OR_NO, "bool_parsing": _YES_OR_NO,
    "list_type": "a list", "dict_type": "an object",
    "literal_error": "one of {expected}",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:g}",
    "string_too_long": "at most {max_length:,} characters long",
    "string_too_short": "at least {min_length:,} characters long",
    "too_long": "a list of at most {max_length:,}",
}  # fmt: skip
"""What an argument must be, by the library's name of what is wrong with it."""

_OF_LENGTH = ("string_too_long", "too_long")

Mask = Callable[[str], str]


def unknown_tool(name: str, tools: Collection[str], mask: Mask) -> str:
    """Say that there is no such tool, and which there are."""
    return f"There is no tool {_given(name, mask)}{_nearest(name, tools)} There are: {', '.join(sorted(tools))}."


def unknown_arguments(tool: str, given: Collection[str], known: Collection[str], mask: Mask) -> str:
    """Say which arguments a tool does not have, as far as it is given some; empty when it has all of them."""
    strange = [name for name in given if name not in known]
    if not strange:
        return ""
    told = " ".join(f"{tool} has no argument {_given(name, mask)}{_nearest(name, known)}" for name in strange[:MOST])
    return f"{told} It takes: {', '.join(known) or 'none'}. Nothing was done."


def wrong_arguments(tool: str, error: ValidationError, about: Mapping[str, str], mask: Mask) -> str:
    """Say what is wrong with the arguments of a tool; `about` says of each what it is."""
    wrong = error.errors(include_url=False, include_context=True)
    told = [_wrong(one, about, mask) for one in wrong[:MOST]]
    if len(wrong) > MOST:
        told.append(f"{len(wrong) - MOST} more are wrong.")
    return f"{tool}: {' '.join(told)} Nothing was done."


def _wrong(one: Mapping[str, Any], about: Mapping[str, str], mask: Mask) -> str:
    place = [str(part) for part in one["loc"]]
    name, kind = ".".join(place), str(one["type"])
    if kind == "missing":
        return f"{name} is missing: {about.get(name, 'it has to be given')}."
    if wanted := _WANTED.get(kind):
        wanted = wanted.format(**one.get("ctx", {}))
        if kind in _OF_LENGTH:
            return f"{name} must be {wanted}; it is {len(one['input']):,}."
        return f"{name} must be {wanted}, not {_given(one['input'], mask)}."
    return f"{name} cannot be {_given(one['input'], mask)} ({one['msg']})."


def _given(value: object, mask: Mask) -> str:
    """Return what was given as JSON, cut, without secrets."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    shown = one_line(mask(clean_for_store(text[:_LOOKED_AT])), _GIVEN)
    return f"“{shown}”" if isinstance(value, str) else shown


def _nearest(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name[:_GIVEN], known, n=1)
    return f"; did you mean {close[0]}?" if close else "."
