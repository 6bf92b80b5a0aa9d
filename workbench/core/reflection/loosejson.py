"""Finding a JSON object in what a language model wrote around it."""

import json
import re
from collections.abc import Iterator

from workbench.core.errors import WorkbenchError

_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_MAX_STARTS = 1_000
"""Places of a text that are tried; more brackets than that are no reply with an object in it."""


class UnreadableReply(WorkbenchError):
    """A reply of a language model is not of the form that was asked for."""


def find_json(text: str, *keys: str) -> dict[str, object] | list[object]:
    """Return the JSON value in `text`: alone, in a code fence, or with prose around it.

    An object that has one of `keys` wins over any other value, else the longest one. Raw line breaks inside
    strings are accepted. Raises `UnreadableReply` when there is none.
    """
    best: tuple[bool, int] = (False, 0)
    value: dict[str, object] | list[object] | None = None
    for found, length in _values(text):
        rank = (isinstance(found, dict) and any(key in found for key in keys), length)
        if rank > best:
            best, value = rank, found
    if value is None:
        raise UnreadableReply(_why(text), "The reply is shown as it came.")
    return value


def _values(text: str) -> Iterator[tuple[dict[str, object] | list[object], int]]:
    for part in (text, *_FENCED.findall(text)):
        yield from _embedded(part)


def _embedded(text: str) -> Iterator[tuple[dict[str, object] | list[object], int]]:
    """Yield the objects and arrays of `text` that are inside no other one, with their lengths in characters."""
    decoder = json.JSONDecoder(strict=False)
    place = 0
    for _ in range(_MAX_STARTS):
        start = _OPENING.search(text, place)
        if start is None:
            return
        try:
            value, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            place = start.end()
            continue
        yield value, end - start.start()
        place = end


def _why(text: str) -> str:
    if not text.strip():
        return "The reply is empty."
    if "{" not in text:
        return "The reply holds no JSON."
    return "The JSON in the reply is cut off or malformed."
